//! How jobs get into the queues: tasks that are spawned, and tasks that are woken.
//!
//! A job goes to the worker of the calling thread, if that is one of the same executor,
//! otherwise to the injector. Each spawn and each wake looks the worker up once. Only if a worker
//! must be unparked, it is looked up again, to count that.

use std::ptr::NonNull;
use std::sync::Arc;

use super::shared::{Job, Shared};
use super::worker::{Worker, current};
use crate::task::registry::Registry;
use crate::task::schedule::Schedule;
use crate::task::{RawTask, new_task};

impl Shared {
    /// Makes a task of `future`, and queues it. If the executor is closed, the task is
    /// cancelled.
    ///
    /// # Safety
    ///
    /// As for [`new_task`].
    #[inline]
    pub(crate) unsafe fn spawn<F: Future>(self: &Arc<Self>, future: F) -> RawTask<F::Output, Self> {
        current::with(self, |worker| {
            // SAFETY: the caller keeps the promises of `new_task`.
            let (job, task) = unsafe { new_task(self, worker.map(Worker::index), future) };
            match (job, worker) {
                (Some(job), Some(worker)) => worker.schedule_lifo(job),
                (Some(job), None) => self.inject(job),
                (None, _) => {}
            }
            task
        })
    }

    /// As [`spawn`](Self::spawn), for code that computes.
    ///
    /// # Safety
    ///
    /// As for [`new_task`].
    pub(crate) unsafe fn spawn_computation<F: Future>(
        self: &Arc<Self>,
        future: F,
    ) -> RawTask<F::Output, Self> {
        // SAFETY: as in `spawn`.
        let (job, task) = unsafe { self.prepare(future) };
        if let Some(job) = job {
            self.inject_computation(job);
        }
        task
    }

    /// Makes a task of `future`. Its first job must be queued.
    ///
    /// # Safety
    ///
    /// As for [`new_task`].
    pub(crate) unsafe fn prepare<F: Future>(
        self: &Arc<Self>,
        future: F,
    ) -> (Option<Job>, RawTask<F::Output, Self>) {
        let worker = current::with(self, |worker| worker.map(Worker::index));
        // SAFETY: the caller keeps the promises of `new_task`.
        unsafe { new_task(self, worker, future) }
    }

    /// Queues the first jobs of many tasks.
    pub(crate) fn submit_many(&self, jobs: Vec<Job>) {
        current::with(self, |worker| match worker {
            Some(worker) => worker.schedule_many(jobs),
            // Jobs that are refused are dropped here, one by one.
            None => drop(self.inject_batch(jobs)),
        });
    }

    /// Queues the first job of a task from outside. If the executor is closed, the task is
    /// cancelled at once, on this thread.
    fn inject(&self, job: Job) {
        if let Err(refused) = self.try_inject(job) {
            drop(refused);
        }
    }

    /// Queues the job of a task that was woken outside.
    fn inject_woken(&self, job: Job) {
        if let Err(refused) = self.try_inject(job) {
            self.refuse([refused]);
        }
    }

    /// Queues a job from outside, or gives it back if the executor is closed.
    fn try_inject(&self, job: Job) -> Result<(), Job> {
        debug_assert_eq!(
            self.process,
            std::process::id(),
            "a forked process has no workers: build an executor there, or call exec"
        );
        self.injector.push(job)?;
        self.notify_one();
        Ok(())
    }

    /// As [`inject`](Self::inject), for code that computes.
    fn inject_computation(&self, job: Job) {
        match self.computations.push(job) {
            Ok(()) => self.notify_one(),
            Err(refused) => drop(refused),
        }
    }

    /// Queues jobs under one lock, and notifies as many workers as can help. Gives the jobs
    /// back if the executor is closed.
    pub(crate) fn inject_batch(&self, jobs: Vec<Job>) -> Result<(), Vec<Job>> {
        let count = jobs.len();
        self.injector.push_batch(jobs)?;
        self.notify_many(count);
        Ok(())
    }

    /// Queues a job that is pinned to a worker. If the worker has ended, returns the job. Any
    /// thread may drop it then: the worker dropped every future that it had built, so this one
    /// was never built.
    pub(crate) fn push_pinned(&self, worker: usize, job: Job) -> Result<(), Job> {
        self.remotes[worker].pinned.push(job)?;
        match self.sleep.take_this(worker) {
            Some(sleeper) => self.unpark(sleeper),
            // The worker may wait in a nested `block_on`, until this task is run or dropped.
            None if self.is_closed() => {
                self.remotes[worker].unparker.unpark();
            }
            None => {}
        }
        Ok(())
    }
}

// SAFETY: all tasks together have a reference to the state, which `Shared::new` has made and
// `release` gives back. `TaskCount` says so at most once: to the task that was the last, after
// all workers have ended. From then on it counts no task any more.
unsafe impl Schedule for Shared {
    #[inline]
    fn is_closed(&self) -> bool {
        self.is_closed()
    }

    #[inline]
    fn count_in(&self, worker: Option<usize>) -> bool {
        match worker {
            Some(worker) => {
                self.tasks.change_inside(worker, 1);
                true
            }
            None => self.tasks.join_outside(),
        }
    }

    #[inline]
    fn count_out(&self) -> bool {
        current::with(self, |worker| match worker {
            Some(worker) => {
                self.tasks.change_inside(worker.index(), -1);
                false
            }
            None => self.tasks.leave_outside(),
        })
    }

    unsafe fn release(this: NonNull<Self>) {
        // SAFETY: the caller keeps the same promises.
        unsafe { Self::release(this) };
    }

    fn registry(&self) -> &Registry {
        &self.registry
    }

    fn shard(&self) -> usize {
        let shard = current::with(self, |worker| worker.map(Worker::index));
        shard.unwrap_or_else(|| self.registry.common_shard())
    }

    fn entry_was_left(&self) {
        self.refused.look_again();
    }

    #[inline]
    unsafe fn schedule(this: NonNull<Self>, job: Job, yielded: bool) {
        current::with_raw(this.as_ptr(), |worker| match worker {
            Some(worker) if yielded => worker.schedule_fifo(job),
            Some(worker) => worker.schedule_lifo(job),
            None => {
                // Once the job is published, the task may run and end, and may drop the last
                // reference to the executor's state. That state is needed until a worker is
                // notified. This reference to the task keeps it.
                let keep = job.waker();
                // SAFETY: `this` is the scheduler of the task, says the caller. `keep` keeps
                // the task, its metadata, and thereby the state alive.
                unsafe { this.as_ref() }.inject_woken(job);
                drop(keep);
            }
        });
    }
}
