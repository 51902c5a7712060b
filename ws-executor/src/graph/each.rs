//! Fan-out over data: the same work for every item of a list, with a bound on how many run at a
//! time.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

/// Calls `work` for every item and awaits the results, at most `limit` at a time, on the
/// calling task. The results are in the order of the items.
///
/// ```
/// use ws_executor::graph::each;
/// use ws_executor::task_graph;
///
/// #[task_graph]
/// async fn sizes(pages: Vec<String>) -> usize {
///     let sizes = each(pages, 8, |page| fetch(page)).await;
///     sizes.iter().sum()
/// }
///
/// async fn fetch(page: String) -> usize {
///     page.len()
/// }
///
/// let pages = vec!["a".to_owned(), "bc".to_owned()];
/// assert_eq!(ws_executor::block_on(sizes(pages)), 3);
/// ```
///
/// Items are taken from the iterator when there is room, so the iterator may be lazy and long.
/// As with `join!`, a wake polls all futures that are under way.
///
/// # Panics
/// If `limit` is 0.
pub async fn each<I, F, Fut>(items: I, limit: usize, mut work: F) -> Vec<Fut::Output>
where
    I: IntoIterator,
    F: FnMut(I::Item) -> Fut,
    Fut: Future,
{
    let sure = try_each(items, limit, |item| {
        let future = work(item);
        async move { Ok::<_, Infallible>(future.await) }
    });
    match sure.await {
        Ok(results) => results,
        Err(never) => match never {},
    }
}

/// As [`each`], until the first error: the other futures are dropped before it is returned.
///
/// ```
/// use ws_executor::graph::try_each;
///
/// let parse = |text: &str| {
///     let number = text.parse::<u32>();
///     async move { number }
/// };
/// ws_executor::block_on(async {
///     assert_eq!(try_each(["1", "2"], 2, parse).await, Ok(vec![1, 2]));
///     assert!(try_each(["1", "x"], 2, parse).await.is_err());
/// });
/// ```
///
/// # Errors
/// The error that occurs first.
///
/// # Panics
/// If `limit` is 0.
pub async fn try_each<I, F, Fut, T, E>(items: I, limit: usize, mut work: F) -> Result<Vec<T>, E>
where
    I: IntoIterator,
    F: FnMut(I::Item) -> Fut,
    Fut: Future<Output = Result<T, E>>,
{
    assert!(limit > 0, "a limit of 0 lets nothing begin");
    let mut items = items.into_iter();
    let mut results: Vec<Option<T>> = Vec::new();
    // One box for each of `limit` places: the futures of many items use it in turn.
    let mut places: Vec<(usize, Pin<Box<Option<Fut>>>)> = Vec::new();
    let mut begin = |results: &mut Vec<Option<T>>| {
        let future = work(items.next()?);
        results.push(None);
        Some((results.len() - 1, future))
    };
    while places.len() < limit {
        let Some((index, future)) = begin(&mut results) else {
            break;
        };
        places.push((index, Box::pin(Some(future))));
    }
    poll_fn(|cx| {
        let mut at = 0;
        while let Some((index, place)) = places.get_mut(at) {
            let future = place.as_mut().as_pin_mut().expect("a place has a future");
            match future.poll(cx) {
                Poll::Pending => at += 1,
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Ready(Ok(result)) => {
                    results[*index] = Some(result);
                    match begin(&mut results) {
                        // Polled in the next step of the loop, at the same place.
                        Some((next, future)) => {
                            place.set(Some(future));
                            *index = next;
                        }
                        None => drop(places.swap_remove(at)),
                    }
                }
            }
        }
        if places.is_empty() {
            Poll::Ready(Ok(()))
        } else {
            Poll::Pending
        }
    })
    .await?;
    Ok(results
        .into_iter()
        .map(|result| result.expect("all are done"))
        .collect())
}
