//! The end of an executor: drain and shutdown, step by step.
//!
//! # The problem
//!
//! A task may be woken at any time, on any thread, under any lock of the caller's. To drop a
//! refused job is to drop its future. That drop may take the very lock that the caller of
//! `wake` holds. HTTP/2 connections do just that.
//!
//! # The steps
//!
//! A *drain* only asks: the worker that sees the executor [quiet](super::quiet) does steps 1
//! to 5. It is about to sleep, maybe in the driver, so it does 6 and 7 later, at its end. A
//! *shutdown* begins with step 1 at once.
//!
//! The thread that closes the executor (`Shared::close`), and says so first, because step 11
//! waits for the end of step 7:
//! 1. sets the flag: from now on a worker takes no job after its poll, and a new task is
//!    cancelled at once;
//! 2. closes the injectors: their jobs are refused, and so are all that come later. If the
//!    thread is a worker, it refuses what is in its slot and its ring;
//! 3. unparks the workers;
//! 4. ends all calls of `wait_idle`, before any future is dropped: a drop may wait for such a
//!    call;
//! 5. lets the monitor and the spare threads end;
//! 6. wakes one waiting task after the other, and drops each before it wakes the next;
//! 7. drops the other refused jobs.
//!
//! A worker, after its last poll (`Worker::end`, in `worker/end.rs`):
//! 8. refuses what is in its slot and its ring, before the first drop, because that drop may
//!    wait for one of these jobs. The worker also does 6 and 7, because the first thread may be
//!    blocked in a drop;
//! 9. drops the jobs that are pinned to it, and what was refused, until no future is left that
//!    was built on it;
//! 10. closes its queue of pinned jobs, refuses what is in it, and drops that;
//!     While other threads wait inside a poll, it turns the driver for them;
//! 11. if it is the last worker, waits until step 7 is over, no thread drops a job, and no task
//!     is registered any longer. It drops what is refused meanwhile. It also turns the driver:
//!     the drop of a future may wait in `block_on` for an event, on any thread. Then it says
//!     that it has ended. The last worker that says so adds the counts of tasks up.
//!
//! A worker whose host gives up, while the executor is not closed, does not do 6. Instead, it
//! wakes the tasks that are registered at it, again and again during step 9. The last such worker
//! closes the executor before step 11.
//!
//! A spare thread does 6 and 7 after its last poll. The monitor does 7 when it ends, because it
//! may have had jobs in its hands, on their way from a worker to the injector. A worker that
//! waits in a nested `block_on` acts each time that it is unparked: it refuses what is in its
//! slot and its ring, and does once what step 9 repeats. If half of its stack is used, it leaves
//! the common part of the queue to other threads, or for later.
//!
//! The thread that shuts the executor down, or drains it, if it is not one of the executor's
//! own threads (`Shared::wait_for_end`):
//! 12. drops what is refused, until all threads have said that they end;
//! 13. joins them.
//!
//! # Where futures are dropped
//!
//! A wake drops no future. It may drop the last reference to a task that has ended, and with
//! that the state of the executor.
//!
//! No future is dropped under a lock of the executor. None is dropped under a lock of the
//! user's, with two exceptions:
//! - the caller of `shutdown` holds the lock;
//! - a poll holds the lock across a nested `block_on`. The worker drops futures inside that
//!   call, as it would run other tasks there.
//!
//! A job that is refused to a *spawn* is not queued: the caller drops it. If it were queued, it
//! could come after step 11.
//!
//! # Why none is left
//!
//! Consider a future that is alive when the executor is closed. It is in a queue, being polled,
//! in the hands of the monitor, or registered (`task/registry.rs`): a task enters the registry
//! at the end of its first poll that is pending, and leaves it after its future was dropped.
//! - In a queue: it is refused by steps 2, 8 and 10, or dropped in step 9.
//! - In the hands of the monitor: its job is refused when it comes to the injector. If the other
//!   threads have ended by then, the monitor drops it.
//! - Being polled for the first time, and then pending: if step 6 has closed the shard of the
//!   registry before, the task is not registered, and wakes itself. If the task was registered
//!   before, step 6 wakes it.
//! - Polled later, and then pending: step 6 has woken it before that poll, in it, or after it.
//!   A wake before the poll does nothing, because the task is scheduled already. But a poll
//!   begins with an exchange on the word that the wake has exchanged. So after the poll the
//!   task sees that the executor is closed, and wakes itself (`Life::wait`).
//! - Registered, and not polled any longer: one of these wakes schedules it. The thread that
//!   wakes it may be slow, so its job may be refused late. But the entry is taken until then, and the
//!   last worker waits for it (step 11).
//!
//! A task that wakes itself after step 11 was polled by a spare thread, which drops it.
//!
//! # Drops that cause drops
//!
//! A future that is dropped may wake other tasks, whose jobs are refused to the same thread.
//! [`dropping`] says what becomes of them.

use std::sync::Arc;
use std::time::Duration;

use ws_core::sync::atomic::Ordering;

use super::dropping;
use super::progress::ThreadProgress;
use super::shared::{Job, Remote, Shared};
use super::threads::Threads;
use super::worker::{Worker, current};
use crate::task::metadata::as_pointer;

/// A drain, and waiting for quiet.
impl Shared {
    /// Asks for a close as soon as there is nothing left to run.
    pub(crate) fn drain(&self) {
        self.quiet.drain();
        self.unpark_all();
    }

    /// Blocks until there is no task, or the executor is closed. The executor's own threads
    /// must not call this.
    pub(crate) fn wait_idle(&self) {
        self.quiet.wait(|| self.unpark_all(), || self.is_closed());
    }

    /// Must be called by a worker that is parked: closes the executor if it is drained, and
    /// tells the threads that wait if there is no task.
    #[inline]
    pub(crate) fn act_if_quiet(&self) {
        if self.quiet.is_wanted() {
            self.look_for_quiet();
        }
    }

    #[cold]
    fn look_for_quiet(&self) {
        if self.quiet.is_draining() && !self.is_closed() && self.is_quiet(|| true) {
            // Steps 6 and 7 are for the end of this worker: a drop may wait, for the driver or by
            // the parker of this worker, which is about to sleep in one of them.
            return self.refuse_from_now_on();
        }
        self.quiet
            .tell_if(|| self.is_quiet(|| self.registry.is_empty()));
    }

    /// Whether all workers are parked with nothing to do, and `nobody_waits` holds meanwhile.
    fn is_quiet(&self, nobody_waits: impl FnOnce() -> bool) -> bool {
        let nothing_left = || {
            let idle = |remote: &Arc<Remote>| {
                remote.ring.is_empty() && remote.slot.is_empty() && remote.pinned.is_empty()
            };
            self.injector.is_empty()
                && self.computations.is_empty()
                && self.remotes.iter().all(idle)
                && self.inside.is_empty()
                && nobody_waits()
        };
        // ORDERING(shared.running): acquire side; a worker that has ended has empty queues.
        let running = self.running.load(Ordering::Acquire);
        self.sleep.all_parked_while(running, nothing_left)
    }

    /// Lets the workers look again, after something has ended away from them that a drain or
    /// `wait_idle` waits for.
    pub(crate) fn look_again_if_wanted(&self) {
        if self.quiet.must_look_again() {
            self.unpark_all();
        }
    }
}

/// Steps 1 to 7, and what all threads of a shutdown use.
impl Shared {
    /// Refuses all further jobs and cancels every task: steps 1 to 7.
    pub(crate) fn close(&self) {
        let _closing = self.refused.begin_close();
        self.refuse_from_now_on();
        self.drop_waiting();
    }

    /// Steps 1 to 5.
    fn refuse_from_now_on(&self) {
        self.closed.store(true, Ordering::Relaxed);
        self.refuse_queued(self.injector.close());
        self.refuse_queued(self.computations.close());
        current::with(self, |me| me.into_iter().for_each(Worker::refuse_queued));
        self.unpark_all();
        self.quiet.look_at_end();
        self.monitor.close();
    }

    /// Steps 6 and 7: wakes the tasks that wait, so that their jobs are refused, and drops
    /// them. Called by a thread that closes the executor, or has polled its last task after
    /// that.
    pub(crate) fn drop_waiting(&self) {
        self.registry
            .close_all(|waker| dropping::drop_woken_by(&self.refused, waker));
        self.refused.look_again();
        self.drop_refused();
    }

    /// Leaves jobs that were woken to a thread that shuts down.
    #[cold]
    pub(crate) fn refuse(&self, jobs: impl IntoIterator<Item = Job>) {
        let line = dropping::line_of(&self.refused);
        self.queue_refused(line, jobs.into_iter().collect());
    }

    /// Leaves jobs that were in a queue to any thread that shuts down.
    pub(crate) fn refuse_queued(&self, jobs: Vec<Job>) {
        self.queue_refused(None, jobs);
    }

    fn queue_refused(&self, line: Option<usize>, jobs: Vec<Job>) {
        let must_look = self.refused.push(line, jobs);
        // A worker that waits inside a poll may wait for one of them. If that worker has looked
        // at the queue before, its count is visible through the lock.
        if must_look && self.someone_waits_inside() {
            self.unpark_all();
        }
    }

    /// Drops what was refused so far. Called by a thread that shuts down.
    pub(crate) fn drop_refused(&self) {
        dropping::drop_all(&self.refused);
    }
}

/// Steps 11 to 13. Steps 8 to 10 are in `worker/end.rs`.
impl Shared {
    /// Step 11: a worker has dropped all its tasks. The last one drops what is left. If there is
    /// a driver, it calls `turn_driver` again and again meanwhile, which must not wait for long.
    pub(crate) fn drop_last(&self, turn_driver: impl Fn()) {
        // ORDERING(shared.holding): both sides.
        if self.holding.fetch_sub(1, Ordering::AcqRel) != 1 {
            return;
        }
        if !self.is_closed() {
            // Its host gave up: no worker is left to run anything.
            self.close();
        }
        let is_over = || self.registry.is_finished();
        let limit = self.driver.is_some().then_some(Duration::ZERO);
        while !dropping::drop_until(&self.refused, limit, is_over) {
            turn_driver();
        }
    }

    /// Called when a worker has ended, with empty queues.
    pub(crate) fn worker_ended(self: &Arc<Self>) {
        // ORDERING(shared.running): both sides; the counters of the workers that ended
        // before this one are read below.
        if self.running.fetch_sub(1, Ordering::AcqRel) != 1 {
            // Threads that wait for quiet wait for all workers that are left.
            return self.look_again_if_wanted();
        }
        if self.tasks.merge() {
            // SAFETY: no worker is left, and no task, and none can be added to a count that is
            // zero; the pointer is that of an `Arc`.
            unsafe { Self::release(as_pointer(self)) };
        }
    }

    /// Called by a thread that ends, and has nothing left to drop.
    pub(crate) fn report_end(&self, progress: &ThreadProgress) {
        progress.report_end();
        self.refused.look_again();
    }

    /// Steps 12 and 13: waits for the end of all threads, but not much longer than the `limit`.
    /// Returns whether they have ended. On the executor's own threads it returns at once.
    pub(crate) fn wait_for_end(&self, threads: Threads, limit: Option<Duration>) -> bool {
        // This may be inside the drop of a future.
        dropping::drop_line();
        if self.is_own_thread() || threads.is_current() {
            return false;
        }
        let have_ended = || threads.have_ended() && self.monitor.has_ended();
        if !dropping::drop_until(&self.refused, limit, have_ended) {
            return false;
        }
        threads.join();
        self.monitor.join();
        true
    }

    /// Whether the calling thread is a worker, the monitor's thread or a spare one.
    fn is_own_thread(&self) -> bool {
        current::with(self, |worker| worker.is_some()) || self.monitor.is_current()
    }
}
