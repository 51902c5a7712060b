//! A worker's lane: the forks that it has pushed and not taken back.
//!
//! What a fork is, and why none is forgotten, is in [`fork`](crate::fork).

use ws_core::sync::atomic::{Ordering, fence};

use super::Worker;
use crate::context;
use crate::coop;
use crate::driver::DriverSeat;
use crate::fork::job::Fork;
use crate::shared::{Remote, Shared};

impl Worker {
    #[inline(always)]
    pub(crate) fn push_fork(&self, fork: Fork) {
        self.lane.push(fork);
    }

    /// Pushes a fork of a scope, and notifies. A scope may do that while its worker is in no
    /// join. Workers that park then do not use the heavy fence, so this push fences.
    pub(crate) fn push_fork_of_scope(&self, fork: Fork) {
        self.push_fork(fork);
        if !self.remote().is_forking() {
            // ORDERING(sleep.fence): P2.
            fence(Ordering::SeqCst);
        }
        self.shared.notify_of_fork();
    }

    #[inline(always)]
    pub(crate) fn pop_fork(&self) -> Option<Fork> {
        self.lane.pop()
    }

    /// Whether there is no fork to steal from here.
    #[inline(always)]
    pub(crate) fn lane_is_empty(&self) -> bool {
        self.lane.is_empty()
    }

    /// The newest fork in this worker's own lane.
    pub(super) fn left_here(&self) -> Option<Stolen> {
        let owner = self.index;
        self.pop_fork().map(|fork| Stolen { fork, owner })
    }

    /// Steals the oldest fork of another worker; looks at the victims in random order. This
    /// worker's own lane comes last: inside a nested `block_on` it may have forks. The fork
    /// must have been in its lane for a while ([`RIPE`](crate::tuning::RIPE)).
    pub(super) fn steal_fork(&self) -> Option<Stolen> {
        let workers = self.shared.workers();
        let victims = self.rand.borrow_mut().victims(workers, self.index);
        victims
            .chain([self.index])
            // A lost race is not tried again: the winner has work.
            .find_map(|owner| {
                let lane = &self.shared.remotes[owner].lane;
                if !self.fork_ages.borrow_mut().is_ripe(owner, lane.oldest()) {
                    return None;
                }
                let fork = lane.steal().success()?;
                Some(Stolen { fork, owner })
            })
    }

    /// Runs a fork that was stolen.
    pub(super) fn run_stolen(&self, stolen: Stolen) {
        self.run_fork(stolen.fork, stolen.owner);
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
    pub(crate) fn enter_fork(&self) -> Forking<'_> {
        let depth = if self.forking.replace(true) {
            Depth::Inside
        } else {
            self.enter_outermost()
        };
        Forking {
            worker: self,
            depth,
        }
    }

    #[cold]
    fn enter_outermost(&self) -> Depth {
        let forking = &self.remote().forking;
        let depth = if forking.load(Ordering::Relaxed) {
            Depth::OnTop
        } else {
            forking.store(true, Ordering::Relaxed);
            // ORDERING(sleep.forking): a worker that parks sees that forks may come, or the
            // pushes that follow see it in the wake table.
            fence(Ordering::SeqCst);
            Depth::Outermost
        };
        self.hand_over_to_peers();
        depth
    }

    /// Runs the forks that are left in this lane, when the executor is closed.
    pub(super) fn run_what_is_left(&self) {
        while let Some(left) = self.left_here() {
            let _entered = self.enter_fork();
            self.run_stolen(left);
        }
    }

    /// The end of the outermost join: runs the forks that scopes have left in the lane, so that
    /// none waits until this worker runs out of tasks.
    fn leave_outermost(&self) {
        while let Some(left) = self.left_here() {
            self.run_stolen(left);
        }
        self.remote().forking.store(false, Ordering::Relaxed);
    }

    /// Hands over the LIFO slot, the ring and the driver.
    fn hand_over_to_peers(&self) {
        if let Some(job) = self.slot.take() {
            self.push(job);
        }
        let driver_is_free = self.shared.driver.as_ref().is_some_and(DriverSeat::is_free);
        if !self.ring.is_empty() {
            // A lone task that yielded is not watched so far, and may not be worth stealing.
            self.shared.monitor.watch();
        }
        if driver_is_free || !self.ring.is_empty() {
            self.shared.notify_one();
        }
    }
}

/// A fork, and the worker in whose lane it was.
pub(super) struct Stolen {
    fork: Fork,
    owner: usize,
}

/// A worker that is in a join.
pub(crate) struct Forking<'a> {
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

impl Drop for Forking<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.depth != Depth::Inside {
            if self.depth == Depth::Outermost {
                self.worker.leave_outermost();
            }
            self.worker.forking.set(false);
        }
    }
}

impl Remote {
    /// Whether the worker is in a join, or in a computation.
    pub(crate) fn is_forking(&self) -> bool {
        self.forking.load(Ordering::Relaxed)
    }
}

impl Shared {
    /// Whether any worker is in a join, or in a computation.
    pub(crate) fn someone_forks(&self) -> bool {
        self.remotes.iter().any(Remote::is_forking)
    }

    /// Between W3 and W4 of a worker that parks. As a rule no worker is in a join. Then no forks
    /// are pushed, except by scopes, which fence themselves.
    pub(crate) fn fence_against_forks(&self) {
        if self.someone_forks() {
            self.sleep.fence_against_forks();
        }
    }

    /// Whether any lane has a fork.
    pub(crate) fn has_forks(&self) -> bool {
        self.remotes.iter().any(|remote| !remote.lane.is_empty())
    }

    /// Notifies a helper of a fork that was pushed, or else an idle worker.
    #[inline(always)]
    pub(crate) fn notify_of_fork(&self) {
        if self.helpers.after_fork(&self.sleep) {
            self.notify_for_fork();
        }
    }

    #[cold]
    pub(crate) fn notify_for_fork(&self) {
        if let Some(sleeper) = self.helpers.take_helper(&self.sleep) {
            self.unpark(sleeper);
        }
    }
}
