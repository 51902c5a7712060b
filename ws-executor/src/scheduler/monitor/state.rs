//! Whether the monitor watches, and how it falls asleep.
//!
//! # The protocol
//!
//! The monitor must watch while a task is in a slot or a ring, while no thread is in the
//! driver, and while a task is queued and every worker is awake. A caller says that one of
//! these holds ([`MonitorState::needs_call`], [`MonitorState::call`]). That costs a relaxed
//! load while the monitor is awake.
//!
//! A caller is one of two:
//! - (C1) a worker that is awake. It has left the wake table and fenced since it last slept
//!   ([`sleep`](crate::scheduler::sleep), W5 and the end of W4), or it has never slept;
//! - (C2) a thread that has queued a task, has fenced (P2), and has then found no worker parked.
//!
//! The monitor ([`MonitorState::fall_asleep`]):
//! 1. (M1) says that it sleeps;
//! 2. (M2) fences;
//! 3. (M3) looks whether every worker is parked and every queue is empty. If not, it says that
//!    it is awake.
//!
//! # Why it does not oversleep
//!
//! Consider a caller that has found the monitor awake, and a later M1.
//! - C1: the caller did not see M1, so the fence after its sleep comes before M2. M3 sees that
//!   this worker is not parked.
//! - C2: likewise P2 comes before M2, so M3 sees the task, or sees that it was taken. The
//!   worker that took it is awake, or has parked since and looked at every queue itself.
//!
//! So once it was called, the monitor stays awake for as long as any worker is awake.
//!
//! # Memory ordering
//!
//! | edge | release side | acquire side | makes visible |
//! |---|---|---|---|
//! | `monitor.sleep` | C1: the fence of `sleep.departed`; C2: the fence of P2 | M2 | that a worker is awake, or the task; the other way round, that the monitor sleeps |

use ws_core::chaos;
use ws_core::sync::CachePadded;
use ws_core::sync::atomic::{AtomicU8, Ordering, fence};

const ABSENT: u8 = 0;
const ASLEEP: u8 = 1;
const AWAKE: u8 = 2;
const GONE: u8 = 3;

/// Whether the monitor watches or sleeps, or is not there.
pub struct MonitorState(CachePadded<AtomicU8>);

/// What a caller must do. After that, the monitor is awake.
#[must_use = "a monitor that slept must be unparked, an absent one started"]
#[derive(Debug, PartialEq, Eq)]
pub enum MonitorCall {
    /// Nothing: the monitor is awake, or there will be none.
    Nothing,
    /// The monitor slept.
    Unpark,
    /// There is no thread yet.
    Start,
}

impl MonitorState {
    /// There is no thread yet.
    pub fn absent() -> Self {
        Self(CachePadded::new(AtomicU8::new(ABSENT)))
    }

    /// Whether a caller must [`call`](Self::call).
    #[inline(always)]
    pub fn needs_call(&self) -> bool {
        // ORDERING(monitor.sleep): relaxed; the caller has fenced.
        self.0.load(Ordering::Relaxed) < AWAKE
    }

    /// Says that there is something to watch.
    pub fn call(&self) -> MonitorCall {
        match self.0.load(Ordering::Relaxed) {
            ASLEEP if self.change(ASLEEP, AWAKE) => MonitorCall::Unpark,
            ABSENT if self.change(ABSENT, AWAKE) => MonitorCall::Start,
            _ => MonitorCall::Nothing,
        }
    }

    /// M1 to M3: falls asleep, unless there is something to watch. The monitor then sleeps
    /// while it [is asleep](Self::is_asleep).
    pub fn fall_asleep(&self, is_something_to_watch: impl FnOnce() -> bool) {
        if !self.change(AWAKE, ASLEEP) {
            return; // It is gone.
        }
        chaos::point("monitor.sleep.said");
        // ORDERING(monitor.sleep): M2; without it a caller and the monitor may miss each other.
        fence(Ordering::SeqCst);
        if is_something_to_watch() {
            // If this changes nothing, someone has called.
            self.change(ASLEEP, AWAKE);
        }
    }

    /// Whether the monitor fell asleep, and no caller has called since.
    pub fn is_asleep(&self) -> bool {
        self.0.load(Ordering::Relaxed) == ASLEEP
    }

    /// The thread could not be started.
    pub fn set_absent(&self) {
        self.change(AWAKE, ABSENT);
    }

    /// From now on there is no monitor.
    pub fn set_gone(&self) {
        // A swap, so that loom has one order of this and of what it races with.
        self.0.swap(GONE, Ordering::Relaxed);
    }

    fn change(&self, old: u8, new: u8) -> bool {
        let order = Ordering::Relaxed;
        self.0.compare_exchange(old, new, order, order).is_ok()
    }
}
