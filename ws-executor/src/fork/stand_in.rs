//! The stand-in: a thread that polls tasks while all workers are in joins.
//!
//! # The problem
//!
//! A worker that enters a join hands its tasks over to others, and polls none before it is
//! done. If all workers are in joins, or in computations, nobody is left: a task that is
//! woken waits for as long as the longest of them takes, and so does the driver. To poll
//! tasks on top of a join would not do: a task may take a lock that the join below holds.
//!
//! # The idea
//!
//! One more thread, that sleeps unless workers are in joins and none is parked, and then
//! looks up now and then ([`STAND_IN_PERIOD`]). If no worker has begun a poll since its last look, it turns
//! the driver and polls what is due, wherever it is queued. So while the workers compute,
//! a task waits for a period or two, and for the system to give the thread a core.
//!
//! It is no worker: it has no queues. What is spawned or woken there goes to the injector,
//! a `join` goes to the workers, and a `block_on` just waits. When one of these two has to
//! wait there, the thread is *relieved*: another one takes its place, and it ends after
//! that poll. There are [`MOST`] at a time; while tasks keep them all, others wait for a
//! worker. Tasks that are pinned to a worker, and computations, are not for it.
//!
//! The thread is started when it is needed for the first time, with the hooks of the
//! workers and the number that comes after theirs; if these are hosted, their host runs it,
//! too ([`HostedWorker::is_spare`]). If the system or the host refuses it, tasks wait.
//!
//! # Why it does not oversleep
//!
//! That is the business of [`Slumber`]. What there is to watch is that a worker is in a
//! join.

use std::cell::RefCell;
use std::sync::Arc;
// Not the shim's: under the model checkers there is no stand-in.
use std::thread;
use std::time::Duration;

use ws_core::sync::slumber::{ABSENT, Answer, GONE, Slumber};
use ws_core::sync::{Mutex, MutexGuard, thread_local};
use ws_core::{Park, ThreadParker, ThreadUnparker, Unpark, ring};

use crate::context;
use crate::handle::Handle;
use crate::shared::{Remote, Shared};
use crate::task::contain::{contain, drop_payload, ignore_panic};
use crate::task::job::Job;
use crate::threads::{Orders, Progress};
use crate::tuning::{STAND_IN, STAND_IN_PERIOD};
use crate::worker::counters::Counter;
use crate::worker::hosted::HostedWorker;

/// How many threads there may be, all but one of them relieved. Not measured: enough for
/// a few tasks that compute in their polls, where they should not.
const MOST: usize = 8;

/// How many looks without anything to do end a watch. Not measured.
const QUIET: u32 = 4;

/// How many polls before the next look whether a worker is back. Not measured.
const BATCH: u64 = 16;

thread_local! {
    /// The executor that this thread is the stand-in of, until it is relieved.
    static STANDING_IN_FOR: RefCell<Option<Arc<Shared>>> = const { RefCell::new(None) };
}

/// The calling thread is about to wait: if it is a stand-in, another takes its place.
pub(crate) fn relieve() {
    let shared = STANDING_IN_FOR.try_with(|shared| shared.take());
    if let Some(shared) = shared.ok().flatten() {
        shared.stand_in.start(&shared);
    }
}

fn is_relieved() -> bool {
    STANDING_IN_FOR.with(|shared| shared.borrow().is_none())
}

/// The stand-in, as the workers see it.
pub(crate) struct StandIn {
    slumber: Slumber,
    threads: Mutex<Threads>,
    progress: Progress,
    /// Written by the one that watches.
    pub(crate) polls: Counter,
}

struct Threads {
    /// How they are to be started; none when the executor is closed.
    orders: Option<Orders>,
    list: Vec<Thread>,
    /// How many have been started in all.
    started: usize,
}

struct Thread {
    handle: thread::JoinHandle<()>,
    unparker: ThreadUnparker,
}

impl StandIn {
    pub(crate) fn new(orders: Orders) -> Self {
        Self {
            slumber: Slumber::new(ABSENT),
            threads: Mutex::new(Threads {
                orders: Some(orders).filter(|_| STAND_IN),
                list: Vec::new(),
                started: 0,
            }),
            progress: Progress::default(),
            polls: Counter::default(),
        }
    }

    fn threads(&self) -> MutexGuard<'_, Threads> {
        self.threads.lock().expect("never poisoned")
    }

    /// After a worker has said that it is in a join, and nobody is parked: makes sure that
    /// someone watches.
    pub(crate) fn call(&self, shared: &Arc<Shared>) {
        match self.slumber.call() {
            Answer::Awake => {}
            Answer::WasAsleep => self.unpark(),
            Answer::WasAbsent => self.start(shared),
        }
    }

    fn unpark(&self) {
        // Those that are relieved do not mind.
        for thread in &self.threads().list {
            thread.unparker.unpark();
        }
    }

    /// Starts a thread that watches; the state is `AWAKE` already.
    fn start(&self, shared: &Arc<Shared>) {
        let mut threads = self.threads();
        threads.list.retain(|thread| !thread.handle.is_finished());
        let Some(orders) = threads.orders.clone() else {
            return self.slumber.set(GONE);
        };
        if threads.list.len() == MOST {
            return self.slumber.set(ABSENT);
        }
        let parker = ThreadParker::new();
        let unparker = parker.unparker();
        let mut builder = thread::Builder::new().name("ws-stand-in".to_owned());
        if let Some(size) = orders.stack_size {
            builder = builder.stack_size(size);
        }
        let life = {
            let shared = Arc::clone(shared);
            move || live(&shared, &orders, parker)
        };
        match builder.spawn(life) {
            Ok(handle) => {
                threads.list.push(Thread { handle, unparker });
                threads.started += 1;
            }
            Err(_) => self.slumber.set(ABSENT),
        }
    }

    /// The executor is closed: lets the threads see it, and no other begin.
    pub(crate) fn close(&self) {
        let orders = self.threads().orders.take();
        // The hooks are the user's.
        ignore_panic(|| drop(orders));
        self.unpark();
    }

    /// Whether the calling thread is a stand-in.
    pub(crate) fn is_current(&self) -> bool {
        let me = thread::current().id();
        let is_me = |thread: &Thread| thread.handle.thread().id() == me;
        self.threads().list.iter().any(is_me)
    }

    /// After `close`: waits until all threads have ended, or not much longer than `timeout`.
    pub(crate) fn wait_timeout(&self, timeout: Duration) -> bool {
        let started = self.threads().started;
        self.progress.wait_for_end(started, timeout)
    }

    /// After `close`: waits for the threads.
    pub(crate) fn join(&self) {
        let list = std::mem::take(&mut self.threads().list);
        for thread in list {
            if let Err(payload) = thread.handle.join() {
                drop_payload(payload);
            }
        }
    }
}

/// The life of a thread.
fn live(shared: &Arc<Shared>, orders: &Orders, parker: ThreadParker) {
    let number = shared.workers();
    let started = contain(|| orders.on_start.iter().for_each(|hook| hook(number)));
    // After the hook: that may wait, and is no task to be relieved of.
    STANDING_IN_FOR.with(|standing| standing.replace(Some(Arc::clone(shared))));
    match started {
        Ok(()) => {
            let own = Arc::clone(shared);
            let watch = move || Watch::new(&own, &parker).run();
            match (&orders.host, &shared.driver) {
                (Some(host), _) => ignore_panic(|| host(HostedWorker::spare(watch))),
                (None, Some(seat)) => {
                    let mut watch = Some(watch);
                    seat.enter(&mut || watch.take().into_iter().for_each(|watch| watch()));
                }
                (None, None) => watch(),
            }
        }
        Err(payload) => drop_payload(payload),
    }
    if STANDING_IN_FOR.with(|standing| standing.take()).is_some() {
        // It ends of its own accord: the executor is closed, or a hook is broken.
        shared.stand_in.slumber.set(GONE);
    }
    ignore_panic(|| orders.on_stop.iter().for_each(|hook| hook(number)));
    shared.stand_in.progress.report_end();
}

/// What the stand-in remembers between two looks.
struct Watch<'a> {
    shared: &'a Arc<Shared>,
    parker: &'a ThreadParker,
    handle: Handle,
    /// How many polls each worker had begun.
    polls: Box<[u64]>,
    /// For the type's sake: one task is stolen at a time, and it stays empty.
    ring: ring::Owner<Job>,
}

impl<'a> Watch<'a> {
    fn new(shared: &'a Arc<Shared>, parker: &'a ThreadParker) -> Self {
        Self {
            shared,
            parker,
            handle: Handle::new(Arc::clone(shared)),
            polls: vec![u64::MAX; shared.workers()].into(),
            ring: ring::new().0,
        }
    }

    fn run(&mut self) {
        let (shortest, longest) = STAND_IN_PERIOD;
        let (mut quiet, mut period) = (0, shortest);
        while !self.shared.is_closed() && !is_relieved() {
            self.parker.park_timeout(period);
            let polled = self.nobody_polls() && self.poll_what_is_due();
            period = if polled {
                shortest
            } else {
                (period * 2).min(longest)
            };
            quiet = if self.shared.someone_forks() {
                0
            } else {
                quiet + 1
            };
            if quiet >= QUIET && !is_relieved() {
                self.sleep();
                quiet = 0;
            }
        }
    }

    /// Whether no worker is parked, and none has begun a poll since the last look.
    fn nobody_polls(&mut self) -> bool {
        let mut same = !self.shared.sleep.someone_parked();
        for (seen, remote) in self.polls.iter_mut().zip(&self.shared.remotes) {
            let now = remote.counters.polls.get();
            same &= *seen == now;
            *seen = now;
        }
        same
    }

    /// Sleeps until it is called, or the executor is closed.
    fn sleep(&self) {
        let slumber = &self.shared.stand_in.slumber;
        slumber.fall_asleep(|| self.shared.someone_forks());
        while slumber.is_asleep() && !self.shared.is_closed() {
            self.parker.park();
        }
    }

    /// Returns whether anything was.
    fn poll_what_is_due(&mut self) -> bool {
        self.turn_driver();
        let before = self.shared.stand_in.polls.get();
        {
            // A drain waits for what is under way here.
            let _inside = self.shared.wait_inside();
            while let Some(job) = self.next_due() {
                // Before the poll: after it, another one may be at it.
                let polls = &self.shared.stand_in.polls;
                polls.add(1);
                let due = polls.get() % BATCH == 0;
                context::within(Some(self.handle.clone()), || self.shared.poll(job));
                if self.shared.is_closed() || is_relieved() || (due && !self.nobody_polls()) {
                    break;
                }
                if due {
                    // Tasks that yield are due again and again.
                    self.turn_driver();
                }
            }
        }
        self.shared.look_again_if_wanted();
        if self.shared.is_closed() {
            // What was pending in the last poll may come after all workers' ends.
            self.shared.drop_waiting();
        }
        self.shared.stand_in.polls.get() != before
    }

    fn turn_driver(&self) {
        let Some(seat) = self.shared.driver.as_ref().filter(|seat| seat.take()) else {
            return;
        };
        // What it wakes goes to the injector.
        seat.turn(Some(Duration::ZERO));
        seat.leave();
        // A worker that parked meanwhile did so in its parker, and nobody turns the driver
        // while it is parked. One that is awake looks at the driver before it parks, or at
        // S3 if it finds a task instead.
        self.shared.notify_one();
    }

    /// A task that is due, wherever it is queued; each time another place comes first. What
    /// yields goes to the injector, and must not keep the others waiting.
    fn next_due(&self) -> Option<Job> {
        let shared = self.shared;
        let turn = shared.stand_in.polls.get() as usize;
        let start = turn / 2;
        let injected = || shared.injector.pull(start);
        let queued = || {
            let workers = shared.workers();
            let remotes = || {
                let from_here = shared.remotes.iter().cycle().skip(start % workers);
                from_here.take(workers)
            };
            remotes()
                .find_map(|remote| remote.slot.take())
                .or_else(|| remotes().find_map(|remote| self.steal(remote)))
        };
        if turn % 2 == 0 {
            injected().or_else(queued)
        } else {
            queued().or_else(injected)
        }
    }

    fn steal(&self, remote: &Remote) -> Option<Job> {
        remote.ring.steal_into_limited(&self.ring, 1).success()
    }
}
