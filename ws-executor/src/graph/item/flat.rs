//! A node that fans out: `flat`.
//!
//! The statements below the node run for every element of its value, up to a number at a time.
//! Each element has node states of its own. The results of an item leave together. The first
//! error or panic of an element is that of the item.

use std::future::poll_fn;
use std::pin::pin;

use super::ends::Ends;
use super::run::Run;
use crate::graph::outcome::{Early, Outcome};
use crate::graph::{each, try_each};

/// Runs the nodes below `flat` for one element. Returns its result, or `None` if it was
/// skipped.
///
/// # Errors
/// The end of the whole item.
pub async fn element<R: Ends>(
    run: &Run<'_>,
    code: impl Future<Output = R>,
) -> Result<Option<<R as Ends>::Output>, R> {
    match sure_element(run, code).await {
        None => Ok(None),
        Some(end) => end.payload().map(Some),
    }
}

/// As [`element`], in a graph that cannot fail.
pub async fn sure_element<T>(run: &Run<'_>, code: impl Future<Output = T>) -> Option<T> {
    let mut code = pin!(code);
    poll_fn(|cx| run.poll_inside(code.as_mut(), cx)).await
}

/// Runs `work` for the elements of a node's value.
pub async fn flat<R, I, F, Fut>(
    at_once: usize,
    elements: I,
    work: F,
) -> R::With<Vec<<R as Ends>::Output>>
where
    R: Ends + Early<Vec<<R as Ends>::Output>, Out = <R as Outcome>::With<Vec<<R as Ends>::Output>>>,
    I: IntoIterator,
    F: FnMut(I::Item) -> Fut,
    Fut: Future<Output = Result<Option<<R as Ends>::Output>, R>>,
{
    match try_each(elements, at_once, work).await {
        Ok(results) => R::wrap(results.into_iter().flatten().collect()),
        Err(end) => end.early(),
    }
}

/// As [`flat`], in a graph that cannot fail.
pub async fn flat_all<T, I, F, Fut>(at_once: usize, elements: I, work: F) -> Vec<T>
where
    I: IntoIterator,
    F: FnMut(I::Item) -> Fut,
    Fut: Future<Output = Option<T>>,
{
    let results = each(elements, at_once, work).await;
    results.into_iter().flatten().collect()
}
