//! The monitor: it does not sleep while a worker is awake that may leave a task behind.
//!
//! The owner is the worker or the pusher, the thief the monitor that falls asleep. What the
//! monitor looks at before it sleeps is written here once more, as `Snapshot` in
//! `monitor/look.rs` has it; what it does, and what a caller does, is the real source.

use loom::sync::Arc;
use loom::sync::atomic::Ordering::Relaxed;
use loom::sync::atomic::{AtomicBool, AtomicUsize};
use ws_core::slot::{self, Stealer};
use ws_executor::model::{MonitorCall, MonitorState, Parking, Searching, Sleep, Sleeper};

use super::exec_kit::{Jobs, is_notified, searching, sleep};
use super::items::{Item, Ledger};
use super::model::Bound::{Exhaustive, Preemptions};
use super::model::{Body, Expect, Main, Model, beat};
use super::sleep::Bell;

pub(crate) const MODELS: &[Model] = &[
    Model {
        name: "exec.monitor.cancel",
        shows: "a worker does not park after all and pushes quietly: the monitor stays awake, or is called",
        flaws: &[18],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(cancel, [1_600, 1_300]),
    },
    Model {
        name: "exec.monitor.cancel_with_work",
        shows: "the same with a worker that has woken up for a task of its own",
        flaws: &[18],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(cancel_with_work, [1_600, 1_300]),
    },
    Model {
        name: "exec.monitor.wake_up",
        shows: "the same with a worker that a third one has notified",
        flaws: &[18],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(wake_up, [4_400, 4_300]),
    },
    Model {
        name: "exec.monitor.call_unparks",
        shows: "a worker calls while the monitor goes to sleep: that one wakes",
        flaws: &[18],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(call_unparks, [2_700, 2_500]),
    },
    Model {
        name: "exec.monitor.park_again",
        shows: "a worker pushes quietly, runs that, and parks: the monitor need not stay awake, no task is left",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(park_again, [3_100, 2_300]),
    },
    Model {
        name: "exec.monitor.push",
        shows: "a push from outside finds the only worker kept: the monitor stays awake, or is called",
        flaws: &[18],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(push, [40_000, 26_000]),
    },
    Model {
        name: "exec.monitor.push_of_batch",
        shows: "the same with two tasks at once",
        flaws: &[18],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(push_of_batch, [44_000, 27_000]),
    },
    Model {
        name: "exec.monitor.push_against_park",
        shows: "a push from outside while the only worker parks: it gets the task, or the monitor is awake",
        flaws: &[14, 18],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(push_against_park, [24_000, 21_000]),
    },
    Model {
        name: "exec.monitor.last_searcher",
        shows: "a push relies on the last searcher, and nobody is parked: one of them calls",
        flaws: &[22],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(last_searcher, [2_600, 3_700]),
    },
    Model {
        name: "exec.monitor.last_searcher_beside_leaver",
        shows: "the same while the only parked worker leaves for work of its own",
        flaws: &[22],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(last_searcher_beside_leaver, [10_000, 11_000]),
    },
    Model {
        name: "exec.monitor.two_searchers",
        shows: "a push relies on two searchers, which find other work: somebody calls",
        flaws: &[22],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(two_searchers, [13_000, 20_000]),
    },
    Model {
        name: "exec.monitor.newborn",
        shows: "a push comes before a worker has begun: it relies on that one, which calls",
        flaws: &[22],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(newborn, [27_000, 21_000]),
    },
    Model {
        name: "exec.monitor.nobody",
        shows: "a push that a worker was notified of, or that a searcher is responsible for, calls nobody",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(nobody, [570, 910]),
    },
    Model {
        name: "exec.monitor.two_calls",
        shows: "two call a monitor that sleeps: one of them has to unpark it",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(two_calls, [270, 270]),
    },
    Model {
        name: "exec.monitor.two_first_calls",
        shows: "two call a monitor that is not there: one of them has to start it",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(two_first_calls, [270, 270]),
    },
    Model {
        name: "exec.monitor.refused",
        shows: "the system refuses the thread while another one calls: a later call asks again",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(refused, [220, 190]),
    },
    Model {
        name: "exec.monitor.gone_against_call",
        shows: "the executor is closed while a worker calls: nobody starts or calls a monitor any more",
        flaws: &[18],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(gone_against_call, [280, 330]),
    },
    Model {
        name: "exec.monitor.gone_against_refused",
        shows: "the executor is closed while the system refuses the thread: nobody asks again",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(gone_against_refused, [130, 130]),
    },
    Model {
        name: "exec.monitor.gone_against_sleep",
        shows: "the executor is closed while the monitor falls asleep: its thread ends",
        flaws: &[18],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(gone_against_sleep, [7_600, 10_000]),
    },
    Model {
        name: "exec.monitor.rescue_against_take",
        shows: "the monitor takes a slot's task while its worker does: one of them gets it",
        flaws: &[1],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(rescue_against_take, [47_000, 16_000]),
    },
    Model {
        name: "exec.monitor.rescue_against_evict",
        shows: "the monitor takes a slot's task while its worker puts another in: none is lost",
        flaws: &[1, 2],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(rescue_against_evict, [6_100, 5_900]),
    },
];

/// Workers, the monitor that watches them, and a queue.
pub(crate) struct Watched {
    pub(crate) sleep: Sleep,
    pub(crate) state: MonitorState,
    pub(crate) jobs: Jobs,
    /// Those of the monitor.
    bell: Bell,
    workers: usize,
}

impl Watched {
    fn new(workers: usize, sleep: Sleep, jobs: usize) -> Self {
        Self {
            sleep,
            state: MonitorState::absent(),
            jobs: Jobs::new(jobs),
            bell: Bell::new(),
            workers,
        }
    }

    /// With a monitor that is awake.
    pub(crate) fn awake(workers: usize) -> Arc<Self> {
        let watched = Self::new(workers, sleep(), 0);
        assert_eq!(watched.state.call(), MonitorCall::Start);
        Arc::new(watched)
    }

    /// With a monitor that sleeps, and so many jobs.
    pub(crate) fn asleep(workers: usize, jobs: usize) -> Arc<Self> {
        let watched = Self::new(workers, sleep(), jobs);
        assert_eq!(watched.state.call(), MonitorCall::Start);
        watched.state.fall_asleep(|| false);
        Arc::new(watched)
    }

    /// What makes the monitor stay awake.
    pub(crate) fn has_something_to_watch(&self) -> bool {
        self.sleep.parked() != self.workers || self.jobs.has_some()
    }

    /// M1 to M3.
    fn fall_asleep(&self) {
        self.state.fall_asleep(|| self.has_something_to_watch());
    }

    /// `Monitor::watch`.
    pub(crate) fn watch(&self) {
        self.watch_if(|| true);
    }

    /// `Monitor::watch_if`.
    pub(crate) fn watch_if(&self, is_something_to_watch: impl FnOnce() -> bool) {
        if self.state.needs_call()
            && is_something_to_watch()
            && self.state.call() == MonitorCall::Unpark
        {
            self.bell.ring();
        }
    }

    /// `Shared::watch_if_all_are_awake`.
    fn watch_if_all_are_awake(&self) {
        self.watch_if(|| self.sleep.nobody_is_about());
    }

    /// `Shared::notify_one`, after the push.
    pub(crate) fn notify_one(&self) -> Option<Sleeper> {
        let sleeper = self.sleep.after_push();
        if sleeper.is_none() {
            self.watch_if_all_are_awake();
        }
        sleeper
    }

    /// Steps P1 to P5.
    fn push(&self) -> Option<Sleeper> {
        self.jobs.push(1);
        self.notify_one()
    }

    /// `Shared::stop_searching`.
    pub(crate) fn stop_searching(&self, searching: Searching) {
        let is_last = self.sleep.found_work(searching);
        if is_last && self.jobs.has_some() && self.sleep.take_sleeper().is_some() {
            return;
        }
        self.watch_if(|| self.jobs.has_some());
    }

    /// Whether the monitor watches, at the end.
    pub(crate) fn is_awake(&self) -> bool {
        !self.state.is_asleep() && !self.state.needs_call()
    }
}

/// The only worker, which was parked, is about to run a task, and pushes another one.
fn leave_and_push(
    main: Main,
    leave: impl FnOnce(&Sleep, Parking) + Send + 'static,
) -> (Arc<Watched>, Ledger) {
    let ledger = Ledger::open();
    let watched = Watched::awake(1);
    let parking = watched.sleep.start_parking(0, None);
    let (slot, _) = slot::new();
    let (worker, monitor) = (watched.clone(), watched.clone());
    let (slot, ()) = main.race(
        move || {
            leave(&worker.sleep, parking);
            assert!(slot.push(Item::new(1)).is_none(), "it was empty");
            worker.watch();
            slot
        },
        move || monitor.fall_asleep(),
    );
    drop(slot);
    (watched, ledger)
}

fn cancel(main: Main) {
    let (watched, ledger) = leave_and_push(main, |sleep, parking| {
        // The last one would fence.
        let _other = searching(sleep);
        let searching = sleep.cancel_parking(parking);
        let searching = searching.expect("no one else takes it out of the table");
        assert!(!sleep.found_work(searching), "it is not the last one");
    });
    assert!(watched.is_awake(), "nobody watches the task");
    ledger.close();
}

fn cancel_with_work(main: Main) {
    let (watched, ledger) = leave_and_push(main, |sleep, parking| {
        let cancelled = sleep.cancel_parking_with_work(parking);
        assert!(cancelled.is_ok(), "no one else takes it out of the table");
    });
    assert!(watched.is_awake(), "nobody watches the task");
    ledger.close();
}

/// It looks twice whether it was notified.
fn wake_up(main: Main) {
    let watched = Watched::awake(1);
    let mut parking = watched.sleep.start_parking(0, None);
    // The last one would fence.
    let _other = searching(&watched.sleep);
    let (worker, monitor, taker) = (watched.clone(), watched.clone(), watched.clone());
    let (is_out, (), _) = main.race_two(
        move || {
            for _ in 0..2 {
                match worker.sleep.wake_up(parking) {
                    Ok(searching) => {
                        assert!(
                            !worker.sleep.found_work(searching),
                            "it is not the last one"
                        );
                        worker.watch();
                        return true;
                    }
                    Err(still) => parking = still,
                }
            }
            false
        },
        move || monitor.fall_asleep(),
        move || taker.sleep.take_this(0),
    );
    assert!(!is_out || watched.is_awake(), "nobody watches the worker");
}

fn call_unparks(main: Main) {
    let watched = Watched::awake(1);
    let parking = watched.sleep.start_parking(0, None);
    let (worker, monitor) = (watched.clone(), watched.clone());
    main.race(
        move || {
            let cancelled = worker.sleep.cancel_parking_with_work(parking);
            assert!(cancelled.is_ok(), "no one else takes it out of the table");
            worker.watch();
        },
        // `sleep` of `monitor/thread.rs`.
        move || {
            monitor.fall_asleep();
            while monitor.state.is_asleep() {
                monitor.bell.wait();
            }
        },
    );
    assert!(watched.is_awake(), "nobody watches the worker");
}

fn park_again(main: Main) {
    let ledger = Ledger::open();
    let watched = Watched::awake(1);
    let parking = watched.sleep.start_parking(0, None);
    let (slot, stealer) = slot::new();
    let (worker, monitor) = (watched.clone(), watched.clone());
    let ((slot, parking), ()) = main.race(
        move || {
            let cancelled = worker.sleep.cancel_parking_with_work(parking);
            assert!(cancelled.is_ok(), "no one else takes it out of the table");
            assert!(slot.push(Item::new(1)).is_none(), "it was empty");
            worker.watch();
            drop(slot.take());
            (slot, worker.sleep.start_parking(0, None))
        },
        move || monitor.fall_asleep(),
    );
    assert!(stealer.is_empty(), "the worker sleeps over a task");
    drop((slot, parking));
    ledger.close();
}

/// The only worker leaves the table for a task that keeps it. It was called for that one.
fn kept(watched: &Watched, parking: Parking) -> Result<(), Parking> {
    let searching = watched.sleep.cancel_parking(parking)?;
    watched.stop_searching(searching);
    Ok(())
}

/// Whether somebody runs what was pushed, when all have done what they do.
fn is_seen_to(watched: &Watched, worker: Result<(), Parking>) -> bool {
    let notified = worker.map_or_else(|parking| is_notified(&watched.sleep, parking), |()| false);
    notified || watched.is_awake()
}

fn push(main: Main) {
    let watched = Watched::awake(1);
    let parking = watched.sleep.start_parking(0, None);
    let (pusher, monitor, worker) = (watched.clone(), watched.clone(), watched.clone());
    let (_, (), kept) = main.race_two(
        move || pusher.push(),
        move || monitor.fall_asleep(),
        move || kept(&worker, parking),
    );
    assert!(is_seen_to(&watched, kept), "nobody runs the task");
}

fn push_of_batch(main: Main) {
    let watched = Watched::awake(1);
    let parking = watched.sleep.start_parking(0, None);
    let (pusher, monitor, worker) = (watched.clone(), watched.clone(), watched.clone());
    let ((), (), kept) = main.race_two(
        // `Shared::notify_many`, after the push.
        move || {
            pusher.jobs.push(2);
            pusher.sleep.after_batch(2, |_| ());
            pusher.watch_if_all_are_awake();
        },
        move || monitor.fall_asleep(),
        move || kept(&worker, parking),
    );
    assert!(is_seen_to(&watched, kept), "nobody runs the tasks");
}

/// The worker has done what it was awake for.
fn push_against_park(main: Main) {
    let watched = Watched::awake(1);
    let (pusher, monitor, worker) = (watched.clone(), watched.clone(), watched.clone());
    let (_, (), parked) = main.race_two(
        move || pusher.push(),
        move || monitor.fall_asleep(),
        move || {
            let parking = worker.sleep.start_parking(0, None);
            if worker.jobs.has_some() {
                worker.sleep.cancel_parking(parking)
            } else {
                Err(parking)
            }
        },
    );
    // One that searches finds the task.
    let is_seen_to = parked.map_or_else(|parking| is_notified(&watched.sleep, parking), |_| true);
    assert!(is_seen_to, "nobody runs the task");
}

/// The monitor sleeps, and no worker is parked.
fn last_searcher(main: Main) {
    let watched = Watched::asleep(2, 0);
    let last = searching(&watched.sleep);
    let (searcher, pusher) = (watched.clone(), watched.clone());
    main.race(move || searcher.stop_searching(last), move || pusher.push());
    assert!(watched.is_awake(), "nobody runs the task");
}

/// The monitor sleeps. What worker 1 has woken up for, nobody else was told of.
fn last_searcher_beside_leaver(main: Main) {
    let watched = Watched::asleep(2, 0);
    let last = searching(&watched.sleep);
    let parking = watched.sleep.start_parking(1, None);
    let (searcher, pusher, leaver) = (watched.clone(), watched.clone(), watched.clone());
    let ((), _, left) = main.race_two(
        move || searcher.stop_searching(last),
        move || pusher.push(),
        move || leaver.sleep.cancel_parking_with_work(parking),
    );
    assert!(is_seen_to(&watched, left), "nobody runs the task");
}

fn two_searchers(main: Main) {
    let watched = Watched::asleep(2, 0);
    let [first, second] = [(); 2].map(|()| searching(&watched.sleep));
    let (one, two, pusher) = (watched.clone(), watched.clone(), watched.clone());
    main.race_two(
        move || one.stop_searching(first),
        move || pusher.push(),
        move || two.stop_searching(second),
    );
    assert!(watched.is_awake(), "nobody runs the task");
}

/// There is one job already, and no monitor yet.
fn newborn(main: Main) {
    let workers = 1;
    let watched = Arc::new(Watched::new(workers, Sleep::of_newborn(workers, 8), 1));
    let searching = watched.sleep.newborn();
    let (worker, pusher) = (watched.clone(), watched.clone());
    main.race(
        move || {
            assert!(worker.jobs.pop(), "no one else takes it");
            worker.stop_searching(searching);
        },
        move || {
            let called = pusher.push();
            assert!(called.is_none(), "nobody is parked");
        },
    );
    assert!(watched.is_awake(), "nobody runs the task");
    let more = std::iter::from_fn(|| watched.sleep.start_searching()).take(9);
    assert_eq!(more.count(), 8, "counted wrong");
}

/// Worker 0 stops to search, and worker 1 is parked.
fn nobody(main: Main) {
    let watched = Watched::asleep(2, 0);
    let last = searching(&watched.sleep);
    let parking = watched.sleep.start_parking(1, None);
    let (pusher, worker) = (watched.clone(), watched.clone());
    main.race(
        move || worker.sleep.found_work(last),
        move || {
            let _notified = pusher.push();
            pusher.watch_if_all_are_awake();
        },
    );
    assert!(!watched.is_awake(), "called for nothing");
    drop(parking);
}

/// What two calls at once return.
fn call_twice(main: Main, watched: &Arc<Watched>) -> (MonitorCall, MonitorCall) {
    let (one, two) = (watched.clone(), watched.clone());
    let calls = main.race(move || one.state.call(), move || two.state.call());
    assert!(watched.is_awake(), "it was called");
    calls
}

fn two_calls(main: Main) {
    match call_twice(main, &Watched::asleep(1, 0)) {
        (MonitorCall::Unpark, MonitorCall::Nothing)
        | (MonitorCall::Nothing, MonitorCall::Unpark) => {}
        calls => panic!("one sleeper, but {calls:?}"),
    }
}

fn two_first_calls(main: Main) {
    match call_twice(main, &Arc::new(Watched::new(1, sleep(), 0))) {
        (MonitorCall::Start, MonitorCall::Nothing) | (MonitorCall::Nothing, MonitorCall::Start) => {
        }
        calls => panic!("one monitor, but {calls:?}"),
    }
}

fn refused(main: Main) {
    let watched = Watched::awake(1);
    let (starter, caller) = (watched.clone(), watched.clone());
    let ((), call) = main.race(
        move || starter.state.set_absent(),
        move || caller.state.call(),
    );
    match call {
        MonitorCall::Start => assert!(watched.is_awake(), "it is being started"),
        MonitorCall::Nothing => assert_eq!(
            watched.state.call(),
            MonitorCall::Start,
            "nobody asks again"
        ),
        MonitorCall::Unpark => panic!("there is nobody to unpark"),
    }
}

fn gone_against_call(main: Main) {
    let watched = Watched::asleep(1, 0);
    let (closer, caller) = (watched.clone(), watched.clone());
    let _calls = main.race(move || closer.state.set_gone(), move || caller.state.call());
    assert!(!watched.state.needs_call(), "it is gone");
    assert_eq!(watched.state.call(), MonitorCall::Nothing, "it is gone");
}

fn gone_against_refused(main: Main) {
    let watched = Watched::awake(1);
    let (closer, starter) = (watched.clone(), watched.clone());
    main.race(
        move || closer.state.set_gone(),
        move || starter.state.set_absent(),
    );
    assert!(!watched.state.needs_call(), "it is gone");
}

fn gone_against_sleep(main: Main) {
    let watched = Watched::awake(1);
    let closed = Arc::new(AtomicBool::new(false));
    let (closer, monitor) = (watched.clone(), watched.clone());
    let seen = closed.clone();
    main.race(
        // `Shared::close` and `Monitor::close`.
        move || {
            closed.store(true, Relaxed);
            closer.state.set_gone();
            closer.bell.ring();
        },
        // `run` of `monitor/thread.rs`.
        move || {
            while !seen.load(Relaxed) {
                monitor.state.fall_asleep(|| seen.load(Relaxed));
                while monitor.state.is_asleep() {
                    monitor.bell.wait();
                }
                // `clock::sleep`.
                loom::thread::yield_now();
            }
        },
    );
}

/// What the monitor does with a slot: two looks in the same poll, then it takes.
fn rescue(slot: &Stealer<Item>, polls: &AtomicUsize) -> Option<usize> {
    let mark = (!slot.is_empty()).then(|| polls.load(Relaxed))?;
    beat();
    if slot.is_empty() || polls.load(Relaxed) != mark {
        return None;
    }
    slot.take().map(Item::take)
}

fn rescue_against_take(main: Main) {
    let ledger = Ledger::open();
    let (slot, stealer) = slot::new();
    let polls = Arc::new(AtomicUsize::new(0));
    let seen = polls.clone();
    let (taken, rescued) = main.race(
        move || {
            assert!(slot.push(Item::new(1)).is_none(), "it was empty");
            beat();
            // The poll is over.
            polls.store(1, Relaxed);
            slot.take().map(Item::take)
        },
        move || rescue(&stealer, &seen),
    );
    assert!(taken.is_some() != rescued.is_some(), "one of them gets it");
    ledger.close();
}

fn rescue_against_evict(main: Main) {
    let ledger = Ledger::open();
    let (slot, stealer) = slot::new();
    assert!(slot.push(Item::new(1)).is_none(), "it was empty");
    let polls = Arc::new(AtomicUsize::new(0));
    let seen = polls.clone();
    let ((slot, evicted), rescued) = main.race(
        move || {
            let evicted = slot.push(Item::new(2)).map(Item::take);
            polls.store(1, Relaxed);
            (slot, evicted)
        },
        move || rescue(&stealer, &seen),
    );
    assert!(evicted.is_some() || rescued.is_some(), "the first is lost");
    drop(slot);
    ledger.close();
}
