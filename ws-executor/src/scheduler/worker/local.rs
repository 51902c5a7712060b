//! The queues that only their worker pushes into: the LIFO slot and the ring.

use std::cell::{Cell, RefCell};

use ws_core::{ring, slot};

use crate::base::tuning::INJECTOR_BATCH;
use crate::scheduler::injector::Injector;
use crate::scheduler::shared::Job;

/// The LIFO slot and the ring of a worker.
pub(super) struct LocalQueues {
    slot: slot::Owner<Job>,
    ring: ring::Owner<Job>,
    /// How many jobs in a row came from the LIFO slot.
    streak: Cell<u32>,
    /// The shard of the injector to begin with.
    shard: Cell<usize>,
    /// Holds jobs on their way from the injector to the ring; empty otherwise.
    batch: RefCell<Vec<Job>>,
}

/// What was in the LIFO slot.
pub(super) enum Lifo {
    /// The job to run next.
    Next(Job),
    /// The slot had its turns. This job must go behind those in the ring.
    StreakOver(Job),
}

impl LocalQueues {
    pub(super) fn new(slot: slot::Owner<Job>, ring: ring::Owner<Job>, worker: usize) -> Self {
        Self {
            slot,
            ring,
            streak: Cell::new(0),
            shard: Cell::new(worker),
            batch: RefCell::new(Vec::with_capacity(INJECTOR_BATCH)),
        }
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.ring.is_empty() && self.slot.is_empty()
    }

    /// How many jobs are in the ring.
    #[inline]
    pub(super) fn ring_len(&self) -> usize {
        self.ring.len()
    }

    /// Puts a job into the LIFO slot, and returns the one that was there.
    #[inline]
    pub(super) fn push_lifo(&self, job: Job) -> Option<Job> {
        self.slot.push(job)
    }

    /// Puts a job at the end of the ring. Returns the batch that a full ring hands out.
    #[inline]
    pub(super) fn push(&self, job: Job) -> Result<(), Vec<Job>> {
        let pushed = self.ring.push_or_overflow(job);
        pushed.map_err(|overflow| overflow.into_iter().collect())
    }

    /// Puts jobs at the end of the ring, and returns those that do not fit.
    pub(super) fn push_many(&self, jobs: Vec<Job>) -> Vec<Job> {
        self.ring.push_batch(jobs).collect()
    }

    /// Takes the job in the LIFO slot, whose turns in a row are limited while the ring is not
    /// empty.
    #[inline]
    pub(super) fn pop_lifo(&self, most_in_a_row: u32) -> Option<Lifo> {
        let job = self.slot.take()?;
        let streak = self.streak.get();
        if streak >= most_in_a_row && !self.ring.is_empty() {
            return Some(Lifo::StreakOver(job));
        }
        self.streak.set(streak + 1);
        Some(Lifo::Next(job))
    }

    /// Takes the oldest job in the ring.
    #[inline]
    pub(super) fn pop_fifo(&self) -> Option<Job> {
        let job = self.ring.pop()?;
        self.streak.set(0);
        Some(job)
    }

    /// Empties the LIFO slot.
    pub(super) fn take_lifo(&self) -> Option<Job> {
        self.slot.take()
    }

    /// Takes any job, when the worker ends.
    pub(super) fn take_any(&self) -> Option<Job> {
        self.slot.take().or_else(|| self.ring.pop())
    }

    /// Takes one job of the injector.
    pub(super) fn pull(&self, injector: &Injector<Job>) -> Option<Job> {
        let job = injector.pull(self.next_shard())?;
        self.streak.set(0);
        Some(job)
    }

    /// Takes one job of the injector to run, and a fair share of the others for the ring.
    pub(super) fn pull_batch(&self, injector: &Injector<Job>, workers: usize) -> Option<Job> {
        let waiting = injector.len();
        if waiting == 0 {
            return None;
        }
        let share = waiting.div_ceil(workers);
        // Half of the room at most: a ring that is filled up overflows at the next push.
        let room = self.ring.spare_capacity() / 2 + 1;
        let limit = share.min(INJECTOR_BATCH).min(room);
        let mut batch = self.batch.borrow_mut();
        let job = injector.pull_batch(self.next_shard(), limit, &mut batch)?;
        self.streak.set(0);
        let rest = self.ring.push_batch(batch.drain(..)).count();
        debug_assert_eq!(rest, 0, "there was room, and only the owner pushes");
        Some(job)
    }

    /// The shard of the injector to look at first: each time another one, so that no shard
    /// starves.
    fn next_shard(&self) -> usize {
        let shard = self.shard.get();
        self.shard.set(shard.wrapping_add(1));
        shard
    }

    /// Steals half of a victim's ring. Returns the job to run next, and how many were stolen.
    pub(super) fn steal_from(&self, victim: &ring::Stealer<Job>) -> Option<(Job, usize)> {
        let before = self.ring.len();
        // After a lost race the worker does not go to sleep, and does not try again at once:
        // the next round, or the last look before parking, comes here again.
        let job = victim.steal_into(&self.ring).success()?;
        Some((job, self.ring.len() - before + 1))
    }
}
