//! Counters of what happened in each node of a pipeline, cheap enough for streams of millions
//! of items.
//!
//! - An item that passed every node adds one to one counter. There are several such counters,
//!   each in a cache line of its own and used by some of the threads. Items that ended in
//!   another way are counted node by node.
//! - An item that is pending in a node at the end of a poll is counted as waiting there. A node
//!   that never waits costs nothing.
//! - The clock is read for the first [`ALL_TIMED`] items, and then for one item of
//!   [`TIMED_ONE_OF`].

use std::cell::Cell;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use ws_core::sync::CachePadded;

use super::node_state::{ABSENT, CANCELLED, DONE, FAILED, PASSED};
use crate::graph::Graph;
use crate::graph::observe::Histogram;
use crate::pipeline::NodeReport;

/// The first items are all timed, so that short streams have good percentiles. Not measured.
const ALL_TIMED: u64 = 1024;

/// Of the later items, one in this many is timed. Two reads of the clock cost 50 to 100 ns,
/// more than all other work for a node; a sixty-fourth of that is lost in the noise.
const TIMED_ONE_OF: u64 = 64;

/// The workers of a usual machine seldom share a shard. Not measured.
const SHARDS: usize = 16;

/// The counters of all nodes.
pub(super) struct ItemStats {
    /// Items that passed every node.
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

/// The shard of the calling thread.
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

    /// Counts an item that passed all nodes.
    #[inline]
    pub(super) fn through(&self) {
        self.through[shard()].fetch_add(1, Ordering::Relaxed);
    }

    /// Counts how the nodes of another item ended. `end` is the end of the node `at`, which the
    /// item was at.
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
                // The future was leaked while the item was in the node.
                _ => &node.cancelled,
            };
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// An item waits in a node.
    pub(super) fn waits(&self, node: usize) {
        let node = &self.nodes[node];
        let waiting = node.waiting.fetch_add(1, Ordering::Relaxed) + 1;
        // Most of the time this is not a new maximum, and nothing is written.
        if waiting > node.most.load(Ordering::Relaxed) {
            node.most.fetch_max(waiting, Ordering::Relaxed);
        }
    }

    /// An item no longer waits in a node.
    pub(super) fn goes_on(&self, node: usize) {
        self.nodes[node].waiting.fetch_sub(1, Ordering::Relaxed);
    }

    /// Notes the time of a node.
    pub(super) fn took(&self, node: usize, took: Duration) {
        self.nodes[node].took.0[Histogram::bucket_of(took)].fetch_add(1, Ordering::Relaxed);
    }

    /// The counter of the retries of a node.
    pub(super) fn retried(&self, node: usize) -> &AtomicU64 {
        &self.nodes[node].retried
    }

    /// The counts so far, without items in flight.
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
