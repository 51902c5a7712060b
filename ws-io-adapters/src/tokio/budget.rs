//! tokio's cooperative budget, in polls that are not tokio's.
//!
//! tokio's channels, sockets and timers count their operations against a budget of the
//! thread. When the budget is used up, they pretend not to be ready, so that a task with ready
//! resources lets other tasks run. tokio's own tasks get 128 units in each poll. Outside of
//! these tasks the budget is unlimited. Here every poll of a task, and of the future of a
//! `block_on`, gets a budget, too.
//!
//! tokio has no function that sets the budget. It has these:
//!
//! - [`RestoreOnPending`] is returned by [`poll_proceed`], which takes one unit. The drop of
//!   the value restores the budget that was there before. A value that was made at a full
//!   budget fills the budget once; at that moment the next such value can be made
//!   ([`refill`]). That costs a few nanoseconds, and one unit.
//! - A [`LocalSet`] polls its tasks with a full budget, on any thread: the first such value
//!   is made in one ([`full`]). A `block_on` of tokio's has a full budget as well, but it
//!   panics where a runtime runs on the thread already.
//! - [`unconstrained`] restores the budget that was there before, also the unlimited one,
//!   and also after a panic ([`keep`]).
//!
//! A poll has 127 units here, not 128. A refill to 128 would need two values that were made
//! at 128. But `poll_proceed` gives only one such value for the one that was used. So each
//! refill would have to begin with a new [`LocalSet`] task or a `block_on` (66 ns, not a few).

use std::cell::Cell;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};

use ::tokio::task::LocalSet;
use ::tokio::task::coop::{RestoreOnPending, poll_proceed, unconstrained};

thread_local! {
    static FULL: Full = const { Full(Cell::new(None)) };
}

/// What restores a thread's full budget when it is dropped.
struct Full(Cell<Option<RestoreOnPending>>);

impl Drop for Full {
    fn drop(&mut self) {
        // Code that runs after this, at the end of the thread, has no limit.
        if let Some(full) = self.0.take() {
            full.made_progress();
        }
    }
}

/// Makes [`refill`] work on this thread, unless its thread-locals are gone.
pub(super) fn provide() {
    let _ = FULL.try_with(|slot| {
        let full = slot.0.take().or_else(full);
        slot.0.set(full);
    });
}

/// Makes a value that restores a full budget.
fn full() -> Option<RestoreOnPending> {
    let full = Rc::new(Cell::new(None));
    let slot = Rc::clone(&full);
    let task = poll_fn(move |cx| {
        slot.set(Some(ready!(poll_proceed(cx))));
        Poll::Ready(())
    });
    // Without tokio's thread-locals this panics, and then the budget has no limit.
    let _ = catch_unwind(AssertUnwindSafe(|| {
        let set = LocalSet::new();
        set.spawn_local(task);
        let _ = pin!(set).poll(&mut Context::from_waker(Waker::noop()));
    }));
    full.take()
}

/// Gives the thread a full budget, less one unit, if [`provide`] was called there. It must be
/// called inside [`keep`].
pub(super) fn refill() {
    let _ = FULL.try_with(|slot| {
        let Some(full) = slot.0.take() else {
            return;
        };
        drop(full);
        if let Poll::Ready(full) = poll_proceed(&mut Context::from_waker(Waker::noop())) {
            slot.0.set(Some(full));
        }
    });
}

/// Runs `code`, at first with an unlimited budget. Restores the budget that was there before,
/// also when `code` panics.
pub(super) fn keep(code: &mut dyn FnMut()) {
    let code = pin!(unconstrained(poll_fn(|_| {
        code();
        Poll::Ready(())
    })));
    let _ = code.poll(&mut Context::from_waker(Waker::noop()));
}

#[cfg(test)]
mod tests {
    use super::{keep, provide, refill};
    use ::tokio::task::coop::{has_budget_remaining, poll_proceed};
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::task::{Context, Poll, Waker};

    /// Uses the budget up and returns how many units it had. Stops at 1000, which means that
    /// there is no limit.
    fn use_up() -> usize {
        let mut cx = Context::from_waker(Waker::noop());
        let mut units = 0;
        while units < 1000 {
            match poll_proceed(&mut cx) {
                Poll::Ready(unit) => unit.made_progress(),
                Poll::Pending => break,
            }
            units += 1;
        }
        units
    }

    #[test]
    fn every_refill_is_full() {
        assert_eq!(use_up(), 1000, "outside of a task there is no limit");
        provide();
        assert_eq!(use_up(), 1000, "nothing is filled yet");
        keep(&mut || {
            for _ in 0..3 {
                refill();
                assert_eq!(use_up(), 127);
                assert!(!has_budget_remaining());
                provide();
            }
            // Also after a part of it was used.
            refill();
            let mut cx = Context::from_waker(Waker::noop());
            let _ = poll_proceed(&mut cx).map(|unit| unit.made_progress());
            refill();
            assert_eq!(use_up(), 127);
        });
        assert_eq!(use_up(), 1000);
    }

    #[test]
    fn an_outer_budget_is_kept() {
        provide();
        keep(&mut || {
            refill();
            let _ = catch_unwind(AssertUnwindSafe(|| {
                keep(&mut || {
                    assert_eq!(use_up(), 1000);
                    refill();
                    panic!("after {} units", use_up());
                });
            }));
            assert_eq!(use_up(), 127);
        });
    }

    #[test]
    fn without_a_provision_nothing_changes() {
        refill();
        assert_eq!(use_up(), 1000);
    }
}
