//! The worker of the calling thread, if it is one.

use std::cell::Cell;
use std::ptr;

use ws_core::sync::thread_local;

use super::Worker;
use crate::scheduler::shared::Shared;

thread_local! {
    static CURRENT: Cell<*const Worker> = const { Cell::new(ptr::null()) };
}

/// Calls `code` with the calling thread's worker, if that is one of `shared`'s.
///
/// Two executors may meet on one thread, so a worker is not enough: it must belong to the right
/// executor.
#[inline]
pub(crate) fn with<R>(shared: &Shared, code: impl FnOnce(Option<&Worker>) -> R) -> R {
    with_any(|worker| code(worker.filter(|worker| ptr::eq(&**worker.shared(), shared))))
}

/// As [`with`], for a state that may be gone before `code` ends. It also finds a hosted worker
/// between two of its polls, when that can only take in jobs.
#[inline]
pub(crate) fn with_raw<R>(shared: *const Shared, code: impl FnOnce(Option<&Worker>) -> R) -> R {
    with_hosted(|worker| code(worker.filter(|worker| ptr::eq(&**worker.shared(), shared))))
}

/// Calls `code` with the calling thread's worker, of any executor.
#[inline]
pub(crate) fn with_any<R>(code: impl FnOnce(Option<&Worker>) -> R) -> R {
    with_hosted(|worker| code(worker.filter(|worker| !worker.is_in_host())))
}

#[inline]
fn with_hosted<R>(code: impl FnOnce(Option<&Worker>) -> R) -> R {
    // A thread whose locals are gone is no longer a worker.
    let current = CURRENT.try_with(Cell::get).unwrap_or(ptr::null());
    // SAFETY: `enter` borrows the worker for as long as the pointer is set, and
    // resets it on this thread; `code` runs within that time.
    code(unsafe { current.as_ref() })
}

/// Makes `worker` the calling thread's worker, until the guard is dropped.
pub(crate) fn enter(worker: &Worker) -> Entered<'_> {
    Entered {
        outer: CURRENT.with(|current| current.replace(worker)),
        _worker: worker,
    }
}

/// Ends the worker's time on this thread, ahead of the guard.
pub(crate) fn leave(worker: &Worker) {
    CURRENT.with(|current| {
        if ptr::eq(current.get(), worker) {
            current.set(ptr::null());
        }
    });
}

/// Ends the worker's time on this thread when it is dropped.
pub(crate) struct Entered<'a> {
    /// The worker of this thread before: none, or a hosted worker, which enters once more for
    /// each poll.
    outer: *const Worker,
    _worker: &'a Worker,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        CURRENT.with(|current| current.set(self.outer));
    }
}
