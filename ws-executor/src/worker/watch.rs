//! What a worker remembers of the others' slots between two looks.
//!
//! A slot is *stuck* if it is full at two looks and its worker has not begun another
//! poll between them. It may have emptied and filled the slot within that poll; then
//! the younger task is taken a bit early, which does no harm.

use crate::driver::DriverSeat;
use crate::shared::Shared;

/// The slot was empty at the last look.
const EMPTY: u64 = u64::MAX;

/// The last look.
pub(super) struct Watch {
    /// For each worker, how many polls it had begun if its slot was full.
    polls: Box<[u64]>,
    /// How many jobs came out of slots, in all.
    lifo_hits: u64,
    /// How often the driver was entered.
    driver_turns: u64,
}

impl Watch {
    pub(super) fn new(workers: usize) -> Self {
        Self {
            polls: vec![EMPTY; workers].into(),
            lifo_hits: 0,
            driver_turns: 0,
        }
    }

    /// Looks at all slots but that of `me`; returns a worker whose slot is stuck.
    pub(super) fn stuck_slot(&mut self, shared: &Shared, me: usize) -> Option<usize> {
        let mut stuck = None;
        for (worker, remote) in shared.remotes.iter().enumerate() {
            let seen = &mut self.polls[worker];
            if worker == me || remote.slot.is_empty() {
                *seen = EMPTY;
                continue;
            }
            let now = remote.counters.polls.get();
            if *seen == now {
                stuck = Some(worker);
            }
            *seen = now;
        }
        stuck
    }

    /// What the sentinel sees, a period after its last look.
    pub(super) fn look(&mut self, shared: &Shared, me: usize) -> Finding {
        let hits = shared
            .remotes
            .iter()
            .map(|remote| remote.counters.lifo_hits.get());
        let hits = hits.fold(0, u64::wrapping_add);
        let turns = shared.driver.as_ref().map_or(0, DriverSeat::turns);
        let same_turn = turns == self.driver_turns;
        let same_hits = hits == self.lifo_hits;
        (self.lifo_hits, self.driver_turns) = (hits, turns);

        let driver_left = shared
            .driver
            .as_ref()
            .is_some_and(DriverSeat::wants_watching);
        if self.stuck_slot(shared, me).is_some() || (driver_left && same_turn) {
            Finding::LeftAlone
        } else if same_hits && same_turn && !shared.has_something_to_watch() {
            Finding::Quiet
        } else {
            Finding::Busy
        }
    }
}

/// What a sentinel may see.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Finding {
    /// Slots and driver are in use, and looked after.
    Busy,
    /// No slot was used, and the driver was not left.
    Quiet,
    /// A slot is stuck, or the driver was left alone for a period.
    LeftAlone,
}
