//! A task that is due to be polled.

use std::ptr::NonNull;
use std::task::Waker;

use ws_core::slot::Pointer;

use super::metadata::Metadata;
use super::schedule::Schedule;

/// A task that is due to be polled; one pointer.
///
/// Dropping it cancels the task: its future is dropped on this thread.
pub(crate) struct Runnable<S: Schedule>(async_task::Runnable<Metadata<S>>);

impl<S: Schedule> Runnable<S> {
    pub(crate) fn new(runnable: async_task::Runnable<Metadata<S>>) -> Self {
        Self(runnable)
    }

    /// Polls the task once. Panics of its future are contained in the task.
    #[inline]
    pub(crate) fn run(self) {
        self.0.run();
    }

    pub(crate) fn metadata(&self) -> &Metadata<S> {
        self.0.metadata()
    }

    /// A reference to the task, which keeps its metadata alive.
    pub(crate) fn waker(&self) -> Waker {
        self.0.waker()
    }
}

// SAFETY: `into_raw` and `from_raw` of async-task's runnable are inverse, and keep its one
// pointer as it is.
unsafe impl<S: Schedule> Pointer for Runnable<S> {
    #[inline]
    fn into_raw(self) -> NonNull<()> {
        self.0.into_raw()
    }

    #[inline]
    unsafe fn from_raw(raw: NonNull<()>) -> Self {
        // SAFETY: the caller promises that it came out of a runnable of this type, and is used
        // once.
        Self(unsafe { async_task::Runnable::from_raw(raw) })
    }
}
