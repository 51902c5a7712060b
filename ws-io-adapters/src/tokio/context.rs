//! A thread's place in a runtime.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ::tokio::runtime::Handle;
use ws_core::Driver;
use ws_core::driver::Visitor;

use super::budget;

/// Runs a worker's life in the context of a runtime, with budgets to be had.
pub(super) fn within(runtime: &Handle, life: &mut dyn FnMut()) {
    /// Also when the life panics.
    struct Budgets;

    impl Drop for Budgets {
        fn drop(&mut self) {
            budget::withdraw();
        }
    }

    budget::provide(runtime);
    let _budgets = Budgets;
    let _entered = runtime.enter();
    life();
}

/// The driver of an executor that is attached to a runtime. It only sleeps: the reactor
/// is driven by the runtime's threads.
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
        // Nothing is done under the lock that could panic.
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
        let _entered = self.runtime.enter();
        wait(future);
    }
}
