//! What a task knows of its scheduler.
//!
//! Tasks are below the scheduler: they see it through this trait. The scheduler is a type
//! parameter of each task, so no call is dynamic, and a task stores one pointer to it.

use std::ptr::NonNull;

use super::registry::Registry;
use super::runnable::Runnable;

/// The state of an executor, as its tasks use it.
///
/// # Safety
///
/// Between a [`count_in`](Self::count_in) that returned true and the end of the
/// [`count_out`](Self::count_out) that belongs to it, the state must not be freed or moved.
/// `count_out` must return true only if no task is counted, and none can be any more.
pub(crate) unsafe trait Schedule: Sized + Send + Sync + 'static {
    /// Whether the executor was shut down: then a task that would wait must wake itself, so
    /// that it is refused.
    fn is_closed(&self) -> bool;

    /// Counts one more task. `worker` is the worker of the calling thread, if that is one of
    /// this executor. Returns false if the executor has ended.
    fn count_in(&self, worker: Option<usize>) -> bool;

    /// Counts one task less. Returns whether it was the last of all: then the caller must call
    /// [`release`](Self::release).
    #[must_use = "the last one releases the state"]
    fn count_out(&self) -> bool;

    /// Gives the reference back that all tasks have together.
    ///
    /// # Safety
    ///
    /// `this` must come from [`Arc::as_ptr`](std::sync::Arc::as_ptr). Must be called once, when
    /// there is no task and there will be none.
    unsafe fn release(this: NonNull<Self>);

    /// Where the tasks that wait are entered.
    fn registry(&self) -> &Registry;

    /// The shard of the registry for a task that the calling thread polls.
    fn shard(&self) -> usize;

    /// A future is gone, and its entry was given back. Called if a shutdown may wait for that.
    fn entry_was_left(&self);

    /// Queues a task that was woken, on any thread. It yielded if it was woken during its own
    /// poll.
    ///
    /// # Safety
    ///
    /// `this` must be the scheduler of the task. It may be freed as soon as another thread sees
    /// the runnable, unless the calling thread has a reference.
    unsafe fn schedule(this: NonNull<Self>, runnable: Runnable<Self>, yielded: bool);
}
