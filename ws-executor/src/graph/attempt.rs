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

/// Where a node runs: its timer, its observer, its counter of retries.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    pub(super) timer: &'a dyn Timer,
    pub(super) observer: Option<(&'a Arc<dyn Observer>, At)>,
    /// The counter of retries.
    pub(super) retried: Option<&'a AtomicU64>,
}

impl Site<'static> {
    /// The site of a plain call: no observer.
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

/// What each attempt of a node must pass: the gates of the graph, and in a pipeline the queues
/// before nodes.
#[derive(Clone, Copy, Default)]
pub struct Pass<'a, 'g> {
    pub(super) limit: Option<&'g Limit>,
    pub(super) rate: Option<(&'g Rate, &'g dyn Timer)>,
    /// The item's permit of the queue before this node, given back as soon as the item enters
    /// the node.
    pub(super) place: Option<&'a Slot<Permit<'g>>>,
    /// The queue before the next node, and the slot for the item's permit of it.
    pub(super) next: Option<(&'g Limit, &'a Slot<Permit<'g>>)>,
    /// The node has a `fallback`: after the last failure, the item continues to the next node.
    pub(super) falls_back: bool,
}

impl<'a, 'g> Pass<'a, 'g> {
    /// No gates.
    pub fn free() -> Self {
        Self::default()
    }

    /// A limit alone.
    pub fn limit(limit: &'g Limit) -> Self {
        Self {
            limit: Some(limit),
            ..Self::default()
        }
    }

    /// Sets the slot with the item's permit of the queue before this node.
    #[must_use]
    pub fn from(self, place: &'a Slot<Permit<'g>>) -> Self {
        Self {
            place: Some(place),
            ..self
        }
    }

    /// Sets the queue before the next node: until the item has a permit of it, it stays in this
    /// node.
    #[must_use]
    pub fn then(self, places: &'g Limit, kept: &'a Slot<Permit<'g>>) -> Self {
        Self {
            next: Some((places, kept)),
            ..self
        }
    }

    /// Says that the node has a `fallback`.
    #[must_use]
    pub fn or_fallback(self) -> Self {
        Self {
            falls_back: true,
            ..self
        }
    }

    /// Waits for a permit of the limit, and then for the moment that the rate allows.
    pub async fn enter(&self) -> Option<Permit<'g>> {
        let permit = match self.limit {
            Some(limit) => Some(limit.acquire().await),
            None => None,
        };
        if let Some((rate, timer)) = self.rate {
            rate.pass(timer).await;
        }
        if let Some(place) = self.place {
            drop(place.take_if_full()); // The slot is empty at the second attempt.
        }
        permit
    }

    /// Waits for a permit of the queue before the next node.
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

/// How often and with which pauses a node is retried.
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
    /// The node's error.
    Error(E),
    /// The attempt took longer than `timeout`.
    TimedOut(TimedOut),
}

/// Runs attempts until one succeeds, an error is final, or no retries are left.
///
/// `timeout` applies to each attempt. An attempt that takes too long is dropped before the next
/// one begins, and `again` is not asked about it. `pass` applies to each attempt, too; waiting
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
    // After `attempt`, from which the compiler infers `E`.
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
        drop(permit); // A node that sleeps keeps no permit.
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

/// Runs the one attempt of a node without `retry`: as [`attempts`], but the attempt may consume
/// its captures.
///
/// # Errors
/// The failure of the attempt.
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
        // The sleep is made only if the future is not ready at once.
        let sleep = sleep.get_or_insert_with(|| timer.sleep(timeout));
        sleep.as_mut().poll(cx).map(|()| Err(TimedOut::new()))
    })
    .await
}
