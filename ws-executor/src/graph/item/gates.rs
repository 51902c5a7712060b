//! What the items of one pipeline share: the gates before each node, and the counters.

use std::fmt;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use super::batch::BatchGate;
use super::key::KeyGate;
use super::rate::Rate;
use super::stats::ItemStats;
use crate::graph::attempt::{Pass, Site};
use crate::graph::limit::{Limit, Permit};
use crate::graph::{Graph, ThreadTimer, Timer};
use crate::pipeline::NodeReport;

/// The gates of a node, as the macro writes them down.
#[derive(Clone, Copy, Debug, Default)]
pub struct NodeGates {
    /// So many items at once.
    pub limit: Option<usize>,
    /// The time from one call to the next.
    pub rate: Option<Duration>,
    /// So many items may have a place before it.
    pub queue: Option<usize>,
    /// So many items in one call, within this time.
    pub batch: Option<(usize, Duration)>,
    /// Items with the same key keep their order.
    pub key: bool,
}

/// The gates of a node at work.
struct GatedNode {
    limit: Option<Limit>,
    rate: Option<Rate>,
    queue: Option<Limit>,
    batch: Option<BatchGate>,
    key: Option<KeyGate>,
}

/// The gates of a bound graph, and what is counted about its nodes.
pub struct Gates {
    graph: &'static Graph,
    timer: Option<Arc<dyn Timer>>,
    stats: ItemStats,
    nodes: Box<[GatedNode]>,
    /// The nodes with a key: every item that ends tells them.
    keyed: Box<[usize]>,
    least: usize,
}

/// A permit that needs no borrow: [`Gates::hold`].
#[derive(Debug)]
#[must_use]
pub struct HeldPermit {
    gates: Arc<Gates>,
    node: usize,
}

impl Drop for HeldPermit {
    fn drop(&mut self) {
        if let Some(limit) = &self.gates.nodes[self.node].limit {
            limit.release();
        }
    }
}

impl fmt::Debug for Gates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Gates({})", self.graph.name())
    }
}

impl Gates {
    pub(super) fn new(graph: &'static Graph, nodes: Vec<NodeGates>) -> Self {
        let keyed = nodes.iter().enumerate().filter(|(_, node)| node.key);
        let batches = nodes.iter().filter_map(|node| {
            let (max, _) = node.batch?;
            Some(max.saturating_mul(node.limit.unwrap_or(1)))
        });
        Self {
            graph,
            timer: None,
            stats: ItemStats::new(nodes.len()),
            keyed: keyed.map(|(index, _)| index).collect(),
            least: batches.max().unwrap_or(1),
            nodes: nodes
                .into_iter()
                .map(|node| GatedNode {
                    limit: node.limit.map(Limit::new),
                    rate: node.rate.map(Rate::new),
                    queue: node.queue.map(Limit::new),
                    batch: node.batch.map(|(max, within)| BatchGate::new(max, within)),
                    key: node.key.then(KeyGate::new),
                })
                .collect(),
        }
    }

    pub(super) fn set_timer(&mut self, timer: Arc<dyn Timer>) {
        self.timer = Some(timer);
    }

    pub(super) fn timer(&self) -> &dyn Timer {
        self.timer.as_deref().unwrap_or(&ThreadTimer)
    }

    pub(super) fn graph(&self) -> &'static Graph {
        self.graph
    }

    pub(super) fn stats(&self) -> &ItemStats {
        &self.stats
    }

    pub(super) fn least_in_flight(&self) -> usize {
        self.least
    }

    pub(super) fn report(&self) -> Vec<NodeReport> {
        self.stats.report(self.graph)
    }

    /// Of so many items none runs, and no more come. If all of them wait for company, they
    /// go on without; otherwise some may yet join, when what they wait for is there.
    pub(super) fn flush(&self, waiting: usize) {
        let batches = || self.nodes.iter().filter_map(|node| node.batch.as_ref());
        let gathering: usize = batches().map(BatchGate::gathering).sum();
        // Those who wait for their turn wait for one of these, or for one who does.
        let keyed = || self.keyed.iter().map(|&node| self.key(node).waiting());
        if gathering > 0 && gathering + keyed().sum::<usize>() >= waiting {
            batches().for_each(BatchGate::flush);
        }
    }

    /// An item has ended: nobody waits for it any more.
    #[inline]
    pub(super) fn passed(&self, number: u64) {
        for &node in &self.keyed {
            self.key(node).passed(number);
        }
    }

    /// Where the node with this index runs.
    pub fn site(&self, node: usize) -> Site<'_> {
        Site {
            timer: self.timer(),
            observer: None,
            retried: Some(self.stats.retried(node)),
        }
    }

    /// What each attempt of a node has to pass.
    pub fn pass<'a>(&self, node: usize) -> Pass<'a, '_> {
        let gates = &self.nodes[node];
        Pass {
            limit: gates.limit.as_ref(),
            rate: gates.rate.as_ref().map(|rate| (rate, self.timer())),
            ..Pass::free()
        }
    }

    /// The places before a node with `queue`.
    ///
    /// # Panics
    /// If it has none.
    pub fn queue(&self, node: usize) -> &Limit {
        self.nodes[node].queue.as_ref().expect("it has `queue`")
    }

    pub(super) fn batch_gate(&self, node: usize) -> &BatchGate {
        self.nodes[node].batch.as_ref().expect("it has `batch`")
    }

    pub(super) fn key(&self, node: usize) -> &KeyGate {
        self.nodes[node].key.as_ref().expect("it has `key`")
    }

    /// The hash of a key, by which a node with `key` knows it.
    pub fn hash(&self, node: usize, key: &(impl Hash + ?Sized)) -> u64 {
        self.key(node).hash(key)
    }

    /// Keeps the permit of a node for code that goes on when its item is cancelled.
    pub fn hold(self: &Arc<Self>, node: usize, permit: Option<Permit<'_>>) -> Option<HeldPermit> {
        permit.map(|permit| {
            std::mem::forget(permit);
            HeldPermit {
                gates: self.clone(),
                node,
            }
        })
    }

    /// Runs code that blocks on a thread for that.
    pub fn blocking<T: Send + 'static>(
        &self,
        code: impl FnOnce() -> T + Send + 'static,
    ) -> crate::Task<T> {
        crate::spawn_blocking(code)
    }
}
