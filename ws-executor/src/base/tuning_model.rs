//! The numbers of the scheduler, small, so that random schedules reach every edge.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Whether polls count as short. The clock of the models stands still, so a poll takes no time:
/// either every backlog is worth sharing and every turn of the injector is measured in time,
/// or none is. Schedules are run with both.
static SHORT_POLLS: AtomicBool = AtomicBool::new(false);

/// Has polls count as short, or as long, from now on.
pub fn set_short_polls(short: bool) {
    SHORT_POLLS.store(short, Ordering::Relaxed);
}

fn are_polls_short() -> bool {
    SHORT_POLLS.load(Ordering::Relaxed)
}

pub(crate) const LIFO_CAP: u32 = 2;
pub(crate) const LIFO_WORTH: f64 = 2_000.0;
pub(crate) const INJECTOR_INTERVAL: (u32, u32) = (2, 3);
pub(crate) const INJECTOR_LATENCY: Duration = Duration::ZERO;
pub(crate) fn turn_worth() -> Duration {
    if are_polls_short() {
        Duration::MAX
    } else {
        Duration::ZERO
    }
}
pub(crate) const LONGEST_TURN: Duration = Duration::ZERO;
pub(crate) const DRIVER_LATENCY: Duration = Duration::ZERO;
pub(crate) const DRIVER_INTERVAL: u64 = 1;
pub(crate) const INJECTOR_BATCH: usize = 2;
pub(crate) const fn search_rounds(_: usize) -> (u32, u32) {
    (1, 1)
}
pub(crate) const PERIOD: Duration = Duration::from_micros(450);
pub(crate) const CALM_PERIOD: Duration = PERIOD;
pub(crate) const WARY: Duration = Duration::ZERO;
pub(crate) const BUSY_PERIOD: Duration = PERIOD;
pub(crate) const QUIET_PERIOD: Duration = PERIOD;
pub(crate) const KEPT: Duration = Duration::ZERO;
pub(crate) const QUIET_LOOKS: u32 = 1;
pub(crate) const STALL: Duration = Duration::from_millis(100);
pub(crate) const SPARES: usize = 8;
pub(crate) const MAX_NESTING: u32 = 2;
pub(crate) const BLOCK_ON_SPINS: (u32, u32) = (1, 1);
pub(crate) const SPIN_WORTH: Duration = Duration::ZERO;
pub(crate) fn share_worth() -> f64 {
    if are_polls_short() {
        f64::INFINITY
    } else {
        0.0
    }
}
pub(crate) const BACKLOG: usize = 1;
pub(crate) const HELP_ROUNDS: (u32, u32) = (1, 0);
pub(crate) const COMPUTATION_INTERVALS: u32 = 2;
pub(crate) const FORK_INTERVAL: u64 = 2;
pub(crate) const FORK_YIELDS: u32 = 0;
pub(crate) const RIPE: Duration = Duration::ZERO;
