//! What the workers, the handles and the tasks of one executor share.
//!
//! # Memory ordering
//!
//! | edge | release side | acquire side | makes visible |
//! |---|---|---|---|
//! | `shared.running` | a worker that has ended | `is_quiet`; the last worker | that its queues are empty; its counters |
//! | `shared.holding` | a worker that has dropped its tasks | the last one | what the others have dropped |
//!
//! This file holds data. What is done with it is elsewhere: jobs are queued in `submit.rs`,
//! workers are notified in `notify.rs`, tasks are polled in `poll.rs`, and the executor ends in
//! `shutdown.rs`.

use std::num::NonZero;
use std::ptr::NonNull;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use ws_core::Unpark;
use ws_core::chase_lev::{self, Uneven};
use ws_core::sync::CachePadded;
use ws_core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use ws_core::{ring, slot};

use super::counters::Counters;
use super::driver::{SharedDriver, VisitorHost};
use super::fork::job::Fork;
use super::injector::Injector;
use super::inside::{Inside, StayingInside};
use super::locked_queue::LockedQueue;
use super::monitor::Monitor;
use super::quiet::Quiet;
use super::refused::Refused;
use super::sleep::Sleepers;
use crate::base::clock::Instant;
use crate::task::registry::Registry;
use crate::task::runnable::Runnable;
use crate::task::task_count::TaskCount;

/// A runnable, as the queues of an executor hold it.
pub(crate) type Job = Runnable<Shared>;

/// The state of one executor.
pub(crate) struct Shared {
    pub(crate) injector: Injector<Job>,
    /// Code that computes, which waits until no task is due.
    pub(crate) computations: CachePadded<LockedQueue<Job>>,
    pub(crate) sleep: Sleepers,
    /// The same protocol among workers that wait for forks, and can run nothing else.
    pub(crate) helpers: Sleepers,
    pub(crate) tasks: TaskCount,
    pub(crate) registry: Registry,
    /// Jobs that the closed executor has refused.
    pub(crate) refused: Arc<Refused<Job>>,
    /// What other threads may do with each worker.
    pub(crate) remotes: Box<[Arc<Remote>]>,
    pub(crate) driver: Option<SharedDriver>,
    /// What runs the futures of `block_on` on threads that are not workers.
    pub(crate) visitors: Option<VisitorHost>,
    pub(crate) monitor: Monitor,
    pub(crate) settings: Settings,
    started: Instant,
    /// The process that has the workers; a forked process has none.
    pub(super) process: u32,
    /// Set once, never cleared.
    pub(super) closed: AtomicBool,
    /// The threads that wait until nothing is left to run.
    pub(super) quiet: Quiet,
    /// Workers that wait inside a poll, in a nested `block_on`; spare threads that poll; the
    /// monitor, while it moves tasks.
    pub(super) inside: Inside,
    /// How many workers have not ended.
    pub(super) running: AtomicUsize,
    /// How many workers have not dropped their tasks.
    pub(super) holding: AtomicUsize,
}

/// The settings of the builder that workers need.
#[derive(Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) lifo_slot: bool,
    /// Whether the monitor watches every poll, because a hook is called for stalls.
    pub(crate) watches_polls: bool,
    /// Whether the workers are futures of a host.
    pub(crate) hosted: bool,
    pub(crate) budget: u32,
    pub(crate) seed: u64,
    /// The size of the stack of each worker's thread, in bytes.
    pub(crate) stack_size: usize,
}

/// A worker, as other threads see it.
pub(crate) struct Remote {
    pub(crate) ring: ring::Stealer<Job>,
    pub(crate) slot: slot::Stealer<Job>,
    pub(crate) lane: chase_lev::Stealer<Fork, Uneven>,
    /// The worker's pinned tasks that are due; closed when the worker ends.
    pub(crate) pinned: CachePadded<LockedQueue<Job>>,
    pub(crate) unparker: Arc<dyn Unpark>,
    /// Whether the worker is in a join, or in a computation.
    pub(crate) in_join: AtomicBool,
    pub(crate) counters: CachePadded<Counters>,
}

impl Shared {
    pub(crate) fn new(
        remotes: Box<[Arc<Remote>]>,
        driver: Option<SharedDriver>,
        visitors: Option<VisitorHost>,
        settings: Settings,
        monitor: impl FnOnce(&Weak<Self>) -> Monitor,
    ) -> Arc<Self> {
        let workers = remotes.len();
        let shared = Arc::new_cyclic(|this| Self {
            injector: Injector::new(workers),
            computations: CachePadded::default(),
            // Half of the workers, rounded up: more searchers get into each other's way.
            sleep: Sleepers::of_newborn(workers, workers.div_ceil(2)),
            // All of them: a helper has nothing better to do.
            helpers: Sleepers::new(workers, workers),
            tasks: TaskCount::new(workers),
            // One more shard, for the tasks that spare threads poll.
            registry: Registry::new(workers + 1),
            refused: Arc::new(Refused::new()),
            remotes,
            driver,
            visitors,
            monitor: monitor(this),
            settings,
            started: Instant::now(),
            process: std::process::id(),
            closed: AtomicBool::new(false),
            quiet: Quiet::default(),
            inside: Inside::new(),
            running: AtomicUsize::new(workers),
            holding: AtomicUsize::new(workers),
        });
        // The reference that all tasks have together; see `release`.
        let _ = Arc::into_raw(Arc::clone(&shared));
        shared
    }

    /// Gives the tasks' reference back.
    ///
    /// # Safety
    ///
    /// `this` must come from [`Arc::as_ptr`]. Must be called once, when there is no task and
    /// there will be none.
    pub(crate) unsafe fn release(this: NonNull<Self>) {
        // SAFETY: `new` has made a raw pointer of one reference, by `Arc::into_raw`. `this` is
        // that pointer: `Arc::as_ptr` returns the same one, with the same provenance. The
        // reference is given back once.
        drop(unsafe { Arc::from_raw(this.as_ptr()) });
    }

    pub(crate) fn workers(&self) -> usize {
        self.remotes.len()
    }

    /// Whether fewer workers are awake than there are cores.
    pub(crate) fn leaves_a_core(&self) -> bool {
        self.workers() - self.sleep.parked().min(self.workers()) < cores()
    }

    /// How long ago the executor was started.
    pub(crate) fn age(&self) -> Duration {
        self.started.elapsed()
    }

    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        // ORDERING: relaxed; what closing changes is behind locks.
        self.closed.load(Ordering::Relaxed)
    }

    /// How many workers have not ended.
    pub(crate) fn running(&self) -> usize {
        self.running.load(Ordering::Relaxed)
    }

    /// Whether the executor polls the futures of `block_on` on other threads in its own way.
    pub(crate) fn hosts_visitors(&self) -> bool {
        self.driver.is_some() || self.visitors.is_some()
    }

    /// Counts the calling thread until the guard is dropped: it waits inside a poll, or is
    /// about to poll although it is not a worker.
    pub(crate) fn wait_inside(&self) -> StayingInside<'_> {
        self.inside.enter()
    }

    /// Whether a thread waits inside a poll.
    pub(crate) fn someone_waits_inside(&self) -> bool {
        self.inside.seems_taken()
    }

    /// Whether any worker is in a join, or in a computation.
    pub(crate) fn any_in_join(&self) -> bool {
        self.remotes.iter().any(|remote| remote.is_in_join())
    }

    /// Whether any lane has a fork.
    pub(crate) fn has_forks(&self) -> bool {
        self.remotes.iter().any(|remote| !remote.lane.is_empty())
    }
}

impl Remote {
    /// Whether the worker is in a join, or in a computation.
    pub(crate) fn is_in_join(&self) -> bool {
        self.in_join.load(Ordering::Relaxed)
    }
}

/// How many cores there were at the first call. The system is asked once, because that takes
/// 20 µs and more.
fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, NonZero::get))
}
