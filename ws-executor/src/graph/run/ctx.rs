//! What all branches of a run share, and how a branch ends the run.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::task::Waker;

use ws_core::sync::Mutex;
use ws_core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use super::plan::Plan;
use crate::base::panics::ignore_panic;
use crate::graph::attempt::Site;
use crate::graph::bound::Bound;
use crate::graph::cancel::Cancel;
use crate::graph::limit::{Limit, Permit};
use crate::graph::lock;
use crate::graph::observe::At;
use crate::graph::testing::Scripted;

/// The shared memory of a run. Each node gets a reference, and takes its inputs from there.
pub struct Ctx<St, R, S, const N: usize> {
    pub(super) shared: Arc<RunShared<St, R, S, N>>,
}

impl<St, R, S, const N: usize> Clone for Ctx<St, R, S, N> {
    fn clone(&self) -> Self {
        Self {
            shared: self.shared.clone(),
        }
    }
}

/// A permit without a borrow: [`Ctx::hold`].
#[must_use]
pub struct Held<St, R, S, const N: usize> {
    ctx: Ctx<St, R, S, N>,
    index: usize,
}

impl<St, R, S, const N: usize> fmt::Debug for Held<St, R, S, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Held({})", self.index)
    }
}

impl<St, R, S, const N: usize> Drop for Held<St, R, S, N> {
    fn drop(&mut self) {
        self.ctx.limit(self.index).release();
    }
}

pub(super) struct RunShared<St, R, S, const N: usize> {
    pub(super) state: St,
    pub(super) plan: &'static Plan<N>,
    bound: Bound<S>,
    missing: [AtomicU32; N],
    /// Branches that have not left.
    pub(super) live: AtomicUsize,
    pub(super) cancel: Cancel,
    pub(super) end: Mutex<Option<RunEnd<R>>>,
    /// The waker of the run's future; the last branch that leaves wakes it.
    pub(super) waker: Mutex<Option<Waker>>,
}

/// Why a run ended before all of its nodes were done.
pub(super) enum RunEnd<R> {
    Exit(R),
    Panicked(Box<dyn Any + Send>),
    Late,
    /// The executor dropped a branch.
    Lost,
}

impl<St, R, S, const N: usize> RunShared<St, R, S, N> {
    pub(super) fn new(bound: Bound<S>, plan: &'static Plan<N>, state: St) -> Self {
        Self {
            state,
            plan,
            bound,
            missing: plan.needs.map(AtomicU32::new),
            live: AtomicUsize::new(0),
            cancel: Cancel::new(),
            end: Mutex::new(None),
            waker: Mutex::new(None),
        }
    }
}

impl<St, R, S, const N: usize> fmt::Debug for Ctx<St, R, S, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ctx")
            .field("graph", &self.shared.plan.graph.name())
            .finish_non_exhaustive()
    }
}

impl<St, R, S, const N: usize> Ctx<St, R, S, N> {
    /// Returns the slots.
    #[inline]
    pub fn state(&self) -> &St {
        &self.shared.state
    }

    /// The site of the node with this index.
    pub fn site(&self, node: usize) -> Site<'_> {
        let bound = &self.shared.bound;
        let at = At::new(self.shared.plan.graph, node);
        Site {
            timer: bound.timer(),
            observer: bound.observer().map(|observer| (observer, at)),
            retried: None,
        }
    }

    /// The outcome that a test has set for the next attempt of a node.
    #[inline]
    pub fn scripted<T: 'static>(&self, node: usize) -> Option<Scripted<T>> {
        self.shared.bound.scripts()?.next(node)
    }

    /// The executor and the settings of this run.
    pub fn bound(&self) -> &Bound<S> {
        &self.shared.bound
    }

    /// The limit with this index.
    pub fn limit(&self, index: usize) -> &Limit {
        self.shared.bound.limit(index, self.shared.plan.limits)
    }

    /// Keeps a permit for code that continues when its node is cancelled.
    pub fn hold(&self, index: usize, permit: Option<Permit<'_>>) -> Option<Held<St, R, S, N>> {
        permit.map(|permit| {
            std::mem::forget(permit);
            Held {
                ctx: self.clone(),
                index,
            }
        })
    }

    /// The executor of this run.
    pub fn spawner(&self) -> &S {
        self.shared.bound.spawner()
    }

    /// Ends the run, unless it has ended, and cancels its branches.
    pub(super) fn finish(&self, end: RunEnd<R>) {
        let shared = &*self.shared;
        let mut slot = lock(&shared.end);
        let late = if slot.is_none() {
            *slot = Some(end);
            None
        } else {
            Some(end)
        };
        drop(slot);
        // Relaxed: if this reads 1, the calling branch is the only one, and only branches make
        // others.
        if shared.live.load(Ordering::Relaxed) == 1 {
            shared.cancel.cancel_unheard();
        } else {
            shared.cancel.cancel();
        }
        // If another node has ended the run before, this result is dropped like the other
        // values of a cancelled run: a panic goes to the hook.
        ignore_panic(|| drop(late));
    }

    /// Counts down the missing inputs of the successors of `node`, and passes the ready ones to
    /// `ready`.
    pub(super) fn done(&self, node: u32, mut ready: impl FnMut(u32)) {
        for &next in self.shared.plan.next[node as usize] {
            // ORDERING(run.ready): both sides; the branch that counts to 0 sees the values of
            // all branches that counted before.
            if self.shared.missing[next as usize].fetch_sub(1, Ordering::AcqRel) == 1 {
                ready(next);
            }
        }
    }
}
