//! Cancelling the branches of a run, wherever they wait.
//!
//! A pending branch leaves its waker here, under a lock, and then reads `cancelled`. A
//! cancellation sets `cancelled`, and then takes the wakers under the same lock. So the branch
//! sees the flag, or the cancellation sees the waker.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use ws_core::sync::Mutex;
use ws_core::sync::atomic::{AtomicBool, Ordering};

use super::lock;
use super::observe::{WatchedNode, within};
use crate::base::panics::{Payload, ignore_panic};

/// Whether a run is cancelled, and the wakers of its branches.
pub(super) struct Cancel {
    cancelled: AtomicBool,
    waiting: Mutex<Vec<Option<Waker>>>,
}

/// The index of a branch's waker, once the branch was pending.
pub(super) type CancelSeat = Option<usize>;

impl Cancel {
    pub(super) fn new() -> Self {
        Self {
            cancelled: AtomicBool::new(false),
            waiting: Mutex::new(Vec::new()),
        }
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Cancels, and wakes all branches that wait.
    pub(super) fn cancel(&self) {
        self.cancel_unheard();
        let waiting = std::mem::take(&mut *lock(&self.waiting));
        for waker in waiting.into_iter().flatten() {
            ignore_panic(|| waker.wake());
        }
    }

    /// Cancels a run of which no branch can be waiting.
    pub(super) fn cancel_unheard(&self) {
        // Relaxed is enough: see the module docs.
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Polls `future` to its end, or until the run is cancelled: then the result is `Ok(None)`.
    /// When this returns, `future` has been dropped.
    ///
    /// # Errors
    /// The payload, if the future panics.
    pub(super) async fn unless<F: Future>(
        &self,
        seat: &mut CancelSeat,
        watch: WatchedNode<'_>,
        future: F,
    ) -> Result<Option<F::Output>, Payload> {
        let mut future = pin!(Some(future));
        let polled = poll_fn(|cx: &mut Context<'_>| {
            if self.is_cancelled() {
                return Poll::Ready(Ok(None));
            }
            let future = future.as_mut().as_pin_mut();
            let future = future.expect("dropped only when ready");
            match within(watch, || catch_unwind(AssertUnwindSafe(|| future.poll(cx)))) {
                Ok(Poll::Ready(output)) => Poll::Ready(Ok(Some(output))),
                Err(payload) => Poll::Ready(Err(payload)),
                Ok(Poll::Pending) => {
                    self.wait(seat, cx.waker());
                    // After leaving the waker: see the module docs.
                    if self.is_cancelled() {
                        Poll::Ready(Ok(None))
                    } else {
                        Poll::Pending
                    }
                }
            }
        })
        .await;
        let dropped = within(watch, || {
            catch_unwind(AssertUnwindSafe(|| future.set(None)))
        });
        match (polled, dropped) {
            (Ok(output), Ok(())) => Ok(output),
            (Err(payload), Ok(())) | (Ok(_), Err(payload)) => Err(payload),
            (Err(payload), Err(second)) => {
                ignore_panic(|| drop(second));
                Err(payload)
            }
        }
    }

    /// Leaves the waker of a pending branch.
    fn wait(&self, seat: &mut CancelSeat, waker: &Waker) {
        let known = |waiting: &[Option<Waker>]| {
            let old = waiting.get((*seat)?)?.as_ref()?;
            Some(old.will_wake(waker))
        };
        if known(&lock(&self.waiting)) == Some(true) {
            return;
        }
        let waker = waker.clone(); // Foreign code: not under the lock.
        let mut waiting = lock(&self.waiting);
        // A cancellation takes the whole list, so the old index is void.
        let seat = match *seat {
            Some(seat) if seat < waiting.len() => seat,
            _ => {
                waiting.push(None);
                *seat.insert(waiting.len() - 1)
            }
        };
        let old = waiting[seat].replace(waker);
        drop(waiting);
        ignore_panic(|| drop(old));
    }

    /// Removes the waker of a branch that no longer waits.
    pub(super) fn stand_up(&self, seat: CancelSeat) {
        if let Some(seat) = seat {
            let waker = lock(&self.waiting).get_mut(seat).and_then(Option::take);
            ignore_panic(|| drop(waker));
        }
    }
}
