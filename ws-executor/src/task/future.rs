//! A spawned future, as async-task holds it. Its panics are contained, and it takes an entry in
//! the registry when it waits.
//!
//! The entry is given back after the future was dropped: when no entry is taken, no future that
//! has waited is left.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use super::abort::{Aborted, Wait};
use super::metadata::Metadata;
use super::schedule::Schedule;
use crate::base::panics::{Contained, TaskOutcome};
use crate::base::waker_guard;

/// A future whose polls and whose drop do not panic, and which a shutdown and an abort find.
///
/// Its fields are dropped from top to bottom.
pub(crate) struct TaskFuture<'a, F, S: Schedule> {
    /// Pinned.
    future: Contained<F>,
    life: Life<'a, S>,
}

impl<'a, F: Future, S: Schedule> TaskFuture<'a, F, S> {
    pub(crate) fn new(metadata: &'a Metadata<S>, future: F) -> Self {
        Self {
            future: Contained::new(future),
            life: Life::new(metadata),
        }
    }
}

/// What ties a future to its task's metadata, until the future is dropped.
pub(crate) struct Life<'a, S: Schedule> {
    metadata: &'a Metadata<S>,
}

impl<'a, S: Schedule> Life<'a, S> {
    pub(crate) fn new(metadata: &'a Metadata<S>) -> Self {
        Self { metadata }
    }

    /// What a poll of an aborted task gives, instead of polling its future.
    #[inline]
    pub(crate) fn aborted<T>(&self) -> Option<TaskOutcome<T>> {
        let outcome = || Contained::new(Err(Box::new(Aborted) as _));
        self.metadata.abort().is_aborted().then(outcome)
    }

    /// Called after a poll that was pending: leaves the waker where an abort finds it.
    pub(crate) fn wait_unregistered(&self, waker: &Waker) {
        let slot = self.metadata.abort();
        if !slot.waits() && slot.wait_unregistered(waker) == Wait::Aborted {
            waker.wake_by_ref();
        }
    }

    /// Called after a poll that was pending: leaves the waker where an abort and a shutdown
    /// find it. If the shutdown has passed its entry before the poll, the task wakes itself, and
    /// is refused.
    #[inline]
    fn wait(&self, waker: &Waker) {
        if !self.metadata.abort().waits() {
            self.enter_registry(waker);
        } else if self.metadata.scheduler().is_some_and(S::is_closed) {
            waker.wake_by_ref();
        }
    }

    /// Enters the registry. If the registry is closed, the task must be refused, and wakes itself
    /// for that. So does a task that was aborted during its first poll.
    fn enter_registry(&self, waker: &Waker) {
        let Some(scheduler) = self.metadata.scheduler() else {
            return;
        };
        let wait = match scheduler.registry().enter(scheduler.shard(), waker) {
            Some(key) => self.metadata.abort().wait_in(key, waker),
            None => Wait::Aborted,
        };
        if wait == Wait::Aborted {
            waker.wake_by_ref();
        }
    }
}

impl<S: Schedule> Drop for Life<'_, S> {
    fn drop(&mut self) {
        let key = self.metadata.abort().end();
        if let (Some(key), Some(scheduler)) = (key, self.metadata.scheduler()) {
            if scheduler.registry().leave(key) {
                scheduler.entry_was_left();
            }
        }
    }
}

impl<F: Future, S: Schedule> Future for TaskFuture<'_, F, S> {
    type Output = TaskOutcome<F::Output>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: `future` is the one field that is pinned, and is not moved.
        let this = unsafe { self.get_unchecked_mut() };
        if let Some(aborted) = this.life.aborted() {
            return Poll::Ready(aborted);
        }
        // SAFETY: it is pinned because the whole is: it is never moved, and is dropped in place
        // with the whole. Both are `Unpin` only if the future is.
        let future = unsafe { Pin::new_unchecked(&mut this.future) };
        waker_guard::set_own_waker(cx.waker());
        let outcome = future.poll_contained(cx);
        waker_guard::clear_own_waker();
        if outcome.is_pending() {
            this.life.wait(cx.waker());
        }
        outcome
    }
}
