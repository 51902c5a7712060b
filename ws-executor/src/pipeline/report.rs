//! The counts of a run.

use std::fmt;
use std::time::Duration;

use super::NodeReport;

/// The counters of a pipeline.
#[derive(Clone, Default)]
pub(super) struct Counts {
    pub(super) pulled: u64,
    pub(super) done: u64,
    pub(super) results: u64,
    pub(super) skipped: u64,
    pub(super) dead_lettered: u64,
    pub(super) failed: u64,
    pub(super) cancelled: u64,
    pub(super) most_in_flight: usize,
    pub(super) most_waiting: usize,
    pub(super) took: Option<Duration>,
}

impl Counts {
    /// The number of items that have ended.
    pub(super) fn ended(&self) -> u64 {
        self.done + self.skipped + self.dead_lettered + self.failed + self.cancelled
    }
}

/// The progress of a run at one moment, for example for a progress bar.
///
/// See the example at [`Running::progress`](super::Running::progress).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Items that left the source.
    pub items: u64,
    /// Items whose results the sink has taken.
    pub done: u64,
    /// Items that were filtered out, or failed with [`Route::Skip`](super::Route::Skip).
    pub skipped: u64,
    /// Items that the sink of dead letters has taken.
    pub dead_lettered: u64,
    /// Items that failed and ended the run.
    pub failed: u64,
    /// Items that the end of the run cut off.
    pub cancelled: u64,
    /// Items that have not ended. Each item is in exactly one of these six counts.
    pub in_flight: u64,
    /// The time that the run has taken so far.
    pub elapsed: Duration,
}

impl Progress {
    pub(super) fn new(counts: &Counts) -> Self {
        Self {
            items: counts.pulled,
            done: counts.done,
            skipped: counts.skipped,
            dead_lettered: counts.dead_lettered,
            failed: counts.failed,
            cancelled: counts.cancelled,
            in_flight: counts.pulled - counts.ended(),
            elapsed: counts.took.unwrap_or_default(),
        }
    }
}

/// How the items of a run ended: `items` is the sum of `done`, `skipped`, `dead_lettered`,
/// `failed` and `cancelled`.
///
/// ```
/// use ws_executor::{Executor, pipeline};
///
/// let executor = Executor::new();
/// let echo = pipeline::from_fn(&executor.handle(), |n: u32| async move { Ok::<_, ()>(n) });
/// let report = executor.block_on(echo.iter(0..100).in_flight(8).build().unwrap().run()).unwrap();
/// assert_eq!((report.items, report.done, report.cancelled), (100, 100, 0));
/// assert!(report.most_in_flight <= 8);
/// assert!(report.to_string().contains("100 items"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Items that left the source.
    pub items: u64,
    /// Items whose results the sink has taken.
    pub done: u64,
    /// Results that the sink has taken; differs from `done` if items have several.
    pub results: u64,
    /// Items that were filtered out, or failed with [`Route::Skip`](super::Route::Skip).
    pub skipped: u64,
    /// Items that the sink of dead letters has taken.
    pub dead_lettered: u64,
    /// Items that failed and ended the run.
    pub failed: u64,
    /// Items that the end of the run cut off; they were not acknowledged.
    pub cancelled: u64,
    /// The most items that were in flight at a time.
    pub most_in_flight: usize,
    /// The most items that waited for the sink at a time.
    pub most_waiting: usize,
    /// The number of lanes of the run.
    pub lanes: usize,
    /// The time that the run took.
    pub elapsed: Duration,
    /// The counts and times of each node.
    pub nodes: Vec<NodeReport>,
}

impl Report {
    pub(super) fn new(counts: &Counts, lanes: usize, nodes: Vec<NodeReport>) -> Self {
        Self {
            items: counts.pulled,
            done: counts.done,
            results: counts.results,
            skipped: counts.skipped,
            dead_lettered: counts.dead_lettered,
            failed: counts.failed,
            cancelled: counts.cancelled,
            most_in_flight: counts.most_in_flight,
            most_waiting: counts.most_waiting,
            lanes,
            elapsed: counts.took.unwrap_or_default(),
            nodes,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.elapsed.as_secs_f64();
        let rate = if seconds > 0.0 {
            self.items as f64 / seconds
        } else {
            0.0
        };
        writeln!(
            f,
            "{} items in {:.1?}, {rate:.0}/s",
            self.items, self.elapsed
        )?;
        writeln!(
            f,
            "  {:>10} {:>10} {:>13} {:>8} {:>10} {:>10}",
            "done", "skipped", "dead-lettered", "failed", "cancelled", "results"
        )?;
        writeln!(
            f,
            "  {:>10} {:>10} {:>13} {:>8} {:>10} {:>10}",
            self.done, self.skipped, self.dead_lettered, self.failed, self.cancelled, self.results
        )?;
        writeln!(
            f,
            "  at most {} in flight, {} before the sink, on {} lanes",
            self.most_in_flight, self.most_waiting, self.lanes
        )?;
        if self.nodes.is_empty() {
            return Ok(());
        }
        writeln!(
            f,
            "  {:<16} {:>9} {:>9} {:>7} {:>8} {:>9} {:>6} {:>9} {:>9}",
            "node", "started", "finished", "failed", "retried", "cancelled", "most", "p50", "p99"
        )?;
        for node in &self.nodes {
            writeln!(
                f,
                "  {:<16} {:>9} {:>9} {:>7} {:>8} {:>9} {:>6} {:>9} {:>9}",
                node.name,
                node.started,
                node.finished,
                node.failed,
                node.retried,
                node.cancelled,
                node.most,
                format!("{:.1?}", node.p50),
                format!("{:.1?}", node.p99),
            )?;
        }
        Ok(())
    }
}
