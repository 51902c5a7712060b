//! A word to sleep on, by a mutex and a condition variable.
//!
//! For systems without a futex that we use directly, and, with their locks, for
//! loom and shuttle. Only comparing-and-sleeping needs the mutex, to be one step
//! with regard to wakes; the word itself is changed without it.
//!
//! # No wake is lost
//!
//! The waker changes the word, then takes and releases the mutex, then notifies.
//! If its turn with the mutex comes before the sleeper's, the sleeper sees the
//! changed word and does not sleep. If it comes after, the sleeper is waiting
//! already (waiting is what released the mutex) and is notified.
//!
//! Taking the mutex is the one place where an unpark can meet another thread; that
//! thread holds it for a comparison, never while it sleeps.
//!
//! # Under the model checkers
//!
//! The condition variables of loom and shuttle never time out, which is why
//! `deadline_model.rs` lets no timed wait come this far. And the mutex orders more
//! than a futex does: a woken sleeper has synchronised with its waker even if the
//! state machine forgot to. The paths around the mutex still show the flaw, as
//! both checkers explore the sleeper that never slept.

use core::ops::Deref;
use core::time::Duration;
use std::sync::PoisonError;

use crate::sync::atomic::{AtomicU32, Ordering};
use crate::sync::{Condvar, Mutex, MutexGuard};

/// A word that a thread can sleep on.
pub(super) struct Futex {
    word: AtomicU32,
    gate: Mutex<()>,
    woken: Condvar,
}

impl Futex {
    /// A word with this value.
    pub(super) fn new(value: u32) -> Self {
        Self {
            word: AtomicU32::new(value),
            gate: Mutex::new(()),
            woken: Condvar::new(),
        }
    }

    /// Sleeps until woken if the word is `expected`; may return for no reason.
    pub(super) fn wait(&self, expected: u32) {
        if let Some(gate) = self.gate_if(expected) {
            drop(self.woken.wait(gate));
        }
    }

    /// Like [`wait`](Self::wait), but not much longer than `timeout`.
    pub(super) fn wait_timeout(&self, expected: u32, timeout: Duration) {
        if let Some(gate) = self.gate_if(expected) {
            drop(self.woken.wait_timeout(gate, timeout));
        }
    }

    /// Wakes the sleeper, if there is one.
    pub(super) fn wake_one(&self) {
        drop(self.lock());
        self.woken.notify_one();
    }

    /// The mutex, if the word is `expected` while it is held.
    fn gate_if(&self, expected: u32) -> Option<MutexGuard<'_, ()>> {
        let gate = self.lock();
        // ORDERING: relaxed; a waker that had the mutex before us is ordered by it.
        (self.word.load(Ordering::Relaxed) == expected).then_some(gate)
    }

    fn lock(&self) -> MutexGuard<'_, ()> {
        // Nobody panics while holding it, and there is nothing in it to spoil.
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Deref for Futex {
    type Target = AtomicU32;

    fn deref(&self) -> &AtomicU32 {
        &self.word
    }
}
