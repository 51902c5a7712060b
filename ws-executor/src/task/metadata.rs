//! A task's reference to the state of its executor.
//!
//! A task can outlive its executor, because its wakers may be anywhere. Its schedule function
//! needs the executor's state all the same, if only to learn that the executor is closed. So
//! each task is counted, and all tasks together have one reference to the state. A reference
//! for each task would be enough. But if every spawn on every worker raised and lowered one
//! count, all workers would fight for its cache line. The count is split
//! ([`task_count`](super::task_count)).

use std::ptr::NonNull;
use std::sync::Arc;

use super::abort::{AbortHandle, AbortSlot};
use super::schedule::Schedule;

/// A task's counted reference to the state of its executor: the metadata of every task.
///
/// For tasks that never run, and those of a [`LocalExecutor`](crate::LocalExecutor) or of the
/// blocking pool, it refers to no executor.
pub(crate) struct Metadata<S: Schedule> {
    /// From [`Arc::as_ptr`].
    scheduler: Option<NonNull<S>>,
    abort: AbortSlot,
}

// SAFETY: it is a counted reference to an `S`, which is `Send` and `Sync`; the slot is both.
unsafe impl<S: Schedule> Send for Metadata<S> {}
// SAFETY: as above.
unsafe impl<S: Schedule> Sync for Metadata<S> {}

impl<S: Schedule> Metadata<S> {
    /// The metadata of a task that no worker will ever see.
    pub(crate) fn detached() -> Self {
        Self {
            scheduler: None,
            abort: AbortSlot::new(),
        }
    }

    /// The metadata of a task whose future is gone before it ran.
    pub(crate) fn ended() -> Self {
        Self {
            scheduler: None,
            abort: AbortSlot::ended(),
        }
    }

    /// A reference for one more task; `None` if the executor is closed or has ended. `worker`
    /// is the worker of the calling thread, if that is one of this executor.
    #[inline]
    pub(crate) fn new(scheduler: &Arc<S>, worker: Option<usize>) -> Option<Self> {
        let counted = !scheduler.is_closed() && scheduler.count_in(worker);
        counted.then(|| Self {
            scheduler: Some(as_pointer(scheduler)),
            abort: AbortSlot::new(),
        })
    }

    pub(crate) fn scheduler(&self) -> Option<&S> {
        // SAFETY: the pointer is that of an `Arc`, whose value is not moved or borrowed
        // mutably. The state lives until the last metadata is dropped.
        self.scheduler
            .map(|scheduler| unsafe { scheduler.as_ref() })
    }

    /// The same, without a borrow.
    pub(super) fn pointer(&self) -> Option<NonNull<S>> {
        self.scheduler
    }

    #[inline]
    pub(crate) fn abort(&self) -> &AbortSlot {
        &self.abort
    }

    pub(crate) fn abort_handle(&self) -> AbortHandle {
        self.abort
            .handle(|key| self.scheduler()?.registry().waker(key))
    }
}

impl<S: Schedule> Drop for Metadata<S> {
    #[inline]
    fn drop(&mut self) {
        let Some(scheduler) = self.scheduler else {
            return;
        };
        // SAFETY: as in `scheduler`; this task is counted until the call.
        let last = unsafe { scheduler.as_ref() }.count_out();
        if last {
            // SAFETY: this was the last task, and none can be added to a count that is zero: so
            // there is one last task only. The pointer is that of an `Arc`.
            unsafe { S::release(scheduler) };
        }
    }
}

/// The pointer that [`Schedule::release`] takes.
pub(crate) fn as_pointer<S>(scheduler: &Arc<S>) -> NonNull<S> {
    NonNull::new(Arc::as_ptr(scheduler).cast_mut()).expect("the pointer of an `Arc` is not null")
}
