//! Where a worker puts jobs that come in on its own thread; the list is in [`worker`](super).

use super::Worker;
use crate::scheduler::shared::Job;

impl Worker {
    /// Takes in a job that was spawned or woken on this thread.
    #[inline]
    pub(crate) fn schedule_lifo(&self, job: Job) {
        if self.needs_slow_path() {
            return self.schedule_slow_path(job);
        }
        match self.local.push_lifo(job) {
            None => self.shared.monitor.watch(),
            Some(evicted) => {
                self.push(evicted);
                self.announce();
            }
        }
    }

    /// Takes in a job that was woken during its own poll, which has ended.
    #[inline]
    pub(crate) fn schedule_fifo(&self, job: Job) {
        if self.needs_slow_path() {
            return self.schedule_slow_path(job);
        }
        // If it is the only one, this worker runs it next: there is nothing to share.
        let alone = self.local.is_empty();
        self.push(job);
        if !alone {
            self.announce();
        }
    }

    /// Whether a job that comes in must not take the usual way.
    #[inline]
    fn needs_slow_path(&self) -> bool {
        self.duty.is_inside() || !self.shared.settings.lifo_slot || self.shared.is_closed()
    }

    #[cold]
    fn schedule_slow_path(&self, job: Job) {
        if self.shared.is_closed() {
            // No worker runs it any longer. It is not dropped here, because this may be inside
            // a `wake`.
            self.shared.refuse([job]);
        } else if self.duty.is_inside() {
            self.push(job);
            self.end_turn();
        } else {
            self.push(job);
            self.announce();
        }
    }

    /// The driver has woken or spawned a task, in the turn of this worker: the worker leaves the
    /// driver and looks at its ring. Or the host did so between two polls of the worker: then the
    /// host polls the worker.
    #[cold]
    fn end_turn(&self) {
        match &self.shared.driver {
            Some(driver) => driver.wake_local(),
            None => self.remote().unparker.unpark(),
        }
    }

    /// Takes in many jobs that were spawned on this thread.
    pub(crate) fn schedule_many(&self, jobs: Vec<Job>) {
        let count = jobs.len();
        self.shared.monitor.watch();
        let rest = self.local.push_many(jobs);
        if self.duty.is_inside() {
            self.end_turn();
        }
        if rest.is_empty() {
            return self.shared.notify_many(count);
        }
        self.counters().overflows.add(1);
        self.inject_batch(rest);
    }

    /// Puts a job at the end of the ring. What does not fit goes to the injector.
    #[inline]
    pub(super) fn push(&self, job: Job) {
        if let Err(overflow) = self.local.push(job) {
            self.counters().overflows.add(1);
            self.inject_batch(overflow);
        }
    }

    fn inject_batch(&self, jobs: Vec<Job>) {
        if let Err(refused) = self.shared.inject_batch(jobs) {
            self.shared.refuse(refused);
        }
    }
}
