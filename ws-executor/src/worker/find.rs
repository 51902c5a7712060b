//! Where a worker finds its next job; the list in [`worker`](super), line by line.

use std::time::Duration;

use ws_core::sync::{hint, thread};

use super::lane::Stolen;
use super::{Work, Worker};
use crate::sleep::Searching;
use crate::task::job::Job;
use crate::tuning::{
    COMPUTATION_INTERVALS, FORK_INTERVAL, FORK_YIELDS, INJECTOR_BATCH, search_rounds,
};
use crate::until::Until;

impl Worker {
    /// The next thing to do, if there is one anywhere. The worker counts as
    /// `searching` while it looks at the queues of others.
    pub(super) fn next_work(
        &self,
        searching: &mut Option<Searching>,
        until: &impl Until,
    ) -> Option<Work> {
        let local = self.own_fork_if_due().map(Work::Fork);
        let local = local.or_else(|| self.find_local(searching).map(Work::Task));
        let work = local.or_else(|| {
            if searching.is_none() {
                *searching = self.shared.sleep.start_searching();
            }
            // Enough other workers search: one more would get in their way.
            searching.as_ref()?;
            self.search(until)
        })?;
        if let Some(searching) = searching.take() {
            self.shared.stop_searching(searching);
        }
        Some(work)
    }

    /// A fork from this worker's own lane, if it is inside a nested `block_on`, which may wait
    /// for that fork. Tasks go first, but not for ever: this is for every so many polls.
    #[inline]
    fn own_fork_if_due(&self) -> Option<Stolen> {
        // Outside a nested `block_on`, forks are gone before the next poll.
        let is_on_top = self.nesting.get() > 0 && !self.lane_is_empty();
        if !is_on_top || self.counters().polls.get() % FORK_INTERVAL != 0 {
            return None;
        }
        self.left_here()
    }

    /// The next job that needs no search.
    #[inline]
    pub(super) fn find_local(&self, searching: &Option<Searching>) -> Option<Job> {
        self.injector_if_due(searching)
            .or_else(|| self.pinned_in_turn())
            .or_else(|| self.lifo_slot())
            .or_else(|| self.ring_job())
            .or_else(|| self.pinned_job())
            .or_else(|| self.injector_batch())
    }

    #[inline]
    fn injector_if_due(&self, searching: &Option<Searching>) -> Option<Job> {
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
        let took = self.begin_interval(searching);
        self.computation_if_due().or_else(|| {
            if self.shared.injector.is_empty() {
                None
            } else if self.has_queued() && self.pace.begin_turn(took) {
                self.next_of_turn()
            } else {
                self.injector_batch()
            }
        })
    }

    /// The next job of the injector's turn. If there is none, the turn ends.
    fn next_of_turn(&self) -> Option<Job> {
        if self.pace.turn_goes_on() {
            if let Some(job) = self.shared.injector.pull(self.next_shard()) {
                self.streak.set(0);
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
        if self.shared.computations.is_empty() {
            self.intervals.set(0);
            return None;
        }
        let intervals = self.intervals.get() + 1;
        self.intervals.set(intervals % COMPUTATION_INTERVALS);
        if intervals < COMPUTATION_INTERVALS {
            return None;
        }
        self.computation()
    }

    pub(super) fn computation(&self) -> Option<Job> {
        let job = self.shared.computations.pull(0)?;
        // A computation may take long, and the mean must not learn from it.
        self.pace.pause();
        self.announce_rest();
        Some(job)
    }

    /// Returns how long the polls of the last interval took.
    fn begin_interval(&self, searching: &Option<Searching>) -> Duration {
        let took = self.pace.begin_interval();
        self.counters().set_mean_poll(self.pace.mean());
        // A reactor may run tasks of its own: pushers would rely on a searcher that is busy in
        // there.
        if searching.is_none() {
            self.turn_driver();
        }
        took
    }

    /// A pinned job, unless the last job was a pinned one: other jobs have their turns, too.
    #[inline]
    fn pinned_in_turn(&self) -> Option<Job> {
        if self.pinned_last.take() {
            return None;
        }
        let job = self.pinned_job()?;
        self.pinned_last.set(true);
        Some(job)
    }

    #[inline]
    pub(super) fn pinned_job(&self) -> Option<Job> {
        let pinned = &self.remote().pinned;
        if pinned.is_empty() {
            return None;
        }
        let job = pinned.pull(0)?;
        // What is queued has to wait, which whoever queued it did not know.
        self.announce_rest();
        Some(job)
    }

    #[inline]
    fn lifo_slot(&self) -> Option<Job> {
        let job = self.slot.take()?;
        let streak = self.streak.get();
        if streak >= self.pace.lifo_cap() && !self.ring.is_empty() {
            // The streak is over: this job goes behind the others.
            self.push(job);
            self.announce();
            return None;
        }
        self.streak.set(streak + 1);
        self.counters().lifo_hits.add(1);
        Some(job)
    }

    #[inline]
    fn ring_job(&self) -> Option<Job> {
        let job = self.ring.pop()?;
        self.streak.set(0);
        Some(job)
    }

    /// The shard of the injector to look at first: each time another one, so that no shard
    /// starves.
    fn next_shard(&self) -> usize {
        let shard = self.shard.get();
        self.shard.set(shard.wrapping_add(1));
        shard
    }

    /// One job of the injector to run, and a fair share of the others for the ring.
    fn injector_batch(&self) -> Option<Job> {
        let injector = &self.shared.injector;
        let waiting = injector.len();
        if waiting == 0 {
            return None;
        }
        let share = waiting.div_ceil(self.shared.workers());
        // Half of the room at most: a ring that is filled up overflows at the next push.
        let room = self.ring.spare_capacity() / 2 + 1;
        let limit = share.min(INJECTOR_BATCH).min(room);
        let mut batch = self.batch.borrow_mut();
        let job = injector.pull_batch(self.next_shard(), limit, &mut batch)?;
        self.streak.set(0);
        self.counters().injector_pulls.add(1);
        let rest = self.ring.push_batch(batch.drain(..)).count();
        debug_assert_eq!(rest, 0, "there was room, and only the owner pushes");
        // The borrow ends before a parker or a driver is called, which may be user code.
        drop(batch);
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
        let forked = self.forked.take() || self.shared.someone_forks();
        let yields = if forked { FORK_YIELDS } else { 0 };
        for round in 0..spins + yields {
            if let Some(work) = self.search_once() {
                self.search_paid(round);
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
        self.search_was_in_vain();
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
            self.rounds.get()
        }
    }

    /// The search has found work: the next one may be longer, if this one took more than a
    /// round.
    fn search_paid(&self, round: u32) {
        if round > 0 {
            self.search_longer(2);
        }
    }

    /// Lets the next search be longer, up to a bound on the looks at other workers.
    pub(super) fn search_longer(&self, times: u32) {
        let (least, most) = search_rounds(self.shared.workers());
        self.rounds
            .set((self.rounds.get() * times).clamp(least, most));
    }

    /// The search has found nothing: the next one is shorter.
    fn search_was_in_vain(&self) {
        let rounds = self.rounds.get();
        let (least, _) = search_rounds(self.shared.workers());
        self.rounds.set((rounds - rounds / 4).max(least));
    }

    /// Steals half of the ring of a worker with a backlog. Looks at the victims in random
    /// order.
    fn steal(&self) -> Option<Job> {
        let workers = self.shared.workers();
        let victims = self.rand.borrow_mut().victims(workers, self.index);
        victims
            .filter(|&victim| self.shared.is_worth_stealing_from(victim))
            .find_map(|victim| self.steal_from(victim))
    }

    fn steal_from(&self, victim: usize) -> Option<Job> {
        let counters = self.counters();
        counters.steals_tried.add(1);
        let before = self.ring.len();
        // After a lost race the worker does not go to sleep, and does not try again at once:
        // the next round, or the last look before parking, comes here again.
        let job = self.shared.remotes[victim]
            .ring
            .steal_into(&self.ring)
            .success()?;
        counters.steals.add(1);
        counters
            .tasks_stolen
            .add((self.ring.len() - before + 1) as u64);
        Some(job)
    }
}
