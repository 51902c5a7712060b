//! tokio's cooperative budget, in tasks that are not tokio's.
//!
//! tokio's channels, sockets and timers count their operations against a budget of the
//! thread, and pretend not to be ready when it is used up, so that a task with ready
//! resources lets others run. tokio's own tasks get 128 in each poll; outside of them the
//! budget is unlimited.
//!
//! There is no function that sets the budget, but one that puts it back:
//! [`RestoreOnPending`], which [`poll_proceed`] returns, restores on drop the budget that
//! was there before it took one unit off. So the value that was made at a full budget is
//! a means to have a full one again, for one time; and at that moment the next such value
//! can be had. It costs a few nanoseconds. (A `block_on` of tokio's around each poll would
//! also have a budget, for 66 ns, but in there `Handle::block_on` panics.)

use std::cell::Cell;
use std::future::poll_fn;
use std::task::{Context, Poll, Waker, ready};

use ::tokio::runtime::Handle;
use ::tokio::task::coop::{RestoreOnPending, poll_proceed};

thread_local! {
    /// Restores the full budget when it is dropped.
    static FULL: Cell<Option<RestoreOnPending>> = const { Cell::new(None) };
}

/// Makes [`refill`] work on this thread, which must not be inside a runtime's `block_on`.
pub(super) fn provide(runtime: &Handle) {
    let full = runtime.block_on(poll_fn(|cx| Poll::Ready(ready!(poll_proceed(cx)).into())));
    FULL.set(full);
}

/// Gives the thread a full budget, less one unit, if [`provide`] was called there.
pub(super) fn refill() {
    let Some(full) = FULL.take() else {
        return;
    };
    drop(full);
    let mut cx = Context::from_waker(Waker::noop());
    if let Poll::Ready(full) = poll_proceed(&mut cx) {
        FULL.set(Some(full));
    }
}

/// Undoes [`provide`].
pub(super) fn withdraw() {
    FULL.take();
}

#[cfg(test)]
mod tests {
    use super::{provide, refill, withdraw};
    use ::tokio::runtime::Builder;
    use ::tokio::task::coop::{has_budget_remaining, poll_proceed};
    use std::task::{Context, Poll, Waker};

    /// Uses the budget up, and counts; gives up where it seems to have no end.
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
        let runtime = Builder::new_current_thread().build().unwrap();
        assert_eq!(use_up(), 1000, "outside of a task there is no limit");
        provide(runtime.handle());
        for _ in 0..3 {
            refill();
            assert_eq!(use_up(), 127);
            assert!(!has_budget_remaining());
        }
        // Also after a part of it was used.
        refill();
        let mut cx = Context::from_waker(Waker::noop());
        let _ = poll_proceed(&mut cx).map(|unit| unit.made_progress());
        refill();
        assert_eq!(use_up(), 127);
        withdraw();
    }

    #[test]
    fn without_a_provision_nothing_changes() {
        refill();
        assert_eq!(use_up(), 1000);
    }
}
