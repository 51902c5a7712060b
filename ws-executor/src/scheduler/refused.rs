//! The queue of the jobs that a closed executor has refused.
//!
//! Which jobs come here, and which threads take them out, is in [`shutdown`](super::shutdown).

use std::collections::VecDeque;
use std::time::Duration;

use ws_core::sync::{Condvar, Mutex, MutexGuard};

use crate::base::clock::Instant;

/// A queue of refused jobs.
pub struct Refused<T> {
    jobs: Mutex<Jobs<T>>,
    /// The queue is no longer empty, an entry was given back, or a thread ends.
    changed: Condvar,
}

struct Jobs<T> {
    /// Those that were not refused to a thread that drops others.
    common: VecDeque<T>,
    /// The jobs that drops have caused, by thread. No line is empty.
    lines: Vec<Line<T>>,
    /// How many threads are closing the executor.
    closing: usize,
    /// How many jobs were taken out, and are being dropped.
    dropping: usize,
    /// How many threads wait for a change.
    waiting: usize,
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
                dropping: 0,
                waiting: 0,
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
        self.tell(jobs);
        was_empty
    }

    /// The calling thread begins to close the executor, before others can see that.
    pub fn begin_close(&self) -> CloseUnderWay<'_, T> {
        self.lock().closing += 1;
        CloseUnderWay(self)
    }

    /// Lets a thread in [`drop_until`](Self::drop_until) look again.
    pub fn look_again(&self) {
        // Under the lock: no thread is between its look and its wait.
        self.tell(self.lock());
    }

    /// Notifies the threads that wait, if there are any: at the end of most executors there are
    /// none at most changes, and a notification is a system call. It comes after the lock is
    /// free, because the threads need the lock to wake up.
    fn tell(&self, changed: MutexGuard<'_, Jobs<T>>) {
        let is_awaited = changed.waiting > 0;
        drop(changed);
        if is_awaited {
            self.changed.notify_all();
        }
    }

    /// Takes a job out of the line of a thread, and drops it. Returns false if there is none.
    pub(super) fn drop_one_of_line(&self, thread: usize, drop_job: impl FnOnce(T)) -> bool {
        self.drop_one(
            |jobs| jobs.take_from_line(|line| line.thread == thread),
            drop_job,
        )
    }

    /// Takes the jobs that were queued so far, and those that their drops cause, one by one:
    /// first those in the `line` of the calling thread, last those in the lines of others.
    pub fn drop_all(&self, line: Option<usize>, mut drop_job: impl FnMut(T)) {
        while self.drop_one(|jobs| jobs.take(line), &mut drop_job) {}
    }

    /// Takes a job out, and drops it. It is counted meanwhile: the drop may need the driver, so
    /// the last worker must not end before.
    fn drop_one(
        &self,
        take: impl FnOnce(&mut Jobs<T>) -> Option<T>,
        drop_job: impl FnOnce(T),
    ) -> bool {
        let job = {
            let mut jobs = self.lock();
            let Some(job) = take(&mut jobs) else {
                return false;
            };
            jobs.dropping += 1;
            job
        };
        drop_job(job);
        let mut jobs = self.lock();
        jobs.dropping -= 1;
        if jobs.dropping == 0 {
            self.tell(jobs);
        }
        true
    }

    /// Waits for a change, but not much longer than the `limit`.
    fn wait<'a>(
        &'a self,
        mut jobs: MutexGuard<'a, Jobs<T>>,
        limit: Option<Duration>,
    ) -> MutexGuard<'a, Jobs<T>> {
        jobs.waiting += 1;
        let mut jobs = match limit {
            None => self.changed.wait(jobs).expect("never poisoned"),
            Some(limit) => {
                let waited = self.changed.wait_timeout(jobs, limit);
                waited.expect("never poisoned").0
            }
        };
        jobs.waiting -= 1;
        jobs
    }

    /// Takes jobs, and waits for more, until `is_over`, no thread is closing and none drops a job,
    /// but not much longer than the `limit`. Returns whether it was over.
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
                if jobs.closing == 0 && jobs.dropping == 0 && is_over() {
                    return true;
                }
                let left = limit.map(|limit| limit.saturating_sub(begun.elapsed()));
                if left == Some(Duration::ZERO) {
                    return false;
                }
                jobs = self.wait(jobs, left);
            }
        }
    }
}

/// A thread closes an executor until this is dropped.
#[must_use = "the thread closes the executor until this is dropped"]
pub struct CloseUnderWay<'a, T>(&'a Refused<T>);

impl<T> Drop for CloseUnderWay<'_, T> {
    fn drop(&mut self) {
        let mut jobs = self.0.lock();
        jobs.closing -= 1;
        self.0.tell(jobs);
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
