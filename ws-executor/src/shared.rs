//! What the workers, the handles and the tasks of one executor share.

use std::num::NonZero;
use std::ptr::NonNull;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ws_core::Unpark;
use ws_core::chase_lev::{self, Uneven};
use ws_core::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use ws_core::sync::{CachePadded, asymmetric};
use ws_core::{ring, slot};

use crate::clock::Instant;
use crate::coop;
use crate::driver::{DriverSeat, VisitorHost};
use crate::fork::job::Fork;
use crate::fork::stand_in::StandIn;
use crate::injector::Injector;
use crate::pinned::PinnedQueue;
use crate::sleep::{Sleep, Sleeper};
use crate::task::contain::ignore_panic;
use crate::task::home::Population;
use crate::task::job::{Job, drop_refused};
use crate::task::registry::Registry;
use crate::worker::counters::Counters;
use crate::worker::current;

/// The state of one executor.
pub(crate) struct Shared {
    pub(crate) injector: Injector<Job>,
    /// Code that computes, which waits until no task is due.
    pub(crate) computations: Injector<Job>,
    pub(crate) sleep: Sleep,
    /// The same protocol among workers that wait for forks, and can run nothing else.
    pub(crate) helpers: Sleep,
    pub(crate) population: Population,
    pub(crate) registry: Registry,
    /// What others may do with each worker.
    pub(crate) remotes: Box<[Remote]>,
    pub(crate) driver: Option<DriverSeat>,
    /// Who runs the futures of `block_on` on threads that are no workers.
    pub(crate) visitors: Option<VisitorHost>,
    pub(crate) stand_in: StandIn,
    pub(crate) settings: Settings,
    started: Instant,
    /// The process that has the workers; a forked one has not.
    process: u32,
    /// Set once, never cleared.
    closed: AtomicBool,
    /// Set once, never cleared: close when there is nothing left to run.
    draining: AtomicBool,
    /// How many workers wait inside a poll, in a nested `block_on`.
    waiting_inside: AtomicUsize,
    /// How many of them run no tasks meanwhile; see [`wait_aside`](Self::wait_aside).
    waiting_aside: AtomicUsize,
    /// How many workers have not ended.
    running: AtomicUsize,
}

/// What the builder was told, as far as workers need it.
#[derive(Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) lifo_slot: bool,
    /// Whether workers can park with a timeout: hosted ones cannot. Without a sentinel
    /// there is no LIFO slot, and all work is worth sharing.
    pub(crate) sentinel: bool,
    /// Whether workers are futures of a host.
    pub(crate) hosted: bool,
    pub(crate) budget: u32,
    pub(crate) seed: u64,
    /// In bytes, of each worker's thread.
    pub(crate) stack_size: usize,
}

/// A worker, as others see it.
pub(crate) struct Remote {
    pub(crate) ring: ring::Stealer<Job>,
    pub(crate) slot: slot::Stealer<Job>,
    pub(crate) lane: chase_lev::Stealer<Fork, Uneven>,
    pub(crate) pinned: PinnedQueue,
    pub(crate) unparker: Arc<dyn Unpark>,
    /// Whether the worker is in a join, or in a computation.
    pub(crate) forking: AtomicBool,
    pub(crate) counters: CachePadded<Counters>,
}

impl Shared {
    pub(crate) fn new(
        remotes: Box<[Remote]>,
        driver: Option<DriverSeat>,
        visitors: Option<VisitorHost>,
        settings: Settings,
        stand_in: StandIn,
    ) -> Arc<Self> {
        let workers = remotes.len();
        let shared = Arc::new(Self {
            injector: Injector::new(workers),
            computations: Injector::new(1),
            // Half of them, rounded up: more get into each other's way.
            sleep: Sleep::new(workers, workers.div_ceil(2)),
            // A helper has nothing better to do.
            helpers: Sleep::new(workers, workers),
            population: Population::new(workers),
            registry: Registry::new(workers),
            remotes,
            driver,
            visitors,
            stand_in,
            settings,
            started: Instant::now(),
            process: std::process::id(),
            closed: AtomicBool::new(false),
            draining: AtomicBool::new(false),
            waiting_inside: AtomicUsize::new(0),
            waiting_aside: AtomicUsize::new(0),
            running: AtomicUsize::new(workers),
        });
        // The reference that all tasks have together; see `release`.
        std::mem::forget(Arc::clone(&shared));
        shared
    }

    /// Gives the tasks' reference back.
    ///
    /// # Safety
    ///
    /// To be called once, when there is no task and there will be none.
    pub(crate) unsafe fn release(this: NonNull<Self>) {
        // SAFETY: `new` has forgotten one reference, and this is the one.
        drop(unsafe { Arc::from_raw(this.as_ptr()) });
    }

    pub(crate) fn workers(&self) -> usize {
        self.remotes.len()
    }

    /// Whether the workers that are awake leave a core to others.
    pub(crate) fn leaves_a_core(&self) -> bool {
        self.workers() - self.sleep.parked().min(self.workers()) < cores()
    }

    /// How long ago the executor was started.
    pub(crate) fn age(&self) -> Duration {
        self.started.elapsed()
    }

    /// Queues a job from outside. If the executor is closed, its task is
    /// cancelled, here and now.
    pub(crate) fn inject(&self, job: Job) {
        debug_assert_eq!(
            self.process,
            std::process::id(),
            "a forked process has no workers: build an executor there, or call exec"
        );
        match self.injector.push(job) {
            Ok(()) => self.notify_one(),
            Err(refused) => drop_refused([refused]),
        }
    }

    /// As [`inject`](Self::inject), for code that computes.
    pub(crate) fn inject_computation(&self, job: Job) {
        match self.computations.push(job) {
            Ok(()) => self.notify_one(),
            Err(refused) => drop_refused([refused]),
        }
    }

    /// Queues jobs under one lock, and notifies as many workers as can help.
    pub(crate) fn inject_batch(&self, jobs: Vec<Job>) {
        let count = jobs.len();
        match self.injector.push_batch(jobs) {
            Ok(()) => self.notify_many(count),
            Err(refused) => drop_refused(refused),
        }
    }

    /// Notifies a worker of new work, if that is needed.
    #[inline]
    pub(crate) fn notify_one(&self) {
        if let Some(sleeper) = self.sleep.after_push() {
            self.unpark(sleeper);
        }
    }

    /// Notifies as many workers as there is new work for.
    pub(crate) fn notify_many(&self, count: usize) {
        self.sleep
            .after_batch(count, |sleeper| self.unpark(sleeper));
    }

    /// Notifies a worker of work that is left, or of a sentinel that is missing.
    pub(crate) fn notify_of_rest(&self) {
        if self.has_work() || self.sleep.sentinel.is_wanted() {
            if let Some(sleeper) = self.sleep.take_sleeper() {
                self.unpark(sleeper);
            }
        }
    }

    /// Makes sure that someone watches the slots and the driver, if someone can.
    #[inline]
    pub(crate) fn want_sentinel(&self) {
        if let Some(sleeper) = self.sleep.want_sentinel() {
            self.unpark(sleeper);
        }
    }

    #[cold]
    pub(crate) fn unpark(&self, sleeper: Sleeper) {
        let Sleeper(worker) = sleeper;
        current::with(self, |me| {
            if let Some(me) = me {
                me.counters().notifications.add(1);
            }
        });
        match &self.driver {
            Some(seat) if self.sleep.is_in_driver(worker) => seat.wake(),
            _ => self.remotes[worker].unparker.unpark(),
        }
    }

    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        // ORDERING: relaxed; what closing changes is behind locks.
        self.closed.load(Ordering::Relaxed)
    }

    /// Refuses all further jobs and cancels every task.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        drop_refused(self.injector.close());
        drop_refused(self.computations.close());
        self.unpark_all();
        self.stand_in.close();
        // Woken tasks are refused by the injector, or dropped by their worker.
        self.registry.close_all();
    }

    /// Lets all workers look at the flags: each gets a token, which publishes them.
    fn unpark_all(&self) {
        for remote in &self.remotes {
            remote.unparker.unpark();
        }
        if let Some(seat) = &self.driver {
            seat.wake();
        }
    }

    /// Asks for a close as soon as there is nothing left to run.
    pub(crate) fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
        // ORDERING(drain.look): against that of `look_again_if_draining`.
        fence(Ordering::SeqCst);
        self.unpark_all();
    }

    /// Whether the executor is draining, and all workers are parked with nothing to
    /// do. To be asked by a worker that is parked.
    pub(crate) fn is_drained(&self) -> bool {
        let nothing_left = || {
            let idle = |remote: &Remote| {
                remote.ring.is_empty() && remote.slot.is_empty() && remote.pinned.is_empty()
            };
            self.injector.is_empty()
                && self.computations.is_empty()
                && self.remotes.iter().all(idle)
                && self.waiting_inside.load(Ordering::Acquire) == 0
        };
        self.draining.load(Ordering::Relaxed)
            && self
                .sleep
                .all_parked_while(self.running.load(Ordering::Acquire), nothing_left)
    }

    /// After something has ended that a drain waits for, away from the workers.
    pub(crate) fn look_again_if_draining(&self) {
        // ORDERING(drain.look): a worker that `drain` unparks sees the end, or this the drain.
        fence(Ordering::SeqCst);
        if self.draining.load(Ordering::Relaxed) {
            self.unpark_all();
        }
    }

    /// Polls a task once.
    #[inline]
    pub(crate) fn poll(&self, job: Job) {
        coop::refill(self.settings.budget);
        // The future's panics are in its outcome; this is for those of foreign
        // wakers, which must not end the thread either.
        if self.driver.is_none() {
            return ignore_panic(|| job.run());
        }
        let mut job = Some(job);
        let mut poll = || job.take().into_iter().for_each(Job::run);
        self.within_driver(&mut poll);
    }

    /// Polls something as the driver wants it; if that does its duty.
    pub(crate) fn within_driver(&self, poll: &mut dyn FnMut()) {
        match &self.driver {
            None => poll(),
            Some(seat) => seat.poll_scope(poll),
        }
    }

    /// Notes that a worker waits inside a poll, until the guard is dropped.
    pub(crate) fn wait_inside(&self) -> Waiting<'_> {
        self.waiting_inside.fetch_add(1, Ordering::Release);
        Waiting(&self.waiting_inside)
    }

    /// Whether a worker waits inside a poll.
    pub(crate) fn someone_waits_inside(&self) -> bool {
        self.waiting_inside.load(Ordering::Relaxed) > 0
    }

    /// Notes that a worker that waits inside a poll runs no tasks meanwhile, until the
    /// guard is dropped. One has to go on: none if this is the last that could.
    pub(crate) fn wait_aside(&self) -> Option<Waiting<'_>> {
        let running = self.running.load(Ordering::Relaxed);
        let one_more = |aside| (aside + 1 < running).then_some(aside + 1);
        // Nothing but the count is read by others, and each sees the last one.
        let order = Ordering::Relaxed;
        let noted = self.waiting_aside.fetch_update(order, order, one_more);
        // ORDERING(sleep.fence): between the count and the worker's look at its pinned
        // tasks; the light one is in `take_this`.
        asymmetric::heavy();
        noted.ok().map(|_| Waiting(&self.waiting_aside))
    }

    /// Whether a worker may wait without running tasks. To be asked after a push to its
    /// pinned tasks and a fence: either this sees the worker, or the worker the task.
    pub(crate) fn someone_waits_aside(&self) -> bool {
        self.waiting_aside.load(Ordering::Relaxed) > 0
    }

    /// A worker has ended, with empty queues.
    pub(crate) fn worker_ended(&self) {
        // ORDERING: acquire and release; the counters of the workers that ended
        // before this one are read below.
        if self.running.fetch_sub(1, Ordering::AcqRel) != 1 {
            // A drain waits for all those that are left.
            return self.look_again_if_draining();
        }
        if !self.is_closed() {
            // Its host gave up: nobody runs anything any more.
            self.close();
        }
        if self.population.unite() {
            // SAFETY: no worker is left, and no task.
            unsafe { Self::release(NonNull::from(self)) };
        }
    }
}

/// Counts a worker that waits, until it is dropped.
pub(crate) struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}

/// How many cores there are, at the first call: asking the system takes 20 µs and more.
fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, NonZero::get))
}
