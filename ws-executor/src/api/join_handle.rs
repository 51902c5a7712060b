//! The handle to a task as tokio has it: a panic is a result, and dropping detaches.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use super::task_ref::{End, TaskRef};
use crate::task::abort::AbortHandle;
use crate::task::join_error::JoinError;

/// A task whose panic and whose cancellation are ordinary results.
///
/// Made by [`Task::into_join_handle`](crate::Task::into_join_handle). Code that was written for
/// tokio can use it as tokio's `JoinHandle`: dropping it lets the task run on, detached.
///
/// ```
/// use ws_executor::{JoinHandle, spawn};
///
/// let handle: JoinHandle<u32> = spawn(async { 6 * 7 }).into_join_handle();
/// assert_eq!(ws_executor::block_on(handle).unwrap(), 42);
///
/// let handle = spawn(async { panic!("no answer") }).into_join_handle();
/// let error = ws_executor::block_on(handle).unwrap_err();
/// assert!(error.is_panic());
/// ```
///
/// # Panics
///
/// Polling it again after it gave its result panics.
pub struct JoinHandle<T> {
    /// `None` when the result was given.
    task: Option<TaskRef<T>>,
}

impl<T> JoinHandle<T> {
    pub(super) fn new(task: TaskRef<T>) -> Self {
        Self { task: Some(task) }
    }

    /// Aborts the task: it is not polled again, and its future is dropped soon.
    ///
    /// See [`AbortHandle::abort`] for a task that is being polled, or has ended. Code that was
    /// spawned with `spawn_blocking` or `compute` is aborted only if it has not begun.
    ///
    /// ```
    /// let handle = ws_executor::spawn(std::future::pending::<()>()).into_join_handle();
    /// handle.abort();
    /// assert!(ws_executor::block_on(handle).unwrap_err().is_cancelled());
    /// ```
    pub fn abort(&self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }

    /// Returns a handle that aborts the task, for code that does not own this one.
    ///
    /// ```
    /// let handle = ws_executor::spawn(std::future::pending::<()>()).into_join_handle();
    /// let abort = handle.abort_handle();
    /// drop(handle);
    /// abort.abort();
    /// ```
    #[must_use]
    pub fn abort_handle(&self) -> AbortHandle {
        match &self.task {
            Some(task) => task.abort_handle(),
            None => AbortHandle::of_ended(),
        }
    }

    /// Returns whether the task has ended, or was cancelled.
    ///
    /// ```
    /// let handle = ws_executor::spawn(std::future::pending::<()>()).into_join_handle();
    /// assert!(!handle.is_finished());
    /// ```
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.task.as_ref().is_none_or(TaskRef::is_finished)
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(task) = &mut self.task else {
            panic!("a `JoinHandle` was polled after it gave its result");
        };
        let end = ready!(task.poll_end(cx));
        self.task = None;
        Poll::Ready(match end {
            End::Output(output) => Ok(output),
            End::Panic(payload) => Err(JoinError::panic(payload)),
            End::Cancelled | End::Aborted => Err(JoinError::cancelled()),
        })
    }
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        if let Some(task) = self.task.take() {
            task.detach();
        }
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let finished = self.is_finished();
        f.debug_struct("JoinHandle")
            .field("is_finished", &finished)
            .finish()
    }
}
