//! What the return value of a graph means to a pipeline.
//!
//! `Ok` and `Some` are results, `Err` is a failure, and `None` filters the item out. A
//! graph with `flat` ends with a list of results instead.

use std::convert::Infallible;
use std::marker::PhantomData;

use crate::graph::outcome::{Early, Outcome};
use crate::pipeline::Verdict;

/// A return type that `?` works with, split into its parts.
#[diagnostic::on_unimplemented(
    message = "this graph returns `{Self}`, which is neither a `Result` nor an `Option`",
    label = "this graph cannot end with an error",
    note = "`#[task_graph(fallible = false)]` says that it is a type of another kind by that name"
)]
pub trait Ends: Outcome {
    /// The payload.
    type Output;
    /// The error.
    type Error;

    /// What it means to a pipeline.
    fn verdict(self, node: Option<&'static str>) -> Verdict<Self::Output, Self::Error>;

    /// The same, for a list of results.
    fn many(
        with: Self::With<Vec<Self::Output>>,
        node: Option<&'static str>,
    ) -> Verdict<Self::Output, Self::Error>;

    /// Whether a step that ends with this has failed.
    fn is_failure(&self) -> bool;

    /// The payload, or `self` if there is none.
    fn payload(self) -> Result<Self::Output, Self>;
}

impl<T, E> Ends for Result<T, E> {
    type Output = T;
    type Error = E;

    #[inline]
    fn verdict(self, node: Option<&'static str>) -> Verdict<T, E> {
        match self {
            Ok(value) => Verdict::Done(value),
            Err(error) => Verdict::Failed(error, node),
        }
    }

    fn many(with: Result<Vec<T>, E>, node: Option<&'static str>) -> Verdict<T, E> {
        match with {
            Ok(values) => Verdict::Many(values),
            Err(error) => Verdict::Failed(error, node),
        }
    }

    #[inline]
    fn is_failure(&self) -> bool {
        self.is_err()
    }

    fn payload(self) -> Result<T, Self> {
        self.map_err(Err)
    }
}

impl<T> Ends for Option<T> {
    type Output = T;
    type Error = Infallible;

    #[inline]
    fn verdict(self, _: Option<&'static str>) -> Verdict<T, Infallible> {
        self.map_or(Verdict::Skipped, Verdict::Done)
    }

    fn many(with: Option<Vec<T>>, _: Option<&'static str>) -> Verdict<T, Infallible> {
        with.map_or(Verdict::Skipped, Verdict::Many)
    }

    #[inline]
    fn is_failure(&self) -> bool {
        false
    }

    fn payload(self) -> Result<T, Self> {
        self.ok_or(None)
    }
}

/// [`Ends::verdict`], with the type first.
#[inline]
pub fn verdict<R: Ends>(
    end: R,
    node: Option<&'static str>,
) -> Verdict<<R as Ends>::Output, <R as Ends>::Error> {
    end.verdict(node)
}

/// [`Ends::many`], with the type first.
pub fn many<R: Ends>(
    with: R::With<Vec<<R as Ends>::Output>>,
    node: Option<&'static str>,
) -> Verdict<<R as Ends>::Output, <R as Ends>::Error> {
    R::many(with, node)
}

/// The end of an item before it fans out: a list with one result, or the error.
pub fn one<R>(end: R) -> R::With<Vec<<R as Ends>::Output>>
where
    R: Ends + Early<Vec<<R as Ends>::Output>, Out = <R as Outcome>::With<Vec<<R as Ends>::Output>>>,
{
    match end.payload() {
        Ok(value) => R::wrap(vec![value]),
        Err(end) => end.early(),
    }
}

/// The return type of a graph whose name says that it is a plain value.
///
/// Only the compiler knows the type behind the name. For most types it resolves `is_plain` to
/// the method of [`Plain`]. For a `Result` or an `Option` it finds an inherent method first.
/// That method demands the trait `Declared`, which no type implements.
#[derive(Debug)]
pub struct Returned<T>(PhantomData<T>);

/// See [`Returned`].
pub trait Plain {
    /// Accepts the type.
    fn is_plain(&self) {}
}

impl<T> Plain for Returned<T> {}

impl<T, E> Returned<Result<T, E>> {
    /// Rejects the type.
    pub fn is_plain(&self)
    where
        Result<T, E>: Declared,
    {
    }
}

impl<T> Returned<Option<T>> {
    /// Rejects the type.
    pub fn is_plain(&self)
    where
        Option<T>: Declared,
    {
    }
}

/// See [`Returned`]; no type implements it.
#[diagnostic::on_unimplemented(
    message = "this graph returns `{Self}` by another name, and does not say so",
    label = "write `#[task_graph(fallible)]`",
    note = "to a pipeline, an error of a graph that is not `fallible` would be a result"
)]
pub trait Declared {}
