//! The run of one item: which nodes it is in, and how it left each.
//!
//! | state of a node | meaning |
//! |---|---|
//! | `ABSENT` | it has not begun |
//! | `INSIDE` | it has begun, in the poll that is going on |
//! | `WAITING` | it was pending at the end of a poll; counted by [`Stats`] |
//! | `DONE`, `FAILED`, `CANCELLED` | how it ended |
//!
//! The states are atomic so that nodes can share them; only the task that polls the item
//! touches them, so every access is relaxed and compiles to a plain one. They reach the
//! counters of the pipeline when the item ends, so that an item that goes through costs
//! one addition and not two for each node.
//!
//! [`Stats`]: super::stats::Stats

use std::convert::Infallible;
use std::fmt;
use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Instant;

use super::ends::Ends;
use super::gates::Gates;
use crate::task::contain::Payload;

pub(super) const ABSENT: u8 = 0;
const INSIDE: u8 = 1;
const WAITING: u8 = 2;
pub(super) const DONE: u8 = 3;
pub(super) const FAILED: u8 = 4;
pub(super) const CANCELLED: u8 = 5;

/// Room for the states of `N` nodes.
pub trait States: Send + Sync {
    /// None has begun.
    fn new() -> Self;
    /// All of them.
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
    /// Whether its nodes are timed: see [`Stats`](super::stats::Stats).
    timed: bool,
    /// Its code is running: a node that ends without success fails, or else is cancelled.
    polling: AtomicBool,
    skipped: AtomicBool,
    /// The node that failed, plus one; later ones are cancelled because of it.
    failed: AtomicUsize,
    /// Of which this is an element.
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
            timed: gates.stats().is_timed(number),
            polling: AtomicBool::new(false),
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

    /// A node begins.
    #[inline]
    pub fn enter(&'a self, node: usize) -> Inside<'a> {
        self.states[node].store(INSIDE, Ordering::Relaxed);
        Inside {
            run: self,
            node,
            began: self.timed.then(Instant::now),
        }
    }

    /// Ends the item without a result, at the end of this poll.
    pub async fn skip(&self) -> Infallible {
        self.skipped.store(true, Ordering::Relaxed);
        pending().await
    }

    /// Waits until all items before this one that have the same key are through `node`.
    pub async fn key(&self, node: usize, hash: u64) -> super::key::Turn<'_> {
        self.gates.key(node).turn(self.number, hash).await
    }

    /// The name of the node that failed.
    #[inline]
    pub fn failed(&self) -> Option<&'static str> {
        let node = self.failed.load(Ordering::Relaxed).checked_sub(1)?;
        Some(self.gates.graph().nodes()[node].name())
    }

    /// Polls the code of the item.
    #[inline]
    pub(super) fn poll<F: Future>(
        &self,
        future: Pin<&mut Option<F>>,
        cx: &mut Context<'_>,
    ) -> Poll<Polled<F::Output>> {
        let future = future.as_pin_mut().expect("dropped only when it is over");
        // What a panic leaves behind is dropped by the caller.
        match catch_unwind(AssertUnwindSafe(|| self.poll_inside(future, cx))) {
            Ok(Poll::Ready(Some(end))) => Poll::Ready(Polled::Done(end)),
            Ok(Poll::Ready(None)) => Poll::Ready(Polled::Skipped),
            Ok(Poll::Pending) => Poll::Pending,
            Err(payload) => {
                self.polling.store(false, Ordering::Relaxed);
                Poll::Ready(Polled::Panicked(payload))
            }
        }
    }

    /// The same without a guard against panics; ready with `None` if it was skipped.
    #[inline]
    pub(super) fn poll_inside<F: Future>(
        &self,
        future: Pin<&mut F>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<F::Output>> {
        self.polling.store(true, Ordering::Relaxed);
        let polled = future.poll(cx);
        self.polling.store(false, Ordering::Relaxed);
        if let Poll::Ready(end) = polled {
            return Poll::Ready(Some(end));
        }
        if self.skipped.load(Ordering::Relaxed) {
            return Poll::Ready(None);
        }
        for (node, state) in self.states.iter().enumerate() {
            if state.load(Ordering::Relaxed) == INSIDE {
                state.store(WAITING, Ordering::Relaxed);
                self.gates.stats().waits(node);
            }
        }
        Poll::Pending
    }
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        self.gates.stats().count(self.states);
        if let Some(whole) = self.whole {
            let failed = self.failed.load(Ordering::Relaxed);
            if failed != 0 && whole.failed.load(Ordering::Relaxed) == 0 {
                whole.failed.store(failed, Ordering::Relaxed);
            }
        }
    }
}

/// Being in a node. Dropped without [`done`](Self::done), the node has failed or was
/// cancelled.
#[must_use]
pub struct Inside<'a> {
    run: &'a Run<'a>,
    node: usize,
    began: Option<Instant>,
}

impl fmt::Debug for Inside<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Inside({})", self.node)
    }
}

impl Inside<'_> {
    /// The node has its value.
    ///
    /// By reference: a guard that is moved out of its future costs more than all else here.
    #[inline]
    pub fn done(&self) {
        if let Some(began) = self.began {
            self.run.gates.stats().took(self.node, began.elapsed());
        }
        self.leave(DONE);
    }

    /// A fence, or the result, ends the item with this.
    #[inline]
    pub fn end(&self, result: &impl Ends) {
        if !result.is_failure() {
            self.done();
        }
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
        if run.polling.load(Ordering::Relaxed) && run.failed.load(Ordering::Relaxed) == 0 {
            run.failed.store(self.node + 1, Ordering::Relaxed);
            self.leave(FAILED);
        } else {
            self.leave(CANCELLED);
        }
    }
}

impl Drop for Inside<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.run.states[self.node].load(Ordering::Relaxed) != DONE {
            self.cut();
        }
    }
}
