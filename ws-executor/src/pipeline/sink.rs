//! Sinks: they take results in batches, and say when the results are safe.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;

use futures_sink::Sink as FuturesSink;
use ws_core::sync::Mutex;

use super::failure::BoxError;
use super::source::guarded;
use crate::base::panics::Apart;
use crate::graph::lock;

/// The sink of a pipeline's results.
///
/// One lane at a time pushes all results that have gathered since the last push. So a slow sink
/// gets few large pushes, as in a group commit. Items stay in flight until their push is
/// complete. [`forward`] makes a sink of a `futures::Sink`, and [`Builder::for_each`] of a
/// closure. For several sinks, write one whose `push` matches on the results.
///
/// [`Builder::for_each`]: super::Builder::for_each
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use ws_executor::Executor;
/// use ws_executor::pipeline::{self, BoxError, Sink};
///
/// /// A table of rows, and how often it was written to.
/// #[derive(Clone, Default)]
/// struct Table(Arc<Mutex<(Vec<u32>, usize)>>);
///
/// impl Sink<u32> for Table {
///     async fn push(&mut self, rows: Vec<u32>) -> Result<(), BoxError> {
///         ws_executor::yield_now().await; // say, a transaction
///         let mut table = self.0.lock().unwrap();
///         table.0.extend(rows);
///         table.1 += 1;
///         Ok(())
///     }
/// }
///
/// let executor = Executor::new();
/// let table = Table::default();
/// let squares = pipeline::from_fn(&executor.handle(), |n: u32| async move { Ok::<_, ()>(n * n) });
/// let squares = squares.iter(0..100).ordered(true).sink(table.clone()).build().unwrap();
/// executor.block_on(squares.run()).unwrap();
/// let table = table.0.lock().unwrap();
/// assert_eq!(table.0, (0..100).map(|n| n * n).collect::<Vec<_>>());
/// assert!(table.1 <= 100);
/// ```
pub trait Sink<T>: Send + 'static {
    /// Takes results. The future must complete only when they are safe.
    ///
    /// See the example at [`Sink`]. If the run is cancelled, the future is dropped.
    ///
    /// # Errors
    /// Those of the sink. They end the run, and the results are not acknowledged.
    fn push(&mut self, results: Vec<T>) -> impl Future<Output = Result<(), BoxError>> + Send;

    /// Closes the sink, after the last push of a run that was not cancelled. If the run is
    /// cancelled during this call, the future is dropped.
    ///
    /// # Errors
    /// Those of the sink.
    fn close(&mut self) -> impl Future<Output = Result<(), BoxError>> + Send {
        async { Ok(()) }
    }
}

/// Makes a sink of a `futures::Sink`.
///
/// A push is complete when the `futures::Sink` was flushed. (A `futures::Sink` is not directly
/// a [`Sink`]: rustc would then not allow other types to be one.)
///
/// ```
/// use futures::StreamExt;
/// use futures::channel::mpsc;
/// use ws_executor::{Executor, pipeline};
///
/// let executor = Executor::new();
/// let (sender, receiver) = mpsc::channel(8);
/// let echo = pipeline::from_fn(&executor.handle(), |n: u32| async move { Ok::<_, ()>(n) });
/// let running = echo.iter(0..3).ordered(true).sink(pipeline::forward(sender)).build().unwrap().start();
/// assert_eq!(executor.block_on(receiver.collect::<Vec<_>>()), [0, 1, 2]);
/// executor.block_on(running).unwrap();
/// ```
pub fn forward<K>(sink: K) -> Forward<K> {
    Forward(Box::pin(sink))
}

/// The sink that [`forward`] makes.
#[derive(Debug)]
pub struct Forward<K>(Pin<Box<K>>);

impl<T, K> Sink<T> for Forward<K>
where
    T: Send + 'static,
    K: FuturesSink<T> + Send + 'static,
    K::Error: Into<BoxError>,
{
    async fn push(&mut self, results: Vec<T>) -> Result<(), BoxError> {
        for result in Apart::new(results) {
            poll_fn(|cx| self.0.as_mut().poll_ready(cx))
                .await
                .map_err(Into::into)?;
            self.0.as_mut().start_send(result).map_err(Into::into)?;
        }
        poll_fn(|cx| self.0.as_mut().poll_flush(cx))
            .await
            .map_err(Into::into)
    }

    async fn close(&mut self) -> Result<(), BoxError> {
        poll_fn(|cx| self.0.as_mut().poll_close(cx))
            .await
            .map_err(Into::into)
    }
}

/// A sink that collects all results, for tests and small runs.
///
/// ```
/// use ws_executor::Executor;
/// use ws_executor::pipeline::{self, Collect};
///
/// let executor = Executor::new();
/// let words = Collect::new();
/// let shout = pipeline::from_fn(&executor.handle(), |word: &'static str| async move {
///     Ok::<_, ()>(word.to_uppercase())
/// });
/// let shout = shout.iter(["so", "it", "goes"]).ordered(true).sink(words.clone());
/// executor.block_on(shout.build().unwrap().run()).unwrap();
/// assert_eq!(words.take(), ["SO", "IT", "GOES"]);
/// ```
pub struct Collect<T>(Arc<Mutex<Vec<T>>>);

impl<T> Collect<T> {
    /// Makes one without results; see the example at [`Collect`].
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::new(Mutex::new(Vec::new())))
    }

    /// Takes the results so far; see the example at [`Collect`].
    #[must_use]
    pub fn take(&self) -> Vec<T> {
        std::mem::take(&mut *lock(&self.0))
    }

    /// The number of results.
    ///
    /// ```
    /// use ws_executor::pipeline::Collect;
    /// assert_eq!(Collect::<u32>::new().len(), 0);
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        lock(&self.0).len()
    }

    /// Whether there are no results.
    ///
    /// ```
    /// use ws_executor::pipeline::Collect;
    /// assert!(Collect::<u32>::new().is_empty());
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T> Default for Collect<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Clone for Collect<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> fmt::Debug for Collect<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Collect({})", self.len())
    }
}

impl<T: Send + 'static> Sink<T> for Collect<T> {
    async fn push(&mut self, mut results: Vec<T>) -> Result<(), BoxError> {
        lock(&self.0).append(&mut results);
        Ok(())
    }
}

/// A closure as a sink.
pub(super) struct ForEach<F>(pub(super) F);

impl<T: Send + 'static, F: FnMut(T) + Send + 'static> Sink<T> for ForEach<F> {
    async fn push(&mut self, results: Vec<T>) -> Result<(), BoxError> {
        Apart::new(results).for_each(&mut self.0);
        Ok(())
    }
}

/// The sink of a pipeline that has no other: drops the results.
pub(super) struct Discard;

impl<T: Send + 'static> Sink<T> for Discard {
    async fn push(&mut self, results: Vec<T>) -> Result<(), BoxError> {
        guarded(|| Apart::new(results).for_each(drop))
    }
}

/// The future of a method of [`Outflow`].
pub(super) type Pushing<'a> = Pin<Box<dyn Future<Output = Result<(), BoxError>> + Send + 'a>>;

/// A sink of any type.
pub(super) trait Outflow<T>: Send {
    fn push(&mut self, results: Vec<T>) -> Pushing<'_>;
    fn close(&mut self) -> Pushing<'_>;
}

impl<T: Send + 'static, K: Sink<T>> Outflow<T> for K {
    fn push(&mut self, results: Vec<T>) -> Pushing<'_> {
        Box::pin(Sink::push(self, results))
    }

    fn close(&mut self) -> Pushing<'_> {
        Box::pin(Sink::close(self))
    }
}
