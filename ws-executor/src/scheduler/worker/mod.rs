//! A worker: finds jobs and runs them, until its executor is closed.
//!
//! A [`Worker`] has these parts, each with a file: its [local queues](local), its [`pace`], how
//! it [searches](search), its [driver duty](duty), its [`forks`], its
//! [pinned tasks](pinned_tasks), and how deep calls of `block_on` are [nested](nesting). A part
//! does not know the worker. What the worker does with its parts is in the other files, one
//! activity each.
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

pub(crate) mod current;
mod duty;
mod end;
mod find;
mod forks;
mod give_way;
mod help;
pub(crate) mod hosted;
mod lane;
mod local;
pub(crate) mod nesting;
mod pace;
mod park;
pub(crate) mod pinned_tasks;
mod ripe;
mod schedule;
mod search;
mod share;

use std::cell::Cell;
use std::sync::Arc;

use ws_core::chase_lev::{self, Uneven};
use ws_core::{Park, Unpark, ring, slot};

use self::duty::DriverDuty;
use self::forks::{ForkFrom, Forks};
use self::local::LocalQueues;
use self::nesting::{Nested, Nesting};
use self::pace::Pace;
use self::pinned_tasks::{PinnedFuture, PinnedTasks};
use self::search::Search;
use super::counters::Counters;
use super::driver::SharedDriver;
use super::fork::job::Fork;
use super::shared::{Job, Remote, Shared};
use super::sleep::Searching;
use super::until::Until;

/// A parker whose type is hidden.
pub(crate) type AnyParker = Box<dyn Park<Unparker = Arc<dyn Unpark>>>;

/// The half of a worker that only its own thread touches.
pub(crate) struct Worker {
    shared: Arc<Shared>,
    /// What other threads see of this worker. Every poll uses it, so it is one pointer away.
    remote: Arc<Remote>,
    index: usize,
    parker: AnyParker,
    local: LocalQueues,
    pace: Pace,
    search: Search,
    duty: DriverDuty,
    forks: Forks,
    pinned: PinnedTasks,
    nesting: Nesting,
    /// How many polls there had been when the worker last woke up.
    polls_at_wake: Cell<Option<u64>>,
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
    pub(crate) fn remote(&self) -> Arc<Remote> {
        Arc::new(Remote {
            ring: self.ring.stealer(),
            slot: self.slot.stealer(),
            lane: self.lane.stealer(),
            pinned: ws_core::sync::CachePadded::default(),
            unparker: self.parker.unparker(),
            in_join: ws_core::sync::atomic::AtomicBool::new(false),
            counters: ws_core::sync::CachePadded::default(),
        })
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
        self.shared.driver.iter().for_each(SharedDriver::wake);
    }
}

/// What a worker may find.
enum Work {
    Task(Job),
    Fork(ForkFrom),
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
        let (workers, settings) = (shared.workers(), shared.settings);
        if settings.watches_polls {
            shared.monitor.watch();
        }
        Self {
            remote: Arc::clone(&shared.remotes[index]),
            shared,
            index,
            parker,
            local: LocalQueues::new(slot, ring, index),
            pace: Pace::new(),
            search: Search::new(index, workers, settings.seed),
            duty: DriverDuty::new(),
            forks: Forks::new(lane, workers),
            pinned: PinnedTasks::default(),
            nesting: Nesting::new(settings.stack_size),
            polls_at_wake: Cell::new(None),
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

    #[inline]
    pub(crate) fn remote(&self) -> &Remote {
        &self.remote
    }

    #[inline]
    pub(crate) fn counters(&self) -> &Counters {
        &self.remote().counters
    }

    /// Counts a pinned future that lives on this worker.
    pub(crate) fn count_pinned(&self) -> PinnedFuture {
        self.pinned.count()
    }

    /// Whether the code that runs now is in a join.
    pub(crate) fn is_in_join(&self) -> bool {
        self.forks.is_in_join()
    }

    /// How many calls of `block_on` run this worker, one inside the other.
    pub(crate) fn nesting_depth(&self) -> u32 {
        self.nesting.depth()
    }

    /// Enters one more such call, until the guard is dropped.
    pub(crate) fn enter_nested(&self) -> Nested<'_> {
        self.nesting.enter(&self.forks)
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
    #[inline(always)]
    fn run_work(&self, work: Work) {
        match work {
            Work::Task(job) => self.run_job(job),
            Work::Fork(fork) => {
                let _entered = self.enter_join();
                self.run_fork_from(fork);
                self.forks.note_run();
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
}
