//! Failures: of an item, of a run, of a pipeline's settings.

use std::error::Error;
use std::fmt;

use super::Report;
use crate::base::panics::{Payload, drop_payload};

/// An error of a source or a sink, of any type.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// Why the run of an item failed: with an error, or with a panic.
///
/// ```
/// use ws_executor::Executor;
/// use ws_executor::pipeline::{self, Route};
///
/// let executor = Executor::new();
/// let halves = pipeline::from_fn(&executor.handle(), |n: u32| async move {
///     assert_ne!(n, 4, "four");
///     if n % 2 == 0 { Ok(n / 2) } else { Err("odd") }
/// });
/// let halves = halves.iter(0..6).on_error(|failure| match failure.error {
///     Some(_) => Route::Skip,
///     None => {
///         assert!(failure.panic.as_ref().unwrap().contains("four"));
///         assert_eq!((failure.number, failure.node), (4, None));
///         Route::Skip
///     }
/// });
/// let report = executor.block_on(halves.build().unwrap().run()).unwrap();
/// assert_eq!((report.done, report.skipped), (2, 4));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure<E> {
    /// The number of the item, counted from 0 in the order in which items left the source.
    pub number: u64,
    /// The node that failed, if it is known.
    pub node: Option<&'static str>,
    /// The error; `None` if it was a panic.
    pub error: Option<E>,
    /// The message of the panic; `None` if it was an error.
    pub panic: Option<String>,
}

impl<E> Failure<E> {
    pub(super) fn error(number: u64, error: E, node: Option<&'static str>) -> Self {
        Self {
            number,
            node,
            error: Some(error),
            panic: None,
        }
    }

    pub(super) fn panic(number: u64, payload: Payload) -> Self {
        Self {
            number,
            node: None,
            error: None,
            panic: Some(message(payload)),
        }
    }

    pub(super) fn in_node(mut self, node: Option<&'static str>) -> Self {
        self.node = node;
        self
    }
}

/// The message of a panic.
pub(super) fn message(payload: Payload) -> String {
    let text = match payload.downcast_ref::<&'static str>() {
        Some(text) => Some((*text).to_owned()),
        None => payload.downcast_ref::<String>().cloned(),
    };
    drop_payload(payload);
    text.unwrap_or_else(|| "a panic without a message".to_owned())
}

impl<E: fmt::Display> fmt::Display for Failure<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "item {} failed", self.number)?;
        if let Some(node) = self.node {
            write!(f, " in `{node}`")?;
        }
        match (&self.error, &self.panic) {
            (Some(error), _) => write!(f, ": {error}"),
            (None, Some(panic)) => write!(f, ": panicked: {panic}"),
            (None, None) => Ok(()),
        }
    }
}

/// What happens to an item that failed; see the example at [`Failure`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// The item is dropped, acknowledged and counted as skipped.
    Skip,
    /// The item goes to the sink for dead letters. It is acknowledged when that sink has taken
    /// it.
    DeadLetter,
    /// The item ends the run: the items in flight are cancelled, and not acknowledged.
    Stop,
}

/// An item that failed, for the sink of dead letters.
///
/// See the example at [`Builder::dead_letter`](super::Builder::dead_letter).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeadLetter<I, E> {
    /// The item, as it came from the source.
    pub item: I,
    /// Why it failed.
    pub failure: Failure<E>,
}

/// Why a run ended before its source did.
#[derive(Debug)]
#[non_exhaustive]
pub enum Cause<E> {
    /// An item failed, and its route was [`Route::Stop`].
    Item(Failure<E>),
    /// An item failed with the route [`Route::DeadLetter`], but no sink is set for dead
    /// letters.
    NoDeadLetter(Failure<E>),
    /// The source failed. The items in flight were finished.
    Source(BoxError),
    /// The sink failed.
    Sink(BoxError),
    /// The sink of dead letters failed.
    DeadLetter(BoxError),
    /// The executor dropped a lane: it was shut down.
    Lost,
}

/// The error of a run, with the report up to its end.
///
/// ```
/// use ws_executor::Executor;
/// use ws_executor::pipeline::{self, Cause};
///
/// let executor = Executor::new();
/// let strict = pipeline::from_fn(&executor.handle(), |n: u32| async move {
///     if n < 3 { Ok(n) } else { Err("too large") }
/// });
/// let error = executor.block_on(strict.iter(0..9).in_flight(1).build().unwrap().run());
/// let error = error.unwrap_err();
/// assert_eq!(error.to_string(), "item 3 failed: too large");
/// assert!(matches!(error.cause, Cause::Item(failure) if failure.number == 3));
/// assert_eq!((error.report.done, error.report.failed), (3, 1));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct RunError<E> {
    /// Why the run ended.
    pub cause: Cause<E>,
    /// The report of the run.
    pub report: Box<Report>,
}

impl<E: fmt::Display> fmt::Display for RunError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            Cause::Item(failure) => failure.fmt(f),
            Cause::NoDeadLetter(failure) => {
                write!(
                    f,
                    "{failure}; its route is a dead letter, for which no sink is set"
                )
            }
            Cause::Source(error) => write!(f, "the source failed: {error}"),
            Cause::Sink(error) => write!(f, "the sink failed: {error}"),
            Cause::DeadLetter(error) => write!(f, "the sink of dead letters failed: {error}"),
            Cause::Lost => {
                f.write_str("the executor dropped a lane of the pipeline: it was shut down")
            }
        }
    }
}

impl<E: Error + 'static> Error for RunError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.cause {
            Cause::Item(failure) | Cause::NoDeadLetter(failure) => {
                failure.error.as_ref().map(|error| error as _)
            }
            Cause::Source(error) | Cause::Sink(error) | Cause::DeadLetter(error) => Some(&**error),
            Cause::Lost => None,
        }
    }
}

/// The error of [`Builder::build`](super::Builder::build): a pipeline that could never end.
///
/// ```
/// use ws_executor::{Executor, pipeline};
///
/// let executor = Executor::new();
/// let echo = pipeline::from_fn(&executor.handle(), |n: u32| async move { Ok::<_, ()>(n) });
/// let error = echo.iter(0..3).in_flight(0).build().unwrap_err();
/// assert!(error.is_in_flight_too_small());
/// assert_eq!(error.to_string(), "in_flight is 0, but the nodes need at least 1 to make progress");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuildError(pub(super) Flaw);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flaw {
    NoSource,
    InFlight { set: usize, least: usize },
}

impl BuildError {
    /// Whether there is no source.
    ///
    /// ```
    /// use ws_executor::{Executor, pipeline};
    ///
    /// let executor = Executor::new();
    /// let echo = pipeline::from_fn(&executor.handle(), |n: u32| async move { Ok::<_, ()>(n) });
    /// assert!(echo.build().unwrap_err().is_without_source());
    /// ```
    #[must_use]
    pub fn is_without_source(&self) -> bool {
        self.0 == Flaw::NoSource
    }

    /// Whether `in_flight` is less than the number of items that a node waits for; see the
    /// example at [`BuildError`].
    #[must_use]
    pub fn is_in_flight_too_small(&self) -> bool {
        matches!(self.0, Flaw::InFlight { .. })
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Flaw::NoSource => f.write_str("a pipeline needs a source"),
            Flaw::InFlight { set, least } => write!(
                f,
                "in_flight is {set}, but the nodes need at least {least} to make progress"
            ),
        }
    }
}

impl Error for BuildError {}
