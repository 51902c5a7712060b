//! The settings of a pipeline.

use std::fmt;
use std::sync::Arc;

use ws_core::Spawn;

use super::PerItem;
use super::failure::{BuildError, DeadLetter, Failure, Flaw, Route};
use super::lane::Lane;
use super::outlet::Outlet;
use super::running::Pipeline;
use super::shared::PipelineShared;
use super::sink::{Discard, ForEach, Outflow, Sink};
use super::source::{Feed, Iter, Merged, Single, Source};
use super::state::{Copier, Letter, Limits, PipelineState, Router, RunSettings};
use crate::graph::{ThreadTimer, Timer};

/// The default of [`Builder::in_flight`]. Not measured: enough to keep a few workers busy, few
/// enough to fit in a cache.
const IN_FLIGHT: usize = 1024;

/// The settings of a pipeline: what it runs for each item, its sources, its sink.
///
/// A builder is made by the `bind` of a task graph, by [`from_fn`](super::from_fn), or by
/// [`new`](Self::new).
///
/// ```
/// use ws_executor::Executor;
/// use ws_executor::pipeline::{self, Collect, Route};
///
/// let executor = Executor::new();
/// let numbers = Collect::new();
/// let parse = pipeline::from_fn(&executor.handle(), |text: &'static str| async move {
///     text.parse::<u32>()
/// });
/// let pipeline = parse
///     .iter(["1", "2", "x", "4"])
///     .in_flight(2)
///     .ordered(true)
///     .on_error(|_| Route::Skip)
///     .sink(numbers.clone())
///     .build()?;
/// let report = executor.block_on(pipeline.run()).unwrap();
/// assert_eq!((report.done, report.skipped), (3, 1));
/// assert_eq!(numbers.take(), [1, 2, 4]);
/// # Ok::<_, pipeline::BuildError>(())
/// ```
#[must_use = "a pipeline runs when it was built and started"]
pub struct Builder<P: PerItem, S> {
    spawner: S,
    per_item: P,
    feeds: Vec<Box<dyn Feed<P::Item>>>,
    in_flight: usize,
    ordered: bool,
    route: Option<Router<P::Error>>,
    letters: Option<DeadLetters<P>>,
    sink: Box<dyn Outflow<P::Output>>,
    timer: Option<Arc<dyn Timer>>,
}

struct DeadLetters<P: PerItem> {
    sink: Box<dyn Outflow<Letter<P>>>,
    copy: Copier<P::Item>,
}

impl<P: PerItem, S> fmt::Debug for Builder<P, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("sources", &self.feeds.len())
            .field("in_flight", &self.in_flight)
            .field("ordered", &self.ordered)
            .finish_non_exhaustive()
    }
}

impl<P, S> Builder<P, S>
where
    P: PerItem,
    S: Spawn + Clone + Send + Sync + 'static,
{
    /// Makes a builder of a pipeline that runs `per_item` on lanes of this executor.
    ///
    /// ```
    /// use ws_executor::Executor;
    /// use ws_executor::pipeline::{Builder, PerItem, Verdict};
    ///
    /// struct Double;
    ///
    /// impl PerItem for Double {
    ///     type Item = u32;
    ///     type Output = u32;
    ///     type Error = ();
    ///
    ///     async fn run(&self, _: u64, item: u32) -> Verdict<u32, ()> {
    ///         Verdict::Done(2 * item)
    ///     }
    /// }
    ///
    /// let executor = Executor::new();
    /// let pipeline = Builder::new(&executor.handle(), Double).iter([1, 2]).build().unwrap();
    /// assert_eq!(executor.block_on(pipeline.run()).unwrap().done, 2);
    /// ```
    pub fn new(spawner: &S, per_item: P) -> Self {
        Self {
            spawner: spawner.clone(),
            per_item,
            feeds: Vec::new(),
            in_flight: IN_FLIGHT,
            ordered: false,
            route: None,
            letters: None,
            sink: Box::new(Discard),
            timer: None,
        }
    }

    /// Adds a source: a `Stream`, or any other [`Source`]. Several sources are merged, and take
    /// turns.
    ///
    /// ```
    /// use futures::stream;
    /// use ws_executor::{Executor, pipeline};
    ///
    /// let executor = Executor::new();
    /// let echo = pipeline::from_fn(&executor.handle(), |n: u32| async move { Ok::<_, ()>(n) });
    /// let pipeline = echo.source(stream::iter(0..3)).source(stream::iter(3..5)).build().unwrap();
    /// assert_eq!(executor.block_on(pipeline.run()).unwrap().items, 5);
    /// ```
    pub fn source(mut self, source: impl Source<Item = P::Item>) -> Self {
        self.feeds.push(Box::new(Single::new(source)));
        self
    }

    /// Adds an iterator as a source; see the example at [`Builder`].
    pub fn iter<I>(self, items: I) -> Self
    where
        I: IntoIterator<Item = P::Item>,
        I::IntoIter: Send + 'static,
    {
        self.source(Iter(Box::new(items.into_iter())))
    }

    /// Sets how many items may be in flight: pulled from the source, and neither done nor
    /// dropped. The memory of a pipeline is that of so many items. The default is 1,024.
    ///
    /// See the example at [`Builder`].
    pub fn in_flight(mut self, items: usize) -> Self {
        self.in_flight = items;
        self
    }

    /// Sets whether results leave in the order of the source. Then a slow item delays the
    /// results of later items, of which fewer than [`in_flight`](Self::in_flight) wait.
    ///
    /// See the example at [`Builder`]. The order of merged sources is the order in which their
    /// items were pulled.
    pub fn ordered(mut self, ordered: bool) -> Self {
        self.ordered = ordered;
        self
    }

    /// Sets what happens to items that fail. Without this, a failure ends the run.
    ///
    /// See the example at [`Failure`]. A panic in `route` ends the run.
    pub fn on_error(
        mut self,
        route: impl Fn(&Failure<P::Error>) -> Route + Send + Sync + 'static,
    ) -> Self {
        self.route = Some(Box::new(route));
        self
    }

    /// Sets the sink for items whose route is [`Route::DeadLetter`]. With this, every item is
    /// copied before its run.
    ///
    /// ```
    /// use ws_executor::Executor;
    /// use ws_executor::pipeline::{self, Collect, Route};
    ///
    /// let executor = Executor::new();
    /// let letters = Collect::new();
    /// let parse = pipeline::from_fn(&executor.handle(), |text: &'static str| async move {
    ///     text.parse::<u32>()
    /// });
    /// let parse = parse
    ///     .iter(["1", "x"])
    ///     .on_error(|_| Route::DeadLetter)
    ///     .dead_letter(letters.clone());
    /// let report = executor.block_on(parse.build().unwrap().run()).unwrap();
    /// assert_eq!((report.done, report.dead_lettered), (1, 1));
    /// let letter = &letters.take()[0];
    /// assert_eq!((letter.item, letter.failure.number), ("x", 1));
    /// ```
    pub fn dead_letter(mut self, sink: impl Sink<DeadLetter<P::Item, P::Error>>) -> Self
    where
        P::Item: Clone,
    {
        self.letters = Some(DeadLetters {
            sink: Box::new(sink),
            copy: P::Item::clone,
        });
        self
    }

    /// Sets the [`Sink`] of the results. Without one, results are dropped.
    ///
    /// See the example at [`Builder`].
    pub fn sink(mut self, sink: impl Sink<P::Output>) -> Self {
        self.sink = Box::new(sink);
        self
    }

    /// Calls a closure with each result, one at a time, in place of a [`sink`](Self::sink).
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU32, Ordering};
    /// use std::sync::Arc;
    /// use ws_executor::{Executor, pipeline};
    ///
    /// let executor = Executor::new();
    /// let sum = Arc::new(AtomicU32::new(0));
    /// let adder = sum.clone();
    /// let echo = pipeline::from_fn(&executor.handle(), |n: u32| async move { Ok::<_, ()>(n) });
    /// let echo = echo.iter(1..=4).for_each(move |n| {
    ///     adder.fetch_add(n, Ordering::Relaxed);
    /// });
    /// executor.block_on(echo.build().unwrap().run()).unwrap();
    /// assert_eq!(sum.load(Ordering::Relaxed), 10);
    /// ```
    pub fn for_each(self, call: impl FnMut(P::Output) + Send + 'static) -> Self {
        self.sink(ForEach(call))
    }

    /// Sets the timer, for timeouts of nodes and of drains. The default is a thread.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use ws_executor::graph::ThreadTimer;
    /// use ws_executor::{Executor, pipeline};
    ///
    /// let executor = Executor::new();
    /// let echo = pipeline::from_fn(&executor.handle(), |n: u32| async move { Ok::<_, ()>(n) });
    /// let pipeline = echo.iter(0..3).timer(Arc::new(ThreadTimer)).build().unwrap();
    /// assert_eq!(executor.block_on(pipeline.run()).unwrap().done, 3);
    /// ```
    pub fn timer(mut self, timer: Arc<dyn Timer>) -> Self {
        self.per_item.set_timer(timer.clone());
        self.timer = Some(timer);
        self
    }

    /// Builds the pipeline.
    ///
    /// See the example at [`Builder`].
    ///
    /// # Errors
    /// If the pipeline could never end: it has no source, or `in_flight` is less than the
    /// number of items that a node waits for.
    pub fn build(mut self) -> Result<Pipeline<P::Error>, BuildError> {
        let feed = match self.feeds.len() {
            0 => return Err(BuildError(Flaw::NoSource)),
            1 => self.feeds.remove(0),
            _ => Box::new(Merged::new(self.feeds)),
        };
        let least = self.per_item.least_in_flight().max(1);
        if self.in_flight < least {
            let set = self.in_flight;
            return Err(BuildError(Flaw::InFlight { set, least }));
        }
        let (letters, copy) = match self.letters {
            None => (None, None),
            Some(letters) => (Some(Outlet::new(letters.sink, false)), Some(letters.copy)),
        };
        let spawner = self.spawner;
        let limits = Limits {
            in_flight: self.in_flight,
            parallelism: spawner.parallelism().max(1),
        };
        let settings = RunSettings {
            route: self.route,
            copy,
            timer: self.timer.unwrap_or_else(|| Arc::new(ThreadTimer)),
        };
        let spawn = Box::new(move |shared, seat| spawner.spawn(Lane::new(shared, seat).run()));
        let results = Outlet::new(self.sink, self.ordered);
        let state = PipelineState::new(limits, feed, results, letters);
        Ok(Pipeline::new(PipelineShared::new(
            self.per_item,
            settings,
            spawn,
            state,
        )))
    }
}
