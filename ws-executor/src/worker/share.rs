//! When queued tasks are worth the price of running them elsewhere.
//!
//! A task that runs on another core than the one it was spawned on costs some hundred
//! nanoseconds more: its memory is in the wrong cache, and is freed on the wrong thread.
//! Waking a worker for it costs microseconds. For tasks that take less than that,
//! parallel is slower than one after the other: two workers need 330 ns for a small
//! task where one needs 100.
//!
//! So a worker tells others of its ring only if the *backlog*, the number of tasks in it
//! times the mean time of a poll, is worth it ([`SHARE_WORTH`]); thieves go by the same
//! measure. Everything below is left to the [`sentinel`], as the LIFO slot is: it looks
//! twice a millisecond while something is queued, and takes what does not move, or does not get less.
//!
//! [`sentinel`]: crate::sleep::sentinel

use super::Worker;
use crate::shared::{Remote, Shared};
use crate::tuning::SHARE_WORTH;

impl Worker {
    /// Tells others of what was put into the ring: a worker, or the sentinel.
    #[inline]
    pub(super) fn announce(&self) {
        let backlog = self.ring.len() as f64 * self.pace.mean();
        if backlog >= SHARE_WORTH || !self.shared.settings.sentinel {
            self.shared.notify_one();
        } else {
            self.shared.want_sentinel();
        }
    }

    /// Tells others of all that is queued here, before something else than the next job
    /// has its turn on this thread.
    pub(crate) fn announce_rest(&self) {
        if !self.ring.is_empty() || !self.slot.is_empty() {
            self.announce();
        }
    }
}

impl Shared {
    /// Whether thieves should take from this worker's ring.
    pub(crate) fn is_worth_stealing_from(&self, worker: usize) -> bool {
        let remote = &self.remotes[worker];
        let tasks = remote.ring.len();
        let backlog = || tasks as f64 * remote.counters.mean_poll();
        tasks > 0 && (!self.settings.sentinel || backlog() >= SHARE_WORTH)
    }

    /// Whether there is work that a parked worker should be notified of.
    pub(crate) fn has_work(&self) -> bool {
        !self.injector.is_empty()
            || self.has_forks()
            || !self.computations.is_empty()
            || (0..self.workers()).any(|worker| self.is_worth_stealing_from(worker))
    }

    /// Whether any slot or ring has a task.
    pub(crate) fn has_queued(&self) -> bool {
        let queued = |remote: &Remote| !remote.slot.is_empty() || !remote.ring.is_empty();
        self.remotes.iter().any(queued)
    }

    /// Whether something is left to the sentinel: a slot or a ring that is not empty, or
    /// a driver that nobody is in.
    pub(crate) fn has_something_to_watch(&self) -> bool {
        self.settings.sentinel
            && (self.has_queued()
                || self
                    .driver
                    .as_ref()
                    .is_some_and(|seat| seat.wants_watching()))
    }
}
