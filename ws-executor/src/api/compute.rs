//! Code that computes, as a task.
//!
//! A closure that takes long must not be in a worker's queues of tasks: the tasks behind it
//! would wait. So such closures have a queue of their own. Workers look at it when no task is
//! due. They also look at it after a number of polls, so that closures do not wait for ever
//! either. While a closure runs, its worker has handed over what others can do
//! (`scheduler/worker/lane.rs`), as for a join.

use std::sync::Arc;

use super::task::Task;
use crate::base::coop;
use crate::scheduler::shared::Shared;
use crate::scheduler::worker::current;
use crate::task::is_large;

/// Queues `code` for a worker of the executor.
pub(crate) fn compute<F, R>(shared: &Arc<Shared>, code: F) -> Task<R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    let future = async move {
        current::with_any(|worker| {
            let _entered = worker.map(|worker| worker.enter_join());
            // The code cannot yield: a foreign `block_on` in it would poll for ever.
            coop::unlimited(code)
        })
    };
    if is_large::<F>() {
        return queue(shared, Box::pin(future));
    }
    queue(shared, future)
}

fn queue<F>(shared: &Arc<Shared>, future: F) -> Task<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    // SAFETY: the future is `Send` and borrows nothing.
    Task::new(unsafe { shared.spawn_computation(future) })
}
