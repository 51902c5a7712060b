//! A watcher that sleeps while there is nothing to watch, and is not called in vain.
//!
//! Whoever has something to be watched says so, fences lightly, and looks whether the
//! watcher sleeps ([`Slumber::call`]). The watcher says that it sleeps, fences heavily, and
//! looks whether there is something to watch ([`Slumber::fall_asleep`]). One of them
//! sees the other. So a call costs a load while someone watches, and no fence.
//!
//! The models `exec.fork.stand_in` show it, with a mutant for each fence and one for the
//! look. How the watcher is woken, and started, is its own business.
//!
//! # Memory ordering
//!
//! | edge | release side | acquire side | makes visible |
//! |---|---|---|---|
//! | `slumber.call` | caller: light fence in `call` | watcher: heavy fence in `fall_asleep` | that there is something to watch, or that the watcher sleeps; both ways |

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

    /// The watcher's side: falls asleep, unless there is something to watch after all. The
    /// watcher then sleeps while it [is asleep](Self::is_asleep).
    pub fn fall_asleep(&self, is_something_to_watch: impl FnOnce() -> bool) {
        self.set(ASLEEP);
        // ORDERING(slumber.call): the watcher's side.
        asymmetric::heavy();
        if is_something_to_watch() {
            // If this changes nothing, someone has called.
            self.change(ASLEEP, AWAKE);
        }
    }

    /// Whether the watcher fell asleep, and nobody has called since.
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
