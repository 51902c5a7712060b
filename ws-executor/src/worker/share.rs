//! When queued tasks are worth the price of running them elsewhere.
//!
//! A task that runs on another core than the one it was spawned on costs some hundred
//! nanoseconds more: its memory is in the wrong cache, and is freed on the wrong thread. Waking
//! a worker for it costs microseconds. For tasks that take less than that, running them in
//! parallel is slower than running them one after the other: two workers need 330 ns for a
//! small task where one needs 100.
//!
//! So a worker tells others of its *backlog*, the tasks in its ring, only if it is worth it:
//! their number, times the mean time of a poll, must be [`share_worth`]. Thieves use the same
//! measure. The LIFO slot and all smaller backlogs are left to the [`monitor`](crate::monitor).
//! It shares tasks that do not move, and backlogs that do not become smaller.

use super::Worker;
use crate::shared::Shared;
use crate::tuning::share_worth;

impl Worker {
    /// Tells the monitor of what was put into the ring, and notifies a worker if the backlog is
    /// worth it.
    #[inline]
    pub(super) fn announce(&self) {
        self.shared.monitor.watch();
        let backlog = self.ring.len() as f64 * self.pace.mean();
        if backlog >= share_worth() {
            self.shared.notify_one();
        }
    }

    /// Announces all that is queued here, before this thread runs something else than the next
    /// job.
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
        tasks > 0 && tasks as f64 * remote.counters.mean_poll() >= share_worth()
    }

    /// Whether there is work that a parked worker should be notified of.
    pub(crate) fn has_work(&self) -> bool {
        !self.injector.is_empty()
            || self.has_forks()
            || !self.computations.is_empty()
            || (0..self.workers()).any(|worker| self.is_worth_stealing_from(worker))
    }
}
