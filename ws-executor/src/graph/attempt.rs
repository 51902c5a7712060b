//! One node, several attempts: `retry`, `timeout` and `fallback`.

use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use super::limit::Limit;
use super::observe::{At, Observer, tell};
use super::{ThreadTimer, TimedOut, Timer};

/// Where a node runs: whose time it is, and who watches.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    pub(super) timer: &'a dyn Timer,
    pub(super) observer: Option<(&'a Arc<dyn Observer>, At)>,
}

impl Site<'static> {
    /// A plain call: nobody watches.
    pub fn plain() -> Self {
        Self {
            timer: &ThreadTimer,
            observer: None,
        }
    }
}

impl fmt::Debug for Site<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Site")
    }
}

/// How often and how fast a node is tried again.
#[derive(Clone, Copy, Debug)]
pub struct Retry {
    /// Attempts after the first one.
    pub retries: u32,
    /// The pause before the second attempt. It doubles before each further one.
    pub pause: Duration,
    /// The longest pause.
    pub longest: Duration,
}

impl Retry {
    /// One attempt.
    pub const NEVER: Self = Self {
        retries: 0,
        pause: Duration::ZERO,
        longest: Duration::ZERO,
    };
}

/// Why the last attempt failed.
#[derive(Debug)]
pub enum Failure<E> {
    /// It returned this.
    Error(E),
    /// It took too long.
    TimedOut(TimedOut),
}

/// Tries until an attempt succeeds, an error is final, or `retry` says that it is enough.
///
/// `timeout` is for each attempt. One that takes too long is dropped before the next one
/// begins, and is always worth another one. `limit` is for each attempt as well; waiting
/// for a permit does not count as time of the attempt.
///
/// # Errors
/// The failure of the last attempt.
pub async fn attempts<T, E, Fut>(
    site: Site<'_>,
    retry: Retry,
    timeout: Option<Duration>,
    limit: Option<&Limit>,
    again: impl Fn(&E) -> bool,
    attempt: impl Fn() -> Fut,
) -> Result<T, Failure<E>>
where
    Fut: Future<Output = Result<T, E>>,
{
    let mut left = retry.retries;
    let mut pause = retry.pause.min(retry.longest);
    loop {
        let permit = match limit {
            Some(limit) => Some(limit.acquire().await),
            None => None,
        };
        let result = within(site.timer, timeout, attempt()).await;
        drop(permit); // Nobody waits for one that sleeps.
        match result {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(error)) if left == 0 || !again(&error) => return Err(Failure::Error(error)),
            Err(late) if left == 0 => return Err(Failure::TimedOut(late)),
            Ok(Err(_)) | Err(_) => {}
        }
        left -= 1;
        if let Some((observer, at)) = site.observer {
            tell(Some(observer), |observer| observer.retried(at));
        }
        if pause > Duration::ZERO {
            site.timer.sleep(pause).await;
        }
        pause = pause.saturating_mul(2).min(retry.longest);
    }
}

/// `future`, or [`TimedOut`] once `timeout` has passed.
async fn within<F: Future>(
    timer: &dyn Timer,
    timeout: Option<Duration>,
    future: F,
) -> Result<F::Output, TimedOut> {
    let mut future = pin!(future);
    let mut sleep = None;
    poll_fn(|cx| {
        if let Poll::Ready(output) = future.as_mut().poll(cx) {
            return Poll::Ready(Ok(output));
        }
        let Some(timeout) = timeout else {
            return Poll::Pending;
        };
        // Made only for a future that is not ready at once.
        let sleep = sleep.get_or_insert_with(|| timer.sleep(timeout));
        sleep.as_mut().poll(cx).map(|()| Err(TimedOut::new()))
    })
    .await
}
