//! Tasks: futures that were spawned, and the handles to them.
//!
//! A task is one allocation of async-task's: state, awaiter, [`Home`], and either
//! the future or its outcome. What this module adds:
//!
//! - the future is contained (`contain.rs`): its panics end in the outcome, which [`Task`]
//!   re-raises; those in its drop end at the panic hook;
//! - the metadata is a [`Home`] (`home.rs`), so that the schedule function captures nothing:
//!   one that captures a value costs reference counting at every wake;
//! - a task that waits takes a seat in the registry (`registry.rs`), so that a shutdown finds
//!   it;
//! - a task can be aborted without owning its handle (`abort.rs`).

#[allow(unreachable_pub, reason = "public for the model checkers, see `model`")]
pub(crate) mod abort;
pub(crate) mod contain;
pub(crate) mod future;
pub(crate) mod handle;
#[allow(unreachable_pub, reason = "public for the model checkers, see `model`")]
pub(crate) mod home;
pub(crate) mod job;
pub(crate) mod join_error;
pub(crate) mod join_handle;
#[allow(unreachable_pub, reason = "public for the model checkers, see `model`")]
pub(crate) mod registry;
mod task_ref;

use std::sync::Arc;

use async_task::{Builder, Runnable, ScheduleInfo, WithInfo};

use self::future::TaskFuture;
use self::home::Home;
use self::job::Job;
use crate::shared::Shared;
use crate::worker::current;

pub use self::abort::AbortHandle;
pub use self::handle::{FallibleTask, Task};
pub use self::join_error::JoinError;
pub use self::join_handle::JoinHandle;

/// Whether a future must be boxed before it is passed on. async-task boxes futures from the
/// same size on, but only at the end. Until then the future would be copied from frame to
/// frame, and a megabyte would overflow the stack of an unoptimised build.
pub(crate) const fn is_large<F>() -> bool {
    size_of::<F>() >= 2048
}

/// Makes a task of `future` in the executor of `shared`, and its first job. If the executor is
/// closed, there is no job, and the task is cancelled.
///
/// # Safety
///
/// What `future` borrows must outlive it: the caller makes sure that the future is dropped
/// before. If the future is not `Send`, it must be polled and dropped on one thread.
pub(crate) unsafe fn new_task<F: Future>(
    shared: &Arc<Shared>,
    future: F,
) -> (Option<Job>, Task<F::Output>) {
    let home = if shared.is_closed() {
        None
    } else {
        Home::new(shared)
    };
    let Some(home) = home else {
        return (None, cancelled(future));
    };
    // `schedule` is a function item: it has no size.
    let schedule = WithInfo(schedule);
    let builder = Builder::new().metadata(home);
    // SAFETY: the caller vouches for what the future borrows and for its thread;
    // `schedule` is `Send`, `Sync` and borrows nothing; the home is in the same
    // allocation as the future and outlives it.
    let (runnable, task) =
        unsafe { builder.spawn_unchecked(|home| TaskFuture::new(home, future), schedule) };
    (Some(Job::new(runnable)), Task::new(task))
}

/// A task that was cancelled before it ran.
pub(crate) fn cancelled<F: Future>(future: F) -> Task<F::Output> {
    // The future is dropped here, on the caller's thread.
    let future = contain::Contained::new(future);
    drop(future);
    let never =
        async { contain::Contained::new(Err::<F::Output, _>(Box::new(()) as contain::Payload)) };
    let builder = Builder::new().metadata(Home::ended());
    // SAFETY: `never` is dropped below, on this thread, unpolled, and borrows nothing
    // then; no waker of it is ever made, so it is not scheduled.
    let (runnable, task) = unsafe { builder.spawn_unchecked(|_| never, |_| {}) };
    drop(runnable);
    Task::new(task)
}

/// Schedules a task that was woken. It goes to the worker of this thread, if that is one of the
/// same executor, otherwise to the injector.
fn schedule(runnable: Runnable<Home>, info: ScheduleInfo) {
    let job = Job::new(runnable);
    let Some(shared) = job.home().shared() else {
        return;
    };
    let shared: *const Shared = shared;
    current::with_raw(shared, |worker| match worker {
        Some(worker) if info.woken_while_running => worker.yielded(job),
        Some(worker) => worker.woken(job),
        None => {
            // Once the job is published, the task may run and end, and may drop the last
            // reference to the executor's state. That state is needed until a worker is
            // notified. This reference to the task keeps it.
            let keep = job.waker();
            // SAFETY: `keep` keeps the task, its home, and thereby the state alive.
            unsafe { &*shared }.inject_woken(job);
            drop(keep);
        }
    });
}
