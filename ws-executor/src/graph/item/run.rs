//! The run of one item: which nodes it is in, and how each node ended.
//!
//! Most nodes are alone: they begin when all nodes before them are done. The run only notes
//! which of these it is at, and derives their ends when the item ends. A guard for each node,
//! as nodes in a group have, cost more (the pipeline of `--bench graph`, four nodes, one
//! worker):
//!
//! | | instructions for an item | time |
//! |---|---|---|
//! | a guard for each node | 877 | 74 ns |
//! | derived | 698 | 61 ns |
//!
//! The states are atomic so that the nodes can share them. Only the task that polls the item
//! uses them, so every access is relaxed and compiles to a plain one. They reach the counters
//! of the pipeline when the item ends. So an item that passes all nodes costs one addition, and
//! not two for each node.
//! one addition and not two for each node.

use std::convert::Infallible;
use std::fmt;
use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use super::ends::Ends;
use super::gates::Gates;
use super::node_state::{ABSENT, CANCELLED, DONE, FAILED, INSIDE, PASSED, WAITING};
use crate::base::panics::Payload;

/// No node has this number.
const NOWHERE: usize = usize::MAX;

// What the code of an item does now.
const RESTING: u8 = 0;
const RUNNING: u8 = 1;
const OVER: u8 = 2;

/// The states of `N` nodes.
pub trait States: Send + Sync {
    /// Makes states in which no node has begun.
    fn new() -> Self;
    /// Returns all of them.
    fn all(&self) -> &[AtomicU8];
}

impl<const N: usize> States for [AtomicU8; N] {
    #[inline]
    fn new() -> Self {
        [const { AtomicU8::new(ABSENT) }; N]
    }

    #[inline]
    fn all(&self) -> &[AtomicU8] {
        self
    }
}

/// How a poll of an item ended it.
pub(super) enum Polled<R> {
    Done(R),
    Skipped,
    Panicked(Payload),
}

/// The run of an item, or of an element that a node with `flat` made of it.
pub struct Run<'a> {
    gates: &'a Arc<Gates>,
    number: u64,
    states: &'a [AtomicU8],
    /// When the run began, if its nodes are timed: see [`ItemStats`](super::stats::ItemStats).
    timed: Option<Instant>,
    /// When the node began that the run is at: nanoseconds since `timed`.
    since: AtomicU64,
    /// The node that the run is at, alone; or [`NOWHERE`].
    at: AtomicUsize,
    /// The node that the run was at when it was last pending; counted by `ItemStats`.
    waits_in: AtomicUsize,
    /// The node that the run is at has ended it with success.
    ended: AtomicBool,
    /// While this is `RUNNING`, a node that ends without success has failed; while it is
    /// `RESTING`, such a node is cancelled.
    phase: AtomicU8,
    skipped: AtomicBool,
    /// The node that failed, plus one. Nodes that end without success later are cancelled
    /// because of it.
    failed: AtomicUsize,
    /// The run of the item, if this is the run of one of its elements.
    whole: Option<&'a Run<'a>>,
}

impl fmt::Debug for Run<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Run({})", self.number)
    }
}

impl<'a> Run<'a> {
    #[inline]
    pub(super) fn new(gates: &'a Arc<Gates>, number: u64, states: &'a [AtomicU8]) -> Self {
        Self {
            gates,
            number,
            states,
            timed: gates.stats().is_timed(number).then(Instant::now),
            since: AtomicU64::new(0),
            at: AtomicUsize::new(NOWHERE),
            waits_in: AtomicUsize::new(NOWHERE),
            ended: AtomicBool::new(false),
            phase: AtomicU8::new(RESTING),
            skipped: AtomicBool::new(false),
            failed: AtomicUsize::new(0),
            whole: None,
        }
    }

    /// The run of an element of this item.
    pub fn element(&'a self, states: &'a [AtomicU8]) -> Self {
        let mut run = Self::new(self.gates, self.number, states);
        run.whole = Some(self);
        run
    }

    /// A node begins, alone: the node before it is done.
    #[inline]
    pub fn at(&self, node: usize) {
        self.pass();
        self.states[node].store(PASSED, Ordering::Relaxed);
        self.at.store(node, Ordering::Relaxed);
    }

    /// The node that the run is at is done, and the next nodes are not alone.
    #[inline]
    pub fn leave(&self) {
        self.pass();
        self.at.store(NOWHERE, Ordering::Relaxed);
    }

    /// The node that the run is at is done.
    #[inline]
    fn pass(&self) {
        if let Some(began) = self.timed {
            self.tick(began);
        }
        if self.waits_in.load(Ordering::Relaxed) != NOWHERE {
            self.waits_at(NOWHERE);
        }
    }

    /// The node that the run is at ends the item.
    #[inline]
    pub fn end(&self) {
        self.pass();
        self.ended.store(true, Ordering::Relaxed);
    }

    /// As [`end`](Self::end), with this result, which may be a failure.
    #[inline]
    pub fn end_with(&self, result: &impl Ends) {
        if !result.is_failure() {
            self.end();
        }
    }

    /// Notes the time of the node that the run is at.
    #[cold]
    fn tick(&self, began: Instant) {
        let now = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let since = self.since.swap(now, Ordering::Relaxed);
        let node = self.at.load(Ordering::Relaxed);
        if node != NOWHERE {
            let took = Duration::from_nanos(now.saturating_sub(since));
            self.gates.stats().took(node, took);
        }
    }

    /// A node begins, beside others.
    #[inline]
    pub fn enter(&'a self, node: usize) -> NodeGuard<'a> {
        self.states[node].store(INSIDE, Ordering::Relaxed);
        NodeGuard {
            run: self,
            node,
            began: self.timed.map(|_| Instant::now()),
        }
    }

    /// Ends the item without a result, at the end of this poll.
    pub async fn skip(&self) -> Infallible {
        self.skipped.store(true, Ordering::Relaxed);
        pending().await
    }

    /// Waits until every item before this one with the same key has left `node`, or has ended.
    pub async fn key(&self, node: usize, hash: u64) -> super::key::Turn<'_> {
        self.gates.key(node).turn(self.number, hash).await
    }

    /// The name of the node that failed.
    #[inline]
    pub fn failed(&self) -> Option<&'static str> {
        let node = match self.failed.load(Ordering::Relaxed) {
            0 if self.ended.load(Ordering::Relaxed) => NOWHERE,
            0 => self.at.load(Ordering::Relaxed),
            failed => failed - 1,
        };
        Some(self.gates.graph().nodes().get(node)?.name())
    }

    /// Polls the code of the item.
    #[inline]
    pub(super) fn poll<F: Future>(
        &self,
        future: Pin<&mut Option<F>>,
        cx: &mut Context<'_>,
    ) -> Poll<Polled<F::Output>> {
        let future = future.as_pin_mut().expect("dropped only when it is over");
        // The caller drops the values that a panic leaves behind.
        match catch_unwind(AssertUnwindSafe(|| self.poll_inside(future, cx))) {
            Ok(Poll::Ready(Some(end))) => Poll::Ready(Polled::Done(end)),
            Ok(Poll::Ready(None)) => Poll::Ready(Polled::Skipped),
            Ok(Poll::Pending) => Poll::Pending,
            Err(payload) => {
                self.phase.store(OVER, Ordering::Relaxed);
                Poll::Ready(Polled::Panicked(payload))
            }
        }
    }

    /// As [`poll`](Self::poll), but does not catch panics. Ready with `None` if the item was
    /// skipped.
    #[inline]
    pub(super) fn poll_inside<F: Future>(
        &self,
        future: Pin<&mut F>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<F::Output>> {
        self.phase.store(RUNNING, Ordering::Relaxed);
        if let Poll::Ready(end) = future.poll(cx) {
            self.phase.store(OVER, Ordering::Relaxed);
            return Poll::Ready(Some(end));
        }
        self.phase.store(RESTING, Ordering::Relaxed);
        if self.skipped.load(Ordering::Relaxed) {
            return Poll::Ready(None);
        }
        self.waits_at(self.at.load(Ordering::Relaxed));
        for (node, state) in self.states.iter().enumerate() {
            if state.load(Ordering::Relaxed) == INSIDE {
                state.store(WAITING, Ordering::Relaxed);
                self.gates.stats().waits(node);
            }
        }
        Poll::Pending
    }

    /// Counts the node in which the run waits, alone; no longer counts the one before.
    #[cold]
    fn waits_at(&self, node: usize) {
        let before = self.waits_in.swap(node, Ordering::Relaxed);
        if before == node {
            return;
        }
        if before != NOWHERE {
            self.gates.stats().goes_on(before);
        }
        if node != NOWHERE {
            self.gates.stats().waits(node);
        }
    }

    /// How the node ended that the run is at, when the run is over.
    fn end_of_last(&self) -> u8 {
        if self.ended.load(Ordering::Relaxed) {
            DONE
        } else if self.phase.load(Ordering::Relaxed) != RESTING
            && self.failed.load(Ordering::Relaxed) == 0
        {
            FAILED
        } else {
            CANCELLED
        }
    }

    /// Counts an item that did not pass all nodes.
    #[cold]
    fn count_each(&self) {
        let (at, end) = (self.at.load(Ordering::Relaxed), self.end_of_last());
        if at != NOWHERE && end == FAILED {
            self.failed.store(at + 1, Ordering::Relaxed);
        }
        self.gates.stats().count_each(self.states, at, end);
        if let Some(whole) = self.whole {
            let failed = self.failed.load(Ordering::Relaxed);
            if failed != 0 && whole.failed.load(Ordering::Relaxed) == 0 {
                whole.failed.store(failed, Ordering::Relaxed);
            }
        }
    }
}

impl Drop for Run<'_> {
    #[inline]
    fn drop(&mut self) {
        if *self.waits_in.get_mut() != NOWHERE {
            self.waits_at(NOWHERE);
        }
        let is_done = |state: &AtomicU8| matches!(state.load(Ordering::Relaxed), PASSED | DONE);
        if *self.ended.get_mut() && self.states.iter().all(is_done) {
            self.gates.stats().through();
        } else {
            self.count_each();
        }
    }
}

/// Held while a node runs beside others. If it is dropped before [`done`](Self::done), the node
/// has failed or was cancelled.
#[must_use]
pub struct NodeGuard<'a> {
    run: &'a Run<'a>,
    node: usize,
    began: Option<Instant>,
}

impl fmt::Debug for NodeGuard<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NodeGuard({})", self.node)
    }
}

impl NodeGuard<'_> {
    /// The node has its value.
    ///
    /// By reference: a guard that moves out of its future costs more than all the rest here.
    #[inline]
    pub fn done(&self) {
        if let Some(began) = self.began {
            self.run.gates.stats().took(self.node, began.elapsed());
        }
        self.leave(DONE);
    }

    #[inline]
    fn leave(&self, end: u8) {
        let state = &self.run.states[self.node];
        if state.load(Ordering::Relaxed) == WAITING {
            self.run.gates.stats().goes_on(self.node);
        }
        state.store(end, Ordering::Relaxed);
    }

    #[cold]
    fn cut(&self) {
        let run = self.run;
        let running = run.phase.load(Ordering::Relaxed) == RUNNING;
        if running && run.failed.load(Ordering::Relaxed) == 0 {
            run.failed.store(self.node + 1, Ordering::Relaxed);
            self.leave(FAILED);
        } else {
            self.leave(CANCELLED);
        }
    }
}

impl Drop for NodeGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.run.states[self.node].load(Ordering::Relaxed) != DONE {
            self.cut();
        }
    }
}
