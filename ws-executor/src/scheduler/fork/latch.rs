//! What a worker waits on while others run its forks.

use ws_core::chaos;
use ws_core::sync::atomic::{AtomicUsize, Ordering};

use crate::scheduler::until::Until;

/// Something that a worker can sleep on.
pub(crate) trait Latch: Until {
    /// Says that the waiting worker is about to sleep. Fails if the wait is over. Otherwise the
    /// thread that ends the wait learns that it must unpark the worker.
    #[must_use = "a worker must not sleep if the wait is over"]
    fn fall_asleep(&self) -> bool;
}

const OPEN: usize = 0;
/// Open, and the worker that waits sleeps.
const ASLEEP: usize = 1;
const SET: usize = 2;

/// A latch that is set once, by one thread, for one waiting worker.
pub struct OnceLatch(AtomicUsize);

impl OnceLatch {
    /// An open latch.
    #[inline(always)]
    pub fn new() -> Self {
        Self(AtomicUsize::new(OPEN))
    }

    /// Whether it is set.
    #[inline]
    pub fn is_set(&self) -> bool {
        // ORDERING(fork.latch): acquire side.
        self.0.load(Ordering::Acquire) == SET
    }

    /// Sets it. Returns whether the waiting worker sleeps, and must be unparked.
    ///
    /// The latch may be gone by the time this returns.
    #[must_use = "a worker that sleeps must be unparked"]
    pub fn set(&self) -> bool {
        // ORDERING(fork.latch): release side. Acquire is not needed: the only news is that the
        // worker sleeps.
        self.0.swap(SET, Ordering::Release) == ASLEEP
    }

    /// See [`Latch::fall_asleep`].
    pub fn try_sleep(&self) -> bool {
        chaos::point("fork.latch.sleep");
        // A strong exchange: after a spurious failure the worker would think that its
        // fork is done.
        let slept = self
            .0
            .compare_exchange(OPEN, ASLEEP, Ordering::Relaxed, Ordering::Relaxed);
        matches!(slept, Ok(_) | Err(ASLEEP))
    }
}

impl Until for OnceLatch {
    fn is_over(&self) -> bool {
        self.is_set()
    }
}

impl Latch for OnceLatch {
    fn fall_asleep(&self) -> bool {
        self.try_sleep()
    }
}

/// The lowest bit: the worker that waits sleeps. Above it, the count.
const SLEEPS: usize = 1;
const ONE: usize = 2;

/// A latch that is open while a count is above zero, for one waiting worker.
#[derive(Default)]
pub struct CountLatch(AtomicUsize);

impl CountLatch {
    /// Counts one more to wait for.
    pub fn add(&self) {
        self.0.fetch_add(ONE, Ordering::Relaxed);
    }

    /// Counts one less. Returns whether that was the last, and the worker sleeps.
    #[must_use = "a worker that sleeps must be unparked"]
    pub fn remove(&self) -> bool {
        // ORDERING(fork.latch): release side, for each that is counted.
        self.0.fetch_sub(ONE, Ordering::Release) == ONE | SLEEPS
    }

    /// Whether the count is zero.
    pub fn is_zero(&self) -> bool {
        // ORDERING(fork.latch): acquire side.
        self.0.load(Ordering::Acquire) < ONE
    }

    /// See [`Latch::fall_asleep`].
    pub fn try_sleep(&self) -> bool {
        // ORDERING: relaxed; if it is zero already the caller looks again, acquiring.
        self.0.fetch_or(SLEEPS, Ordering::Relaxed) >= ONE
    }
}

impl Until for CountLatch {
    fn is_over(&self) -> bool {
        self.is_zero()
    }
}

impl Latch for CountLatch {
    fn fall_asleep(&self) -> bool {
        self.try_sleep()
    }
}
