//! The cooperative budget: how much a task may do in one poll.
//!
//! A future that finds all its resources ready never returns `Pending`. A task that awaits
//! such futures in a loop keeps its worker for ever. So each poll of a task starts with a
//! budget of 128 units, unless [`Builder::budget`] sets another number. A resource that may be
//! ready again and again takes one unit for each success. When the budget is used up, the
//! resource returns `Pending` and wakes the task, which then waits behind the other tasks.
//!
//! Awaiting a [`Task`](crate::Task) takes a unit; your own loops can [`consume`] one in each
//! turn. Outside of tasks, and in code that [computes], the budget is unlimited.
//!
//! A `block_on` of another crate inside a task's poll has the rest of the task's budget. When
//! that is used up, the `block_on` polls for ever, since nothing refills the budget. Our
//! [`block_on`](crate::block_on()) has an unlimited budget: a loop over ready resources inside
//! it never returns to a timeout around the loop. Spawn the loop, or call
//! [`yield_now`](crate::yield_now()) in it.
//!
//! [computes]: crate::compute
//!
//! [`Builder::budget`]: crate::Builder::budget

use std::cell::Cell;
use std::future::poll_fn;
use std::task::{Context, Poll};

use ws_core::sync::thread_local;

/// The budget outside of tasks: more than any code uses up.
const UNLIMITED: u32 = u32::MAX;

/// Units for one poll, unless the builder sets another number; tokio's number.
pub(crate) const DEFAULT: u32 = 128;

thread_local! {
    static BUDGET: Cell<u32> = const { Cell::new(UNLIMITED) };
}

/// Takes one unit of the current task's budget; waits for the next poll of the task
/// if there is none left.
///
/// ```
/// # ws_executor::block_on(async {
/// let sum = ws_executor::spawn(async {
///     let mut sum = 0_u64;
///     for n in 0..100_000 {
///         ws_executor::coop::consume().await; // others get their turns, too
///         sum += n;
///     }
///     sum
/// });
/// assert_eq!(sum.await, 4_999_950_000);
/// # });
/// ```
pub async fn consume() {
    poll_fn(|cx| poll_proceed(cx).map(Proceed::made_progress)).await;
}

/// Returns whether the current task has budget left in this poll.
///
/// ```
/// assert!(ws_executor::coop::has_budget()); // no task: no end
/// ```
#[must_use]
#[inline]
pub fn has_budget() -> bool {
    left() > 0
}

#[inline]
fn left() -> u32 {
    // A thread whose thread-locals are gone no longer runs tasks.
    BUDGET.try_with(Cell::get).unwrap_or(UNLIMITED)
}

#[inline]
fn set(units: u32) {
    let _ = BUDGET.try_with(|budget| budget.set(units));
}

/// The right to try an operation; it costs a unit if the operation succeeds.
#[must_use = "an operation that succeeds must say so"]
pub(crate) struct Proceed(());

impl Proceed {
    #[inline]
    pub(crate) fn made_progress(self) {
        let left = left();
        if left != UNLIMITED {
            set(left.saturating_sub(1));
        }
    }
}

/// Ready if there is budget left; otherwise the task is woken for its next turn.
#[inline]
pub(crate) fn poll_proceed(cx: &mut Context<'_>) -> Poll<Proceed> {
    if has_budget() {
        return Poll::Ready(Proceed(()));
    }
    cx.waker().wake_by_ref();
    Poll::Pending
}

/// Begins a tick with this budget.
#[inline]
pub(crate) fn refill(units: u32) {
    set(units);
}

/// Runs code that is not part of a task, and restores the task's budget afterwards.
pub(crate) fn unlimited<R>(code: impl FnOnce() -> R) -> R {
    with(UNLIMITED, code)
}

/// Runs one poll of a task with the default budget.
pub(crate) fn limited<R>(code: impl FnOnce() -> R) -> R {
    with(DEFAULT, code)
}

fn with<R>(units: u32, code: impl FnOnce() -> R) -> R {
    /// Restores also when `code` panics.
    struct Restore(u32);

    impl Drop for Restore {
        fn drop(&mut self) {
            set(self.0);
        }
    }

    let _restore = Restore(left());
    set(units);
    code()
}
