//! The answers of a batch: why a call failed, and the answer for a batch of one.

use std::convert::Infallible;

use crate::graph::outcome::Outcome;

/// A return type of a graph, split into the payload and the cause of a failed call.
pub trait BatchCause: Outcome {
    /// The cause of a failed call.
    type Cause;

    /// Returns the answers, or the cause.
    ///
    /// # Errors
    /// The cause, if the call failed.
    fn cause<V>(with: Self::With<V>) -> Result<V, Self::Cause>;
}

/// A return type whose error every item of a batch can have.
#[diagnostic::on_unimplemented(
    message = "an error of a batch reaches every item of it, so `{Self}` needs an error that is `Clone`",
    label = "this may fail for many items at once",
    note = "derive `Clone` for the error, or wrap what cannot be cloned in an `Arc`"
)]
pub trait BatchOutcome: BatchCause {
    /// The end of an item whose call failed.
    fn ended(cause: &Self::Cause) -> Self::With<Infallible>;
}

impl<T, E> BatchCause for Result<T, E> {
    type Cause = E;

    fn cause<V>(with: Result<V, E>) -> Result<V, E> {
        with
    }
}

impl<T> BatchCause for Option<T> {
    type Cause = ();

    fn cause<V>(with: Option<V>) -> Result<V, ()> {
        with.ok_or(())
    }
}

#[diagnostic::do_not_recommend]
impl<T, E: Clone> BatchOutcome for Result<T, E> {
    fn ended(cause: &E) -> Result<Infallible, E> {
        Err(cause.clone())
    }
}

#[diagnostic::do_not_recommend]
impl<T> BatchOutcome for Option<T> {
    fn ended((): &()) -> Option<Infallible> {
        None
    }
}

/// [`BatchCause::cause`], with the type first.
///
/// # Errors
/// As [`BatchCause::cause`].
pub fn cause<R: BatchCause, V>(with: R::With<V>) -> Result<V, R::Cause> {
    R::cause(with)
}

/// [`BatchOutcome::ended`], with the type first.
pub fn ended<R: BatchOutcome>(cause: &R::Cause) -> R::With<Infallible> {
    R::ended(cause)
}

/// Returns the answers for a batch, one for each item, in their order. It tells the compiler
/// the type of the node's code, and where to report a wrong one.
#[inline]
pub fn answers<T>(answers: Vec<T>) -> Vec<T> {
    answers
}

/// Returns the answer of a call with one item, outside a pipeline.
///
/// # Panics
/// If there is not exactly one answer.
pub fn single<T>(mut answers: Vec<T>) -> T {
    let count = answers.len();
    match (answers.pop(), count) {
        (Some(answer), 1) => answer,
        _ => panic!("a node gave {count} answers for a batch of 1 item"),
    }
}
