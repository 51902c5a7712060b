//! The work of a pipeline for each item.

use std::any::Any;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use crate::graph::Timer;

/// The work of a pipeline for each item; the `bind` of a task graph makes one.
///
/// Items have numbers without gaps, in the order in which they left the source. So a gate can
/// keep that order. Every item with a number is run once, or is passed over, or ends together
/// with the pipeline.
pub trait PerItem: Send + Sync + 'static {
    /// The type of the source's items.
    type Item: Send + 'static;
    /// The type of the sink's results.
    type Output: Send + 'static;
    /// The error of an item that failed.
    type Error: Send + 'static;

    /// Runs one item. Dropping the future cancels it.
    ///
    /// A panic is best returned as [`Verdict::Panicked`]. A panic that is raised counts as one
    /// in an unknown node.
    fn run(
        &self,
        number: u64,
        item: Self::Item,
    ) -> impl Future<Output = Verdict<Self::Output, Self::Error>> + Send;

    /// Says that the item with this number is not run, because copying it panicked. Later items
    /// must not wait for it.
    fn pass_over(&self, number: u64) {
        let _ = number;
    }

    /// Sets the timer of the nodes, before the first item.
    fn set_timer(&mut self, timer: Arc<dyn Timer>) {
        let _ = timer;
    }

    /// Says that all `waiting` items under way wait, and that no more items come for now: the
    /// source has ended, the pipeline is full, drained or paused. If all of these items wait
    /// for others, as in a batch, they must stop waiting.
    ///
    /// It is called each time when this is so.
    fn flush(&self, waiting: usize) {
        let _ = waiting;
    }

    /// The fewest items in flight with which every node can make progress.
    fn least_in_flight(&self) -> usize {
        1
    }

    /// The counts of each node so far, in the order of the source text.
    fn nodes(&self) -> Vec<NodeReport> {
        Vec::new()
    }
}

/// How the run of one item ended.
#[derive(Debug)]
pub enum Verdict<T, E> {
    /// The item has one result for the sink.
    Done(T),
    /// The item has any number of results: its graph fans out.
    Many(Vec<T>),
    /// The item has no result: it was filtered out.
    Skipped,
    /// The item failed with an error, in the node of this name if one is known.
    Failed(E, Option<&'static str>),
    /// The item panicked with this payload, in the node of this name if one is known.
    Panicked(Box<dyn Any + Send>, Option<&'static str>),
}

/// The counts and times of one node of a pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeReport {
    /// The name of the node.
    pub name: &'static str,
    /// How often the node began.
    pub started: u64,
    /// How often the node finished.
    pub finished: u64,
    /// How often the node failed for good.
    pub failed: u64,
    /// How often the node was retried.
    pub retried: u64,
    /// How often the node was cancelled.
    pub cancelled: u64,
    /// The most items that waited at a time in the node or at its gates; 0 if none ever waited.
    pub most: usize,
    /// The median time of the node.
    pub p50: Duration,
    /// The 99th percentile of the node's times.
    pub p99: Duration,
}
