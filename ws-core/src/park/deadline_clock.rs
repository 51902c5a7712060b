//! When a timed park gives up, by the clock.

use core::time::Duration;
use std::time::Instant;

/// The moment at which a timed park gives up.
pub(super) struct Deadline(Instant);

impl Deadline {
    /// `timeout` from now; `None` if the clock cannot express that moment.
    pub(super) fn after(timeout: Duration) -> Option<Self> {
        Instant::now().checked_add(timeout).map(Self)
    }

    /// The time that is left, if any.
    pub(super) fn left(&self) -> Option<Duration> {
        let left = self.0.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }
}
