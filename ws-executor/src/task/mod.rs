//! Tasks: futures that were spawned.
//!
//! A task is one allocation of async-task's: state, awaiter, [`Metadata`], and either
//! the future or its outcome. What this module adds:
//!
//! - the future is contained (`base/panics.rs`): its panics end in the outcome, which
//!   [`Task`](crate::Task) re-raises; those in its drop end at the panic hook;
//! - the metadata is a [`Metadata`], so that the schedule function captures nothing: one that
//!   captures a value costs reference counting at every wake;
//! - a task that waits takes an entry in the registry (`registry.rs`), so that a shutdown finds
//!   it;
//! - a task can be aborted without owning its handle (`abort.rs`).
//!
//! The handles to tasks are above, in `api`. The scheduler is above as well: a task sees it
//! through [`Schedule`].

#[allow(unreachable_pub, reason = "public for the model checkers, see `model`")]
pub(crate) mod abort;
pub(crate) mod future;
pub(crate) mod join_error;
pub(crate) mod metadata;
#[allow(unreachable_pub, reason = "public for the model checkers, see `model`")]
pub(crate) mod registry;
pub(crate) mod runnable;
pub(crate) mod schedule;
#[allow(unreachable_pub, reason = "public for the model checkers, see `model`")]
pub(crate) mod task_count;

use std::sync::Arc;

use async_task::{Builder, ScheduleInfo, WithInfo};

use self::future::TaskFuture;
use self::metadata::Metadata;
use self::runnable::Runnable;
use self::schedule::Schedule;
use crate::base::panics::{Contained, Payload, TaskOutcome};

/// The owning reference to a task, as async-task gives it.
pub(crate) type RawTask<T, S> = async_task::Task<TaskOutcome<T>, Metadata<S>>;

/// Whether a future must be boxed before it is passed on. async-task boxes futures from the
/// same size on, but only at the end. Until then the future would be copied from frame to
/// frame, and a megabyte would overflow the stack of an unoptimised build.
pub(crate) const fn is_large<F>() -> bool {
    size_of::<F>() >= 2048
}

/// Makes a task of `future`, and its first runnable. `worker` is the worker of the calling
/// thread, if that is one of this executor. If the executor is closed, there is no runnable,
/// and the task is cancelled.
///
/// # Safety
///
/// What `future` borrows must outlive it: the caller makes sure that the future is dropped
/// before. If the future is not `Send`, it must be polled and dropped on one thread.
pub(crate) unsafe fn new_task<F: Future, S: Schedule>(
    scheduler: &Arc<S>,
    worker: Option<usize>,
    future: F,
) -> (Option<Runnable<S>>, RawTask<F::Output, S>) {
    let Some(metadata) = Metadata::new(scheduler, worker) else {
        return (None, cancelled(future));
    };
    // `schedule` is a function item: it has no size.
    let schedule = WithInfo(schedule::<S>);
    let builder = Builder::new().metadata(metadata);
    // SAFETY: the caller vouches for what the future borrows and for its thread;
    // `schedule` is `Send`, `Sync` and borrows nothing; the metadata is in the same
    // allocation as the future and outlives it.
    let (runnable, task) =
        unsafe { builder.spawn_unchecked(|metadata| TaskFuture::new(metadata, future), schedule) };
    (Some(Runnable::new(runnable)), task)
}

/// A task that was cancelled before it ran.
pub(crate) fn cancelled<F: Future, S: Schedule>(future: F) -> RawTask<F::Output, S> {
    // The future is dropped here, on the caller's thread.
    drop(Contained::new(future));
    let never = async { Contained::new(Err::<F::Output, _>(Box::new(()) as Payload)) };
    let builder = Builder::new().metadata(Metadata::ended());
    // SAFETY: `never` is dropped below, on this thread, unpolled, and borrows nothing
    // then; no waker of it is ever made, so it is not scheduled.
    let (runnable, task) = unsafe { builder.spawn_unchecked(|_| never, |_| {}) };
    drop(runnable);
    task
}

/// Schedules a task that was woken.
fn schedule<S: Schedule>(runnable: async_task::Runnable<Metadata<S>>, info: ScheduleInfo) {
    let runnable = Runnable::new(runnable);
    if let Some(scheduler) = runnable.metadata().pointer() {
        // SAFETY: it is the scheduler of this task.
        unsafe { S::schedule(scheduler, runnable, info.woken_while_running) };
    }
}
