//! Making a task of a future that borrows: why that is sound.
//!
//! A caller of async-task's `spawn_unchecked` must ensure four things:
//!
//! 1. A future that is not `Send` is polled and dropped on one thread.
//! 2. A future that borrows does not outlive what it borrows.
//! 3. The schedule function is `Send` and `Sync`, because wakers on any thread call it and
//!    drop it.
//! 4. The schedule function is `'static`, because wakers may outlive the executor.
//!
//! The bounds in this module check the last two. The callers promise the first two:
//!
//! - [`Executor<'a>`](crate::Executor) is invariant in `'a`, and its `spawn` takes futures
//!   that are `Send` and live for `'a`. The executor implements `Drop`, so what `'a` borrows
//!   outlives the executor. When the executor is dropped, [`State::drop_tasks`] returns only
//!   after every future is dropped. If the executor is leaked, its futures are leaked, too:
//!   to poll or drop one takes a `run` or a `tick`, which borrow the executor.
//! - [`LocalExecutor<'a>`](crate::LocalExecutor) does the same with futures that are not
//!   `Send`. It is neither `Send` nor `Sync`. So it is dropped on the thread on which all
//!   its `run`s and `tick`s are, and on which its tasks were spawned. A wake on another
//!   thread pushes the task, and neither polls nor drops its future.
//!
//! Moving an executor moves a pointer. A waker that outlives the executor keeps the task's
//! memory and the [`State`] alive. But the future is dropped, and the wake does nothing.

use std::sync::Arc;

use async_task::{Builder, Runnable, ScheduleInfo, Task, WithInfo};

use crate::registry::{Entry, Registered, Registrar, Registry};
use crate::state::State;

impl Registrar for Arc<State> {
    fn registry(&self) -> &Registry {
        &self.registry
    }
}

/// Makes a task that is registered in `state`. The caller must schedule its first runnable.
///
/// # Safety
///
/// What `future` borrows must be there until the task is finished, or until
/// [`State::drop_tasks`] has returned, or until no task is taken out of the state's queues
/// any more. If `future` is not `Send`, only the calling thread may take tasks out of the
/// state's queues.
pub(crate) unsafe fn new_task<F: Future>(
    state: &Arc<State>,
    future: F,
) -> (Runnable, Task<F::Output>) {
    state.registry.enter(|entry: Entry| {
        let future = Registered::new(future, entry, Arc::clone(state));
        // SAFETY: the caller's promises are those that `new_unregistered` needs. What
        // `Registered` adds to the future, an entry and an `Arc`, borrows nothing and may
        // be dropped on any thread.
        let (runnable, task) = unsafe { new_unregistered(future, Arc::clone(state)) };
        (runnable.waker(), (runnable, task))
    })
}

/// Makes a task that is not registered, so the end of its executor does not find it.
///
/// # Safety
///
/// As for [`new_task`], but without the help of [`State::drop_tasks`].
pub(crate) unsafe fn new_unregistered<F, S>(future: F, state: S) -> (Runnable, Task<F::Output>)
where
    F: Future,
    S: AsRef<State> + Send + Sync + 'static,
{
    let schedule = move |runnable: Runnable, info: ScheduleInfo| {
        // async-task keeps a schedule function that captures a value alive during its
        // call, whatever becomes of the runnable.
        state.as_ref().schedule(runnable, info);
    };
    let builder = Builder::new().propagate_panic(true);
    // SAFETY: the caller promises that a future that is not `Send` stays on one thread, and
    // that what the future borrows outlives it. The schedule function captures only
    // `state`, so by the bounds on `S` it is `Send`, `Sync` and `'static`.
    unsafe { builder.spawn_unchecked(|()| future, WithInfo(schedule)) }
}
