//! The place of the driver: at most one thread is in it.
//!
//! A driver is the user's code. All its methods are called from this file, and their panics end
//! here: the caller may hold something that others borrow.
//!
//! # Memory ordering
//!
//! | edge | release side | acquire side | makes visible |
//! |---|---|---|---|
//! | `driver.taken` | `leave` | `take` | what the last thread did inside: the driver is used by one after the other |
//!
//! `leave` also has the fence of the sleep protocol's step P2 ([`sleep`](crate::scheduler::sleep)).

use std::time::Duration;

use ws_core::Driver;
use ws_core::driver::Visitor;
use ws_core::sync::CachePadded;
use ws_core::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};

use crate::base::coop;
use crate::base::panics::{Contained, ignore_panic};

/// See [`Builder::host_visitors`](crate::Builder::host_visitors).
pub(crate) type VisitorHost = Contained<Box<dyn Fn(Visitor<'_>) + Send + Sync>>;

/// What happens to the driver when its worker leaves it to run tasks.
///
/// A poll may take long. Meanwhile no thread sees the events of the driver's reactor, unless
/// another worker takes over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DriverHandoff {
    /// Nothing: the driver stays alone until its worker comes back, another one runs out of
    /// work, or a busy one has its turn to look at the driver.
    Off,
    /// If the driver was left alone, the monitor lets a parked worker take over. The monitor is
    /// a thread that looks two to three times a millisecond while that may happen. This costs
    /// little, and is the default.
    #[default]
    Monitor,
    /// Another parked worker takes over at once. The lowest latency, for one more
    /// wake-up each time.
    Eager,
}

#[allow(non_upper_case_globals, reason = "stands for a variant")]
impl DriverHandoff {
    /// [`Monitor`](Self::Monitor) by its older name.
    #[doc(hidden)]
    pub const Sentinel: Self = Self::Monitor;
}

/// The driver, and whether a worker is in it.
#[allow(unreachable_pub, reason = "public for the model checkers, see `model`")]
pub struct SharedDriver {
    /// Its drop may be the user's code, too. It runs on the thread that drops the last
    /// reference.
    driver: Contained<Box<dyn Driver>>,
    handoff: DriverHandoff,
    taken: CachePadded<AtomicBool>,
    /// How often it was turned.
    turns: AtomicU64,
}

#[allow(unreachable_pub, reason = "public for the model checkers, see `model`")]
impl SharedDriver {
    /// A driver that no thread is in.
    pub fn new(driver: Box<dyn Driver>, handoff: DriverHandoff) -> Self {
        Self {
            driver: Contained::new(driver),
            handoff,
            taken: CachePadded::new(AtomicBool::new(false)),
            turns: AtomicU64::new(0),
        }
    }

    /// Runs the main function of a thread, in the driver's context.
    pub(crate) fn enter(&self, life: &mut dyn FnMut()) {
        ignore_panic(|| self.driver.get().enter(life));
    }

    /// Waits in the driver. The caller has taken it.
    pub fn turn(&self, timeout: Option<Duration>) {
        self.turns.fetch_add(1, Ordering::Relaxed);
        // What runs in the driver is not part of the last task.
        ignore_panic(|| coop::unlimited(|| self.driver.get().turn(timeout)));
    }

    /// Ends a turn, from any thread.
    pub fn wake(&self) {
        ignore_panic(|| self.driver.get().wake());
    }

    /// Says that the turn on this thread has woken a task.
    pub(crate) fn wake_local(&self) {
        ignore_panic(|| self.driver.get().wake_local());
    }

    /// Polls something as the driver wants it, if the implementation calls `poll`.
    pub(crate) fn poll_scope(&self, poll: &mut dyn FnMut()) {
        ignore_panic(|| self.driver.get().poll_scope(poll));
    }

    /// Waits for a future as the driver wants it, if the implementation calls `wait`.
    pub(crate) fn block_on(&self, future: Visitor<'_>, wait: &dyn Fn(Visitor<'_>)) {
        ignore_panic(|| self.driver.get().block_on(future, wait));
    }

    /// Whether no thread is in the driver, at some moment.
    pub fn is_free(&self) -> bool {
        !self.taken.load(Ordering::Relaxed)
    }

    /// Whether a worker that found the driver taken, and has entered the wake table since (W3),
    /// must take it after all: the thread that left the driver may not have seen that worker.
    pub fn was_missed(&self) -> bool {
        self.is_free()
    }

    /// Takes the driver, if it is free.
    #[must_use = "a thread that takes the driver must leave it"]
    pub fn take(&self) -> bool {
        // ORDERING(driver.taken): acquire side; the driver is used by one thread
        // after the other.
        if self.is_free() && !self.taken.swap(true, Ordering::Acquire) {
            return true;
        }
        false
    }

    /// Leaves the driver to others.
    pub fn leave(&self) {
        // ORDERING(driver.taken): release side.
        self.taken.store(false, Ordering::Release);
        // ORDERING(sleep.fence): a worker that parks sees the driver free, or we
        // see it parked.
        fence(Ordering::SeqCst);
    }

    pub(crate) fn turns(&self) -> u64 {
        self.turns.load(Ordering::Relaxed)
    }

    /// Whether the monitor must watch the driver.
    pub fn wants_watching(&self) -> bool {
        self.handoff != DriverHandoff::Off && self.is_free()
    }

    /// Whether a worker must enter the driver at once. The worker that was called for it may
    /// have found a task instead.
    pub fn wants_a_worker(&self) -> bool {
        self.handoff == DriverHandoff::Eager && self.is_free()
    }

    /// What becomes of the driver when its worker leaves it.
    pub(crate) fn handoff(&self) -> DriverHandoff {
        self.handoff
    }
}
