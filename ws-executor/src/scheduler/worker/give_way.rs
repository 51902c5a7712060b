//! What a worker does between two polls of a nested `block_on` whose future yields.
//!
//! Such a future may wait for a task that is queued here, or for an event of the driver, by
//! looking again and again. If its worker is the only one, no other worker can run that task or
//! turn the driver. So each time the future is pending and has been woken already, the worker
//! runs one job. If there is none, it turns the driver.

use super::{Work, Worker};

impl Worker {
    /// Runs one job that needs no search, or turns the driver without waiting.
    pub(crate) fn give_way(&self) {
        if self.shared.is_closed() {
            self.drop_when_closed();
            return self.glance_at_driver();
        }
        let task = self.find_local(&None).map(Work::Task);
        let work = task
            .or_else(|| self.own_fork().map(Work::Fork))
            .or_else(|| self.computation().map(Work::Task));
        match work {
            Some(work) => self.run_work(work),
            None => self.glance_at_driver(),
        }
    }
}
