//! The end of an executor: the jobs that it refuses, and which thread drops them.
//!
//! # The problem
//!
//! A task may be woken at any time, on any thread, under any lock of the caller's. To drop a
//! refused job is to drop its future. That drop may take the very lock that the caller of
//! `wake` holds. HTTP/2 connections do just that.
//!
//! # The steps
//!
//! A *drain* only asks: the worker that sees the executor [quiet](crate::quiet) begins with
//! step 1. A *shutdown* begins with step 1 at once.
//!
//! The thread that closes the executor (`Shared::close`):
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
//! A worker, after its last poll (`Worker::end`):
//! 8. refuses what is in its slot and its ring, before the first drop, because that drop may
//!    wait for one of these jobs. The worker also does 6 and 7, because the first thread may be
//!    blocked in a drop;
//! 9. drops the jobs that are pinned to it, and what was refused, until no future is left that
//!    was built on it;
//! 10. closes its queue of pinned jobs, refuses what is in it, and drops that;
//! 11. if it is the last worker, waits until step 7 is over and no task is seated any longer,
//!     and drops what is refused meanwhile.
//!
//! A worker whose host gives up, while the executor is not closed, does not do 6. Instead, it
//! wakes the tasks that are seated at it, again and again during step 9. The last such worker
//! closes the executor before step 11.
//!
//! A spare thread does 6 and 7 after its last poll. A worker that waits in a nested `block_on`
//! acts each time that it is unparked: it refuses what is in its slot and its ring, and does
//! once what step 9 repeats.
//!
//! The thread that shuts the executor down, or drains it, if it is not one of the executor's
//! own threads (`Executor::wait_for`):
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
//! or seated (`task/registry.rs`): a task takes its seat at the end of its first poll that is
//! pending, and gives it back after its future was dropped.
//! - In a queue: it is refused by steps 2, 8 and 10, or dropped in step 9.
//! - Being polled for the first time, and then pending: if step 6 has closed the shard of the
//!   seat before, the seat is refused, and the task wakes itself. If the task was seated
//!   before, step 6 wakes it.
//! - Polled later, and then pending: step 6 has woken it before that poll, in it, or after it.
//!   A wake before the poll does nothing, because the task is scheduled already. But a poll
//!   begins with an exchange on the word that the wake has exchanged. So after the poll the
//!   task sees that the executor is closed, and wakes itself (`Life::wait`).
//! - Seated, and not polled any longer: one of these wakes schedules it. The thread that wakes
//!   it may be slow, so its job may be refused late. But the seat is taken until then, and the
//!   last worker waits for it (step 11).
//!
//! A task that wakes itself after step 11 was polled by a spare thread, which drops it.
//!
//! # Drops that cause drops
//!
//! A future that is dropped may wake a second task, or own its handle. If a job is refused to a
//! thread while that thread drops others, the job goes into the *line* of this thread. A line
//! is a part of the queue of refused jobs. The thread empties its line before it goes on, so a
//! chain of a million tasks does not take a million stack frames.
//!
//! The drop of the first future may wait until the second one is gone.
//! - The drop waits in `block_on`: then [`drop_line`] drops the second future from there. On a
//!   thread that is not a worker, it drops only the jobs in the line: another job could belong
//!   to a task whose drop waits for the first one. A worker drops all refused jobs there
//!   (`Worker::wait`): it may be the last thread that can. So drops must not wait for each
//!   other in a chain: if each drop aborts a second task and waits for it in `block_on`, the
//!   threads may all be in such waits, each below a drop that waits for another thread.
//! - The drop waits in another manner: the executor does not see that. So the other threads of
//!   the steps above take jobs out of the lines as well, if there is nothing else in the queue.
//!   One of them must be free to do so. Therefore the last worker does not end before step 7
//!   does. But no thread is free if the executor has one worker, and was shut down on that
//!   worker.
//! - The drop waits for a task that waits itself, and that no thread has cancelled: then a
//!   worker must be free to take step 8.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use ws_core::sync::{Condvar, Mutex, MutexGuard, thread_local};

use crate::clock::Instant;
use crate::task::job::Job;
use crate::thread_number::thread_number;

thread_local! {
    /// The queues of the jobs that this thread is dropping; the innermost drop comes last.
    static DROPPING: RefCell<Vec<Arc<Refused<Job>>>> = const { RefCell::new(Vec::new()) };
}

/// A queue of refused jobs.
pub struct Refused<T> {
    jobs: Mutex<Jobs<T>>,
    /// The queue is no longer empty, a seat was given back, or a thread ends.
    changed: Condvar,
}

struct Jobs<T> {
    /// Those that were not refused to a thread that drops others.
    common: VecDeque<T>,
    /// The jobs that drops have caused, by thread. No line is empty.
    lines: Vec<Line<T>>,
    /// How many threads are closing the executor.
    closing: usize,
}

/// The jobs that the drops of one thread have caused.
struct Line<T> {
    thread: usize,
    jobs: VecDeque<T>,
}

impl<T> Refused<T> {
    /// An empty queue.
    pub fn new() -> Self {
        Self {
            jobs: Mutex::new(Jobs {
                common: VecDeque::new(),
                lines: Vec::new(),
                closing: 0,
            }),
            changed: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Jobs<T>> {
        // No user code runs under the lock, so it is not poisoned.
        self.jobs.lock().expect("never poisoned")
    }

    /// Queues jobs, in the line of a thread if one is given. Returns whether threads that wait
    /// inside a poll must look at the queue. If it was not empty, they have done so.
    #[must_use = "a thread inside a poll may wait for one of them"]
    pub fn push(&self, line: Option<usize>, refused: Vec<T>) -> bool {
        // A vector: taking from it runs no code of the user's under the lock.
        let mut jobs = self.lock();
        if refused.is_empty() {
            return false;
        }
        let was_empty = jobs.is_empty();
        jobs.queue(line).extend(refused);
        self.changed.notify_all();
        was_empty
    }

    /// The calling thread begins to close the executor, before others can see that.
    pub fn begin_close(&self) -> CloseUnderWay<'_, T> {
        self.lock().closing += 1;
        CloseUnderWay(self)
    }

    /// Lets a thread in [`drop_until`](Self::drop_until) look again.
    pub fn look_again(&self) {
        // Under the lock, so that the notification does not fall between a look and a wait.
        let _jobs = self.lock();
        self.changed.notify_all();
    }

    /// Takes a job out of the line of a thread.
    fn take_from_line(&self, thread: usize) -> Option<T> {
        self.lock().take_from_line(|line| line.thread == thread)
    }

    /// Takes the jobs that were queued so far, and those that their drops cause, one by one:
    /// first those in the `line` of the calling thread, last those in the lines of others.
    pub fn drop_all(&self, line: Option<usize>, mut drop_job: impl FnMut(T)) {
        let next = || self.lock().take(line);
        while let Some(job) = next() {
            drop_job(job);
        }
    }

    /// Takes jobs, and waits for more, until `is_over` and no thread is closing, but not much
    /// longer than the `limit`. Returns whether it was over.
    pub fn drop_until(
        &self,
        line: Option<usize>,
        limit: Option<Duration>,
        is_over: impl Fn() -> bool,
        mut drop_job: impl FnMut(T),
    ) -> bool {
        let begun = Instant::now();
        loop {
            self.drop_all(line, &mut drop_job);
            let mut jobs = self.lock();
            while jobs.is_empty() {
                if jobs.closing == 0 && is_over() {
                    return true;
                }
                let Some(limit) = limit else {
                    jobs = self.changed.wait(jobs).expect("never poisoned");
                    continue;
                };
                let Some(left) = limit.checked_sub(begun.elapsed()) else {
                    return false;
                };
                let waited = self.changed.wait_timeout(jobs, left);
                (jobs, _) = waited.expect("never poisoned");
            }
        }
    }
}

/// A thread closes an executor until this is dropped.
#[must_use = "the thread closes the executor until this is dropped"]
pub struct CloseUnderWay<'a, T>(&'a Refused<T>);

impl<T> Drop for CloseUnderWay<'_, T> {
    fn drop(&mut self) {
        self.0.lock().closing -= 1;
        self.0.changed.notify_all();
    }
}

impl<T> Jobs<T> {
    fn is_empty(&self) -> bool {
        self.common.is_empty() && self.lines.is_empty()
    }

    /// The queue that a job goes into: the common one, or a line.
    fn queue(&mut self, line: Option<usize>) -> &mut VecDeque<T> {
        let Some(thread) = line else {
            return &mut self.common;
        };
        let found = self.lines.iter().position(|line| line.thread == thread);
        let index = found.unwrap_or_else(|| {
            self.lines.push(Line {
                thread,
                jobs: VecDeque::new(),
            });
            self.lines.len() - 1
        });
        &mut self.lines[index].jobs
    }

    fn take(&mut self, line: Option<usize>) -> Option<T> {
        line.and_then(|thread| self.take_from_line(|line| line.thread == thread))
            .or_else(|| self.common.pop_front())
            .or_else(|| self.take_from_line(|_| true))
    }

    fn take_from_line(&mut self, is_it: impl Fn(&Line<T>) -> bool) -> Option<T> {
        let index = self.lines.iter().position(is_it)?;
        let line = &mut self.lines[index].jobs;
        let job = line.pop_front();
        if line.is_empty() {
            self.lines.swap_remove(index);
        }
        job
    }
}

/// The calling thread drops jobs of one executor, until this is dropped.
struct Dropping {
    /// The thread's line. `None` if the thread is ending, and its locals are gone.
    line: Option<usize>,
}

impl Dropping {
    fn begin(refused: &Arc<Refused<Job>>) -> Self {
        let entered = DROPPING.try_with(|dropping| dropping.borrow_mut().push(Arc::clone(refused)));
        Self {
            line: entered.ok().map(|()| thread_number()),
        }
    }

    /// Empties the line.
    fn drop_line(&self, refused: &Refused<Job>) {
        let next = || self.line.and_then(|line| refused.take_from_line(line));
        while let Some(job) = next() {
            drop(job);
        }
    }
}

impl Drop for Dropping {
    fn drop(&mut self) {
        if self.line.is_some() {
            let _ = DROPPING.try_with(|dropping| dropping.borrow_mut().pop());
        }
    }
}

/// Drops a job, and those that are refused to this thread meanwhile.
pub(crate) fn drop_job(refused: &Arc<Refused<Job>>, job: Job) {
    let dropping = Dropping::begin(refused);
    drop(job);
    dropping.drop_line(refused);
}

/// Wakes a task, and drops it if its job is refused to this thread.
pub(crate) fn drop_woken_by(refused: &Arc<Refused<Job>>, waker: Waker) {
    let dropping = Dropping::begin(refused);
    waker.wake();
    dropping.drop_line(refused);
}

/// Drops the jobs that were refused so far, and those that their drops cause.
pub(crate) fn drop_all(refused: &Arc<Refused<Job>>) {
    let dropping = Dropping::begin(refused);
    refused.drop_all(dropping.line, drop);
}

/// Drops jobs as they are refused, until `is_over`, but not much longer than the `limit`.
/// Returns whether it was over.
pub(crate) fn drop_until(
    refused: &Arc<Refused<Job>>,
    limit: Option<Duration>,
    is_over: impl Fn() -> bool,
) -> bool {
    let dropping = Dropping::begin(refused);
    refused.drop_until(dropping.line, limit, is_over, drop)
}

/// The line for jobs that are refused to this thread, if it is dropping jobs of this executor.
pub(crate) fn line_of(refused: &Arc<Refused<Job>>) -> Option<usize> {
    let is_dropping = |dropping: &RefCell<Vec<Arc<Refused<Job>>>>| {
        let dropping = dropping.borrow();
        dropping.iter().any(|it| Arc::ptr_eq(it, refused))
    };
    let found = DROPPING.try_with(is_dropping).unwrap_or(false);
    found.then(thread_number)
}

/// Drops the jobs in the lines of this thread. Called when it is about to wait inside a drop,
/// maybe for one of them.
pub(crate) fn drop_line() {
    let next = |dropping: &RefCell<Vec<Arc<Refused<Job>>>>| {
        let dropping = dropping.borrow();
        let mut innermost = dropping.iter().rev();
        innermost.find_map(|refused| refused.take_from_line(thread_number()))
    };
    while let Some(job) = DROPPING.try_with(next).ok().flatten() {
        drop(job);
    }
}
