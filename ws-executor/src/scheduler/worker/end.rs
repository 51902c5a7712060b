//! The end of a worker: steps 8 to 11 of a [`shutdown`](crate::scheduler::shutdown).

use std::iter;

use ws_core::sync::thread;

use super::Worker;
use crate::scheduler::dropping;

impl Worker {
    /// Ends the worker, when the executor is closed or its host gives up: drops everything that
    /// is queued. Steps 8 to 11.
    pub(crate) fn end(&self) {
        self.refuse_queued();
        if self.shared.is_closed() {
            self.shared.drop_waiting();
        }
        self.drop_pinned_futures();
        self.shared.refuse_queued(self.remote().pinned.close());
        // This also drops what those drops have spawned here, if the executor is not closed.
        self.drop_queued();
        self.turn_for_others();
        self.shared.drop_last(|| self.look_at_driver());
    }

    /// Drops what is queued here until no future is left that was built here.
    fn drop_pinned_futures(&self) {
        loop {
            if !self.shared.is_closed() {
                // Its host gave up. The tasks that are pinned to this worker have their entries
                // in its shard. A drop may have called `block_on`, which has polled such a
                // task: then the task waits again.
                let drop_woken = |waker| dropping::drop_woken_by(&self.shared.refused, waker);
                self.shared.registry.close(self.index, drop_woken);
            }
            self.drop_queued();
            if self.pinned.are_gone() {
                return;
            }
            // Another thread is about to schedule a future that must be dropped here.
            thread::yield_now();
        }
    }

    /// Leaves the jobs in the slot and the ring to any thread that shuts down. Called before
    /// the first drop here, because that drop may block until one of these jobs is gone.
    pub(crate) fn refuse_queued(&self) {
        let queued = iter::from_fn(|| self.local.take_any());
        self.shared.refuse_queued(queued.collect());
    }

    /// Drops what only this worker can: the jobs that are pinned to it, and those that the drops
    /// of this thread have caused.
    pub(super) fn drop_own(&self) {
        self.refuse_queued();
        while let Some(job) = self.pinned_job() {
            dropping::drop_job(&self.shared.refused, job);
        }
        dropping::drop_line();
    }

    /// Drops everything that is queued here, and what was refused.
    pub(crate) fn drop_queued(&self) {
        loop {
            self.drop_own();
            self.shared.drop_refused();
            if self.local.is_empty() && self.remote().pinned.is_empty() {
                return;
            }
        }
    }
}
