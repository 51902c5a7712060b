//! Tests of graphs: nodes with made-up outcomes, time that takes none, and a record of
//! what ran.
//!
//! ```
//! use std::time::Duration;
//! use ws_executor::graph::TimedOut;
//! use ws_executor::graph::testing::{fail, value};
//! use ws_executor::{Executor, task_graph};
//!
//! #[derive(Clone, Debug, PartialEq)]
//! enum Trouble {
//!     Busy,
//!     Late,
//! }
//! # impl From<TimedOut> for Trouble {
//! #     fn from(_: TimedOut) -> Self {
//! #         Self::Late
//! #     }
//! # }
//!
//! #[task_graph]
//! async fn order(id: u32) -> Result<u32, Trouble> {
//!     #[node(retry(3, backoff = "1h"))]
//!     let stock: u32 = reserve(id).await?;
//!     let fraud: bool = score(id).await?;
//!     Ok(if fraud { 0 } else { stock })
//! }
//! # async fn reserve(id: u32) -> Result<u32, Trouble> { Ok(id) }
//! # async fn score(_: u32) -> Result<bool, Trouble> { Ok(true) }
//!
//! let executor = Executor::new();
//! let run = order::test(&executor.handle())
//!     .stock(fail(Trouble::Busy).times(2).then(3)) // fails twice, then there are three
//!     .fraud(value(false))
//!     .run(1);
//! let report = executor.block_on(run);
//! assert_eq!(report.result, Ok(3));
//! assert_eq!(report.attempts("stock"), 3);
//! assert_eq!(report.elapsed, Duration::from_secs(2 * 3600));
//! assert_eq!(report.starts.last(), Some(&"result"));
//! ```
//!
//! Nodes with a written type have a method of their name, unless the graph is generic: its
//! types are known only where it is run. The time of a run under test
//! stands still while one of its tasks can run, and jumps when none can. What a node waits
//! for outside of the run, on another thread for one, does not keep it from jumping.

use std::any::{Any, type_name};
use std::convert::Infallible;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use ws_core::Spawn;
use ws_core::sync::Mutex;

use super::bound::Bound;
use super::observe::{At, Observer};
use super::virtual_time::{Tracking, VirtualClock, tracked};
use super::{Graph, lock};

/// What a node does in a test instead of its own expression.
///
/// See the example at [`testing`](self).
pub struct Script<T> {
    next: Box<dyn FnMut() -> Outcome<T> + Send>,
}

/// What one attempt of a node comes to.
pub(super) enum Outcome<T> {
    Value(T),
    /// The error, and the name of its type.
    Error(Box<dyn Any + Send>, &'static str),
    /// What the node itself does.
    Real,
}

/// The node has this value.
///
/// An attempt after that, which only a `timeout` can cause, is the node's own.
/// See the example at [`testing`](self).
pub fn value<T: Send + 'static>(value: T) -> Script<T> {
    let mut value = Some(value);
    Script {
        next: Box::new(move || value.take().map_or(Outcome::Real, Outcome::Value)),
    }
}

/// The node fails with this error, at every attempt.
///
/// It is the error of the node's `?`, before it is converted to that of the graph; if the
/// node has several, or one inside of a macro, it is the error of the graph. See the example at [`testing`](self).
pub fn fail<T, E: Clone + Send + 'static>(error: E) -> Failing<T> {
    fail_with(move || error.clone())
}

/// As [`fail`], for errors that are not `Clone`.
///
/// ```
/// use std::io;
/// use ws_executor::graph::testing::fail_with;
///
/// #[ws_executor::task_graph]
/// async fn size() -> io::Result<usize> {
///     let text: String = read().await?;
///     Ok(text.len())
/// }
/// # async fn read() -> io::Result<String> { Ok(String::new()) }
///
/// let executor = ws_executor::Executor::new();
/// let broken = || io::Error::other("broken");
/// let run = size::test(&executor.handle()).text(fail_with(broken)).run();
/// assert_eq!(executor.block_on(run).result.unwrap_err().to_string(), "broken");
/// ```
pub fn fail_with<T, E: Send + 'static>(
    mut error: impl FnMut() -> E + Send + 'static,
) -> Failing<T> {
    Failing {
        next: Box::new(move || Outcome::Error(Box::new(error()), type_name::<E>())),
    }
}

/// A [`Script`] that fails; [`times`](Self::times) says how often.
///
/// See the example at [`testing`](self).
pub struct Failing<T> {
    next: Box<dyn FnMut() -> Outcome<T> + Send>,
}

impl<T: Send + 'static> Failing<T> {
    /// So often; after that the node does what [`then`](Times::then) says, or its own.
    ///
    /// See the example at [`testing`](self).
    pub fn times(self, times: usize) -> Times<T> {
        Times {
            next: self.next,
            times,
        }
    }
}

/// A [`Failing`] that ends.
///
/// See the example at [`testing`](self).
pub struct Times<T> {
    next: Box<dyn FnMut() -> Outcome<T> + Send>,
    times: usize,
}

impl<T: Send + 'static> Times<T> {
    /// And then this value.
    ///
    /// See the example at [`testing`](self).
    pub fn then(self, value: T) -> Script<T> {
        let mut value = Some(value);
        self.followed_by(move || value.take().map_or(Outcome::Real, Outcome::Value))
    }

    fn followed_by(mut self, mut rest: impl FnMut() -> Outcome<T> + Send + 'static) -> Script<T> {
        Script {
            next: Box::new(move || match self.times.checked_sub(1) {
                Some(left) => {
                    self.times = left;
                    (self.next)()
                }
                None => rest(),
            }),
        }
    }
}

impl<T> From<Failing<T>> for Script<T> {
    fn from(failing: Failing<T>) -> Self {
        Self { next: failing.next }
    }
}

impl<T: Send + 'static> From<Times<T>> for Script<T> {
    fn from(times: Times<T>) -> Self {
        times.followed_by(|| Outcome::Real)
    }
}

impl<T> fmt::Debug for Script<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Script")
    }
}

impl<T> fmt::Debug for Failing<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Failing")
    }
}

impl<T> fmt::Debug for Times<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Times({})", self.times)
    }
}

/// What a run under test came to; see the example at [`testing`](self).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report<R> {
    /// What the graph returned.
    pub result: R,
    /// The nodes in the order in which they began.
    pub starts: Vec<&'static str>,
    /// The virtual time that it took.
    pub elapsed: Duration,
    attempts: Vec<(&'static str, usize)>,
}

impl<R> Report<R> {
    /// How often a node was tried; 0 if it did not begin.
    ///
    /// See the example at [`testing`](self).
    pub fn attempts(&self, node: &str) -> usize {
        self.attempts
            .iter()
            .find(|(name, _)| *name == node)
            .map_or(0, |(_, attempts)| *attempts)
    }
}

/// The scripts of a run, by node.
#[derive(Clone, Default)]
pub(super) struct Scripts(Vec<Option<Arc<dyn Any + Send + Sync>>>);

impl Scripts {
    /// What the next attempt of `node` comes to.
    pub(super) fn next<T: 'static>(&self, node: usize) -> Option<Scripted<T>> {
        let script = self.0.get(node)?.as_ref()?;
        let slot = script
            .downcast_ref::<Mutex<Option<Script<T>>>>()
            .expect("set by its own method");
        // Taken out while it runs: it is the user's code. Attempts of a node follow each
        // other, so nobody else looks for it.
        let mut script = lock(slot).take()?;
        let outcome = (script.next)();
        *lock(slot) = Some(script);
        match outcome {
            Outcome::Real => None,
            Outcome::Value(_) | Outcome::Error(..) => Some(Scripted(outcome)),
        }
    }
}

/// A made-up outcome, which becomes whatever the node's expression is.
pub struct Scripted<T>(Outcome<T>);

impl<T> fmt::Debug for Scripted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scripted")
    }
}

impl<T> Scripted<T> {
    /// For a node that cannot fail.
    ///
    /// # Panics
    /// If it is to.
    pub fn value(self) -> T {
        match self.0 {
            Outcome::Value(value) => value,
            Outcome::Error(..) | Outcome::Real => {
                panic!("a test makes a node fail that has no `?`")
            }
        }
    }

    /// For a node that can: its value, or a failure that [`Own`] knows the type of.
    ///
    /// # Errors
    /// That.
    pub fn split(self) -> Result<T, Scripted<Infallible>> {
        match self.0 {
            Outcome::Value(value) => Ok(value),
            Outcome::Error(error, given) => Err(Scripted(Outcome::Error(error, given))),
            Outcome::Real => unreachable!("filtered out"),
        }
    }

    /// For an attempt.
    ///
    /// # Errors
    /// The one that it is to fail with.
    ///
    /// # Panics
    /// If that is not its own.
    pub fn result<E: 'static>(self) -> Result<T, E> {
        self.split().or_else(|failed| {
            let failed: Result<Infallible, E> = FromScript::from_script(failed);
            failed.map(|never| match never {})
        })
    }
}

/// Stands for the error of a node, which a test may make up: `?` tells the compiler which
/// one that is.
#[derive(Debug)]
pub struct Own<F>(PhantomData<fn() -> F>);

impl<F> Own<F> {
    /// Of what is inferred.
    #[inline]
    pub fn new() -> Self {
        Self(PhantomData)
    }
}

impl<F> Default for Own<F> {
    fn default() -> Self {
        Self::new()
    }
}

impl<F: FromScript> Own<F> {
    /// What `?` is to have.
    ///
    /// # Panics
    /// If the node is to fail with an error that is not its own.
    pub fn failed(&self, scripted: Scripted<Infallible>) -> F {
        F::from_script(scripted)
    }
}

/// A failure before `?`: that of a `Result` or of an `Option`.
pub trait FromScript {
    /// Converts.
    fn from_script(scripted: Scripted<Infallible>) -> Self;
}

impl<E: 'static> FromScript for Result<Infallible, E> {
    fn from_script(scripted: Scripted<Infallible>) -> Self {
        match scripted.0 {
            Outcome::Value(never) => match never {},
            Outcome::Error(error, given) => match error.downcast::<E>() {
                Ok(error) => Err(*error),
                Err(_) => panic!(
                    "a test makes a node fail with `{given}`, but its error is `{}`",
                    type_name::<E>()
                ),
            },
            Outcome::Real => unreachable!("filtered out"),
        }
    }
}

impl FromScript for Option<Infallible> {
    fn from_script(_: Scripted<Infallible>) -> Self {
        None
    }
}

/// A run under test, in the making: what `checkout::test` collects.
pub struct TestRun<S> {
    spawner: S,
    limited: bool,
    scripts: Scripts,
}

impl<S> fmt::Debug for TestRun<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TestRun")
    }
}

impl<S: Spawn + Clone + Send + Sync + 'static> TestRun<S> {
    /// A run with nothing made up.
    pub fn new(spawner: S, limited: bool) -> Self {
        Self {
            spawner,
            limited,
            scripts: Scripts::default(),
        }
    }

    /// Sets the script of a node.
    #[must_use]
    pub fn with<T: Send + 'static>(mut self, node: usize, script: Script<T>) -> Self {
        if self.scripts.0.len() <= node {
            self.scripts.0.resize_with(node + 1, || None);
        }
        self.scripts.0[node] = Some(Arc::new(Mutex::new(Some(script))));
        self
    }

    /// Runs what `start` makes of the settings, with its time tracked.
    pub async fn run<F: Future>(
        self,
        graph: &'static Graph,
        start: impl FnOnce(Bound<Tracking<S>>) -> F,
    ) -> Report<F::Output> {
        let clock = VirtualClock::default();
        let record = Arc::new(Record {
            graph,
            events: Mutex::default(),
        });
        let bound = Bound::new(Tracking::new(self.spawner, clock.clone()))
            .with_timer(Arc::new(clock.clone()))
            .with_observer(record.clone())
            .with_scripts(self.scripts);
        let bound = if self.limited {
            bound.with_limits()
        } else {
            bound
        };
        let result = tracked(&clock, start(bound)).await;
        let events = std::mem::take(&mut *lock(&record.events));
        let names = graph.nodes().iter().map(|node| node.name());
        Report {
            result,
            elapsed: clock.now(),
            attempts: (0..)
                .zip(names)
                .map(|(node, name)| (name, events.attempts(node)))
                .collect(),
            starts: events.starts,
        }
    }
}

/// An [`Observer`] that keeps the order of a graph's own nodes, not of those inside.
struct Record {
    graph: &'static Graph,
    events: Mutex<Events>,
}

impl Record {
    fn add(&self, at: At, add: impl FnOnce(&mut Events)) {
        if std::ptr::eq(at.graph(), self.graph) {
            add(&mut lock(&self.events));
        }
    }
}

#[derive(Default)]
struct Events {
    starts: Vec<&'static str>,
    /// One for each attempt.
    attempts: Vec<usize>,
}

impl Events {
    fn attempts(&self, node: usize) -> usize {
        self.attempts.iter().filter(|&&other| other == node).count()
    }
}

impl Observer for Record {
    fn started(&self, at: At) {
        self.add(at, |events| {
            events.starts.push(at.name());
            events.attempts.push(at.node());
        });
    }

    fn retried(&self, at: At) {
        self.add(at, |events| events.attempts.push(at.node()));
    }
}
