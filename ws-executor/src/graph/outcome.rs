//! What `?` means in a graph: the return types that it works with, and how a node ends the run.
//!
//! A node is compiled as an async block of its own, so its `?` returns from that block. The
//! block's type is therefore the graph's return type with another payload: `Result<T, E>`
//! becomes `Result<V, E>`. [`Outcome::With`] names it.

use std::convert::Infallible;
use std::ops::ControlFlow;

use super::TimedOut;
use super::testing::Own;

/// A return type that `?` works with: `Result` or `Option`.
#[diagnostic::on_unimplemented(
    message = "`?` ends the run with an error, but this graph returns `{Self}`",
    label = "this graph cannot end with an error",
    note = "return a `Result` or an `Option`",
    note = "`#[task_graph(fallible = false)]` says that it is a type of another kind by that name"
)]
pub trait Outcome: Sized {
    /// The same type with another payload.
    type With<V>;

    /// The payload, wrapped: `Ok` or `Some`.
    fn wrap<V>(value: V) -> Self::With<V>;

    /// The payload, or the result that ends the whole run.
    fn split<V>(with: Self::With<V>) -> ControlFlow<Self, V>;
}

impl<T, E> Outcome for Result<T, E> {
    type With<V> = Result<V, E>;

    #[inline]
    fn wrap<V>(value: V) -> Result<V, E> {
        Ok(value)
    }

    #[inline]
    fn split<V>(with: Result<V, E>) -> ControlFlow<Self, V> {
        match with {
            Ok(value) => ControlFlow::Continue(value),
            Err(error) => ControlFlow::Break(Err(error)),
        }
    }
}

impl<T> Outcome for Option<T> {
    type With<V> = Option<V>;

    #[inline]
    fn wrap<V>(value: V) -> Option<V> {
        Some(value)
    }

    #[inline]
    fn split<V>(with: Option<V>) -> ControlFlow<Self, V> {
        match with {
            Some(value) => ControlFlow::Continue(value),
            None => ControlFlow::Break(None),
        }
    }
}

/// An operand of `?` in a graph that returns `R`.
#[diagnostic::on_unimplemented(
    message = "`?` has a `{Self}` here, which cannot end a graph that returns `{R}`",
    label = "its error does not become that of the graph",
    note = "implement `From` for the error of the graph, or convert with `map_err`"
)]
pub trait Question<R> {
    /// The operand with the error of the graph.
    type Out;
    /// The operand without a value: it can only be a failure.
    type Failed;
    /// Converts the error.
    fn convert(self) -> Self::Out;
}

#[diagnostic::do_not_recommend]
impl<T, U, E, F: From<E>> Question<Result<U, F>> for Result<T, E> {
    type Out = Result<T, F>;
    type Failed = Result<Infallible, E>;

    #[inline]
    fn convert(self) -> Result<T, F> {
        Ok(self?)
    }
}

#[diagnostic::do_not_recommend]
impl<T, U> Question<Option<U>> for Option<T> {
    type Out = Self;
    type Failed = Option<Infallible>;

    #[inline]
    fn convert(self) -> Self {
        self
    }
}

/// [`Question::convert`], with the type of the graph first.
#[inline]
pub fn question<R, Q: Question<R>>(operand: Q) -> Q::Out {
    operand.convert()
}

/// As [`question`], where a test may make the operand fail. `own` stands for the type of its
/// error.
#[inline]
pub fn own_question<R, Q: Question<R>>(operand: Q, _own: &Own<Q::Failed>) -> Q::Out {
    operand.convert()
}

/// How a node of a parallel run ends: the run continues, or ends with this result.
pub type Flow<R> = ControlFlow<R, ()>;

/// The end of a node, in a graph whose nodes may use `?`: the run continues.
#[inline]
pub fn go<R: Outcome>() -> R::With<Flow<R>> {
    R::wrap(ControlFlow::Continue(()))
}

/// The end of a node that ends the run, in such a graph.
#[inline]
pub fn exit<R: Outcome>(result: R) -> R::With<Flow<R>> {
    R::wrap(ControlFlow::Break(result))
}

/// Reads the end of a node.
#[inline]
pub fn end<R: Outcome>(with: R::With<Flow<R>>) -> Flow<R> {
    match R::split(with) {
        ControlFlow::Continue(flow) => flow,
        ControlFlow::Break(result) => ControlFlow::Break(result),
    }
}

/// The result of a partial run that ended early, as the type of that partial run.
///
/// # Panics
/// If the graph ended with a result and not with an error. The expansion has no partial run for
/// graphs that can do so.
pub fn early<R, V>(result: R) -> R::With<V>
where
    R: Outcome + Early<V, Out = R::With<V>>,
{
    result.early()
}

/// Converts the error of a result into the type of another result; see [`early`].
pub trait Early<V> {
    /// The type of the other result.
    type Out;
    /// Converts the error.
    fn early(self) -> Self::Out;
}

const NO_ERROR: &str = "a partial run ended early without an error";

impl<T, E, V> Early<V> for Result<T, E> {
    type Out = Result<V, E>;

    fn early(self) -> Result<V, E> {
        match self {
            Ok(_) => panic!("{NO_ERROR}"),
            Err(error) => Err(error),
        }
    }
}

impl<T, V> Early<V> for Option<T> {
    type Out = Option<V>;

    fn early(self) -> Option<V> {
        assert!(self.is_none(), "{NO_ERROR}");
        None
    }
}

/// A return type that can hold [`TimedOut`].
#[diagnostic::on_unimplemented(
    message = "a `timeout` without a `fallback` ends the run with `TimedOut`, which `{Self}` cannot hold",
    label = "what becomes of the run when this has passed?",
    note = "give the node a `fallback`, or implement `From<ws_executor::graph::TimedOut>` for the error"
)]
pub trait Late: Outcome {
    /// The end of a run in which a node took too long.
    fn late(late: TimedOut) -> Self::With<Infallible>;
}

#[diagnostic::do_not_recommend]
impl<T, E: From<TimedOut>> Late for Result<T, E> {
    fn late(late: TimedOut) -> Result<Infallible, E> {
        Err(late.into())
    }
}

/// [`Late::late`], with the type first.
pub fn late<R: Late>(late: TimedOut) -> R::With<Infallible> {
    R::late(late)
}

/// What a node without a timeout does when it is late.
///
/// # Panics
/// Always.
pub fn never_late(_: TimedOut) -> Infallible {
    unreachable!("a node without a timeout was late")
}

/// What a run does at a step that its plan does not have.
///
/// # Panics
/// Always.
pub fn unknown_step() -> ! {
    unreachable!("a run went to a step that it does not have")
}

/// What a whole run does if it ended without its result.
///
/// # Panics
/// Always.
pub fn no_result() -> ! {
    unreachable!("a run ended without what it was to compute")
}

/// What a partial run does with a result, in a graph that cannot end early.
///
/// # Panics
/// Always.
pub fn no_value<R>(_: R) -> ! {
    unreachable!("a partial run ended with the result of the whole")
}

/// Whether a run has a deadline. It is a type, so that only runs with a deadline need an error
/// type that can hold [`TimedOut`].
#[diagnostic::on_unimplemented(
    message = "a run with a deadline ends with `TimedOut`, which `{R}` cannot hold",
    label = "this graph has no way to say that it is late",
    note = "return a `Result` whose error implements `From<ws_executor::graph::TimedOut>`"
)]
pub trait DeadlineFor<R> {
    /// The result of a run whose deadline has passed.
    fn late() -> R;
}

/// No deadline.
#[derive(Clone, Copy, Debug)]
pub enum Unbounded {}

/// A deadline.
#[derive(Clone, Copy, Debug)]
pub enum Bounded {}

impl<R> DeadlineFor<R> for Unbounded {
    fn late() -> R {
        unreachable!("a run without a deadline is never late")
    }
}

#[diagnostic::do_not_recommend]
impl<T, E: From<TimedOut>> DeadlineFor<Result<T, E>> for Bounded {
    fn late() -> Result<T, E> {
        Err(TimedOut::new().into())
    }
}
