//! Observers of runs: they are told what happens to each node.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use ws_core::sync::Mutex;

use super::{Graph, lock};
use crate::base::panics::ignore_panic;

/// A node of a graph, as an [`Observer`] is told about it.
#[derive(Clone, Copy, Debug)]
pub struct At {
    graph: &'static Graph,
    node: usize,
}

impl At {
    pub(super) fn new(graph: &'static Graph, node: usize) -> Self {
        Self { graph, node }
    }

    /// The graph; see the example at [`Observer`].
    pub fn graph(&self) -> &'static Graph {
        self.graph
    }

    /// The index of the node in [`Graph::nodes`].
    ///
    /// See the example at [`Observer`].
    pub fn node(&self) -> usize {
        self.node
    }

    /// The name of the node; see the example at [`Observer`].
    pub fn name(&self) -> &'static str {
        self.graph.nodes()[self.node].name()
    }
}

/// Is told what happens in the parallel runs of a graph: `checkout::on(&handle).observer(…)`.
///
/// The methods are called on the task that runs the node, so they should be quick. A panic in a
/// method goes to the panic hook and has no other effect.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use ws_executor::graph::{At, Observer};
/// use ws_executor::{Executor, task_graph};
///
/// #[derive(Default)]
/// struct Names(Mutex<Vec<&'static str>>);
///
/// impl Observer for Names {
///     fn started(&self, at: At) {
///         assert_eq!(at.graph().nodes()[at.node()].name(), at.name());
///         self.0.lock().unwrap().push(at.name());
///     }
/// }
///
/// #[task_graph]
/// async fn area(side: u32) -> u32 {
///     let square = side * side;
///     square + 1
/// }
///
/// let executor = Executor::new();
/// let names = Arc::new(Names::default());
/// executor.block_on(area::on(&executor.handle()).observer(names.clone()).run(2));
/// assert_eq!(*names.0.lock().unwrap(), ["square", "result"]);
/// ```
pub trait Observer: Send + Sync {
    /// A run begins, on the task that awaits it. If this returns an observer, that one is told
    /// of this run instead of `self`. So an observer can tell runs apart.
    fn run(&self, graph: &'static Graph) -> Option<Arc<dyn Observer>> {
        let _ = graph;
        None
    }

    /// A node begins.
    fn started(&self, at: At) {
        let _ = at;
    }

    /// A part of a node is about to run: one poll, the whole code if it blocks, or the drop of
    /// the node's future. The method must call `part` once, on this thread; the call runs the
    /// part. If the method does not call it, the part runs afterwards.
    fn within(&self, at: At, part: &mut dyn FnMut()) {
        let _ = at;
        part();
    }

    /// A node is done, with success or with an error that ends the run.
    fn finished(&self, at: At, took: Duration) {
        let _ = (at, took);
    }

    /// An attempt failed, and another one follows.
    fn retried(&self, at: At) {
        let _ = at;
    }

    /// A node was dropped because its run ended, or panicked.
    fn cancelled(&self, at: At) {
        let _ = at;
    }
}

/// Calls an observer, if there is one.
pub(super) fn tell(observer: Option<&Arc<dyn Observer>>, call: impl FnOnce(&dyn Observer)) {
    if let Some(observer) = observer {
        ignore_panic(|| call(&**observer));
    }
}

/// The observer and the node, if the run has an observer.
pub(super) type WatchedNode<'a> = Option<(&'a Arc<dyn Observer>, At)>;

/// Runs a part of a node inside [`Observer::within`], if there is an observer. `part` must not
/// panic.
#[inline(always)]
pub(super) fn within<T>(watch: WatchedNode<'_>, part: impl FnOnce() -> T) -> T {
    match watch {
        Some((observer, at)) => within_observer(observer, at, part),
        None => part(),
    }
}

#[cold]
fn within_observer<T>(observer: &Arc<dyn Observer>, at: At, part: impl FnOnce() -> T) -> T {
    let (mut part, mut output) = (Some(part), None);
    tell(Some(observer), |observer| {
        observer.within(at, &mut || {
            if let Some(part) = part.take() {
                output = Some(part());
            }
        });
    });
    match part {
        Some(part) => part(),
        None => output.expect("a part that was taken was run"),
    }
}

/// An [`Observer`] that counts, and measures how long nodes take.
///
/// ```
/// use std::sync::Arc;
/// use ws_executor::graph::Stats;
/// use ws_executor::{Executor, task_graph};
///
/// #[task_graph]
/// async fn area(side: u32) -> u32 {
///     let square = side * side;
///     square + 1
/// }
///
/// let executor = Executor::new();
/// let stats = Arc::new(Stats::new());
/// for side in 0..10 {
///     executor.block_on(area::on(&executor.handle()).observer(stats.clone()).run(side));
/// }
/// let square = stats.node("area", "square").unwrap();
/// assert_eq!((square.started, square.finished, square.cancelled), (10, 10, 0));
/// assert!(square.p50 <= square.p99);
/// println!("{stats}");
/// ```
#[derive(Default)]
pub struct Stats {
    nodes: Mutex<BTreeMap<(&'static str, usize), NodeCounts>>,
}

struct NodeCounts {
    name: &'static str,
    started: u64,
    finished: u64,
    retried: u64,
    cancelled: u64,
    took: Histogram,
}

/// The counts and times of a node in [`Stats`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeStats {
    /// How often the node began.
    pub started: u64,
    /// How often the node finished.
    pub finished: u64,
    /// How often the node was retried.
    pub retried: u64,
    /// How often the node was cancelled.
    pub cancelled: u64,
    /// The median time; at most an eighth too high.
    pub p50: Duration,
    /// The 99th percentile of the times; at most an eighth too high.
    pub p99: Duration,
}

impl Stats {
    /// Makes one without counts; see the example at [`Stats`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the counts of a node, by the names of the graph and the node; `None` if the node
    /// never began.
    ///
    /// See the example at [`Stats`].
    pub fn node(&self, graph: &str, name: &str) -> Option<NodeStats> {
        let nodes = lock(&self.nodes);
        let mut found = nodes
            .iter()
            .filter(|((of, _), counts)| *of == graph && counts.name == name);
        found.next().map(|(_, counts)| counts.stats())
    }

    fn with(&self, at: At, change: impl FnOnce(&mut NodeCounts)) {
        let mut nodes = lock(&self.nodes);
        change(
            nodes
                .entry((at.graph.name(), at.node))
                .or_insert_with(|| NodeCounts {
                    name: at.name(),
                    started: 0,
                    finished: 0,
                    retried: 0,
                    cancelled: 0,
                    took: Histogram::default(),
                }),
        );
    }
}

impl NodeCounts {
    fn stats(&self) -> NodeStats {
        NodeStats {
            started: self.started,
            finished: self.finished,
            retried: self.retried,
            cancelled: self.cancelled,
            p50: self.took.quantile(50),
            p99: self.took.quantile(99),
        }
    }
}

impl Observer for Stats {
    fn started(&self, at: At) {
        self.with(at, |counts| counts.started += 1);
    }

    fn finished(&self, at: At, took: Duration) {
        self.with(at, |counts| {
            counts.finished += 1;
            counts.took.add(took);
        });
    }

    fn retried(&self, at: At) {
        self.with(at, |counts| counts.retried += 1);
    }

    fn cancelled(&self, at: At) {
        self.with(at, |counts| counts.cancelled += 1);
    }
}

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "graph         node             started finished  retried cancelled      p50      p99"
        )?;
        for ((graph, _), counts) in &*lock(&self.nodes) {
            let stats = counts.stats();
            writeln!(
                f,
                "{graph:<13} {:<16} {:>7} {:>8} {:>8} {:>9} {:>8.1?} {:>8.1?}",
                counts.name,
                stats.started,
                stats.finished,
                stats.retried,
                stats.cancelled,
                stats.p50,
                stats.p99
            )?;
        }
        Ok(())
    }
}

impl fmt::Debug for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nodes = lock(&self.nodes);
        f.debug_map()
            .entries(nodes.values().map(|counts| (counts.name, counts.stats())))
            .finish()
    }
}

/// Counts by magnitude: eight buckets for each power of two of nanoseconds.
pub(super) struct Histogram(pub(super) [u64; Self::BUCKETS]);

impl Default for Histogram {
    fn default() -> Self {
        Self([0; Self::BUCKETS])
    }
}

impl Histogram {
    pub(super) const BUCKETS: usize = 8 * 64;

    fn add(&mut self, took: Duration) {
        self.0[Self::bucket_of(took)] += 1;
    }

    pub(super) fn bucket_of(took: Duration) -> usize {
        Self::bucket(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX))
    }

    /// The bucket of a value: below 8, the value itself; else its power of two, and the three
    /// bits below the highest one.
    fn bucket(nanos: u64) -> usize {
        if nanos < 8 {
            return nanos as usize;
        }
        let power = nanos.ilog2();
        8 * (power as usize - 2) + (nanos >> (power - 3) & 7) as usize
    }

    /// The largest value of a bucket.
    fn upper(bucket: usize) -> u64 {
        if bucket < 8 {
            return bucket as u64;
        }
        let (power, below) = (bucket / 8 + 2, bucket as u128 % 8);
        let next = (8 + below + 1) << (power - 3);
        u64::try_from(next - 1).unwrap_or(u64::MAX)
    }

    pub(super) fn quantile(&self, percent: u64) -> Duration {
        let total: u64 = self.0.iter().sum();
        let wanted = (total * percent).div_ceil(100);
        let mut seen = 0;
        let found = self.0.iter().position(|count| {
            seen += count;
            seen >= wanted && seen > 0
        });
        Duration::from_nanos(found.map_or(0, Self::upper))
    }
}

#[cfg(test)]
mod tests {
    use super::Histogram;
    use std::time::Duration;

    #[test]
    fn buckets_are_in_order_and_an_eighth_wide() {
        let mut last = 0;
        for nanos in (0..4096).chain([1 << 20, (1 << 20) + (1 << 17), u64::MAX / 3, u64::MAX]) {
            let bucket = Histogram::bucket(nanos);
            assert!(bucket >= last, "{nanos}");
            last = bucket;
            let upper = Histogram::upper(bucket);
            assert!(
                upper >= nanos && upper - nanos <= nanos / 8 + 1,
                "{nanos} {upper}"
            );
        }
    }

    #[test]
    fn quantiles_are_those_of_the_values() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.quantile(50), Duration::ZERO);
        for value in 1..=100 {
            histogram.add(Duration::from_micros(value));
        }
        let near = |percent, micros: u64| {
            let found = histogram.quantile(percent).as_nanos();
            let exact = u128::from(micros) * 1000;
            assert!(
                found >= exact && found <= exact + exact / 8 + 1,
                "{percent}: {found}"
            );
        };
        near(50, 50);
        near(99, 99);
    }
}
