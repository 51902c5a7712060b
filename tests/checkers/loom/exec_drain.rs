//! Whether all workers are idle: asked by one that sleeps, while others come and go.
//!
//! The owner is the worker that runs a job, the thief the one that asks.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

use loom::sync::Arc;
use loom::sync::atomic::AtomicUsize;
use ws_executor::model::{Injector, Inside, Parking, Quiet, Searching, Sleep, Sleeper};

use super::exec_kit::{searching, sleep};
use super::items::{Item, Ledger};
use super::model::Bound::{Exhaustive, Preemptions};
use super::model::{Body, Expect, Main, Model, beat};
use super::sleep::Bell;

pub(crate) const MODELS: &[Model] = &[
    Model {
        name: "exec.drain.all_parked",
        shows: "of two workers that park at once, one at least sees both parked",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(all_parked, [450, 450]),
    },
    Model {
        name: "exec.drain.cancel",
        shows: "a worker that goes to sleep and comes back for a job is not taken for idle",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(cancel, [10_000, 7_000]),
    },
    Model {
        name: "exec.drain.cancel_with_work",
        shows: "the same for one that comes back for a job of its own",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(cancel_with_work, [4_200, 2_700]),
    },
    Model {
        name: "exec.drain.end_against_ask",
        shows: "something that a drain waits for ends while the drain begins: a worker sees both",
        flaws: &[18],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(end_against_ask, [6_900, 8_400]),
    },
    Model {
        name: "exec.drain.notified",
        shows: "a worker that a third one has notified is not taken for idle",
        flaws: &[],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(notified, [9_600, 8_200]),
    },
    Model {
        name: "exec.drain.child",
        shows: "a worker that runs a job and what that pushes is idle only then",
        flaws: &[],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(child, [1_500, 640]),
    },
    Model {
        name: "exec.drain.pushed_beside_parking",
        shows: "a thread inside pushes a job while a worker parks: it is seen, or the thread is",
        flaws: &[],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(pushed_beside_parking, [8_400, 4_800]),
    },
    Model {
        name: "exec.drain.pushed_beside_waking",
        shows: "the same while a worker comes back: its departure is seen",
        flaws: &[],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(pushed_beside_waking, [29_000, 13_000]),
    },
];

fn all_parked(main: Main) {
    let sleep = Arc::new(sleep());
    let park = |sleep: Arc<Sleep>, worker| {
        move || {
            let parking = sleep.start_parking(worker, None);
            (parking, sleep.all_parked_while(2, || true))
        }
    };
    let (one, two) = main.race(park(sleep.clone(), 0), park(sleep.clone(), 1));
    assert!(one.1 || two.1, "both miss the other one");
}

/// Two workers, of whom number 1 sleeps, and a queue.
struct Office {
    sleep: Sleep,
    jobs: Injector<Item>,
    asleep: Parking,
}

impl Office {
    /// With one job.
    fn new() -> Arc<Self> {
        let sleep = sleep();
        let asleep = sleep.start_parking(1, None);
        let jobs = Injector::new(1);
        assert!(jobs.push(Item::new(1)).is_ok(), "it is open");
        Arc::new(Self {
            sleep,
            jobs,
            asleep,
        })
    }

    /// What worker 1 asks.
    fn is_drained(&self) -> bool {
        let Parking { .. } = self.asleep;
        self.sleep.all_parked_while(2, || self.jobs.is_empty())
    }

    /// Worker 0 gets a job, which is there.
    fn run(&self) {
        assert!(self.jobs.pull(0).is_some(), "no one else takes it");
    }

    /// Worker 0 leaves the table by itself.
    fn come_back(&self, parking: Parking) -> Searching {
        let searching = self.sleep.cancel_parking(parking);
        searching.expect("no one else takes it out of the table")
    }
}

fn cancel(main: Main) {
    let ledger = Ledger::open();
    let office = Office::new();
    let (worker, asking) = (office.clone(), office.clone());
    let (_, drained) = main.race(
        move || {
            let parking = worker.sleep.start_parking(0, None);
            let searching = worker.come_back(parking);
            worker.run();
            searching
        },
        move || asking.is_drained(),
    );
    assert!(!drained, "a worker is running");
    drop(office);
    ledger.close();
}

fn cancel_with_work(main: Main) {
    let ledger = Ledger::open();
    let office = Office::new();
    let (worker, asking) = (office.clone(), office.clone());
    let ((), drained) = main.race(
        move || {
            let parking = worker.sleep.start_parking(0, None);
            let cancelled = worker.sleep.cancel_parking_with_work(parking);
            assert!(cancelled.is_ok(), "no one else takes it out of the table");
            worker.run();
        },
        move || asking.is_drained(),
    );
    assert!(!drained, "a worker is running");
    drop(office);
    ledger.close();
}

/// Two workers, of which one ends and the other one is parked, and a drain.
fn end_against_ask(main: Main) {
    struct Ending {
        quiet: Quiet,
        running: AtomicUsize,
        bell: Bell,
    }
    let ending = Arc::new(Ending {
        quiet: Quiet::default(),
        running: AtomicUsize::new(2),
        bell: Bell::new(),
    });
    let (worker, asking, other) = (ending.clone(), ending.clone(), ending);
    main.race_two(
        // `look_for_quiet`, each time it wakes up.
        move || {
            while !worker.quiet.is_draining() || worker.running.load(Acquire) != 1 {
                worker.bell.wait();
            }
        },
        move || {
            asking.quiet.drain();
            asking.bell.ring();
        },
        // `worker_ended`.
        move || {
            other.running.fetch_sub(1, AcqRel);
            if other.quiet.must_look_again() {
                other.bell.ring();
            }
        },
    );
}

fn notified(main: Main) {
    let ledger = Ledger::open();
    let office = Office::new();
    let mut parking = office.sleep.start_parking(0, None);
    let (worker, asking, taker) = (office.clone(), office.clone(), office.clone());
    let (_, drained, _) = main.race_two(
        move || {
            // It looks twice, and runs nothing if it was not notified by then.
            for _ in 0..2 {
                match worker.sleep.wake_up(parking) {
                    Ok(searching) => {
                        worker.run();
                        return Ok(searching);
                    }
                    Err(still) => parking = still,
                }
            }
            Err(parking)
        },
        move || asking.is_drained(),
        move || taker.sleep.take_this(0),
    );
    assert!(!drained, "a worker is running");
    drop(office);
    ledger.close();
}

/// A worker that asks, and a thread that is no worker: it gets the job, and pushes another one.
struct Beside {
    office: Arc<Office>,
    inside: Inside,
}

impl Beside {
    fn new() -> Arc<Self> {
        let (office, inside) = (Office::new(), Inside::new());
        Arc::new(Self { office, inside })
    }

    /// Returns whom it has to unpark.
    fn poll(&self) -> Option<Sleeper> {
        let _inside = self.inside.enter();
        self.office.run();
        assert!(self.office.jobs.push(Item::new(2)).is_ok(), "it is open");
        self.office.sleep.after_push()
    }

    fn is_drained(&self) -> bool {
        let Parking { .. } = self.office.asleep;
        let sleep = &self.office.sleep;
        sleep.all_parked_while(2, || self.office.jobs.is_empty() && self.inside.is_empty())
    }
}

fn pushed_beside_parking(main: Main) {
    let ledger = Ledger::open();
    let beside = Beside::new();
    let searching = searching(&beside.office.sleep);
    let (worker, asking, pusher) = (beside.clone(), beside.clone(), beside.clone());
    let (parking, drained, sleeper) = main.race_two(
        move || worker.office.sleep.start_parking(0, Some(searching)),
        move || asking.is_drained(),
        move || pusher.poll(),
    );
    assert!(!drained, "there is a job");
    drop((parking, sleeper, beside));
    ledger.close();
}

fn pushed_beside_waking(main: Main) {
    let ledger = Ledger::open();
    let beside = Beside::new();
    let parking = beside.office.sleep.start_parking(0, None);
    let (worker, asking, pusher) = (beside.clone(), beside.clone(), beside.clone());
    let (searching, drained, sleeper) = main.race_two(
        move || worker.office.sleep.cancel_parking(parking),
        move || asking.is_drained(),
        move || pusher.poll(),
    );
    assert!(!drained, "there is a job");
    drop((searching, sleeper, beside));
    ledger.close();
}

fn child(main: Main) {
    // Seen by no thread of the model: the order of execution counts.
    static DONE: AtomicBool = AtomicBool::new(false);

    DONE.store(false, Relaxed);
    let ledger = Ledger::open();
    let office = Office::new();
    let parking = office.sleep.start_parking(0, None);
    let (worker, asking) = (office.clone(), office.clone());
    let (parking, ()) = main.race(
        move || {
            let searching = worker.come_back(parking);
            worker.run();
            let more = worker.sleep.found_work(searching);
            assert!(worker.jobs.push(Item::new(2)).is_ok(), "it is open");
            beat();
            worker.run();
            DONE.store(true, Relaxed);
            (worker.sleep.start_parking(0, None), more)
        },
        move || {
            let drained = asking.is_drained();
            assert!(!drained || DONE.load(Relaxed), "a worker is running");
        },
    );
    drop((office, parking));
    ledger.close();
}
