//! What all branches of a run share, and how they end it together.

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

/// The shared memory of a run. A node gets one, and with it its inputs.
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

/// A permit that needs no borrow: [`Ctx::hold`].
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
    /// The run's, which is woken when its last branch leaves.
    pub(super) waker: Mutex<Option<Waker>>,
}

/// Why a run is over, if not because all of its nodes are done.
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
    /// The slots.
    #[inline]
    pub fn state(&self) -> &St {
        &self.shared.state
    }

    /// Where the node with this index runs.
    pub fn site(&self, node: usize) -> Site<'_> {
        let bound = &self.shared.bound;
        let at = At::new(self.shared.plan.graph, node);
        Site {
            timer: bound.timer(),
            observer: bound.observer().map(|observer| (observer, at)),
            retried: None,
        }
    }

    /// What a test says the next attempt of a node comes to.
    #[inline]
    pub fn scripted<T: 'static>(&self, node: usize) -> Option<Scripted<T>> {
        self.shared.bound.scripts()?.next(node)
    }

    /// What this run is bound to.
    pub fn bound(&self) -> &Bound<S> {
        &self.shared.bound
    }

    /// How many runs of this graph may be in the node with this limit.
    pub fn limit(&self, index: usize) -> &Limit {
        self.shared.bound.limit(index, self.shared.plan.limits)
    }

    /// Keeps a permit of this limit for code that goes on when its node is cancelled.
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
        // Relaxed: whoever sees 1 is the only branch, and only a branch makes others.
        if shared.live.load(Ordering::Relaxed) == 1 {
            shared.cancel.cancel_unheard();
        } else {
            shared.cancel.cancel();
        }
        // The result of a node that lost the race is dropped like any other value of a
        // run that is cancelled: a panic goes to the hook.
        ignore_panic(|| drop(late));
    }

    /// Counts down the successors of `node`; what is ready goes to `ready`.
    pub(super) fn done(&self, node: u32, mut ready: impl FnMut(u32)) {
        for &next in self.shared.plan.next[node as usize] {
            // ORDERING(run.ready): both sides; who counts to 0 sees the values of all
            // who counted before.
            if self.shared.missing[next as usize].fetch_sub(1, Ordering::AcqRel) == 1 {
                ready(next);
            }
        }
    }
}
