//! The context of a runtime, on the threads that need one.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ::tokio::runtime::Handle;
use ::tokio::task::coop::has_budget_remaining;
use ws_core::Driver;
use ws_core::driver::Visitor;

use super::budget;

/// Runs a worker's life in the context of a runtime, where polls can get a budget.
pub(super) fn within(runtime: &Handle, life: &mut dyn FnMut()) {
    budget::provide();
    let _entered = runtime.enter();
    budget::keep(life);
}

/// Waits for a future in the context of a runtime, with a budget for each poll, on a thread
/// that is not a worker.
///
/// The thread may belong to a runtime that waits for this call. If a future has used its budget
/// up, tokio then lets that runtime wake the future. So this function wakes the future itself.
pub(super) fn visit(runtime: &Handle, mut future: Visitor<'_>, wait: &dyn Fn(Visitor<'_>)) {
    if Handle::try_current().is_err_and(|error| error.is_thread_local_destroyed()) {
        return wait(future);
    }
    budget::provide();
    let _entered = runtime.enter();
    let mut future = pin!(poll_fn(|cx| {
        budget::refill();
        let polled = future.as_mut().poll(cx);
        if polled.is_pending() && !has_budget_remaining() {
            cx.waker().wake_by_ref();
        }
        polled
    }));
    budget::keep(&mut || wait(future.as_mut()));
}

/// The driver of an executor that is attached to a runtime. The driver only sleeps: the
/// runtime's threads drive the reactor.
pub(super) struct Attached {
    runtime: Handle,
    woken: Mutex<bool>,
    changed: Condvar,
}

impl Attached {
    pub(super) fn new(runtime: Handle) -> Self {
        Self {
            runtime,
            woken: Mutex::new(false),
            changed: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        // No code under the lock can panic.
        self.woken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Driver for Attached {
    fn enter(&self, life: &mut dyn FnMut()) {
        within(&self.runtime, life);
    }

    fn turn(&self, timeout: Option<Duration>) {
        let mut woken = self.lock();
        match timeout {
            None => {
                while !*woken {
                    woken = self
                        .changed
                        .wait(woken)
                        .unwrap_or_else(PoisonError::into_inner);
                }
            }
            Some(timeout) => {
                let waited = self
                    .changed
                    .wait_timeout_while(woken, timeout, |woken| !*woken);
                (woken, _) = waited.unwrap_or_else(PoisonError::into_inner);
            }
        }
        *woken = false;
    }

    fn wake(&self) {
        *self.lock() = true;
        self.changed.notify_one();
    }

    fn poll_scope(&self, poll: &mut dyn FnMut()) {
        budget::refill();
        poll();
    }

    fn block_on(&self, future: Visitor<'_>, wait: &dyn Fn(Visitor<'_>)) {
        visit(&self.runtime, future, wait);
    }
}
