//! The jobs that a closed executor refuses.
//!
//! # The problem
//!
//! A task may be woken at any time, on any thread, under any lock of the caller's. To drop
//! a refused job is to drop its future, and the drop of a future may take the very lock that
//! the caller of `wake` holds. HTTP/2 connections do just that.
//!
//! # The rule
//!
//! A wake never drops a future. A job that is refused to a wake is queued, and a thread
//! that shuts the executor down drops it, outside of all locks:
//! 1. the thread that closes the executor wakes all tasks that wait, and drops each;
//! 2. each worker at its end, and each stand-in after its last poll, does the same;
//! 3. a worker that waits inside a poll drops what was refused;
//! 4. the last worker that ends waits until no task is seated any more.
//!
//! A job that is refused to a *spawn* is not queued: the caller drops it. Otherwise it could
//! come after step 4.
//!
//! # Why none is left
//!
//! Look at a future that is alive when the executor is closed. It is in a queue, being
//! polled, or seated (`task/registry.rs`): a task takes its seat at the end of the first poll
//! that has to wait, and leaves it after its future was dropped.
//! - In a queue: the owner of the queue drops it, at the close or at its end.
//! - Being polled, and then pending: the polling thread wakes all seated tasks afterwards (2).
//!   That the first step has woken them is not enough: a task that was in a queue at that
//!   moment is not woken, and a worker that took it out before may still poll it.
//! - Seated, and not polled any more: it is woken, by the first step or the second. So one of
//!   these threads schedules it, or another thread is just about to. That one may be slow, and
//!   its job may come here late. But the seat is taken until then, and the last worker waits
//!   for it (4).
//!
//! # Drops that cause drops
//!
//! A future that is dropped may wake a second task, or own its handle. The job of that task
//! goes into a *line* of the dropping thread, which is empty before the thread goes on: so a
//! chain of a million tasks takes no million stack frames. The drop of the first future may
//! wait in `block_on` until the second one is gone; then [`drop_line`] drops it from there.
//! Jobs of the shared queue are not dropped there: they could be of a task that waits, in its
//! drop, for the one below.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::task::Waker;

use ws_core::sync::{Condvar, Mutex, MutexGuard, thread_local};

use crate::task::job::Job;

thread_local! {
    /// The jobs that were refused to this thread while it drops others; `None` otherwise.
    static LINE: RefCell<Option<VecDeque<Job>>> = const { RefCell::new(None) };
}

/// A queue of refused jobs.
pub struct Refused<T> {
    jobs: Mutex<VecDeque<T>>,
    /// A job was queued, or a seat was left.
    changed: Condvar,
}

impl<T> Refused<T> {
    /// An empty queue.
    pub fn new() -> Self {
        Self {
            jobs: Mutex::new(VecDeque::new()),
            changed: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<T>> {
        // No user code runs under the lock, so it is not poisoned.
        self.jobs.lock().expect("never poisoned")
    }

    /// Queues jobs for any thread that shuts down.
    pub fn push(&self, jobs: Vec<T>) {
        // A vector: taking from it runs no code of the user's under the lock.
        self.lock().extend(jobs);
        self.changed.notify_all();
    }

    /// Lets a thread in [`drop_until`](Self::drop_until) look again: a seat was left.
    pub fn look_again(&self) {
        // Under the lock, so that it does not fall between a look and a wait.
        let _jobs = self.lock();
        self.changed.notify_all();
    }

    /// Takes the jobs that were queued so far, and those that follow from it, one by one.
    pub fn drop_all(&self, mut drop_job: impl FnMut(T)) {
        let next = || self.lock().pop_front();
        while let Some(job) = next() {
            drop_job(job);
        }
    }

    /// Takes jobs until `is_over`, and waits for more.
    pub fn drop_until(&self, is_over: impl Fn() -> bool, mut drop_job: impl FnMut(T)) {
        loop {
            self.drop_all(&mut drop_job);
            let mut jobs = self.lock();
            while jobs.is_empty() {
                if is_over() {
                    return;
                }
                jobs = self.changed.wait(jobs).expect("never poisoned");
            }
        }
    }
}

/// Drops a job, and those that are refused to this thread meanwhile.
pub(crate) fn drop_job(job: Job) {
    with_line(|| drop(job));
}

/// Wakes a task, and drops it if its job is refused to this thread.
pub(crate) fn drop_woken_by(waker: Waker) {
    with_line(|| waker.wake());
}

/// Runs `code`, which does not panic, with a line for this thread, and empties that. Calls
/// inside of each other have a line each.
fn with_line(code: impl FnOnce()) {
    // Without the thread's locals, which are gone if it is ending, there is no line.
    let outer = LINE.try_with(|line| line.replace(Some(VecDeque::new())));
    code();
    drop_line();
    if let Ok(outer) = outer {
        let _ = LINE.try_with(|line| line.replace(outer));
    }
}

/// Takes a job into the line of this thread; gives it back if there is none.
pub(crate) fn line_up(job: Job) -> Result<(), Job> {
    let mut job = Some(job);
    let _ = LINE.try_with(|line| {
        if let Some(line) = &mut *line.borrow_mut() {
            line.extend(job.take());
        }
    });
    job.map_or(Ok(()), Err)
}

/// Drops the jobs in the line of this thread: at the end of a drop, or if the thread is about
/// to wait inside of one, maybe for one of them.
pub(crate) fn drop_line() {
    let next = || LINE.try_with(|line| line.borrow_mut().as_mut()?.pop_front());
    while let Some(job) = next().ok().flatten() {
        drop(job);
    }
}
