//! Code that computes, as a task.
//!
//! A closure that takes long must not be in a worker's queues of tasks: the tasks behind it
//! would wait. So such closures have a queue of their own. Workers look at it when no task is
//! due. They also look at it after a number of polls, so that closures do not wait for ever
//! either. While a closure runs, its worker has handed over what others can do
//! (`worker/lane.rs`), as for a join.

use crate::coop;
use crate::handle::Handle;
use crate::task::{Task, is_large, new_task};
use crate::worker::current;

/// Queues `code` for a worker of the executor.
pub(crate) fn compute<F, R>(handle: &Handle, code: F) -> Task<R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    let future = async move {
        current::with_any(|worker| {
            let _entered = worker.map(|worker| worker.enter_fork());
            // The code cannot yield: a foreign `block_on` in it would poll for ever.
            coop::unlimited(code)
        })
    };
    if is_large::<F>() {
        return queue(handle, Box::pin(future));
    }
    queue(handle, future)
}

fn queue<F>(handle: &Handle, future: F) -> Task<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let shared = handle.shared();
    // SAFETY: the future is `Send` and borrows nothing.
    let (job, task) = unsafe { new_task(shared, future) };
    if let Some(job) = job {
        shared.inject_computation(job);
    }
    task
}
