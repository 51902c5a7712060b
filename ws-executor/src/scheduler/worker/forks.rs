//! The part of a worker that is about fork-join: its lane, and whether it is in a join.

use std::cell::{Cell, RefCell};

use ws_core::chase_lev::{self, Uneven};

use super::ripe::ForkAges;
use crate::scheduler::fork::job::Fork;

/// The lane of a worker, and what the worker knows of the other lanes.
pub(super) struct Forks {
    lane: chase_lev::Owner<Fork, Uneven>,
    /// How long the forks in the lanes of other workers have been there.
    ages: RefCell<ForkAges>,
    /// Whether this worker is in a join.
    in_join: Cell<bool>,
    /// Whether the last thing it did was to run a fork.
    ran_last: Cell<bool>,
}

/// A fork, and the worker in whose lane it was.
pub(super) struct ForkFrom {
    pub(super) fork: Fork,
    pub(super) owner: usize,
}

impl Forks {
    pub(super) fn new(lane: chase_lev::Owner<Fork, Uneven>, workers: usize) -> Self {
        Self {
            lane,
            ages: RefCell::new(ForkAges::new(workers)),
            in_join: Cell::new(false),
            ran_last: Cell::new(false),
        }
    }

    #[inline(always)]
    pub(super) fn push(&self, fork: Fork) {
        self.lane.push(fork);
    }

    #[inline(always)]
    pub(super) fn pop(&self) -> Option<Fork> {
        self.lane.pop()
    }

    /// Whether there is no fork to steal from here.
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.lane.is_empty()
    }

    /// Steals the oldest fork of a lane, if it has been there for a while
    /// ([`RIPE`](crate::base::tuning::RIPE)).
    pub(super) fn steal(
        &self,
        owner: usize,
        lane: &chase_lev::Stealer<Fork, Uneven>,
    ) -> Option<ForkFrom> {
        if !self.ages.borrow_mut().is_ripe(owner, lane.oldest()) {
            return None;
        }
        // A lost race is not tried again: the winner has work.
        let fork = lane.steal().success()?;
        Some(ForkFrom { fork, owner })
    }

    #[inline(always)]
    pub(super) fn is_in_join(&self) -> bool {
        self.in_join.get()
    }

    /// Notes whether the worker is in a join. Returns whether it was.
    #[inline(always)]
    pub(super) fn set_in_join(&self, in_join: bool) -> bool {
        self.in_join.replace(in_join)
    }

    /// The worker has run a fork.
    pub(super) fn note_run(&self) {
        self.ran_last.set(true);
    }

    /// Whether the worker has run a fork since the last call.
    pub(super) fn take_ran_last(&self) -> bool {
        self.ran_last.take()
    }
}
