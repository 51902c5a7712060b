//! A task that is due to be polled, as the queues hold it.

use std::ptr::NonNull;
use std::task::Waker;

use ws_core::slot::Pointer;

use super::home::Home;

/// A runnable of this executor; one pointer.
///
/// Dropping it cancels the task: its future is dropped on this thread.
pub(crate) struct Job(async_task::Runnable<Home>);

impl Job {
    pub(crate) fn new(runnable: async_task::Runnable<Home>) -> Self {
        Self(runnable)
    }

    /// Polls the task once. Panics of its future are contained in the task.
    #[inline]
    pub(crate) fn run(self) {
        self.0.run();
    }

    pub(crate) fn home(&self) -> &Home {
        self.0.metadata()
    }

    /// A reference to the task, which keeps its home alive.
    pub(crate) fn waker(&self) -> Waker {
        self.0.waker()
    }
}

// SAFETY: `Runnable::into_raw` and `Runnable::from_raw` are inverse.
unsafe impl Pointer for Job {
    #[inline]
    fn into_raw(self) -> NonNull<()> {
        self.0.into_raw()
    }

    #[inline]
    unsafe fn from_raw(raw: NonNull<()>) -> Self {
        // SAFETY: the caller promises that it came out of a job.
        Self(unsafe { async_task::Runnable::from_raw(raw) })
    }
}
