//! When a worker turns the driver, and whether its thread is inside of it.

use std::cell::Cell;

/// The part of a worker that is about the driver.
pub(super) struct DriverDuty {
    /// Whether this thread is inside the driver, or runs the code of the worker's host.
    inside: Cell<bool>,
    /// How many polls there had been when the worker last turned the driver.
    polls_at_turn: Cell<u64>,
}

impl DriverDuty {
    pub(super) fn new() -> Self {
        Self {
            inside: Cell::new(false),
            polls_at_turn: Cell::new(0),
        }
    }

    /// Whether the code that runs now is that of the reactor, or of the host.
    #[inline]
    pub(super) fn is_inside(&self) -> bool {
        self.inside.get()
    }

    /// The thread goes into the reactor or the host, or comes out.
    pub(super) fn set_inside(&self, inside: bool) {
        self.inside.set(inside);
    }

    /// The driver was turned; the worker has begun this many polls so far.
    pub(super) fn was_turned(&self, polls: u64) {
        self.polls_at_turn.set(polls);
    }

    /// How many polls the worker has begun since its last turn.
    pub(super) fn polls_since_turn(&self, polls: u64) -> u64 {
        polls - self.polls_at_turn.get()
    }
}
