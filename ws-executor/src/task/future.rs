//! A spawned future, as async-task holds it. Its panics are contained, and it takes a seat in
//! the registry when it waits.
//!
//! The seat is given back after the future was dropped: when no seat is taken, no future that
//! has waited is left.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use super::abort::{Aborted, Wait};
use super::home::Home;
use super::schedule::Schedule;
use crate::base::panics::{Contained, TaskOutcome};
use crate::base::shield;

/// A future whose polls and whose drop do not panic, and which a shutdown and an abort find.
///
/// Its fields are dropped from top to bottom.
pub(crate) struct TaskFuture<'a, F, S: Schedule> {
    /// Pinned.
    future: Contained<F>,
    life: Life<'a, S>,
}

impl<'a, F: Future, S: Schedule> TaskFuture<'a, F, S> {
    pub(crate) fn new(home: &'a Home<S>, future: F) -> Self {
        Self {
            future: Contained::new(future),
            life: Life::new(home),
        }
    }
}

/// What ties a future to its task's home, until the future is dropped.
pub(crate) struct Life<'a, S: Schedule> {
    home: &'a Home<S>,
}

impl<'a, S: Schedule> Life<'a, S> {
    pub(crate) fn new(home: &'a Home<S>) -> Self {
        Self { home }
    }

    /// What a poll of an aborted task gives, instead of polling its future.
    #[inline]
    pub(crate) fn aborted<T>(&self) -> Option<TaskOutcome<T>> {
        let outcome = || Contained::new(Err(Box::new(Aborted) as _));
        self.home.abort().is_aborted().then(outcome)
    }

    /// Called after a poll that was pending: leaves the waker where an abort finds it.
    pub(crate) fn wait_unseated(&self, waker: &Waker) {
        let slot = self.home.abort();
        if !slot.waits() && slot.wait_unseated(waker) == Wait::Aborted {
            waker.wake_by_ref();
        }
    }

    /// Called after a poll that was pending: leaves the waker where an abort and a shutdown
    /// find it. If the shutdown has passed its seat before the poll, the task wakes itself, and
    /// is refused.
    #[inline]
    fn wait(&self, waker: &Waker) {
        if !self.home.abort().waits() {
            self.take_seat(waker);
        } else if self.home.scheduler().is_some_and(S::is_closed) {
            waker.wake_by_ref();
        }
    }

    /// Takes a seat. If the registry gives no more seats, the task must be refused, and wakes
    /// itself for that. So does a task that was aborted during its first poll.
    fn take_seat(&self, waker: &Waker) {
        let Some(scheduler) = self.home.scheduler() else {
            return;
        };
        let wait = match scheduler.registry().enter(scheduler.shard(), waker) {
            Some(seat) => self.home.abort().wait_in(seat, waker),
            None => Wait::Aborted,
        };
        if wait == Wait::Aborted {
            waker.wake_by_ref();
        }
    }
}

impl<S: Schedule> Drop for Life<'_, S> {
    fn drop(&mut self) {
        let seat = self.home.abort().end();
        if let (Some(seat), Some(scheduler)) = (seat, self.home.scheduler()) {
            if scheduler.registry().leave(seat) {
                scheduler.seat_was_left();
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
        shield::trust(cx.waker());
        let outcome = future.poll_contained(cx);
        shield::trust_no_one();
        if outcome.is_pending() {
            this.life.wait(cx.waker());
        }
        outcome
    }
}
