//! What a worker does while it waits for its forks: it runs other forks, and sleeps if there
//! are none. It polls no task; [`fork`](crate::scheduler::fork) says why.

use ws_core::sync::{hint, thread};

use super::Worker;
use super::forks::ForkFrom;
use crate::base::tuning::HELP_ROUNDS;
use crate::scheduler::fork::latch::Latch;
use crate::scheduler::sleep::Searching;

impl Worker {
    /// Runs forks until `latch` is set.
    pub(crate) fn help(&self, latch: &impl Latch) {
        if self.is_in_driver() {
            // A fork of another worker may call `block_on`, which is impossible inside the
            // driver.
            return self.sleep_on(latch);
        }
        let mut searching = None;
        while !latch.is_over() {
            match self.next_fork(&mut searching, latch) {
                Some(fork) => self.run_fork_from(fork),
                None => searching = Some(self.sleep_helping(searching, latch)),
            }
        }
        if let Some(searching) = searching {
            self.stop_helping(searching);
        }
    }

    /// The next fork, if there is one anywhere: the newest here, or the oldest elsewhere.
    fn next_fork(&self, searching: &mut Option<Searching>, latch: &impl Latch) -> Option<ForkFrom> {
        let fork = self.own_fork().or_else(|| {
            if searching.is_none() {
                *searching = self.shared.helpers.start_searching();
            }
            self.search_forks(latch)
        })?;
        if let Some(searching) = searching.take() {
            self.stop_helping(searching);
        }
        Some(fork)
    }

    fn search_forks(&self, latch: &impl Latch) -> Option<ForkFrom> {
        let (spins, yields) = HELP_ROUNDS;
        for round in 0..spins + yields {
            let fork = self.steal_fork();
            if fork.is_some() || latch.is_over() {
                return fork;
            }
            if round < spins {
                hint::spin_loop();
            } else {
                thread::yield_now();
            }
        }
        None
    }

    /// Stops searching, with a fork in hand or because the wait is over: steps S1 to S3.
    fn stop_helping(&self, searching: Searching) {
        let shared = &self.shared;
        if shared.helpers.found_work_beside(searching, &shared.sleep) && shared.has_forks() {
            shared.notify_fork_slow();
        }
    }

    /// Sleeps until there is a fork to run, or `latch` is set: steps W1 to W5.
    fn sleep_helping(&self, searching: Option<Searching>, latch: &impl Latch) -> Searching {
        let helpers = &self.shared.helpers;
        let mut parking = helpers.start_parking(self.index, searching);
        self.shared.fence_against_forks();
        if self.shared.has_forks() || !latch.fall_asleep() {
            match helpers.cancel_parking(parking) {
                Ok(searching) => return searching,
                // A notification is on its way, and ends the sleep at once.
                Err(notified) => parking = notified,
            }
        }
        self.counters().fall_asleep(self.shared.age());
        let searching = loop {
            let mut ended = helpers.wake_up(parking);
            if latch.is_over() {
                ended = ended.or_else(|parking| helpers.cancel_parking(parking));
            }
            match ended {
                Ok(searching) => break searching,
                Err(again) => parking = again,
            }
            self.parker.park();
        };
        self.counters().wake_up(self.shared.age());
        searching
    }

    /// Sleeps until `latch` is set, and does nothing else.
    pub(crate) fn sleep_on(&self, latch: &impl Latch) {
        while !latch.is_over() {
            if latch.fall_asleep() {
                self.parker.park();
            }
        }
    }
}
