//! Tests of graphs: nodes with made-up outcomes, virtual time, and a record of what ran.
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
//! A node with a written type has a method of its name. A generic graph has no such methods,
//! because its types are known only where it is run.
//!
//! The time of a run under test stands still while one of its tasks can run, and jumps to the
//! next deadline when none can. A wait for something outside the run, such as another thread,
//! does not stop the time.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use ws_core::Spawn;
use ws_core::sync::Mutex;

use super::bound::Bound;
use super::observe::{At, Observer};
use super::script::Scripts;
pub use super::script::{
    Failing, FromScript, Own, Script, Scripted, Times, fail, fail_with, value,
};
use super::virtual_time::{Tracking, VirtualClock, tracked};
use super::{Graph, lock};

/// The report of a run under test; see the example at [`testing`](self).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report<R> {
    /// What the graph returned.
    pub result: R,
    /// The names of the nodes in the order in which they began.
    pub starts: Vec<&'static str>,
    /// The virtual time that the run took.
    pub elapsed: Duration,
    attempts: Vec<(&'static str, usize)>,
}

impl<R> Report<R> {
    /// The number of attempts of a node; 0 if it did not begin.
    ///
    /// See the example at [`testing`](self).
    pub fn attempts(&self, node: &str) -> usize {
        self.attempts
            .iter()
            .find(|(name, _)| *name == node)
            .map_or(0, |(_, attempts)| *attempts)
    }
}

/// The settings of a run under test: what `checkout::test` collects.
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
    /// A run without scripts.
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
        self.scripts.set(node, script);
        self
    }

    /// Runs the graph that `start` makes of the settings, with virtual time.
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

/// An [`Observer`] that records the order of a graph's own nodes, not of graphs inside it.
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
    /// The node of each attempt.
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
