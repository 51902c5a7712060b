//! What happened in each node of a pipeline, counted so that a stream of millions of
//! items does not feel it.
//!
//! - An item that went through every node adds one to one counter, of which there are
//!   several, each in a cache line of its own and used by some of the threads. Only items
//!   that ended in another way are counted node by node.
//! - How many wait in a node is counted when an item is pending there at the end of a
//!   poll. A node that never waits costs nothing.
//! - The clock is read for the first [`ALL_TIMED`] items, and then for one of
//!   [`TIMED_ONE_OF`].

use std::cell::Cell;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use ws_core::sync::CachePadded;

use super::node_state::{ABSENT, CANCELLED, DONE, FAILED, PASSED};
use crate::graph::Graph;
use crate::graph::observe::Histogram;
use crate::pipeline::NodeReport;

/// So many items are all timed: short streams have good percentiles. Not measured.
const ALL_TIMED: u64 = 1024;

/// Of the later ones one in so many: two looks at the clock cost 50 to 100 ns, more than
/// all else that is done for a node, and a sixty-fourth of that is lost in the noise.
const TIMED_ONE_OF: u64 = 64;

/// Enough that the workers of a machine of usual size seldom share one. Not measured.
const SHARDS: usize = 16;

/// The counters of all nodes.
pub(super) struct ItemStats {
    /// Items that went through every node.
    through: [CachePadded<AtomicU64>; SHARDS],
    nodes: Box<[NodeCounters]>,
}

#[derive(Default)]
struct NodeCounters {
    finished: AtomicU64,
    failed: AtomicU64,
    retried: AtomicU64,
    cancelled: AtomicU64,
    waiting: AtomicUsize,
    most: AtomicUsize,
    took: AtomicHistogram,
}

struct AtomicHistogram(Box<[AtomicU64]>);

impl Default for AtomicHistogram {
    fn default() -> Self {
        Self((0..Histogram::BUCKETS).map(|_| AtomicU64::new(0)).collect())
    }
}

/// The shard of this thread.
fn shard() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static OWN: Cell<Option<usize>> = const { Cell::new(None) };
    }
    OWN.try_with(|own| {
        own.get().unwrap_or_else(|| {
            let shard = NEXT.fetch_add(1, Ordering::Relaxed) % SHARDS;
            own.set(Some(shard));
            shard
        })
    })
    .unwrap_or(0)
}

impl ItemStats {
    pub(super) fn new(nodes: usize) -> Self {
        Self {
            through: std::array::from_fn(|_| CachePadded::new(AtomicU64::new(0))),
            nodes: (0..nodes).map(|_| NodeCounters::default()).collect(),
        }
    }

    /// Whether the nodes of this item are timed.
    #[inline]
    pub(super) fn is_timed(&self, number: u64) -> bool {
        number < ALL_TIMED || number % TIMED_ONE_OF == 0
    }

    /// Counts an item that went through all nodes.
    #[inline]
    pub(super) fn through(&self) {
        self.through[shard()].fetch_add(1, Ordering::Relaxed);
    }

    /// Counts how the nodes of another item ended, and that it ended like this `at` one.
    pub(super) fn count_each(&self, states: &[AtomicU8], at: usize, end: u8) {
        for (index, (node, state)) in self.nodes.iter().zip(states).enumerate() {
            let state = match state.load(Ordering::Relaxed) {
                PASSED if index == at => end,
                state => state,
            };
            let counter = match state {
                ABSENT => continue,
                PASSED | DONE => &node.finished,
                FAILED => &node.failed,
                CANCELLED => &node.cancelled,
                // A future that was leaked with its node inside.
                _ => &node.cancelled,
            };
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// An item waits in a node.
    pub(super) fn waits(&self, node: usize) {
        let node = &self.nodes[node];
        let waiting = node.waiting.fetch_add(1, Ordering::Relaxed) + 1;
        // Most of the time it is not a new mark, and then nothing is written.
        if waiting > node.most.load(Ordering::Relaxed) {
            node.most.fetch_max(waiting, Ordering::Relaxed);
        }
    }

    /// An item that waited does so no more.
    pub(super) fn goes_on(&self, node: usize) {
        self.nodes[node].waiting.fetch_sub(1, Ordering::Relaxed);
    }

    /// How long a node took.
    pub(super) fn took(&self, node: usize, took: Duration) {
        self.nodes[node].took.0[Histogram::bucket_of(took)].fetch_add(1, Ordering::Relaxed);
    }

    /// Counts retries of a node.
    pub(super) fn retried(&self, node: usize) -> &AtomicU64 {
        &self.nodes[node].retried
    }

    /// What is known so far; items in flight are not in it.
    pub(super) fn report(&self, graph: &'static Graph) -> Vec<NodeReport> {
        let through: u64 = self
            .through
            .iter()
            .map(|shard| shard.load(Ordering::Relaxed))
            .sum();
        graph
            .nodes()
            .iter()
            .zip(&self.nodes)
            .map(|(node, counters)| counters.report(node.name(), through))
            .collect()
    }
}

impl NodeCounters {
    fn report(&self, name: &'static str, through: u64) -> NodeReport {
        let finished = through + self.finished.load(Ordering::Relaxed);
        let failed = self.failed.load(Ordering::Relaxed);
        let cancelled = self.cancelled.load(Ordering::Relaxed);
        let mut took = Histogram::default();
        for (to, from) in took.0.iter_mut().zip(&self.took.0) {
            *to = from.load(Ordering::Relaxed);
        }
        NodeReport {
            name,
            started: finished + failed + cancelled,
            finished,
            failed,
            retried: self.retried.load(Ordering::Relaxed),
            cancelled,
            most: self.most.load(Ordering::Relaxed),
            p50: took.quantile(50),
            p99: took.quantile(99),
        }
    }
}
