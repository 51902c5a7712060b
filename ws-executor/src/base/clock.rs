//! The clock: the monotonic one of the system.

pub(crate) use std::time::Instant;

use std::time::Duration;

use ws_core::Park;

/// Sleeps in `parker`, for `time` at most.
pub(crate) fn sleep(parker: &impl Park, time: Duration) {
    parker.park_timeout(time);
}
