//! A word to sleep on, by a mutex and a condition variable.
//!
//! This file is for systems whose futex this crate does not use, and, with their own
//! locks, for loom and shuttle. Only the comparison and the sleep need the mutex, so that
//! they are one step with regard to wakes. The word itself is changed without the mutex.
//!
//! # No wake is lost
//!
//! The waker changes the word, then takes and releases the mutex, then notifies. If the
//! waker has the mutex before the sleeper, the sleeper sees the changed word and does not
//! sleep. If the waker has the mutex after the sleeper, the sleeper is already waiting
//! (the wait has released the mutex) and is notified.
//!
//! The mutex is the one place where an unpark can wait for another thread. That thread
//! holds the mutex for a comparison, never while it sleeps.
//!
//! # Under the model checkers
//!
//! The condition variables of loom and shuttle never time out. So `deadline_model.rs`
//! lets no timed wait come to this file. Besides, the mutex orders more than a futex does:
//! a woken sleeper has synchronised with its waker even if the state machine has a missing
//! edge. The paths without the mutex still show the flaw, as both checkers explore a
//! sleeper that never slept.

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

    /// Sleeps until woken if the word is `expected`. May return without a reason.
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

    /// Locks the mutex, and keeps it if the word is `expected`.
    fn gate_if(&self, expected: u32) -> Option<MutexGuard<'_, ()>> {
        let gate = self.lock();
        // ORDERING: relaxed; the mutex orders this load after the change of a waker that
        // had the mutex before.
        (self.word.load(Ordering::Relaxed) == expected).then_some(gate)
    }

    fn lock(&self) -> MutexGuard<'_, ()> {
        // No thread panics while it holds the mutex, and the mutex contains no data.
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Deref for Futex {
    type Target = AtomicU32;

    fn deref(&self) -> &AtomicU32 {
        &self.word
    }
}
