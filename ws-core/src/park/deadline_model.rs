//! When a timed park gives up, in a model: at once.
//!
//! A model must not read the clock, as each of its runs must repeat exactly. Also, the
//! condition variables of loom and shuttle do not time out. So the time of every timed
//! park is over as soon as the park has announced itself. The interesting case remains:
//! a token that comes between the announcement and the withdrawal.

use core::time::Duration;

/// A moment that has passed.
pub(super) struct Deadline(());

impl Deadline {
    /// Never `None`, so that a model explores the withdrawal.
    pub(super) fn after(_timeout: Duration) -> Option<Self> {
        Some(Self(()))
    }

    /// No time is left.
    pub(super) fn left(&self) -> Option<Duration> {
        None
    }
}
