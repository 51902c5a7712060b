//! Scripts: made-up outcomes for the nodes of a run under test.
//!
//! The public path of these items is [`testing`](super::testing).

use std::any::{Any, type_name};
use std::convert::Infallible;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use ws_core::sync::Mutex;

use super::lock;

/// What a node does in a test, instead of its own expression.
///
/// See the example at [`testing`](super::testing).
pub struct Script<T> {
    next: Box<dyn FnMut() -> AttemptOutcome<T> + Send>,
}

/// The outcome of one attempt of a node.
enum AttemptOutcome<T> {
    Value(T),
    /// The error, and the name of its type.
    Error(Box<dyn Any + Send>, &'static str),
    /// The node's own expression is run.
    Real,
}

/// The node has this value.
///
/// A later attempt runs the node's own expression. Only a `timeout` can cause one.
/// See the example at [`testing`](super::testing).
pub fn value<T: Send + 'static>(value: T) -> Script<T> {
    let mut value = Some(value);
    Script {
        next: Box::new(move || {
            value
                .take()
                .map_or(AttemptOutcome::Real, AttemptOutcome::Value)
        }),
    }
}

/// The node fails with this error, at every attempt.
///
/// It is the error of the node's `?`, before its conversion to the error of the graph. If the
/// node has several `?`, or one in a macro, it is the error of the graph.
///
/// See the example at [`testing`](super::testing).
pub fn fail<T, E: Clone + Send + 'static>(error: E) -> Failing<T> {
    fail_with(move || error.clone())
}

/// As [`fail`], for errors that are not `Clone`.
///
/// ```
/// use std::io;
/// use ws_executor::graph::testing::fail_with;
///
/// #[ws_executor::task_graph]
/// async fn size() -> io::Result<usize> {
///     let text: String = read().await?;
///     Ok(text.len())
/// }
/// # async fn read() -> io::Result<String> { Ok(String::new()) }
///
/// let executor = ws_executor::Executor::new();
/// let broken = || io::Error::other("broken");
/// let run = size::test(&executor.handle()).text(fail_with(broken)).run();
/// assert_eq!(executor.block_on(run).result.unwrap_err().to_string(), "broken");
/// ```
pub fn fail_with<T, E: Send + 'static>(
    mut error: impl FnMut() -> E + Send + 'static,
) -> Failing<T> {
    Failing {
        next: Box::new(move || AttemptOutcome::Error(Box::new(error()), type_name::<E>())),
    }
}

/// A [`Script`] that fails; [`times`](Self::times) limits how often.
///
/// See the example at [`testing`](super::testing).
pub struct Failing<T> {
    next: Box<dyn FnMut() -> AttemptOutcome<T> + Send>,
}

impl<T: Send + 'static> Failing<T> {
    /// The node fails this many times. Then it has the value of [`then`](Times::then), or runs
    /// its own expression.
    ///
    /// See the example at [`testing`](super::testing).
    pub fn times(self, times: usize) -> Times<T> {
        Times {
            next: self.next,
            times,
        }
    }
}

/// A [`Failing`] with a limit.
///
/// See the example at [`testing`](super::testing).
pub struct Times<T> {
    next: Box<dyn FnMut() -> AttemptOutcome<T> + Send>,
    times: usize,
}

impl<T: Send + 'static> Times<T> {
    /// The value after the failures.
    ///
    /// See the example at [`testing`](super::testing).
    pub fn then(self, value: T) -> Script<T> {
        let mut value = Some(value);
        self.followed_by(move || {
            value
                .take()
                .map_or(AttemptOutcome::Real, AttemptOutcome::Value)
        })
    }

    fn followed_by(
        mut self,
        mut rest: impl FnMut() -> AttemptOutcome<T> + Send + 'static,
    ) -> Script<T> {
        Script {
            next: Box::new(move || match self.times.checked_sub(1) {
                Some(left) => {
                    self.times = left;
                    (self.next)()
                }
                None => rest(),
            }),
        }
    }
}

impl<T> From<Failing<T>> for Script<T> {
    fn from(failing: Failing<T>) -> Self {
        Self { next: failing.next }
    }
}

impl<T: Send + 'static> From<Times<T>> for Script<T> {
    fn from(times: Times<T>) -> Self {
        times.followed_by(|| AttemptOutcome::Real)
    }
}

impl<T> fmt::Debug for Script<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Script")
    }
}

impl<T> fmt::Debug for Failing<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Failing")
    }
}

impl<T> fmt::Debug for Times<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Times({})", self.times)
    }
}

/// The scripts of a run, by the index of the node.
#[derive(Clone, Default)]
pub(super) struct Scripts(Vec<Option<Arc<dyn Any + Send + Sync>>>);

impl Scripts {
    /// Sets the script of a node.
    pub(super) fn set<T: Send + 'static>(&mut self, node: usize, script: Script<T>) {
        if self.0.len() <= node {
            self.0.resize_with(node + 1, || None);
        }
        self.0[node] = Some(Arc::new(Mutex::new(Some(script))));
    }

    /// The scripted outcome of the next attempt of `node`, if there is one.
    pub(super) fn next<T: 'static>(&self, node: usize) -> Option<Scripted<T>> {
        let script = self.0.get(node)?.as_ref()?;
        let slot = script
            .downcast_ref::<Mutex<Option<Script<T>>>>()
            .expect("set by its own method");
        // Taken out while it runs, because it is user code. The attempts of a node follow each
        // other, so no other thread looks for the script meanwhile.
        let mut script = lock(slot).take()?;
        let outcome = (script.next)();
        *lock(slot) = Some(script);
        match outcome {
            AttemptOutcome::Real => None,
            AttemptOutcome::Value(_) | AttemptOutcome::Error(..) => Some(Scripted(outcome)),
        }
    }
}

/// A made-up outcome, which converts to the type of the node's expression.
pub struct Scripted<T>(AttemptOutcome<T>);

impl<T> fmt::Debug for Scripted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scripted")
    }
}

impl<T> Scripted<T> {
    /// The value of a node that cannot fail.
    ///
    /// # Panics
    /// If the script makes the node fail.
    pub fn value(self) -> T {
        match self.0 {
            AttemptOutcome::Value(value) => value,
            AttemptOutcome::Error(..) | AttemptOutcome::Real => {
                panic!("a test makes a node fail that has no `?`")
            }
        }
    }

    /// The value of a node that can fail, or a failure whose type [`Own`] knows.
    ///
    /// # Errors
    /// The failure.
    pub fn split(self) -> Result<T, Scripted<Infallible>> {
        match self.0 {
            AttemptOutcome::Value(value) => Ok(value),
            AttemptOutcome::Error(error, given) => {
                Err(Scripted(AttemptOutcome::Error(error, given)))
            }
            AttemptOutcome::Real => unreachable!("filtered out"),
        }
    }

    /// The result of an attempt.
    ///
    /// # Errors
    /// The error of the script.
    ///
    /// # Panics
    /// If the error has another type than the node's.
    pub fn result<E: 'static>(self) -> Result<T, E> {
        self.split().or_else(|failed| {
            let failed: Result<Infallible, E> = FromScript::from_script(failed);
            failed.map(|never| match never {})
        })
    }
}

/// Stands for the error of a node, which a test may make up. The compiler infers its type from
/// the node's `?`.
#[derive(Debug)]
pub struct Own<F>(PhantomData<fn() -> F>);

impl<F> Own<F> {
    /// Makes one of the inferred type.
    #[inline]
    pub fn new() -> Self {
        Self(PhantomData)
    }
}

impl<F> Default for Own<F> {
    fn default() -> Self {
        Self::new()
    }
}

impl<F: FromScript> Own<F> {
    /// The operand of `?`, with the error of the script.
    ///
    /// # Panics
    /// If the error has another type than the node's.
    pub fn failed(&self, scripted: Scripted<Infallible>) -> F {
        F::from_script(scripted)
    }
}

/// A failure as the operand of `?`: of a `Result` or an `Option`.
pub trait FromScript {
    /// Converts a scripted failure.
    fn from_script(scripted: Scripted<Infallible>) -> Self;
}

impl<E: 'static> FromScript for Result<Infallible, E> {
    fn from_script(scripted: Scripted<Infallible>) -> Self {
        match scripted.0 {
            AttemptOutcome::Value(never) => match never {},
            AttemptOutcome::Error(error, given) => match error.downcast::<E>() {
                Ok(error) => Err(*error),
                Err(_) => panic!(
                    "a test makes a node fail with `{given}`, but its error is `{}`",
                    type_name::<E>()
                ),
            },
            AttemptOutcome::Real => unreachable!("filtered out"),
        }
    }
}

impl FromScript for Option<Infallible> {
    fn from_script(_: Scripted<Infallible>) -> Self {
        None
    }
}
