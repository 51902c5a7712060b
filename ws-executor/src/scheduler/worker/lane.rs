//! A worker's lane: the forks that it has pushed and not taken back.
//!
//! What a fork is, and why none is forgotten, is in [`fork`](crate::scheduler::fork).

use ws_core::sync::atomic::{Ordering, fence};

use super::Worker;
use super::forks::ForkFrom;
use crate::base::coop;
use crate::scheduler::context;
use crate::scheduler::driver::SharedDriver;
use crate::scheduler::fork::job::Fork;

impl Worker {
    #[inline(always)]
    pub(crate) fn push_fork(&self, fork: Fork) {
        self.forks.push(fork);
    }

    /// Pushes a fork of a scope, and notifies. A scope may do that while its worker is in no
    /// join. Workers that park then do not use the heavy fence, so this push fences.
    pub(crate) fn push_fork_of_scope(&self, fork: Fork) {
        self.push_fork(fork);
        if !self.remote().is_in_join() {
            // ORDERING(sleep.fence): P2.
            fence(Ordering::SeqCst);
        }
        self.shared.notify_fork();
    }

    #[inline(always)]
    pub(crate) fn pop_fork(&self) -> Option<Fork> {
        self.forks.pop()
    }

    /// Whether there is no fork to steal from here.
    #[inline(always)]
    pub(crate) fn lane_is_empty(&self) -> bool {
        self.forks.is_empty()
    }

    /// The newest fork in this worker's own lane.
    pub(super) fn own_fork(&self) -> Option<ForkFrom> {
        let owner = self.index;
        self.forks.pop().map(|fork| ForkFrom { fork, owner })
    }

    /// Steals the oldest fork of another worker; looks at the victims in random order. This
    /// worker's own lane comes last: inside a nested `block_on` it may have forks.
    pub(super) fn steal_fork(&self) -> Option<ForkFrom> {
        self.search
            .victims()
            .chain([self.index])
            .find_map(|owner| self.forks.steal(owner, &self.shared.remotes[owner].lane))
    }

    /// Runs a fork that was found in a lane.
    pub(super) fn run_fork_from(&self, found: ForkFrom) {
        self.run_fork(found.fork, found.owner);
    }

    /// Runs a fork, out of the lane of `owner`, that this stack frame does not wait for.
    #[cold]
    pub(crate) fn run_fork(&self, fork: Fork, owner: usize) {
        self.counters().forks_stolen.add(1);
        // The fork belongs to no task of this thread.
        let waiter = coop::unlimited(|| context::within(None, || fork.run(owner)));
        if let Some(worker) = waiter {
            self.shared.remotes[worker].unparker.unpark();
        }
    }

    /// Marks this worker as in a join, until the guard is dropped. The outermost call hands
    /// over what the worker cannot do meanwhile.
    #[inline(always)]
    pub(crate) fn enter_join(&self) -> InJoin<'_> {
        let depth = if self.forks.set_in_join(true) {
            Depth::Inside
        } else {
            self.enter_outermost()
        };
        InJoin {
            worker: self,
            depth,
        }
    }

    #[cold]
    fn enter_outermost(&self) -> Depth {
        let forking = &self.remote().in_join;
        let depth = if forking.load(Ordering::Relaxed) {
            Depth::OnTop
        } else {
            forking.store(true, Ordering::Relaxed);
            // ORDERING(sleep.forking): a worker that parks sees that forks may come, or the
            // pushes that follow see it in the wake table.
            fence(Ordering::SeqCst);
            Depth::Outermost
        };
        self.publish_local_work();
        depth
    }

    /// Runs the forks that are left in this lane, when the executor is closed.
    pub(super) fn run_what_is_left(&self) {
        while let Some(left) = self.own_fork() {
            let _entered = self.enter_join();
            self.run_fork_from(left);
        }
    }

    /// The end of the outermost join: runs the forks that scopes have left in the lane, so that
    /// none waits until this worker runs out of tasks.
    fn leave_outermost(&self) {
        while let Some(left) = self.own_fork() {
            self.run_fork_from(left);
        }
        self.remote().in_join.store(false, Ordering::Relaxed);
    }

    /// Hands over the LIFO slot, the ring and the driver.
    fn publish_local_work(&self) {
        if let Some(job) = self.local.take_lifo() {
            self.push(job);
        }
        let driver_is_free = self
            .shared
            .driver
            .as_ref()
            .is_some_and(SharedDriver::is_free);
        if self.local.ring_len() > 0 {
            // A lone task that yielded is not watched so far, and may not be worth stealing.
            self.shared.monitor.watch();
        }
        if driver_is_free || self.local.ring_len() > 0 {
            self.shared.notify_one();
        }
    }
}

/// A worker that is in a join.
pub(crate) struct InJoin<'a> {
    worker: &'a Worker,
    depth: Depth,
}

/// Where in a worker's stack a join is.
#[derive(PartialEq, Eq)]
enum Depth {
    /// In no other.
    Outermost,
    /// In a task that a nested `block_on` polls inside another join.
    OnTop,
    /// In another join.
    Inside,
}

impl Drop for InJoin<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.depth != Depth::Inside {
            if self.depth == Depth::Outermost {
                self.worker.leave_outermost();
            }
            self.worker.forks.set_in_join(false);
        }
    }
}
