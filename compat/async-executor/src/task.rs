//! Making a task of a future that borrows: why that is sound.
//!
//! async-task asks four things of whoever spawns without its checks: a future that is not
//! `Send` stays on one thread; one that borrows does not outlive what it borrows; the
//! schedule function may be called and dropped on any thread; and it borrows nothing. The
//! last two are checked by the bounds here. The first two are promised by the callers:
//!
//! - [`Executor<'a>`](crate::Executor) is invariant in `'a`, and its `spawn` takes futures
//!   that are `Send` and live for `'a`. It implements `Drop`, so what `'a` borrows outlives
//!   it; and when it is dropped, [`State::drop_tasks`] returns only when every future is
//!   gone. If it is leaked, its futures are, and nobody polls or drops them any more: that
//!   takes a `run` or a `tick`, which borrow it.
//! - [`LocalExecutor<'a>`](crate::LocalExecutor) does the same with futures that are not
//!   `Send`. It is neither `Send` nor `Sync`, so it is dropped on the thread where all its
//!   `run`s and `tick`s are, and where its tasks were spawned. Wakes on other threads push
//!   the task, and do not look into it.
//!
//! Moving an executor moves a pointer. A waker that outlives it keeps the task's memory and
//! the [`State`], but the future is gone, and waking does nothing.

use std::sync::Arc;

use async_task::{Builder, Runnable, ScheduleInfo, Task, WithInfo};

use crate::registry::{Entry, Registered, Registrar, Registry};
use crate::state::State;

impl Registrar for Arc<State> {
    fn registry(&self) -> &Registry {
        &self.registry
    }
}

/// Makes a task, registered in `state`. Its first runnable is the caller's to schedule.
///
/// # Safety
///
/// What `future` borrows is there until the task is finished, or until
/// [`State::drop_tasks`] has returned, or for ever. If it is not `Send`, the state's queues
/// are emptied by the calling thread only.
pub(crate) unsafe fn new_task<F: Future>(
    state: &Arc<State>,
    future: F,
) -> (Runnable, Task<F::Output>) {
    state.registry.enter(|entry: Entry| {
        let future = Registered::new(future, entry, Arc::clone(state));
        // SAFETY: the caller's promises.
        let (runnable, task) = unsafe { new_unregistered(future, Arc::clone(state)) };
        (runnable.waker(), (runnable, task))
    })
}

/// Makes a task that the end of its executor does not know of.
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
        // async-task keeps a function that captures something alive during its call,
        // whatever becomes of the runnable.
        state.as_ref().schedule(runnable, info);
    };
    let builder = Builder::new().propagate_panic(true);
    // SAFETY: the caller vouches for the future; the schedule function is `Send`, `Sync`
    // and borrows nothing, by the bounds on `S`.
    unsafe { builder.spawn_unchecked(|()| future, WithInfo(schedule)) }
}
