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
//! measure. The LIFO slot and all smaller backlogs are left to the [`monitor`](crate::scheduler::monitor).
//! It shares tasks that do not move, and backlogs that do not become smaller.

use super::Worker;
use crate::base::tuning::share_worth;

impl Worker {
    /// Tells the monitor of what was put into the ring, and notifies a worker if the backlog is
    /// worth it.
    #[inline]
    pub(super) fn announce(&self) {
        self.shared.monitor.watch();
        let backlog = self.local.ring_len() as f64 * self.pace.mean();
        if backlog >= share_worth() {
            self.shared.notify_one();
        }
    }

    /// Announces all that is queued here, before this thread runs something else than the next
    /// job.
    pub(crate) fn announce_rest(&self) {
        if !self.local.is_empty() {
            self.announce();
        }
    }
}
