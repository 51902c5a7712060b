//! The answers of a batch: why there are none, and those for a batch of one.

use std::convert::Infallible;

use crate::graph::outcome::Outcome;

/// What is left of the graph's return type without a payload: why a call failed.
pub trait BatchCause: Outcome {
    /// That.
    type Cause;

    /// The answers, or why there are none.
    ///
    /// # Errors
    /// That.
    fn cause<V>(with: Self::With<V>) -> Result<V, Self::Cause>;
}

/// A return type whose error each item of a batch can have.
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
/// As there.
pub fn cause<R: BatchCause, V>(with: R::With<V>) -> Result<V, R::Cause> {
    R::cause(with)
}

/// [`BatchOutcome::ended`], with the type first.
pub fn ended<R: BatchOutcome>(cause: &R::Cause) -> R::With<Infallible> {
    R::ended(cause)
}

/// The answers for a batch, one for each item, in their order. For what is inferred of the
/// node's code, and for what rustc says if it is something else.
#[inline]
pub fn answers<T>(answers: Vec<T>) -> Vec<T> {
    answers
}

/// The answer for a batch of one: what a call is outside of a pipeline.
///
/// # Panics
/// If there is not exactly one.
pub fn single<T>(mut answers: Vec<T>) -> T {
    let count = answers.len();
    match (answers.pop(), count) {
        (Some(answer), 1) => answer,
        _ => panic!("a node gave {count} answers for a batch of 1 item"),
    }
}
