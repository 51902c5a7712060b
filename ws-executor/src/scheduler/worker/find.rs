//! Where a worker finds its next job; the list in [`worker`](super), line by line.

use std::time::Duration;

use ws_core::sync::{hint, thread};

use super::forks::ForkFrom;
use super::local::Lifo;
use super::{Work, Worker};
use crate::base::tuning::{FORK_INTERVAL, FORK_YIELDS};
use crate::scheduler::shared::Job;
use crate::scheduler::sleep::Searching;
use crate::scheduler::until::Until;

impl Worker {
    /// The next thing to do, if there is one anywhere. The worker counts as
    /// `searching` while it looks at the queues of others.
    ///
    /// Inlined into the loop, so that what was found stays in registers.
    #[inline(always)]
    pub(super) fn next_work(
        &self,
        searching: &mut Option<Searching>,
        until: &impl Until,
    ) -> Option<Work> {
        let work = if let Some(fork) = self.own_fork_if_due() {
            Work::Fork(fork)
        } else if let Some(job) = self.find_local(searching) {
            Work::Task(job)
        } else {
            self.search_if_allowed(searching, until)?
        };
        if let Some(searching) = searching.take() {
            self.shared.stop_searching(searching);
        }
        Some(work)
    }

    /// Searches, unless enough other workers do: one more would get in their way.
    #[inline(never)]
    fn search_if_allowed(
        &self,
        searching: &mut Option<Searching>,
        until: &impl Until,
    ) -> Option<Work> {
        if searching.is_none() {
            *searching = self.shared.sleep.start_searching();
        }
        searching.as_ref()?;
        self.search(until)
    }

    /// A fork from this worker's own lane, if it is inside a nested `block_on`, which may wait
    /// for that fork. Tasks go first, but not for ever: this is for every so many polls.
    #[inline]
    fn own_fork_if_due(&self) -> Option<ForkFrom> {
        // Outside a nested `block_on`, forks are gone before the next poll.
        let is_on_top = self.nesting.depth() > 0 && !self.forks.is_empty();
        if !is_on_top || self.counters().polls.get() % FORK_INTERVAL != 0 {
            return None;
        }
        self.own_fork()
    }

    /// The next job that needs no search. Inlined into the loop: a call costs 20 instructions of
    /// the 450 of a yield (callgrind).
    #[inline(always)]
    pub(super) fn find_local(&self, searching: &Option<Searching>) -> Option<Job> {
        self.due_work(searching)
            .or_else(|| self.pinned_in_turn())
            .or_else(|| self.lifo_slot())
            .or_else(|| self.ring_job())
            .or_else(|| self.pinned_job())
            .or_else(|| self.injector_batch())
    }

    /// When an interval of polls is over: the driver, a computation, the injector.
    #[inline]
    fn due_work(&self, searching: &Option<Searching>) -> Option<Job> {
        if !self.pace.tick() {
            return None;
        }
        self.due_job(searching)
    }

    #[cold]
    fn due_job(&self, searching: &Option<Searching>) -> Option<Job> {
        if self.pace.is_in_turn() {
            return self.next_of_turn();
        }
        let took = self.begin_interval();
        // A reactor may run tasks of its own: pushers would rely on a searcher that is busy in
        // there.
        if searching.is_none() {
            self.turn_driver();
        }
        self.computation_if_due().or_else(|| {
            if self.shared.injector.is_empty() {
                None
            } else if !self.local.is_empty() && self.pace.begin_turn(took) {
                self.next_of_turn()
            } else {
                self.injector_batch()
            }
        })
    }

    /// The next job of the injector's turn. If there is none, the turn ends.
    fn next_of_turn(&self) -> Option<Job> {
        if self.pace.turn_goes_on() {
            if let Some(job) = self.local.pull(&self.shared.injector) {
                self.counters().injector_pulls.add(1);
                // What is queued here must wait, which its pusher did not know.
                self.announce_rest();
                return Some(job);
            }
        }
        self.pace.end_turn();
        None
    }

    /// A computation, if none had its turn for long: tasks go first, but not for ever.
    #[cold]
    fn computation_if_due(&self) -> Option<Job> {
        let is_due = self
            .pace
            .computation_is_due(!self.shared.computations.is_empty());
        is_due.then(|| self.computation()).flatten()
    }

    pub(super) fn computation(&self) -> Option<Job> {
        let job = self.shared.computations.pull()?;
        // A computation may take long, and the mean must not learn from it.
        self.pace.pause();
        self.announce_rest();
        Some(job)
    }

    /// Returns how long the polls of the last interval took.
    fn begin_interval(&self) -> Duration {
        let took = self.pace.begin_interval();
        self.counters().set_mean_poll(self.pace.mean());
        took
    }

    /// A pinned job, unless the last job was a pinned one: other jobs have their turns, too.
    #[inline]
    fn pinned_in_turn(&self) -> Option<Job> {
        if !self.pinned.are_in_turn() {
            return None;
        }
        let job = self.pinned_job()?;
        self.pinned.had_turn();
        Some(job)
    }

    #[inline]
    pub(super) fn pinned_job(&self) -> Option<Job> {
        let pinned = &self.remote().pinned;
        if pinned.is_empty() {
            return None;
        }
        let job = pinned.pull()?;
        // What is queued here must wait, which its pusher did not know.
        self.announce_rest();
        Some(job)
    }

    #[inline]
    fn lifo_slot(&self) -> Option<Job> {
        match self.local.pop_lifo(self.pace.lifo_cap())? {
            Lifo::Next(job) => {
                self.counters().lifo_hits.add(1);
                Some(job)
            }
            Lifo::StreakOver(job) => {
                self.push(job);
                self.announce();
                None
            }
        }
    }

    #[inline]
    fn ring_job(&self) -> Option<Job> {
        self.local.pop_fifo()
    }

    /// One job of the injector to run, and a fair share of the others for the ring.
    fn injector_batch(&self) -> Option<Job> {
        let injector = &self.shared.injector;
        let job = self.local.pull_batch(injector, self.shared.workers())?;
        self.counters().injector_pulls.add(1);
        // The job in hand may block. Other workers must see the batch, and a task that was put
        // into the ring quietly because this worker was about to run it next.
        self.announce_rest();
        Some(job)
    }

    /// Looks at the queues of all other workers, again and again for a while.
    fn search(&self, until: &impl Until) -> Option<Work> {
        self.pace.pause();
        self.counters().set_mean_poll(self.pace.mean());
        let work = self.search_rounds(until);
        if let Some(Work::Task(_)) = work {
            self.pace.resume();
        }
        work
    }

    fn search_rounds(&self, until: &impl Until) -> Option<Work> {
        let spins = self.rounds();
        let forked = self.forks.take_ran_last() || self.shared.any_in_join();
        let yields = if forked { FORK_YIELDS } else { 0 };
        for round in 0..spins + yields {
            if let Some(work) = self.search_once() {
                self.search.paid(round);
                return Some(work);
            }
            if self.should_stop(until) || !self.remote().pinned.is_empty() {
                return None;
            }
            if round < spins {
                hint::spin_loop();
            } else {
                thread::yield_now();
            }
        }
        self.search.was_in_vain();
        None
    }

    /// Looks everywhere once, at tasks first.
    fn search_once(&self) -> Option<Work> {
        self.steal()
            .or_else(|| self.injector_batch())
            .map(Work::Task)
            .or_else(|| self.steal_fork().map(Work::Fork))
            .or_else(|| self.computation().map(Work::Task))
    }

    /// How often to look. A worker that is about to sleep in a reactor looks once: the event
    /// that it waits for most likely comes from there. With one event at a time, long searches
    /// took half of the CPU time, and eight rounds took a quarter of the instructions
    /// (benchmark `io`, "echo, 1 connection").
    fn rounds(&self) -> u32 {
        if self.may_enter_reactor() {
            1
        } else {
            self.search.rounds()
        }
    }

    /// Steals half of the ring of a worker with a backlog. Looks at the victims in random
    /// order.
    fn steal(&self) -> Option<Job> {
        self.search
            .victims()
            .filter(|&victim| self.shared.is_worth_stealing_from(victim))
            .find_map(|victim| self.steal_from(victim))
    }

    fn steal_from(&self, victim: usize) -> Option<Job> {
        let counters = self.counters();
        counters.steals_tried.add(1);
        let (job, stolen) = self.local.steal_from(&self.shared.remotes[victim].ring)?;
        counters.steals.add(1);
        counters.tasks_stolen.add(stolen as u64);
        // The monitor has been called by the worker that queued the tasks, which may sleep now.
        self.shared.monitor.watch();
        Some(job)
    }
}
