//! Pipelines over a closure, without a graph.

use std::marker::PhantomData;

use ws_core::Spawn;

use super::{Builder, PerItem, Verdict};

/// Makes a pipeline that calls `work` for every item.
///
/// ```
/// use ws_executor::Executor;
/// use ws_executor::pipeline::{self, Collect, Verdict};
///
/// let executor = Executor::new();
/// let handle = executor.handle();
///
/// // A `Result` for each item …
/// let lengths = Collect::new();
/// let pipeline = pipeline::from_fn(&handle, |word: &'static str| async move {
///     Ok::<_, std::io::Error>(word.len())
/// });
/// let pipeline = pipeline.iter(["a", "bcd"]).ordered(true).sink(lengths.clone());
/// executor.block_on(pipeline.build().unwrap().run()).unwrap();
/// assert_eq!(lengths.take(), [1, 3]);
///
/// // … or a `Verdict`, which can also skip it, or give several results.
/// let pipeline = pipeline::from_fn(&handle, |n: u32| async move {
///     match n {
///         0 => Verdict::Skipped,
///         n => Verdict::<u32, ()>::Many(vec![n; n as usize]),
///     }
/// });
/// let report = executor.block_on(pipeline.iter(0..4).build().unwrap().run()).unwrap();
/// assert_eq!((report.skipped, report.done, report.results), (1, 3, 6));
/// ```
pub fn from_fn<S, I, F, Fut>(spawner: &S, work: F) -> Builder<FromFn<F, I>, S>
where
    S: Spawn + Clone + Send + Sync + 'static,
    I: Send + 'static,
    F: Fn(I) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoVerdict> + Send,
{
    let work = FromFn {
        work,
        items: PhantomData,
    };
    Builder::new(spawner, work)
}

/// The [`PerItem`] of [`from_fn`].
#[derive(Debug)]
pub struct FromFn<F, I> {
    work: F,
    items: PhantomData<fn(I)>,
}

impl<F, I, Fut> PerItem for FromFn<F, I>
where
    I: Send + 'static,
    F: Fn(I) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoVerdict> + Send,
{
    type Item = I;
    type Output = <Fut::Output as IntoVerdict>::Output;
    type Error = <Fut::Output as IntoVerdict>::Error;

    fn run(
        &self,
        _: u64,
        item: I,
    ) -> impl Future<Output = Verdict<Self::Output, Self::Error>> + Send {
        let future = (self.work)(item);
        async { future.await.into_verdict() }
    }
}

/// What the closure of [`from_fn`] may return: a `Result` or a [`Verdict`].
///
/// See the example at [`from_fn`].
#[diagnostic::on_unimplemented(
    message = "the closure of a pipeline returns a `Result` or a `Verdict`, not `{Self}`"
)]
pub trait IntoVerdict {
    /// The type of the sink's results.
    type Output: Send + 'static;
    /// The error of an item that failed.
    type Error: Send + 'static;

    /// Converts the value into a [`Verdict`].
    ///
    /// ```
    /// use ws_executor::pipeline::{IntoVerdict, Verdict};
    /// assert!(matches!(Ok::<_, ()>(1).into_verdict(), Verdict::Done(1)));
    /// assert!(matches!(Err::<(), _>(2).into_verdict(), Verdict::Failed(2, None)));
    /// ```
    fn into_verdict(self) -> Verdict<Self::Output, Self::Error>;
}

impl<T: Send + 'static, E: Send + 'static> IntoVerdict for Result<T, E> {
    type Output = T;
    type Error = E;

    fn into_verdict(self) -> Verdict<T, E> {
        match self {
            Ok(result) => Verdict::Done(result),
            Err(error) => Verdict::Failed(error, None),
        }
    }
}

impl<T: Send + 'static, E: Send + 'static> IntoVerdict for Verdict<T, E> {
    type Output = T;
    type Error = E;

    fn into_verdict(self) -> Self {
        self
    }
}
