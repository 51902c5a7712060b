//! The cooperative budget: how much a task may do in one poll.
//!
//! A future that finds all its resources ready never returns `Pending`, and
//! whoever awaits such futures in a loop keeps its worker for ever. So each poll of a
//! task starts with a budget of units (128 unless [`Builder::budget`] says
//! otherwise), and resources that may be ready again and again take one for
//! each success. When it is used up they return `Pending` and wake the task, which
//! then lines up behind the others.
//!
//! Awaiting a [`Task`](crate::Task) takes a unit; your own loops can
//! [`consume`] one each turn. Outside of tasks, and in code that [computes], the budget has no
//! end. A `block_on` of another crate inside a task's poll has what is left of the task's: when
//! that is used up it polls for ever, since nobody refills it. [`block_on`](crate::block_on()) has
//! a budget without end: a loop over ready resources inside it never returns to a timeout around
//! the loop. Spawn the loop, or [`yield_now`](crate::yield_now()) in it.
//!
//! [computes]: crate::compute
//!
//! [`Builder::budget`]: crate::Builder::budget

use std::cell::Cell;
use std::future::poll_fn;
use std::task::{Context, Poll};

use ws_core::sync::thread_local;

/// More than anyone uses up.
const UNLIMITED: u32 = u32::MAX;

/// Units for one poll, unless the builder says otherwise; the number of tokio.
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
pub fn has_budget() -> bool {
    left() > 0
}

fn left() -> u32 {
    // A thread whose locals are gone runs no tasks any more.
    BUDGET.try_with(Cell::get).unwrap_or(UNLIMITED)
}

fn set(units: u32) {
    let _ = BUDGET.try_with(|budget| budget.set(units));
}

/// The right to try an operation; it costs a unit if the operation succeeds.
#[must_use = "an operation that succeeds has to say so"]
pub(crate) struct Proceed(());

impl Proceed {
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

/// Runs code that is no part of a task, and gives the task its budget back after.
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
