//! A runtime that belongs to an executor: idle workers sleep in it.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ::tokio::runtime::{Builder, Handle, Runtime};
use ::tokio::task::block_in_place;
use ws_core::Driver;
use ws_core::driver::Visitor;

use super::budget;
use super::context::{visit, within};
use super::signal::Signal;

/// The driver of an executor with a runtime of its own.
pub(super) struct Parked {
    handle: Handle,
    signal: Signal,
    state: Mutex<State>,
}

struct State {
    /// `None` after the last thread has left [`Driver::enter`].
    runtime: Option<Arc<Quiet>>,
    /// How many threads are inside [`Driver::enter`].
    lives: usize,
}

impl Parked {
    pub(super) fn new() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        Ok(Self {
            handle: runtime.handle().clone(),
            signal: Signal::default(),
            state: Mutex::new(State {
                runtime: Some(Arc::new(Quiet(Some(runtime)))),
                lives: 0,
            }),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing is done under the lock that could panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin_life(&self) {
        self.lock().lives += 1;
    }

    /// The last thread that leaves drops the runtime, and the tasks that were spawned on it.
    fn end_life(&self) {
        let mut state = self.lock();
        state.lives -= 1;
        let runtime = if state.lives == 0 {
            state.runtime.take()
        } else {
            None
        };
        drop(state);
        drop(runtime);
    }
}

impl Driver for Parked {
    fn enter(&self, life: &mut dyn FnMut()) {
        /// Ends the life also if it panics.
        struct Life<'a>(&'a Parked);

        impl Drop for Life<'_> {
            fn drop(&mut self) {
                self.0.end_life();
            }
        }

        self.begin_life();
        let _life = Life(self);
        within(&self.handle, life);
    }

    fn turn(&self, timeout: Option<Duration>) {
        // Not under the lock: tasks of the runtime run inside this call.
        let runtime = self.lock().runtime.clone();
        // If there is no runtime, the executor is shut down, and the worker is about to end.
        let quiet = runtime.as_deref().and_then(|quiet| quiet.0.as_ref());
        if let Some(runtime) = quiet {
            // A task may have called our `block_on` inside tokio's `Handle::block_on`, where no
            // runtime can be entered. `block_in_place` leaves that context, and does nothing
            // elsewhere.
            block_in_place(|| runtime.block_on(self.signal.wait(timeout)));
        }
    }

    fn wake(&self) {
        self.signal.set();
    }

    // On the runtime's own thread the signal costs no system call.
    fn wake_local(&self) {
        self.signal.set();
    }

    fn poll_scope(&self, poll: &mut dyn FnMut()) {
        budget::refill();
        poll();
    }

    fn block_on(&self, future: Visitor<'_>, wait: &dyn Fn(Visitor<'_>)) {
        visit(&self.handle, future, wait);
    }
}

/// A runtime that does not wait for code in `spawn_blocking` when it is dropped. Such a wait
/// would block the shutdown, and panic inside another runtime.
struct Quiet(Option<Runtime>);

impl Drop for Quiet {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
