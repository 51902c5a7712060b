//! One node, several attempts: `retry`, `timeout` and `fallback`.

use std::fmt;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

use super::item::Rate;
use super::limit::{Limit, Permit};
use super::observe::{At, Observer, tell};
use super::slot::Slot;
use super::{ThreadTimer, TimedOut, Timer};

/// Where a node runs: whose time it is, and who watches.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    pub(super) timer: &'a dyn Timer,
    pub(super) observer: Option<(&'a Arc<dyn Observer>, At)>,
    /// Counts retries.
    pub(super) retried: Option<&'a AtomicU64>,
}

impl Site<'static> {
    /// A plain call: nobody watches.
    pub fn plain() -> Self {
        Self {
            timer: &ThreadTimer,
            observer: None,
            retried: None,
        }
    }
}

impl fmt::Debug for Site<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Site")
    }
}

/// What each attempt of a node has to pass: the gates of the graph, and for an item of a
/// pipeline its places before nodes.
#[derive(Clone, Copy, Default)]
pub struct Pass<'a, 'g> {
    pub(super) limit: Option<&'g Limit>,
    pub(super) rate: Option<(&'g Rate, &'g dyn Timer)>,
    /// The place before this node, which is free as soon as the node is entered.
    pub(super) place: Option<&'a Slot<Permit<'g>>>,
    /// The places before the next node, and where the one of this item is kept.
    pub(super) next: Option<(&'g Limit, &'a Slot<Permit<'g>>)>,
    /// After the last failure the item goes on to the next node all the same.
    pub(super) falls_back: bool,
}

impl<'a, 'g> Pass<'a, 'g> {
    /// Nothing.
    pub fn free() -> Self {
        Self::default()
    }

    /// A limit.
    pub fn limit(limit: &'g Limit) -> Self {
        Self {
            limit: Some(limit),
            ..Self::default()
        }
    }

    /// The place that this item has before the node.
    #[must_use]
    pub fn from(self, place: &'a Slot<Permit<'g>>) -> Self {
        Self {
            place: Some(place),
            ..self
        }
    }

    /// A place before the next node: without one, the item stays in this node.
    #[must_use]
    pub fn then(self, places: &'g Limit, kept: &'a Slot<Permit<'g>>) -> Self {
        Self {
            next: Some((places, kept)),
            ..self
        }
    }

    /// The node has a `fallback`.
    #[must_use]
    pub fn or_fallback(self) -> Self {
        Self {
            falls_back: true,
            ..self
        }
    }

    /// Waits for a permit, and with it for the moment of this call.
    pub async fn enter(&self) -> Option<Permit<'g>> {
        let permit = match self.limit {
            Some(limit) => Some(limit.acquire().await),
            None => None,
        };
        if let Some((rate, timer)) = self.rate {
            rate.pass(timer).await;
        }
        if let Some(place) = self.place {
            drop(place.take_if_full()); // Nothing is there for the second attempt.
        }
        permit
    }

    /// Waits for a place before the next node.
    pub async fn leave(&self) {
        if let Some((places, kept)) = self.next {
            kept.set(places.acquire().await);
        }
    }
}

impl fmt::Debug for Pass<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pass")
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
pub enum AttemptFailure<E> {
    /// It returned this.
    Error(E),
    /// It took too long.
    TimedOut(TimedOut),
}

/// Tries until an attempt succeeds, an error is final, or `retry` says that it is enough.
///
/// `timeout` is for each attempt. One that takes too long is dropped before the next one
/// begins, and is always worth another one. `pass` is for each attempt as well; waiting
/// for a permit does not count as time of the attempt.
///
/// # Errors
/// The failure of the last attempt.
pub async fn attempts<T, E, Fut>(
    site: Site<'_>,
    retry: Retry,
    timeout: Option<Duration>,
    pass: Pass<'_, '_>,
    attempt: impl Fn() -> Fut,
    // After the attempt, which says what an error is.
    again: impl Fn(&E) -> bool,
) -> Result<T, AttemptFailure<E>>
where
    Fut: Future<Output = Result<T, E>>,
{
    let mut left = retry.retries;
    let mut pause = retry.pause.min(retry.longest);
    loop {
        let permit = pass.enter().await;
        let result = within(site.timer, timeout, pin!(attempt())).await;
        let (succeeded, over) = match &result {
            Ok(Ok(_)) => (true, true),
            Ok(Err(error)) => (false, left == 0 || !again(error)),
            Err(_) => (false, left == 0),
        };
        if succeeded || (over && pass.falls_back) {
            pass.leave().await;
        }
        drop(permit); // Nobody waits for one that sleeps.
        match result {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(error)) if over => return Err(AttemptFailure::Error(error)),
            Err(late) if over => return Err(AttemptFailure::TimedOut(late)),
            Ok(Err(_)) | Err(_) => {}
        }
        left -= 1;
        if let Some(retried) = site.retried {
            retried.fetch_add(1, Ordering::Relaxed);
        }
        if let Some((observer, at)) = site.observer {
            tell(Some(observer), |observer| observer.retried(at));
        }
        if pause > Duration::ZERO {
            site.timer.sleep(pause).await;
        }
        pause = pause.saturating_mul(2).min(retry.longest);
    }
}

/// The one attempt of a node without `retry`: as [`attempts`], but the attempt may use up
/// what it has.
///
/// # Errors
/// Its failure.
pub async fn once<T, E>(
    site: Site<'_>,
    timeout: Option<Duration>,
    pass: Pass<'_, '_>,
    attempt: impl Future<Output = Result<T, E>>,
) -> Result<T, AttemptFailure<E>> {
    let permit = pass.enter().await;
    let result = within(site.timer, timeout, pin!(attempt)).await;
    if matches!(result, Ok(Ok(_))) || pass.falls_back {
        pass.leave().await;
    }
    drop(permit);
    match result {
        Ok(result) => result.map_err(AttemptFailure::Error),
        Err(late) => Err(AttemptFailure::TimedOut(late)),
    }
}

/// `future`, or [`TimedOut`] once `timeout` has passed.
async fn within<F: Future>(
    timer: &dyn Timer,
    timeout: Option<Duration>,
    mut future: Pin<&mut F>,
) -> Result<F::Output, TimedOut> {
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
