//! The handle to a task.

use std::fmt;
use std::future::poll_fn;
use std::panic::resume_unwind;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};

use super::contain::Outcome;
use super::home::Home;
use crate::coop;
use crate::shield::shielded;

/// A spawned task: a future of its output.
///
/// - Dropping the handle cancels the task: it is not polled again, and its future
///   is dropped soon, by a worker.
/// - [`detach`](Self::detach) lets it run without a handle.
/// - A panic of the task is re-raised where it is awaited.
///
/// ```
/// let task = ws_executor::spawn(async { 6 * 7 });
/// assert_eq!(ws_executor::block_on(task), 42);
/// ```
///
/// # Panics
///
/// Awaiting a task that was cancelled, because its executor was shut down,
/// panics. [`fallible`](Self::fallible) makes that an ordinary result.
#[must_use = "a task is cancelled when its handle is dropped; `detach` lets it run"]
pub struct Task<T>(async_task::FallibleTask<Outcome<T>, Home>);

impl<T> Task<T> {
    pub(crate) fn new(task: async_task::Task<Outcome<T>, Home>) -> Self {
        Self(task.fallible())
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
        cancel_shielded(self.0).await
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

/// The output of a task, or its panic.
fn reveal<T>(outcome: Outcome<T>) -> T {
    outcome
        .into_inner()
        .unwrap_or_else(|payload| resume_unwind(payload))
}

/// Polls, and leaves a waker that cannot harm whoever wakes it.
fn poll_shielded<T>(
    task: &mut async_task::FallibleTask<Outcome<T>, Home>,
    cx: &mut Context<'_>,
) -> Poll<Option<Outcome<T>>> {
    shielded(cx.waker(), |waker| {
        Pin::new(task).poll(&mut Context::from_waker(waker))
    })
}

/// Cancels, and leaves a waker that cannot harm whoever wakes it.
async fn cancel_shielded<T>(task: async_task::FallibleTask<Outcome<T>, Home>) -> Option<T> {
    let mut cancelled = pin!(task.cancel());
    let outcome = poll_fn(|cx| {
        shielded(cx.waker(), |waker| {
            cancelled.as_mut().poll(&mut Context::from_waker(waker))
        })
    });
    outcome.await.map(reveal)
}

impl<T> Future for Task<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let proceed = ready!(coop::poll_proceed(cx));
        match poll_shielded(&mut self.0, cx) {
            Poll::Ready(Some(outcome)) => {
                proceed.made_progress();
                Poll::Ready(reveal(outcome))
            }
            Poll::Ready(None) => panic!(
                "the task was cancelled: its executor was shut down, or could not run it; \
                 await `task.fallible()` to expect that"
            ),
            Poll::Pending => Poll::Pending,
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
pub struct FallibleTask<T>(async_task::FallibleTask<Outcome<T>, Home>);

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
        cancel_shielded(self.0).await
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
        let proceed = ready!(coop::poll_proceed(cx));
        let outcome = ready!(poll_shielded(&mut self.0, cx));
        proceed.made_progress();
        Poll::Ready(outcome.map(reveal))
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
