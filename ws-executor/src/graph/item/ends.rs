//! What the return value of a graph means to a pipeline.
//!
//! `Ok` and `Some` are results, `Err` is a failure, and `None` filters the item out. A
//! graph with `flat` ends with a list of results instead.

use std::convert::Infallible;
use std::marker::PhantomData;

use crate::graph::outcome::{Early, Outcome};
use crate::pipeline::Verdict;

/// A return type that `?` works with, taken apart.
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

    /// What it means.
    fn verdict(self, node: Option<&'static str>) -> Verdict<Self::Output, Self::Error>;

    /// The same with a list.
    fn many(
        with: Self::With<Vec<Self::Output>>,
        node: Option<&'static str>,
    ) -> Verdict<Self::Output, Self::Error>;

    /// Whether the step that ended with it has failed.
    fn is_failure(&self) -> bool;

    /// The payload, or the end as it is.
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

/// The end of an item before it fans out: a list of one, or the error.
pub fn one<R>(end: R) -> R::With<Vec<<R as Ends>::Output>>
where
    R: Ends + Early<Vec<<R as Ends>::Output>, Out = <R as Outcome>::With<Vec<<R as Ends>::Output>>>,
{
    match end.payload() {
        Ok(value) => R::wrap(vec![value]),
        Err(end) => end.early(),
    }
}

/// The return type of a graph that is taken for a plain value, because of its name.
///
/// Only the compiler knows what a name stands for. `is_plain` is that of [`Plain`], unless
/// `T` is a `Result` or an `Option`: then an inherent one is found first, which demands what
/// nobody has.
#[derive(Debug)]
pub struct Returned<T>(PhantomData<T>);

/// See [`Returned`].
pub trait Plain {
    /// There is nothing to object.
    fn is_plain(&self) {}
}

impl<T> Plain for Returned<T> {}

impl<T, E> Returned<Result<T, E>> {
    /// There is something to object.
    pub fn is_plain(&self)
    where
        Result<T, E>: Declared,
    {
    }
}

impl<T> Returned<Option<T>> {
    /// There is something to object.
    pub fn is_plain(&self)
    where
        Option<T>: Declared,
    {
    }
}

/// See [`Returned`]; nobody implements it.
#[diagnostic::on_unimplemented(
    message = "this graph returns `{Self}` by another name, and does not say so",
    label = "write `#[task_graph(fallible)]`",
    note = "to a pipeline, an error of a graph that is not `fallible` would be a result"
)]
pub trait Declared {}
