//! Where a worker finds its next job; the list in [`worker`](super), line by line.

use ws_core::sync::hint;

use super::{Until, Worker};
use crate::sleep::Searching;
use crate::task::job::Job;
use crate::tuning::{INJECTOR_BATCH, LIFO_CAP, SEARCH_ROUNDS};

impl Worker {
    /// The next job, if there is one anywhere. The worker counts as `searching`
    /// while it looks at the queues of others.
    pub(super) fn next_job(
        &self,
        searching: &mut Option<Searching>,
        until: &impl Until,
    ) -> Option<Job> {
        let job = self.find_local().or_else(|| {
            if searching.is_none() {
                *searching = self.shared.sleep.start_searching();
            }
            // Enough others search: no need to get into their way.
            searching.as_ref()?;
            self.search(until)
        })?;
        if let Some(searching) = searching.take() {
            self.stop_searching(searching);
        }
        Some(job)
    }

    /// The next job that needs no search.
    #[inline]
    fn find_local(&self) -> Option<Job> {
        self.injector_if_due()
            .or_else(|| self.pinned_job())
            .or_else(|| self.lifo_slot())
            .or_else(|| self.ring_job())
            .or_else(|| self.injector_batch())
    }

    #[inline]
    fn injector_if_due(&self) -> Option<Job> {
        if !self.pace.tick() {
            return None;
        }
        self.turn_driver();
        self.injector_batch()
    }

    #[inline]
    pub(super) fn pinned_job(&self) -> Option<Job> {
        let pinned = &self.remote().pinned;
        if pinned.is_empty() {
            return None;
        }
        pinned.pull(0, 1, drop)
    }

    #[inline]
    fn lifo_slot(&self) -> Option<Job> {
        let streak = self.streak.get();
        if streak >= LIFO_CAP && !self.ring.is_empty() {
            return None;
        }
        let job = self.slot.take()?;
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

    /// One job of the injector to run, and a fair share of the others for the ring.
    fn injector_batch(&self) -> Option<Job> {
        let injector = &self.shared.injector;
        let waiting = injector.len();
        if waiting == 0 {
            return None;
        }
        let share = waiting.div_ceil(self.shared.workers());
        let limit = share
            .min(INJECTOR_BATCH)
            .min(self.ring.spare_capacity() + 1);
        let mut moved = 0;
        let job = injector.pull(self.index, limit, |job| {
            moved += 1;
            if self.ring.push(job).is_err() {
                unreachable!("there was room, and only the owner pushes");
            }
        })?;
        self.streak.set(0);
        self.counters().injector_pulls.add(1);
        if moved > 0 {
            // If the job in hand blocks, others must see those in the ring.
            self.shared.notify_one();
        }
        Some(job)
    }

    /// Looks at the queues of all others, again and again for a while.
    fn search(&self, until: &impl Until) -> Option<Job> {
        self.pace.interrupt();
        if let Some(job) = self.rescue_marked() {
            return Some(job);
        }
        self.mark_slots();
        let rounds = self.rounds.get();
        for round in 0..rounds {
            if let Some(job) = self.steal().or_else(|| self.injector_batch()) {
                self.search_paid(round);
                return Some(job);
            }
            if self.should_stop(until) || !self.remote().pinned.is_empty() {
                return None;
            }
            hint::spin_loop();
        }
        let rescued = self.rescue_marked();
        if rescued.is_none() {
            self.search_was_in_vain();
        }
        rescued
    }

    /// Waiting was worth it: wait longer next time, if it was long.
    fn search_paid(&self, round: u32) {
        if round > 0 {
            self.rounds
                .set((self.rounds.get() * 2).min(SEARCH_ROUNDS.1));
        }
    }

    /// Waiting was a waste: wait less next time.
    fn search_was_in_vain(&self) {
        let rounds = self.rounds.get();
        self.rounds.set((rounds - rounds / 4).max(SEARCH_ROUNDS.0));
    }

    /// Half of the ring of someone who has one, in random order.
    fn steal(&self) -> Option<Job> {
        let workers = self.shared.workers();
        let victims = self.rand.borrow_mut().victims(workers, self.index);
        for victim in victims {
            let ring = &self.shared.remotes[victim].ring;
            if ring.is_empty() {
                continue;
            }
            self.counters().steals_tried.add(1);
            let before = self.ring.len();
            // A lost race is no reason to go to sleep, nor to insist: the next round
            // or the last look before parking comes here again.
            if let Some(job) = ring.steal_into(&self.ring).success() {
                self.counters().steals.add(1);
                self.counters()
                    .tasks_stolen
                    .add((self.ring.len() - before + 1) as u64);
                return Some(job);
            }
        }
        None
    }

    /// Notes which slots are full now.
    fn mark_slots(&self) {
        let _ = self.watch.borrow_mut().stuck_slot(&self.shared, self.index);
    }

    /// Takes a job out of a slot that is full since it was marked, while its worker
    /// is still in the same poll.
    fn rescue_marked(&self) -> Option<Job> {
        let victim = self
            .watch
            .borrow_mut()
            .stuck_slot(&self.shared, self.index)?;
        let job = self.shared.remotes[victim].slot.take()?;
        self.counters().tasks_stolen.add(1);
        Some(job)
    }
}
