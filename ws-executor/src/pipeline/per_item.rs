//! What a pipeline runs for each item.

use std::any::Any;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use crate::graph::Timer;

/// What a pipeline runs for each item; the `bind` of a task graph makes one.
///
/// Items have numbers, dense and in the order in which they left the source, so that a
/// gate can keep that order. Every item that has a number is either run, once, or passed
/// over, or ends together with the pipeline.
pub trait PerItem: Send + Sync + 'static {
    /// What the source gives.
    type Item: Send + 'static;
    /// What the sink takes.
    type Output: Send + 'static;
    /// Why an item failed.
    type Error: Send + 'static;

    /// Runs one item. Dropping the future cancels it.
    ///
    /// A panic is best returned as [`Verdict::Panicked`]; one that is raised is taken for
    /// a panic in a node that is not known.
    fn run(
        &self,
        number: u64,
        item: Self::Item,
    ) -> impl Future<Output = Verdict<Self::Output, Self::Error>> + Send;

    /// Says that the item of this number is not run, because copying it panicked: those
    /// after it are not to wait for it.
    fn pass_over(&self, number: u64) {
        let _ = number;
    }

    /// Gives it the timer by which its nodes wait, before the first item.
    fn set_timer(&mut self, timer: Arc<dyn Timer>) {
        let _ = timer;
    }

    /// Says that no more items come for now, because the source has ended, or the pipeline
    /// is drained or paused, and that all items under way wait, of which there are so many.
    /// If all of them wait for company, as in a batch, they are to go on without.
    ///
    /// It is called again each time that is so.
    fn flush(&self, waiting: usize) {
        let _ = waiting;
    }

    /// The fewest items in flight with which every node can make progress.
    fn least_in_flight(&self) -> usize {
        1
    }

    /// What happened in each node so far, in the order of the source text.
    fn nodes(&self) -> Vec<NodeReport> {
        Vec::new()
    }
}

/// How the run of one item ended.
#[derive(Debug)]
pub enum Verdict<T, E> {
    /// With a result for the sink.
    Done(T),
    /// With any number of results, of a graph that fans out.
    Many(Vec<T>),
    /// With nothing: the item was filtered out.
    Skipped,
    /// With an error, in the node of this name if one is known.
    Failed(E, Option<&'static str>),
    /// With a panic that has this payload, in the node of this name if one is known.
    Panicked(Box<dyn Any + Send>, Option<&'static str>),
}

/// What happened in one node of a pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeReport {
    /// The name of the node.
    pub name: &'static str,
    /// How often it began.
    pub started: u64,
    /// How often it was done.
    pub finished: u64,
    /// How often it failed for good.
    pub failed: u64,
    /// How often it was tried again.
    pub retried: u64,
    /// How often it was cancelled.
    pub cancelled: u64,
    /// The most items that waited in it at a time, or before it because of its gates; 0 if
    /// none ever waited.
    pub most: usize,
    /// Half of the times it took no longer than this.
    pub p50: Duration,
    /// In 99 of 100 cases it took no longer than this.
    pub p99: Duration,
}
