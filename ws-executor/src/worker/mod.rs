//! A worker: finds jobs and runs them, until its executor is closed.
//!
//! # Where it looks
//!
//! A worker looks at these places, in this order (`find.rs`). The first ones need no search:
//! 1. inside a nested `block_on`, every so many polls: its own lane, for a fork that the
//!    `block_on` may wait for;
//! 2. when an interval of polls is over (`pace.rs`): the driver, for a look without waiting,
//!    if the last look was long enough ago and the worker does not count as searching; then a
//!    computation, every so many intervals; then the injector, so that it cannot starve.
//!    If the polls were long and a local task is due, the worker runs jobs of the injector one
//!    after the other for some time. Otherwise it takes a batch;
//! 3. the tasks that are pinned to this worker, unless the last job was a pinned one;
//! 4. the LIFO slot, whose task is hot in this core's cache; three times in a row
//!    at most, and only while polls are short;
//! 5. the local ring, first in, first out;
//! 6. the pinned tasks, if the last job was a pinned one;
//! 7. the injector, for a batch, which goes into the ring, where others can steal it.
//!
//! Then it searches for some rounds, and counts as searching meanwhile. In each round:
//! 1. the rings of other workers, in random order, for half of a ring that is worth it
//!    (`share.rs`);
//! 2. the injector, for a batch;
//! 3. the lanes of other workers, in random order, for the oldest fork of a `join` (`lane.rs`);
//!    then its own lane;
//! 4. the computations.
//!
//! Then it parks (`park.rs`), without a timeout: in the driver if that is free.
//!
//! # Where it puts jobs
//!
//! - A task that was spawned or woken goes to the LIFO slot; the one that was there
//!   moves on to the ring.
//! - A task that yielded goes to the end of the ring. If no other task is queued here, no other
//!   worker is told: this worker runs the task next. If something else has its turn first, the
//!   worker tells others then (`announce_rest`).
//! - If the ring is full, its newer half goes to the injector with the new job; while a thief
//!   is at work on the full ring, the new job alone.

pub(crate) mod counters;
pub(crate) mod current;
mod find;
mod give_way;
mod help;
pub(crate) mod hosted;
mod lane;
mod pace;
mod park;
mod ripe;
mod share;

use std::cell::{Cell, RefCell};
use std::iter;
use std::rc::Rc;
use std::sync::Arc;

use ws_core::chase_lev::{self, Uneven};
use ws_core::{FastRand, Park, Unpark, ring, slot};

use self::counters::Counters;
use self::lane::Stolen;
use self::pace::Pace;
use self::ripe::ForkAges;
use crate::driver::DriverSeat;
use crate::fork::job::Fork;
use crate::refused;
use crate::shared::{Remote, Shared};
use crate::sleep::Searching;
use crate::stack::Stack;
use crate::task::job::Job;
use crate::tuning::{INJECTOR_BATCH, search_rounds};
use crate::until::Until;

/// A parker whose type is hidden.
pub(crate) type AnyParker = Box<dyn Park<Unparker = Arc<dyn Unpark>>>;

/// The half of a worker that only its own thread touches.
pub(crate) struct Worker {
    shared: Arc<Shared>,
    index: usize,
    ring: ring::Owner<Job>,
    slot: slot::Owner<Job>,
    lane: chase_lev::Owner<Fork, Uneven>,
    parker: AnyParker,
    rand: RefCell<FastRand>,
    pace: Pace,
    /// How long the forks in the lanes of other workers have been there.
    fork_ages: RefCell<ForkAges>,
    /// Holds jobs on their way from the injector to the ring; empty otherwise.
    batch: RefCell<Vec<Job>>,
    /// The shard of the injector to begin with.
    shard: Cell<usize>,
    /// Whether the last job was a pinned one.
    pinned_last: Cell<bool>,
    /// How many intervals ago a computation had its turn, while computations were queued.
    intervals: Cell<u32>,
    /// How many jobs in a row came from the LIFO slot.
    streak: Cell<u32>,
    /// How long to search before parking; adapts.
    rounds: Cell<u32>,
    /// How many polls there had been when the worker last woke up.
    polls_at_wake: Cell<Option<u64>>,
    /// How many polls there had been when the worker last turned the driver.
    polls_at_turn: Cell<u64>,
    /// Whether this thread is inside the driver, or runs the code of the worker's host.
    turning: Cell<bool>,
    /// How many pinned futures live on this thread.
    pinned_futures: Rc<Cell<usize>>,
    /// Whether this worker is in a join.
    forking: Cell<bool>,
    /// Whether the last thing it did was to run a fork.
    forked: Cell<bool>,
    /// How many `block_on` calls run this worker, one inside the other.
    nesting: Cell<u32>,
    stack: Stack,
}

/// The queues of a worker that has no thread yet.
pub(crate) struct Queues {
    ring: ring::Owner<Job>,
    slot: slot::Owner<Job>,
    lane: chase_lev::Owner<Fork, Uneven>,
    parker: AnyParker,
}

impl Queues {
    pub(crate) fn new(parker: AnyParker) -> Self {
        Self {
            ring: ring::new().0,
            slot: slot::new().0,
            lane: chase_lev::uneven().0,
            parker,
        }
    }

    /// The side that the other workers see.
    pub(crate) fn remote(&self) -> Remote {
        Remote {
            ring: self.ring.stealer(),
            slot: self.slot.stealer(),
            lane: self.lane.stealer(),
            pinned: crate::injector::Injector::new(1),
            unparker: self.parker.unparker(),
            forking: ws_core::sync::atomic::AtomicBool::new(false),
            counters: ws_core::sync::CachePadded::default(),
        }
    }
}

/// Wakes a worker, in its parker or in the driver, without a notification of the sleep
/// protocol.
pub(crate) struct AnyUnparker {
    shared: Arc<Shared>,
    worker: usize,
}

impl Unpark for AnyUnparker {
    fn unpark(&self) {
        self.shared.remotes[self.worker].unparker.unpark();
        // The worker in the driver looks whether it has a reason to wake up, and goes back if
        // not.
        self.shared.driver.iter().for_each(DriverSeat::wake);
    }
}

/// What a worker may find.
enum Work {
    Task(Job),
    Fork(Stolen),
}

impl Worker {
    /// Must be called at the beginning of the worker's thread.
    pub(crate) fn new(shared: Arc<Shared>, index: usize, queues: Queues) -> Self {
        let Queues {
            ring,
            slot,
            lane,
            parker,
        } = queues;
        let rand = FastRand::for_worker(shared.settings.seed, index);
        let (workers, stack_size) = (shared.workers(), shared.settings.stack_size);
        if shared.settings.watches_polls {
            shared.monitor.watch();
        }
        Self {
            shared,
            index,
            ring,
            slot,
            lane,
            parker,
            rand: RefCell::new(rand),
            pace: Pace::new(),
            fork_ages: RefCell::new(ForkAges::new(workers)),
            batch: RefCell::new(Vec::with_capacity(INJECTOR_BATCH)),
            shard: Cell::new(index),
            pinned_last: Cell::new(false),
            intervals: Cell::new(0),
            streak: Cell::new(0),
            rounds: Cell::new(search_rounds(workers).0),
            polls_at_wake: Cell::new(None),
            polls_at_turn: Cell::new(0),
            turning: Cell::new(false),
            pinned_futures: Rc::default(),
            forking: Cell::new(false),
            forked: Cell::new(false),
            nesting: Cell::new(0),
            stack: Stack::begins_here(stack_size),
        }
    }

    pub(crate) fn index(&self) -> usize {
        self.index
    }

    /// How many workers the executor has.
    pub(crate) fn workers(&self) -> usize {
        self.shared.workers()
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(crate) fn remote(&self) -> &Remote {
        &self.shared.remotes[self.index]
    }

    #[inline]
    pub(crate) fn counters(&self) -> &Counters {
        &self.remote().counters
    }

    pub(crate) fn pinned_futures(&self) -> Rc<Cell<usize>> {
        Rc::clone(&self.pinned_futures)
    }

    pub(crate) fn forking(&self) -> &Cell<bool> {
        &self.forking
    }

    pub(crate) fn nesting(&self) -> &Cell<u32> {
        &self.nesting
    }

    /// What wakes this worker wherever it sleeps.
    pub(crate) fn unparker(&self) -> AnyUnparker {
        AnyUnparker {
            shared: Arc::clone(&self.shared),
            worker: self.index,
        }
    }

    /// Runs jobs until the executor is closed or `until` is over.
    pub(crate) fn run(&self, until: &impl Until) {
        self.run_from(None, until);
    }

    /// As [`run`](Self::run), by a worker that may count as searching already.
    pub(crate) fn run_from(&self, mut searching: Option<Searching>, until: &impl Until) {
        while !self.should_stop(until) {
            match self.next_work(&mut searching, until) {
                Some(work) => self.run_work(work),
                None => searching = self.park(searching, until),
            }
        }
        if let Some(searching) = searching {
            self.shared.stop_searching(searching);
        }
    }

    /// Runs what was found.
    #[inline]
    fn run_work(&self, work: Work) {
        match work {
            Work::Task(job) => self.run_job(job),
            Work::Fork(stolen) => {
                let _entered = self.enter_fork();
                self.run_stolen(stolen);
                self.forked.set(true);
            }
        }
    }

    fn should_stop(&self, until: &impl Until) -> bool {
        self.shared.is_closed() || until.is_over()
    }

    /// Polls a task once.
    #[inline]
    fn run_job(&self, job: Job) {
        self.counters().polls.add(1);
        self.shared.poll(job);
    }

    /// Takes in a job that was spawned or woken on this thread.
    #[inline]
    pub(crate) fn woken(&self, job: Job) {
        if self.is_different() {
            return self.take_in_differently(job);
        }
        match self.slot.push(job) {
            None => self.shared.monitor.watch(),
            Some(evicted) => {
                self.push(evicted);
                self.announce();
            }
        }
    }

    /// Takes in a job that was woken during its own poll, which has ended.
    #[inline]
    pub(crate) fn yielded(&self, job: Job) {
        if self.is_different() {
            return self.take_in_differently(job);
        }
        // If it is the only one, this worker runs it next: there is nothing to share.
        let alone = self.ring.is_empty() && self.slot.is_empty();
        self.push(job);
        if !alone {
            self.announce();
        }
    }

    /// Whether a job that comes in must not take the usual way.
    #[inline]
    fn is_different(&self) -> bool {
        self.turning.get() || !self.shared.settings.lifo_slot || self.shared.is_closed()
    }

    #[cold]
    fn take_in_differently(&self, job: Job) {
        if self.shared.is_closed() {
            // No worker runs it any longer. It is not dropped here, because this may be inside
            // a `wake`.
            self.shared.refuse([job]);
        } else if self.turning.get() {
            // The driver has woken the task: this thread leaves the driver and looks at its
            // ring.
            self.push(job);
            match &self.shared.driver {
                Some(seat) => seat.wake_local(),
                // Or the host has woken it: the host then polls the worker.
                None => self.remote().unparker.unpark(),
            }
        } else {
            self.push(job);
            self.announce();
        }
    }

    /// Takes in many jobs that were spawned on this thread.
    pub(crate) fn spawned_many(&self, jobs: Vec<Job>) {
        let count = jobs.len();
        self.shared.monitor.watch();
        let rest: Vec<Job> = self.ring.push_batch(jobs).collect();
        if rest.is_empty() {
            return self.shared.notify_many(count);
        }
        self.counters().overflows.add(1);
        self.inject_batch(rest);
    }

    /// Puts a job at the end of the ring. What does not fit goes to the injector.
    #[inline]
    fn push(&self, job: Job) {
        if let Err(overflow) = self.ring.push_or_overflow(job) {
            self.counters().overflows.add(1);
            self.inject_batch(overflow.into_iter().collect());
        }
    }

    fn inject_batch(&self, jobs: Vec<Job>) {
        if let Err(refused) = self.shared.inject_batch(jobs) {
            self.shared.refuse(refused);
        }
    }

    /// Whether the stack has room for tasks that run inside a `block_on` that waits.
    pub(crate) fn has_room_on_top(&self) -> bool {
        self.stack.has_room(self.nesting.get())
    }

    /// Ends the worker, when the executor is closed or its host gives up: drops everything that
    /// is queued. These are the steps 8 to 11 of [`refused`].
    pub(crate) fn end(&self) {
        self.refuse_queued();
        if self.shared.is_closed() {
            self.shared.drop_waiting();
        }
        self.drop_pinned_futures();
        self.shared.refuse_queued(self.remote().pinned.close());
        // This also drops what those drops have spawned here, if the executor is not closed.
        self.drop_queued();
        self.turn_for_others();
        self.shared.drop_last();
    }

    /// Drops what is queued here until no future is left that was built here.
    fn drop_pinned_futures(&self) {
        loop {
            if !self.shared.is_closed() {
                // Its host gave up. The tasks that are pinned to this worker have their seats
                // in its shard. A drop may have called `block_on`, which has polled such a
                // task: then the task waits again.
                let drop_woken = |waker| refused::drop_woken_by(&self.shared.refused, waker);
                self.shared.registry.close(self.index, drop_woken);
            }
            self.drop_queued();
            if self.pinned_futures.get() == 0 {
                return;
            }
            // Another thread is about to schedule a future that must be dropped here.
            ws_core::sync::thread::yield_now();
        }
    }

    /// Leaves the jobs in the slot and the ring to any thread that shuts down. Called before
    /// the first drop here, because that drop may block until one of these jobs is gone.
    pub(crate) fn refuse_queued(&self) {
        let queued = iter::from_fn(|| self.slot.take().or_else(|| self.ring.pop()));
        self.shared.refuse_queued(queued.collect());
    }

    /// Drops everything that is queued here, and what was refused.
    pub(crate) fn drop_queued(&self) {
        loop {
            self.refuse_queued();
            while let Some(job) = self.pinned_job() {
                refused::drop_job(&self.shared.refused, job);
            }
            self.shared.drop_refused();
            if !self.has_queued() && self.remote().pinned.is_empty() {
                return;
            }
        }
    }
}
