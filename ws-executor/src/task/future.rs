//! A spawned future, as async-task holds it: contained, and seated when it waits.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use super::contain::{Contained, Outcome};
use super::home::Home;
use super::registry::Seat;
use crate::shield;
use crate::worker::current;

/// A future whose polls and whose drop do not panic, and which a shutdown finds.
pub(crate) struct TaskFuture<'a, F> {
    home: &'a Home,
    /// Taken at the first poll that has to wait.
    seat: Option<Seat>,
    /// Pinned.
    future: Contained<F>,
}

impl<'a, F: Future> TaskFuture<'a, F> {
    pub(crate) fn new(home: &'a Home, future: F) -> Self {
        Self {
            home,
            seat: None,
            future: Contained::new(future),
        }
    }
}

impl<F> TaskFuture<'_, F> {
    /// Takes a seat; if none are given any more, the task is about to be refused,
    /// and has itself scheduled for that.
    fn take_seat(seat: &mut Option<Seat>, home: &Home, waker: &Waker) {
        let Some(shared) = home.shared() else { return };
        let worker = current::with(shared, |worker| worker.map_or(0, |worker| worker.index()));
        *seat = shared.registry.enter(worker, waker);
        if seat.is_none() {
            waker.wake_by_ref();
        }
    }
}

impl<F: Future> Future for TaskFuture<'_, F> {
    type Output = Outcome<F::Output>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: `future` is the one field that is pinned, and is not moved.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: it is pinned because the whole is.
        let future = unsafe { Pin::new_unchecked(&mut this.future) };
        shield::trust(cx.waker());
        let outcome = future.poll_contained(cx);
        shield::trust_no_one();
        if outcome.is_pending() && this.seat.is_none() {
            Self::take_seat(&mut this.seat, this.home, cx.waker());
        }
        outcome
    }
}

impl<F> Drop for TaskFuture<'_, F> {
    fn drop(&mut self) {
        if let (Some(seat), Some(shared)) = (self.seat.take(), self.home.shared()) {
            shared.registry.leave(seat);
        }
    }
}
