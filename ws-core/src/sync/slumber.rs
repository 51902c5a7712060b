//! A watcher that sleeps while there is nothing to watch, and is not called in vain.
//!
//! Whoever has something to be watched says so, fences lightly, and looks whether the
//! watcher sleeps ([`Slumber::call`]). The watcher says that it sleeps, fences heavily
//! ([`Slumber::fall_asleep`]), and looks whether there is something to watch. One of them
//! sees the other. So a call costs a load while someone watches, and no fence.
//!
//! The models `exec.fork.stand_in` show it, with a mutant for each fence. How the watcher
//! is woken, and started, is its own business.

use super::atomic::{AtomicU8, Ordering};
use super::{CachePadded, asymmetric};

/// Nobody watches.
pub const ABSENT: u8 = 0;
const ASLEEP: u8 = 1;
/// Someone watches.
pub const AWAKE: u8 = 2;
/// Nobody will watch.
pub const GONE: u8 = 3;

/// Whether the watcher watches or sleeps, or is not there.
#[derive(Debug)]
pub struct Slumber(CachePadded<AtomicU8>);

/// How a call finds the watcher; it is awake, or about to be, after that.
#[must_use = "one that was asleep has to be unparked, one that was absent started"]
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    /// Someone watches, or nobody ever will.
    Awake,
    /// It slept.
    WasAsleep,
    /// There was no thread.
    WasAbsent,
}

impl Slumber {
    /// In this state.
    pub fn new(state: u8) -> Self {
        Self(CachePadded::new(AtomicU8::new(state)))
    }

    /// The caller's side, after it has said that there is something to watch.
    #[inline]
    pub fn call(&self) -> Answer {
        // ORDERING(slumber.call): the caller's side.
        asymmetric::light();
        match self.0.load(Ordering::Relaxed) {
            ASLEEP if self.change(ASLEEP, AWAKE) => Answer::WasAsleep,
            ABSENT if self.change(ABSENT, AWAKE) => Answer::WasAbsent,
            _ => Answer::Awake,
        }
    }

    /// The watcher's side: after this it has to look whether there is something to watch.
    pub fn fall_asleep(&self) {
        self.set(ASLEEP);
        // ORDERING(slumber.call): the watcher's side.
        asymmetric::heavy();
    }

    /// There is: it does not sleep after all. If this changes nothing, someone has called.
    pub fn stay_awake(&self) {
        self.change(ASLEEP, AWAKE);
    }

    /// Whether nobody has called since it fell asleep.
    pub fn is_asleep(&self) -> bool {
        self.0.load(Ordering::Relaxed) == ASLEEP
    }

    fn change(&self, old: u8, new: u8) -> bool {
        let relaxed = Ordering::Relaxed;
        let changed = self.0.compare_exchange(old, new, relaxed, relaxed);
        changed.is_ok()
    }

    /// Changes the state, whatever it was.
    pub fn set(&self, state: u8) {
        self.0.store(state, Ordering::Relaxed);
    }
}
