//! How far the threads of an executor are: which have started, and which have ended.

use ws_core::sync::{Condvar, Mutex, MutexGuard};

use crate::base::panics::{Payload, drop_payload};

/// How far the threads are.
#[derive(Default)]
pub(crate) struct ThreadProgress {
    state: Mutex<HowFar>,
    changed: Condvar,
}

#[derive(Default)]
struct HowFar {
    started: usize,
    /// For how many starts a thread waits.
    awaited: Option<usize>,
    ended: usize,
    /// The first panic of a start hook.
    panic: Option<Payload>,
}

impl ThreadProgress {
    fn lock(&self) -> MutexGuard<'_, HowFar> {
        self.state.lock().expect("never poisoned")
    }

    pub(super) fn report_start(&self, result: Result<(), Payload>) {
        let mut state = self.lock();
        state.started += 1;
        let mut second = None;
        if let Err(payload) = result {
            match &state.panic {
                None => state.panic = Some(payload),
                Some(_) => second = Some(payload),
            }
        }
        let are_all = state
            .awaited
            .is_some_and(|awaited| state.started >= awaited);
        drop(state);
        if are_all {
            self.changed.notify_all();
        }
        second.into_iter().for_each(drop_payload);
    }

    /// Waits until this many threads have run their start hooks. An error is the panic of a hook.
    pub(super) fn wait_for_start(&self, threads: usize) -> Result<(), Payload> {
        let mut state = self.lock();
        state.awaited = Some(threads);
        while state.started < threads {
            state = self.changed.wait(state).expect("never poisoned");
        }
        state.panic.take().map_or(Ok(()), Err)
    }

    /// Whether this many threads have said that they end.
    pub(crate) fn have_ended(&self, threads: usize) -> bool {
        self.lock().ended >= threads
    }

    /// Called by a thread that ends, before it lets the others look.
    pub(crate) fn report_end(&self) {
        self.lock().ended += 1;
    }
}
