//! When a timed park gives up, in a model: at once.
//!
//! A model must not look at the clock, as each of its runs has to repeat exactly,
//! and the condition variables of loom and shuttle do not time out. So the time
//! of every timed park is over as soon as it has announced itself. What is worth
//! exploring remains: a token that comes between the announcement and the
//! withdrawal.

use core::time::Duration;

/// A moment that has passed.
pub(super) struct Deadline(());

impl Deadline {
    /// Never nothing, so that the withdrawal is what is explored.
    pub(super) fn after(_timeout: Duration) -> Option<Self> {
        Some(Self(()))
    }

    /// Nothing is left.
    pub(super) fn left(&self) -> Option<Duration> {
        None
    }
}
