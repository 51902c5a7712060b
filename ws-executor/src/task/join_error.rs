//! The error of a task that gave no output.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::io;
use std::sync::Mutex;

use crate::base::panics::{Contained, Payload};

/// The task that a [`JoinHandle`](crate::JoinHandle) stands for gave no output: it panicked, or
/// was cancelled.
///
/// ```
/// let task = ws_executor::spawn(async { panic!("no answer") }).into_join_handle();
/// let error = ws_executor::block_on(task).unwrap_err();
/// assert!(error.is_panic());
/// assert_eq!(error.to_string(), "task panicked with message \"no answer\"");
/// assert_eq!(error.into_panic().downcast_ref(), Some(&"no answer"));
/// ```
pub struct JoinError(JoinErrorKind);

enum JoinErrorKind {
    Cancelled,
    /// Behind a lock, so that an error can be shared between threads: a payload alone cannot.
    /// The drop of a payload may panic; that panic is contained.
    Panic(Contained<Mutex<Payload>>),
}

impl JoinError {
    pub(crate) fn cancelled() -> Self {
        Self(JoinErrorKind::Cancelled)
    }

    pub(crate) fn panic(payload: Payload) -> Self {
        Self(JoinErrorKind::Panic(Contained::new(Mutex::new(payload))))
    }

    /// Returns whether the task was cancelled: aborted, or its executor was shut down or
    /// could not run it.
    ///
    /// ```
    /// let executor = ws_executor::Executor::new();
    /// let task = executor.spawn(std::future::pending::<()>()).into_join_handle();
    /// executor.shutdown();
    /// assert!(ws_executor::block_on(task).unwrap_err().is_cancelled());
    /// ```
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        matches!(self.0, JoinErrorKind::Cancelled)
    }

    /// Returns whether the task panicked.
    ///
    /// ```
    /// let task = ws_executor::spawn(async { panic!() }).into_join_handle();
    /// assert!(ws_executor::block_on(task).unwrap_err().is_panic());
    /// ```
    #[must_use]
    pub fn is_panic(&self) -> bool {
        matches!(self.0, JoinErrorKind::Panic(_))
    }

    /// Returns what the task's panic carries, for [`resume_unwind`](std::panic::resume_unwind).
    ///
    /// ```
    /// let task = ws_executor::spawn(async { std::panic::panic_any(5) }).into_join_handle();
    /// let payload = ws_executor::block_on(task).unwrap_err().into_panic();
    /// assert_eq!(payload.downcast_ref(), Some(&5));
    /// ```
    ///
    /// # Panics
    ///
    /// If the task did not panic; see [`try_into_panic`](Self::try_into_panic).
    #[must_use = "the panic of the task is dropped"]
    #[track_caller]
    pub fn into_panic(self) -> Box<dyn Any + Send + 'static> {
        match self.try_into_panic() {
            Ok(payload) => payload,
            Err(_) => panic!("the task was cancelled, and has no panic"),
        }
    }

    /// Returns what the task's panic carries.
    ///
    /// ```
    /// let task = ws_executor::spawn(async { std::panic::panic_any(5) }).into_join_handle();
    /// let error = ws_executor::block_on(task).unwrap_err();
    /// assert!(error.try_into_panic().is_ok());
    /// ```
    ///
    /// # Errors
    ///
    /// The error itself, if the task was cancelled.
    pub fn try_into_panic(self) -> Result<Box<dyn Any + Send + 'static>, Self> {
        match self.0 {
            JoinErrorKind::Panic(payload) => {
                let payload = payload.into_inner().into_inner();
                Ok(payload.unwrap_or_else(|poisoned| poisoned.into_inner()))
            }
            JoinErrorKind::Cancelled => Err(self),
        }
    }
}

impl JoinErrorKind {
    /// Calls `code` with the message of the panic, if there is a panic and it has a message.
    fn with_message<R>(&self, code: impl FnOnce(Option<&str>) -> R) -> R {
        let Self::Panic(payload) = self else {
            return code(None);
        };
        let payload = payload.get().lock();
        let payload = payload.unwrap_or_else(|poisoned| poisoned.into_inner());
        let text = payload.downcast_ref::<String>().map(String::as_str);
        code(text.or_else(|| payload.downcast_ref::<&'static str>().copied()))
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_cancelled() {
            return f.write_str("task was cancelled");
        }
        self.0.with_message(|message| match message {
            Some(message) => write!(f, "task panicked with message {message:?}"),
            None => f.write_str("task panicked"),
        })
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_cancelled() {
            return f.write_str("JoinError::Cancelled");
        }
        self.0.with_message(|message| match message {
            Some(message) => write!(f, "JoinError::Panic({message:?}, ...)"),
            None => f.write_str("JoinError::Panic(...)"),
        })
    }
}

impl Error for JoinError {}

/// As in tokio, for functions that return I/O errors.
impl From<JoinError> for io::Error {
    fn from(error: JoinError) -> Self {
        let text = if error.is_cancelled() {
            "task was cancelled"
        } else {
            "task panicked"
        };
        Self::other(text)
    }
}
