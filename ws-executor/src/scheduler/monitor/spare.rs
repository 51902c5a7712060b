//! Spare threads: they poll tasks while every worker is kept by a poll or a join.
//!
//! # The problem
//!
//! A worker in a join polls no tasks: a task may take a lock that the join below holds. A
//! worker in a poll that blocks polls none either. If every worker is in one or the other, a
//! task that is woken waits until the first of them is back, and so does the driver.
//!
//! # The idea
//!
//! The [monitor](super) sees that no worker is parked, and that none has begun a poll since its
//! last look. Then it rouses a spare thread for one *round*. In a round, the thread turns the
//! driver, and polls what is due, wherever it is queued, until nothing is due or a worker is
//! back. If a task keeps that thread as well, the monitor rouses another one, up to
//! [`Builder::spares`](crate::Builder::spares).
//!
//! A spare thread is not a worker: it has no queues. A task that is spawned or woken there goes
//! to the injector, a `join` goes to the workers, and a `block_on` just waits. A spare thread
//! takes no tasks that are pinned to a worker, and no computations.
//!
//! A thread is started when it is needed for the first time. It calls the hooks of the workers,
//! with the number that comes after theirs. If the workers are hosted, their host runs these
//! threads, too ([`HostedWorker::is_spare`]). If the system or the host refuses them, tasks
//! wait.

use std::sync::{Arc, Weak};
use std::time::Duration;

use ws_core::sync::atomic::Ordering;
use ws_core::sync::thread;
use ws_core::{Park, ThreadParker};

use super::spares::{Round, StartSpare};
use super::started::Started;
use crate::base::panics::{contain, drop_payload, ignore_panic};
use crate::scheduler::context;
use crate::scheduler::shared::{Job, Remote, Shared};
use crate::scheduler::threads::ThreadConfig;
use crate::scheduler::worker::hosted::HostedWorker;

/// How many polls a thread begins before it looks whether a worker is back. Not measured.
const BATCH: u64 = 16;

/// What starts such a thread.
pub(crate) fn starter(shared: Weak<Shared>, config: ThreadConfig) -> StartSpare {
    Box::new(move |round| {
        // The monitor's thread has a reference to the executor's state.
        let shared = shared.upgrade().expect("the caller has a reference");
        let parker = ThreadParker::new();
        let unparker = parker.unparker();
        let mut builder = thread::Builder::new().name("ws-spare".to_owned());
        if let Some(size) = config.stack_size {
            builder = builder.stack_size(size);
        }
        let (config, round) = (config.clone(), Arc::clone(round));
        let handle = builder.spawn(move || live(&shared, &config, &round, parker))?;
        Ok(Started { handle, unparker })
    })
}

/// A thread's main function.
fn live(shared: &Arc<Shared>, config: &ThreadConfig, round: &Arc<Round>, parker: ThreadParker) {
    let number = shared.workers();
    match contain(|| config.on_start.iter().for_each(|hook| hook(number))) {
        Ok(()) => {
            let (own, round) = (Arc::clone(shared), Arc::clone(round));
            let life = move || SpareLife::new(&own, &round).run(&parker);
            match (&config.host, &shared.driver) {
                (Some(host), _) => ignore_panic(|| host(HostedWorker::spare(life))),
                (None, Some(driver)) => {
                    let mut life = Some(life);
                    driver.enter(&mut || life.take().into_iter().for_each(|life| life()));
                }
                (None, None) => life(),
            }
        }
        Err(payload) => drop_payload(payload),
    }
    round.is_over.store(true, Ordering::Relaxed);
    if !shared.is_closed() {
        // A hook has panicked, or the host does not poll: the next thread would do no better.
        shared.monitor.spares.start_no_more();
    }
    ignore_panic(|| config.on_stop.iter().for_each(|hook| hook(number)));
    shared.report_end(&shared.monitor.spares.progress);
}

struct SpareLife<'a> {
    shared: &'a Arc<Shared>,
    round: &'a Round,
    /// How many polls each worker had begun at the last look.
    polls: Box<[u64]>,
}

impl<'a> SpareLife<'a> {
    fn new(shared: &'a Arc<Shared>, round: &'a Round) -> Self {
        Self {
            shared,
            round,
            polls: vec![0; shared.workers()].into(),
        }
    }

    fn run(mut self, parker: &ThreadParker) {
        self.round.has_begun.store(true, Ordering::Relaxed);
        while !self.shared.is_closed() {
            if !self.round.is_on.load(Ordering::Relaxed) {
                parker.park();
                continue;
            }
            self.do_round();
            // ORDERING(spare.round): release side.
            self.round.is_on.store(false, Ordering::Release);
        }
    }

    /// Turns the driver, and polls what is due.
    fn do_round(&mut self) {
        self.look_at_workers();
        self.turn_driver();
        {
            // A drain must wait for what is under way here.
            let _inside = self.shared.wait_inside();
            while let Some(job) = self.next_due() {
                self.round.polls.add(1);
                let is_look_due = self.round.polls.get() % BATCH == 0;
                context::within(Some(Arc::clone(self.shared)), || self.shared.poll(job));
                if self.shared.is_closed() || is_look_due && self.a_worker_is_back() {
                    break;
                }
                if is_look_due {
                    // Tasks that yield are due again and again.
                    self.turn_driver();
                }
            }
        }
        self.shared.look_again_if_wanted();
        if self.shared.is_closed() {
            // A task that was pending in the last poll may be refused after all workers have
            // ended.
            self.shared.drop_waiting();
        }
    }

    /// Whether a worker is parked, or has begun a poll since the last look.
    fn a_worker_is_back(&mut self) -> bool {
        self.look_at_workers() || self.shared.sleep.someone_parked()
    }

    /// Whether a worker has begun a poll since the last look.
    fn look_at_workers(&mut self) -> bool {
        let mut news = false;
        for (seen, remote) in self.polls.iter_mut().zip(&self.shared.remotes) {
            let now = remote.counters.polls.get();
            news |= std::mem::replace(seen, now) != now;
        }
        news
    }

    fn turn_driver(&self) {
        let Some(driver) = self.shared.driver.as_ref().filter(|driver| driver.take()) else {
            return;
        };
        // Tasks that it wakes go to the injector.
        driver.turn(Some(Duration::ZERO));
        driver.leave();
        // A worker that parked meanwhile did so in its parker, and no thread turns the driver
        // while that worker is parked. A worker that is awake looks at the driver before it
        // parks, or at S3 if it finds a task instead.
        self.shared.notify_one();
    }

    /// A task that is due, wherever it is queued. Each call looks at another place first: a
    /// task that yields goes to the injector, and must not keep the others waiting.
    fn next_due(&self) -> Option<Job> {
        let shared = self.shared;
        let turn = self.round.polls.get() as usize;
        let start = turn / 2;
        let injected = || shared.injector.pull(start);
        let queued = || {
            let workers = shared.workers();
            let remotes = || {
                let from_here = shared.remotes.iter().cycle().skip(start % workers);
                from_here.take(workers)
            };
            let slot = |remote: &Arc<Remote>| remote.slot.take();
            let ring = |remote: &Arc<Remote>| remote.ring.steal().success();
            remotes()
                .find_map(slot)
                .or_else(|| remotes().find_map(ring))
        };
        if turn % 2 == 0 {
            injected().or_else(queued)
        } else {
            queued().or_else(injected)
        }
    }
}
