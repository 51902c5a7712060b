//! The handle to a task.

use std::fmt;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use super::join_handle::JoinHandle;
use super::task_ref::{End, TaskRef};
use crate::scheduler::shared::Shared;
use crate::task::RawTask;
use crate::task::abort::AbortHandle;

/// A spawned task: a future of its output.
///
/// - Dropping the handle cancels the task: it is not polled again, and a worker drops its
///   future soon.
/// - [`detach`](Self::detach) lets it run without a handle.
/// - [`abort`](Self::abort) cancels it and keeps the handle; an [`AbortHandle`] does so for
///   code that does not own the handle.
/// - A panic of the task is re-raised where it is awaited;
///   [`into_join_handle`](Self::into_join_handle) makes it a result.
///
/// ```
/// let task = ws_executor::spawn(async { 6 * 7 });
/// assert_eq!(ws_executor::block_on(task), 42);
/// ```
///
/// # Panics
///
/// Awaiting a task that was cancelled, because its executor was shut down, or that was
/// [aborted](Self::abort), panics. [`fallible`](Self::fallible) makes that an ordinary result.
#[must_use = "a task is cancelled when its handle is dropped; `detach` lets it run"]
pub struct Task<T>(TaskRef<T>);

impl<T> Task<T> {
    pub(crate) fn new(task: RawTask<T, Shared>) -> Self {
        Self(TaskRef::new(task))
    }

    /// Lets the task run without a handle.
    ///
    /// Its output is dropped, and its panic is seen by the panic hook alone.
    ///
    /// ```
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// ws_executor::spawn(async move { sender.send("ran") }).detach();
    /// assert_eq!(receiver.recv(), Ok("ran"));
    /// ```
    pub fn detach(self) {
        self.0.detach();
    }

    /// Cancels the task, and waits until its future is gone.
    ///
    /// Returns the output if the task had ended before.
    ///
    /// ```
    /// let task = ws_executor::spawn(std::future::pending::<()>());
    /// assert_eq!(ws_executor::block_on(task.cancel()), None);
    /// ```
    ///
    /// # Panics
    ///
    /// If the task had panicked before, with its panic.
    pub async fn cancel(self) -> Option<T> {
        self.0.cancel().await.output()
    }

    /// Makes cancellation an ordinary result.
    ///
    /// ```
    /// let executor = ws_executor::Executor::new();
    /// let task = executor.spawn(std::future::pending::<()>()).fallible();
    /// executor.shutdown();
    /// assert_eq!(ws_executor::block_on(task), None);
    /// ```
    pub fn fallible(self) -> FallibleTask<T> {
        FallibleTask(self.0)
    }

    /// Makes cancellation and panics ordinary results, as tokio's `JoinHandle` does.
    ///
    /// Dropping that handle does not cancel the task.
    ///
    /// ```
    /// let handle = ws_executor::spawn(async { panic!("not re-raised") }).into_join_handle();
    /// assert!(ws_executor::block_on(handle).unwrap_err().is_panic());
    /// ```
    pub fn into_join_handle(self) -> JoinHandle<T> {
        JoinHandle::new(self.0)
    }

    /// Aborts the task: it is not polled again, and its future is dropped soon.
    ///
    /// See [`AbortHandle::abort`] for a task that is being polled, or has ended. Code that was
    /// spawned with `spawn_blocking` or `compute` is aborted only if it has not begun.
    ///
    /// ```
    /// let task = ws_executor::spawn(std::future::pending::<()>());
    /// task.abort();
    /// assert_eq!(ws_executor::block_on(task.fallible()), None);
    /// ```
    pub fn abort(&self) {
        self.0.abort();
    }

    /// Returns a handle that aborts the task, for code that does not own this one.
    ///
    /// ```
    /// let task = ws_executor::spawn(std::future::pending::<()>());
    /// let abort = task.abort_handle();
    /// task.detach();
    /// abort.abort();
    /// ```
    #[must_use]
    pub fn abort_handle(&self) -> AbortHandle {
        self.0.abort_handle()
    }

    /// Returns whether the task has ended, or was cancelled.
    ///
    /// ```
    /// let task = ws_executor::spawn(std::future::pending::<()>());
    /// assert!(!task.is_finished());
    /// ```
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }
}

impl<T> Future for Task<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        match ready!(self.0.poll_end(cx)) {
            End::Output(output) => Poll::Ready(output),
            End::Panic(payload) => resume_unwind(payload),
            End::Cancelled => panic!(
                "the task was cancelled: its executor was shut down, or could not run it; \
                 await `task.fallible()` to expect that"
            ),
            End::Aborted => {
                panic!("the task was aborted; await `task.fallible()` to expect that")
            }
        }
    }
}

impl<T> fmt::Debug for Task<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let finished = self.is_finished();
        f.debug_struct("Task")
            .field("is_finished", &finished)
            .finish()
    }
}

/// A [`Task`] for which being cancelled is an ordinary result: `None`.
///
/// Made by [`Task::fallible`]. Dropping it cancels the task.
#[must_use = "a task is cancelled when its handle is dropped; `detach` lets it run"]
pub struct FallibleTask<T>(TaskRef<T>);

impl<T> FallibleTask<T> {
    /// Lets the task run without a handle, as [`Task::detach`].
    ///
    /// ```
    /// ws_executor::spawn(async {}).fallible().detach();
    /// ```
    pub fn detach(self) {
        self.0.detach();
    }

    /// Cancels the task and waits until its future is gone, as [`Task::cancel`].
    ///
    /// ```
    /// let task = ws_executor::spawn(std::future::pending::<()>()).fallible();
    /// assert_eq!(ws_executor::block_on(task.cancel()), None);
    /// ```
    ///
    /// # Panics
    ///
    /// If the task had panicked before, with its panic.
    pub async fn cancel(self) -> Option<T> {
        self.0.cancel().await.output()
    }

    /// Returns whether the task has ended, or was cancelled.
    ///
    /// ```
    /// let task = ws_executor::spawn(std::future::pending::<()>()).fallible();
    /// assert!(!task.is_finished());
    /// ```
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }
}

impl<T> Future for FallibleTask<T> {
    type Output = Option<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let end = ready!(self.0.poll_end(cx));
        Poll::Ready(end.output())
    }
}

impl<T> fmt::Debug for FallibleTask<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let finished = self.is_finished();
        f.debug_struct("FallibleTask")
            .field("is_finished", &finished)
            .finish()
    }
}
