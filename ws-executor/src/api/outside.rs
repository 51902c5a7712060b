//! Fork-join from threads that are not workers of the executor.
//!
//! Such a thread owns no lane, and must not share one: a deque has one owner. So the code goes
//! to a worker as a task that borrows, and the thread waits for it. That task waits among the
//! computations, for two reasons: it is one, and a spare thread must not take it. A spare
//! thread is not a worker, so each join inside would come here again.

use std::sync::Arc;

use super::scope::scope;
use crate::scheduler::fork::join;
use crate::scheduler::shared::Shared;
use crate::scheduler::worker::current;

/// [`join()`] for a thread that is not a worker of the executor.
#[cold]
pub(crate) fn join_inside<A, B, RA, RB>(shared: &Arc<Shared>, a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    inside(shared, || {
        current::with(shared, |worker| match worker {
            Some(worker) => join(worker, a, b),
            None => (a(), b()),
        })
    })
}

/// Runs `code` on a worker of the executor and returns what it returns. If the executor
/// is shut down before it begins, it runs here, without workers.
pub(crate) fn inside<R: Send>(shared: &Arc<Shared>, code: impl FnOnce() -> R + Send) -> R {
    let mut code = Some(code);
    let mut result = None;
    scope(shared, |s| {
        let (code, result) = (&mut code, &mut result);
        drop(s.start_on_worker(async move { *result = code.take().map(|code| code()) }));
    });
    match (result, code) {
        (Some(result), _) => result,
        (None, Some(code)) => code(),
        (None, None) => unreachable!("code that has begun has ended, or its panic went on"),
    }
}
