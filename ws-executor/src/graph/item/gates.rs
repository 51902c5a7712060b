//! The gates of a pipeline: what its items share before each node, and the counters.

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

/// The gates of a node, as the macro writes them.
#[derive(Clone, Copy, Debug, Default)]
pub struct NodeGates {
    /// The most items in the node at once.
    pub limit: Option<usize>,
    /// The time between the beginnings of two calls.
    pub rate: Option<Duration>,
    /// The most items that wait before the node.
    pub queue: Option<usize>,
    /// The most items in one call, and the longest wait of the first of them.
    pub batch: Option<(usize, Duration)>,
    /// Items with the same key keep their order.
    pub key: bool,
}

/// The gates of a node in a bound graph.
struct GatedNode {
    limit: Option<Limit>,
    rate: Option<Rate>,
    queue: Option<Limit>,
    batch: Option<BatchGate>,
    key: Option<KeyGate>,
}

/// The gates of a bound graph, and the counters of its nodes.
pub struct Gates {
    graph: &'static Graph,
    timer: Option<Arc<dyn Timer>>,
    stats: ItemStats,
    nodes: Box<[GatedNode]>,
    /// The nodes with a key: they are told when an item ends.
    keyed: Box<[usize]>,
    least: usize,
}

/// A permit without a borrow: [`Gates::hold`].
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

    /// No item runs, `waiting` items wait, and no more can arrive. If all of them wait in a
    /// batch, or for the turn of their key, the batches are called as they are. Otherwise an
    /// item that waits for something else may still join a batch.
    pub(super) fn flush(&self, waiting: usize) {
        let batches = || self.nodes.iter().filter_map(|node| node.batch.as_ref());
        let gathering: usize = batches().map(BatchGate::gathering).sum();
        // Items that wait for their turn wait for an item in a batch, or for another that does.
        let keyed = || self.keyed.iter().map(|&node| self.key(node).waiting());
        if gathering > 0 && gathering + keyed().sum::<usize>() >= waiting {
            batches().for_each(BatchGate::flush);
        }
    }

    /// An item has ended: no key gate must wait for it.
    #[inline]
    pub(super) fn passed(&self, number: u64) {
        for &node in &self.keyed {
            self.key(node).passed(number);
        }
    }

    /// The site of the node with this index.
    pub fn site(&self, node: usize) -> Site<'_> {
        Site {
            timer: self.timer(),
            observer: None,
            retried: Some(self.stats.retried(node)),
        }
    }

    /// The gates that each attempt of a node must pass.
    pub fn pass<'a>(&self, node: usize) -> Pass<'a, '_> {
        let gates = &self.nodes[node];
        Pass {
            limit: gates.limit.as_ref(),
            rate: gates.rate.as_ref().map(|rate| (rate, self.timer())),
            ..Pass::free()
        }
    }

    /// The queue before a node with `queue`.
    ///
    /// # Panics
    /// If the node has no `queue`.
    pub fn queue(&self, node: usize) -> &Limit {
        self.nodes[node].queue.as_ref().expect("it has `queue`")
    }

    pub(super) fn batch_gate(&self, node: usize) -> &BatchGate {
        self.nodes[node].batch.as_ref().expect("it has `batch`")
    }

    pub(super) fn key(&self, node: usize) -> &KeyGate {
        self.nodes[node].key.as_ref().expect("it has `key`")
    }

    /// Hashes a key. A node with `key` knows the key by this hash.
    pub fn hash(&self, node: usize, key: &(impl Hash + ?Sized)) -> u64 {
        self.key(node).hash(key)
    }

    /// Keeps a permit of a node for code that continues when its item is cancelled.
    pub fn hold(self: &Arc<Self>, node: usize, permit: Option<Permit<'_>>) -> Option<HeldPermit> {
        permit.map(|permit| {
            std::mem::forget(permit);
            HeldPermit {
                gates: self.clone(),
                node,
            }
        })
    }

    /// Runs blocking code on a thread for blocking code.
    pub fn blocking<T: Send + 'static>(
        &self,
        code: impl FnOnce() -> T + Send + 'static,
    ) -> crate::Task<T> {
        crate::spawn_blocking(code)
    }
}
