//! What the workers, the handles and the tasks of one executor share.
//!
//! # Memory ordering
//!
//! | edge | release side | acquire side | makes visible |
//! |---|---|---|---|
//! | `shared.running` | a worker that has ended | `is_quiet`; the last worker | that its queues are empty; its counters |
//! | `shared.holding` | a worker that has dropped its tasks | the last one | what the others have dropped |
//!
//! What a shutdown does, and in which order, is in [`refused`]; what a drain waits for, in
//! [`quiet`](crate::quiet).

use std::num::NonZero;
use std::ptr::NonNull;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use ws_core::Unpark;
use ws_core::chase_lev::{self, Uneven};
use ws_core::sync::CachePadded;
use ws_core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use ws_core::{ring, slot};

use crate::clock::Instant;
use crate::coop;
use crate::driver::{DriverHandoff, DriverSeat, VisitorHost};
use crate::fork::job::Fork;
use crate::injector::Injector;
use crate::inside::{Inside, StayingInside};
use crate::monitor::Monitor;
use crate::quiet::Quiet;
use crate::refused::{self, Refused};
use crate::sleep::{Searching, Sleep, Sleeper};
use crate::task::contain::ignore_panic;
use crate::task::home::Population;
use crate::task::job::Job;
use crate::task::registry::Registry;
use crate::threads::Progress;
use crate::worker::counters::Counters;
use crate::worker::{Worker, current};

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
    /// Jobs that the closed executor has refused.
    pub(crate) refused: Arc<Refused<Job>>,
    /// What other threads may do with each worker.
    pub(crate) remotes: Box<[Remote]>,
    pub(crate) driver: Option<DriverSeat>,
    /// What runs the futures of `block_on` on threads that are not workers.
    pub(crate) visitors: Option<VisitorHost>,
    pub(crate) monitor: Monitor,
    pub(crate) settings: Settings,
    started: Instant,
    /// The process that has the workers; a forked process has none.
    process: u32,
    /// Set once, never cleared.
    closed: AtomicBool,
    /// The threads that wait until nothing is left to run.
    quiet: Quiet,
    /// Workers that wait inside a poll, in a nested `block_on`; spare threads that poll; the
    /// monitor, while it moves tasks.
    inside: Inside,
    /// How many workers have not ended.
    running: AtomicUsize,
    /// How many workers have not dropped their tasks.
    holding: AtomicUsize,
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
    pub(crate) pinned: Injector<Job>,
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
        monitor: impl FnOnce(&Weak<Self>) -> Monitor,
    ) -> Arc<Self> {
        let workers = remotes.len();
        let shared = Arc::new_cyclic(|this| Self {
            injector: Injector::new(workers),
            computations: Injector::new(1),
            // Half of the workers, rounded up: more searchers get into each other's way.
            sleep: Sleep::of_newborn(workers, workers.div_ceil(2)),
            // All of them: a helper has nothing better to do.
            helpers: Sleep::new(workers, workers),
            population: Population::new(workers),
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

    /// Queues the first job of a task from outside. If the executor is closed, the task is
    /// cancelled at once, on this thread.
    pub(crate) fn inject(&self, job: Job) {
        if let Err(refused) = self.try_inject(job) {
            drop(refused);
        }
    }

    /// Queues the job of a task that was woken outside.
    pub(crate) fn inject_woken(&self, job: Job) {
        if let Err(refused) = self.try_inject(job) {
            self.refuse([refused]);
        }
    }

    /// Queues a job from outside, or gives it back if the executor is closed.
    fn try_inject(&self, job: Job) -> Result<(), Job> {
        debug_assert_eq!(
            self.process,
            std::process::id(),
            "a forked process has no workers: build an executor there, or call exec"
        );
        self.injector.push(job)?;
        self.notify_one();
        Ok(())
    }

    /// As [`inject`](Self::inject), for code that computes.
    pub(crate) fn inject_computation(&self, job: Job) {
        match self.computations.push(job) {
            Ok(()) => self.notify_one(),
            Err(refused) => drop(refused),
        }
    }

    /// Queues jobs under one lock, and notifies as many workers as can help. Gives the jobs
    /// back if the executor is closed.
    pub(crate) fn inject_batch(&self, jobs: Vec<Job>) -> Result<(), Vec<Job>> {
        let count = jobs.len();
        self.injector.push_batch(jobs)?;
        self.notify_many(count);
        Ok(())
    }

    /// Leaves jobs that were woken to a thread that shuts down; see [`refused`].
    #[cold]
    pub(crate) fn refuse(&self, jobs: impl IntoIterator<Item = Job>) {
        let line = refused::line_of(&self.refused);
        self.queue_refused(line, jobs.into_iter().collect());
    }

    /// Leaves jobs that were in a queue to any thread that shuts down.
    pub(crate) fn refuse_queued(&self, jobs: Vec<Job>) {
        self.queue_refused(None, jobs);
    }

    fn queue_refused(&self, line: Option<usize>, jobs: Vec<Job>) {
        let must_look = self.refused.push(line, jobs);
        // A worker that waits inside a poll may wait for one of them. If that worker has looked
        // at the queue before, its count is visible through the lock.
        if must_look && self.someone_waits_inside() {
            self.unpark_all();
        }
    }

    /// Notifies a worker of new work, if that is needed.
    #[inline]
    pub(crate) fn notify_one(&self) {
        match self.sleep.after_push() {
            Some(sleeper) => self.unpark(sleeper),
            None => self.watch_if_all_are_awake(),
        }
    }

    /// Notifies as many workers as there is new work for.
    pub(crate) fn notify_many(&self, count: usize) {
        self.sleep
            .after_batch(count, |sleeper| self.unpark(sleeper));
        self.watch_if_all_are_awake();
    }

    /// After P2: calls the monitor if no worker searches or is parked. Then all workers may be
    /// kept by their polls.
    #[inline]
    fn watch_if_all_are_awake(&self) {
        self.monitor.watch_if(|| self.sleep.nobody_is_about());
    }

    /// Notifies any parked worker, for no particular task. Returns whether there is one.
    pub(crate) fn notify_idle(&self) -> bool {
        let sleeper = self.sleep.take_sleeper();
        let is_some = sleeper.is_some();
        sleeper.into_iter().for_each(|it| self.unpark(it));
        is_some
    }

    /// Steps S1 to S3: stops searching. Notifies a worker of work that is left, or of a driver
    /// that was left. If no worker is parked, the monitor must watch.
    pub(crate) fn stop_searching(&self, searching: Searching) {
        let driver = self.driver.as_ref();
        if self.sleep.found_work(searching) {
            let is_wanted = self.has_work() || driver.is_some_and(DriverSeat::wants_a_worker);
            if is_wanted && self.notify_idle() {
                return;
            }
        }
        // Pushers may have relied on the last searcher. A worker that was parked may have left
        // the table by itself since, for work of its own. And the driver may have been free so
        // far, or a spare thread may have left it.
        let is_left = || driver.is_some_and(DriverSeat::wants_watching);
        self.monitor.watch_if(|| self.has_work() || is_left());
    }

    /// After a worker has left the driver: makes sure that the driver is not left alone for
    /// long.
    pub(crate) fn hand_off(&self, seat: &DriverSeat) {
        match seat.handoff() {
            DriverHandoff::Off => {}
            DriverHandoff::Monitor => self.monitor.watch(),
            DriverHandoff::Eager => {
                let _ = self.notify_idle();
                self.monitor.watch();
            }
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

    /// Refuses all further jobs and cancels every task: steps 1 to 7 of [`refused`].
    pub(crate) fn close(&self) {
        let _closing = self.refused.begin_close();
        self.closed.store(true, Ordering::Relaxed);
        self.refuse_queued(self.injector.close());
        self.refuse_queued(self.computations.close());
        current::with(self, |me| me.into_iter().for_each(Worker::refuse_queued));
        self.unpark_all();
        self.quiet.look_at_end();
        self.monitor.close();
        self.drop_waiting();
    }

    /// Steps 6 and 7: wakes the tasks that wait, so that their jobs are refused, and drops
    /// them. Called by a thread that closes the executor, or has polled its last task after
    /// that.
    pub(crate) fn drop_waiting(&self) {
        self.registry
            .close_all(|waker| refused::drop_woken_by(&self.refused, waker));
        self.refused.look_again();
        self.drop_refused();
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
        self.quiet.drain();
        self.unpark_all();
    }

    /// Blocks until there is no task, or the executor is closed. The executor's own threads
    /// must not call this.
    pub(crate) fn wait_idle(&self) {
        self.quiet.wait(|| self.unpark_all(), || self.is_closed());
    }

    /// Must be called by a worker that is parked: closes the executor if it is drained, and
    /// tells the threads that wait if there is no task.
    #[inline]
    pub(crate) fn act_if_quiet(&self) {
        if self.quiet.is_wanted() {
            self.look_for_quiet();
        }
    }

    #[cold]
    fn look_for_quiet(&self) {
        if self.quiet.is_draining() && !self.is_closed() && self.is_quiet(|| true) {
            return self.close();
        }
        self.quiet
            .tell_if(|| self.is_quiet(|| self.registry.is_empty()));
    }

    /// Whether all workers are parked with nothing to do, and `nobody_waits` holds meanwhile.
    fn is_quiet(&self, nobody_waits: impl FnOnce() -> bool) -> bool {
        let nothing_left = || {
            let idle = |remote: &Remote| {
                remote.ring.is_empty() && remote.slot.is_empty() && remote.pinned.is_empty()
            };
            self.injector.is_empty()
                && self.computations.is_empty()
                && self.remotes.iter().all(idle)
                && self.inside.is_empty()
                && nobody_waits()
        };
        // ORDERING(shared.running): acquire side; a worker that has ended has empty queues.
        let running = self.running.load(Ordering::Acquire);
        self.sleep.all_parked_while(running, nothing_left)
    }

    /// Lets the workers look again, after something has ended away from them that a drain or
    /// `wait_idle` waits for.
    pub(crate) fn look_again_if_wanted(&self) {
        if self.quiet.must_look_again() {
            self.unpark_all();
        }
    }

    /// Polls a task once.
    #[inline]
    pub(crate) fn poll(&self, job: Job) {
        coop::refill(self.settings.budget);
        // The future's panics are in its outcome. This contains those of foreign wakers, which
        // must not end the thread either.
        if self.driver.is_none() {
            return ignore_panic(|| job.run());
        }
        let mut job = Some(job);
        let mut poll = || job.take().into_iter().for_each(Job::run);
        self.within_driver(&mut poll);
    }

    /// Polls something as the driver wants it, if its implementation calls `poll`.
    pub(crate) fn within_driver(&self, poll: &mut dyn FnMut()) {
        match &self.driver {
            None => poll(),
            Some(seat) => seat.poll_scope(poll),
        }
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

    /// Drops what was refused so far. Called by a thread that shuts down.
    pub(crate) fn drop_refused(&self) {
        refused::drop_all(&self.refused);
    }

    /// Step 11: a worker has dropped all its tasks. The last one drops what is left.
    pub(crate) fn drop_last(&self) {
        // ORDERING(shared.holding): both sides.
        if self.holding.fetch_sub(1, Ordering::AcqRel) != 1 {
            return;
        }
        if !self.is_closed() {
            // Its host gave up: no worker is left to run anything.
            self.close();
        }
        refused::drop_until(&self.refused, None, || self.registry.is_finished());
    }

    /// Step 12: drops what is refused until `is_over`, but not much longer than the `limit`.
    /// Returns whether it was over.
    pub(crate) fn drop_until(&self, limit: Option<Duration>, is_over: impl Fn() -> bool) -> bool {
        refused::drop_until(&self.refused, limit, is_over)
    }

    /// Called by a thread that ends, and has nothing left to drop.
    pub(crate) fn report_end(&self, progress: &Progress) {
        progress.report_end();
        self.refused.look_again();
    }

    /// Called when a worker has ended, with empty queues.
    pub(crate) fn worker_ended(self: &Arc<Self>) {
        // ORDERING(shared.running): both sides; the counters of the workers that ended
        // before this one are read below.
        if self.running.fetch_sub(1, Ordering::AcqRel) != 1 {
            // Threads that wait for quiet wait for all workers that are left.
            return self.look_again_if_wanted();
        }
        if self.population.unite() {
            // SAFETY: no worker is left, and no task, and none can be added to a count that is
            // zero; the pointer is that of an `Arc`.
            unsafe { Self::release(as_pointer(self)) };
        }
    }
}

/// The pointer that [`Shared::release`] takes.
pub(crate) fn as_pointer(shared: &Arc<Shared>) -> NonNull<Shared> {
    NonNull::new(Arc::as_ptr(shared).cast_mut()).expect("the pointer of an `Arc` is not null")
}

/// How many cores there were at the first call. The system is asked once, because that takes
/// 20 µs and more.
fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, NonZero::get))
}
