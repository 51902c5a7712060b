//! A thread that drops refused jobs, and the line of those that its drops cause.
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
//!   (`Worker::wait`): it may be the last thread that can. It does so while half of its stack is
//!   free: each of these drops may wait in turn, inside the one before. So drops must not wait
//!   for each other in a chain: if each drop aborts a second task and waits for it in `block_on`,
//!   the threads may all be in such waits, each below a drop that waits for another thread.
//! - The drop waits in another manner: the executor does not see that. So the other threads of
//!   a [`shutdown`](super::shutdown) take jobs out of the lines as well, if there is nothing
//!   else in the queue. One of them must be free to do so. Therefore the last worker does not
//!   end before step 7 does. But no thread is free if the executor has one worker, and was shut
//!   down on that worker.
//! - The drop waits for a task that waits itself, and that no thread has cancelled: then a
//!   worker must be free to take step 8.

use std::cell::RefCell;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use ws_core::sync::thread_local;

use super::refused::Refused;
use super::shared::Job;
use crate::base::thread_number::thread_number;

thread_local! {
    /// The queues of the jobs that this thread is dropping; the innermost drop comes last.
    static DROPPING: RefCell<Vec<Arc<Refused<Job>>>> = const { RefCell::new(Vec::new()) };
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
        let drop_one = |line| refused.drop_one_of_line(line, drop);
        while self.line.is_some_and(drop_one) {}
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
pub(super) fn drop_job(refused: &Arc<Refused<Job>>, job: Job) {
    let dropping = Dropping::begin(refused);
    drop(job);
    dropping.drop_line(refused);
}

/// Wakes a task, and drops it if its job is refused to this thread.
pub(super) fn drop_woken_by(refused: &Arc<Refused<Job>>, waker: Waker) {
    let dropping = Dropping::begin(refused);
    waker.wake();
    dropping.drop_line(refused);
}

/// Drops the jobs that were refused so far, and those that their drops cause.
pub(super) fn drop_all(refused: &Arc<Refused<Job>>) {
    let dropping = Dropping::begin(refused);
    refused.drop_all(dropping.line, drop);
}

/// Drops jobs as they are refused, until `is_over`, but not much longer than the `limit`.
/// Returns whether it was over.
pub(super) fn drop_until(
    refused: &Arc<Refused<Job>>,
    limit: Option<Duration>,
    is_over: impl Fn() -> bool,
) -> bool {
    let dropping = Dropping::begin(refused);
    refused.drop_until(dropping.line, limit, is_over, drop)
}

/// The line for jobs that are refused to this thread, if it is dropping jobs of this executor.
pub(super) fn line_of(refused: &Arc<Refused<Job>>) -> Option<usize> {
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
    let innermost_first = |dropping: &RefCell<Vec<Arc<Refused<Job>>>>| {
        let dropping = dropping.borrow();
        dropping.iter().rev().cloned().collect()
    };
    let all: Vec<_> = DROPPING.try_with(innermost_first).unwrap_or_default();
    let drop_one = |refused: &Arc<Refused<Job>>| refused.drop_one_of_line(thread_number(), drop);
    while all.iter().any(drop_one) {}
}
