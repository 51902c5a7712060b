//! A worker that goes to sleep, and someone who has work for it.
//!
//! The worker checks the queue, publishes "parked", checks again and sleeps. The
//! notifier pushes, looks at the table of parked workers and wakes one. Each side
//! writes one word and reads the other's: without a fence on both sides, or
//! without the second check, each may miss the other. A lost wake-up shows as
//! loom's deadlock.

use std::marker::PhantomData;

use loom::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use loom::sync::atomic::{AtomicBool, AtomicIsize, AtomicUsize, fence};
use loom::sync::{Arc, Condvar, Mutex};

use super::model::Bound::Exhaustive;
use super::model::{Body, Expect, Main, Model};

const DEADLOCK: Expect = Expect::Fails("deadlock");

pub(crate) const MODELS: &[Model] = &[
    Model {
        name: "sleep.lost_wake_up.no_recheck",
        shows: "a worker that does not look again after publishing sleeps over work",
        flaws: &[14],
        bound: Exhaustive,
        expect: DEADLOCK,
        body: Body::Roles(park_against_push::<NoRecheck>, [0, 0]),
    },
    Model {
        name: "sleep.lost_wake_up.no_worker_fence",
        shows: "publishing and looking again without a fence between",
        flaws: &[14],
        bound: Exhaustive,
        expect: DEADLOCK,
        body: Body::Roles(park_against_push::<NoWorkerFence>, [0, 0]),
    },
    Model {
        name: "sleep.lost_wake_up.no_notifier_fence",
        shows: "pushing and looking at the table without a fence between",
        flaws: &[14],
        bound: Exhaustive,
        expect: DEADLOCK,
        body: Body::Roles(park_against_push::<NoNotifierFence>, [0, 0]),
    },
    Model {
        name: "sleep.park_against_push",
        shows: "publish, fence, look again // push, fence, look: nobody is missed",
        flaws: &[14],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(park_against_push::<Right>, [3_000, 2_500]),
    },
    Model {
        name: "sleep.shutdown.release_acquire",
        shows: "two flags with release and acquire: each side misses the other's",
        flaws: &[18],
        bound: Exhaustive,
        expect: DEADLOCK,
        body: Body::Roles(shutdown_without_fences, [0, 0]),
    },
    Model {
        name: "sleep.shutdown",
        shows: "a fence on both sides: the sleeper is woken or does not sleep",
        flaws: &[18],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(shutdown, [810, 740]),
    },
    Model {
        name: "sleep.timeout.reads_then_clears",
        shows: "a time-out that reads its bit and then clears it races with a claim",
        flaws: &[15],
        bound: Exhaustive,
        expect: Expect::Fails("a counter leaked"),
        body: Body::Roles(timeout_by_reading, [0, 0]),
    },
    Model {
        name: "sleep.timeout",
        shows: "a time-out decides by what its RMW returned",
        flaws: &[15],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(timeout_by_clearing, [120, 120]),
    },
];

/// One token behind a lock: the simplest thing to sleep on.
pub(crate) struct Bell {
    rung: Mutex<bool>,
    woken: Condvar,
}

impl Bell {
    pub(crate) fn new() -> Self {
        Self {
            rung: Mutex::new(false),
            woken: Condvar::new(),
        }
    }

    /// Wakes the waiting thread, or the next one to wait.
    pub(crate) fn ring(&self) {
        *self.rung.lock().unwrap() = true;
        self.woken.notify_one();
    }

    /// Waits until it rings.
    pub(crate) fn wait(&self) {
        let mut rung = self.rung.lock().unwrap();
        while !*rung {
            rung = self.woken.wait(rung).unwrap();
        }
        *rung = false;
    }
}

/// The steps that flaw 14 is about, right unless a type says otherwise.
trait Step: Send + Sync + 'static {
    fn worker_fence() {
        fence(SeqCst);
    }
    fn notifier_fence() {
        fence(SeqCst);
    }
    /// Whether the queue is looked at once more before sleeping.
    fn looks_again(pool: &Pool<Self>) -> bool
    where
        Self: Sized,
    {
        pool.has_work()
    }
}

struct Right;
impl Step for Right {}

struct NoRecheck;
impl Step for NoRecheck {
    fn looks_again(_: &Pool<Self>) -> bool {
        false
    }
}

struct NoWorkerFence;
impl Step for NoWorkerFence {
    fn worker_fence() {}
}

struct NoNotifierFence;
impl Step for NoNotifierFence {
    fn notifier_fence() {}
}

/// One worker; its bit in the table is 1.
struct Pool<S> {
    work: AtomicBool,
    table: AtomicUsize,
    bell: Bell,
    step: PhantomData<S>,
}

impl<S: Step> Pool<S> {
    fn has_work(&self) -> bool {
        self.work.load(Acquire)
    }

    /// The worker: sleeps until there is work.
    fn wait_for_work(&self) {
        while !self.has_work() {
            self.table.fetch_or(1, AcqRel);
            S::worker_fence();
            if S::looks_again(self) {
                self.table.fetch_and(0, AcqRel);
                return;
            }
            self.bell.wait();
        }
    }

    /// The notifier: pushes, and wakes the worker if it is parked.
    fn push(&self) {
        self.work.store(true, Release);
        S::notifier_fence();
        if self.table.load(Relaxed) == 1 && self.table.fetch_and(0, AcqRel) == 1 {
            self.bell.ring();
        }
    }
}

fn park_against_push<S: Step>(main: Main) {
    let pool = Arc::new(Pool::<S> {
        work: AtomicBool::new(false),
        table: AtomicUsize::new(0),
        bell: Bell::new(),
        step: PhantomData,
    });
    let notifier = pool.clone();
    main.race(move || pool.wait_for_work(), move || notifier.push());
}

fn shutdown_without_fences(main: Main) {
    shut_down(main, || {});
}

fn shutdown(main: Main) {
    shut_down(main, || fence(SeqCst));
}

fn shut_down(main: Main, between: fn()) {
    struct Flags {
        shutdown: AtomicBool,
        sleeping: AtomicBool,
        bell: Bell,
    }
    let flags = Arc::new(Flags {
        shutdown: AtomicBool::new(false),
        sleeping: AtomicBool::new(false),
        bell: Bell::new(),
    });
    let closer = flags.clone();
    main.race(
        move || {
            flags.sleeping.store(true, Release);
            between();
            if !flags.shutdown.load(Acquire) {
                flags.bell.wait();
            }
        },
        move || {
            closer.shutdown.store(true, Release);
            between();
            if closer.sleeping.load(Acquire) {
                closer.bell.ring();
            }
        },
    );
}

/// A parked worker: its bit is set, and it is counted.
struct Parked {
    table: AtomicUsize,
    count: AtomicIsize,
}

impl Parked {
    /// Takes the worker out of the table, if it is still there.
    fn claim(&self) {
        if self.table.fetch_and(0, AcqRel) == 1 {
            self.count.fetch_sub(1, AcqRel);
        }
    }
}

fn timeout_by_reading(main: Main) {
    time_out(main, |parked| {
        if parked.table.load(Acquire) == 1 {
            parked.table.fetch_and(0, AcqRel);
            parked.count.fetch_sub(1, AcqRel);
        }
    });
}

fn timeout_by_clearing(main: Main) {
    time_out(main, Parked::claim);
}

/// The worker's time is over while a notifier claims it.
fn time_out(main: Main, leave: fn(&Parked)) {
    let parked = Arc::new(Parked {
        table: AtomicUsize::new(1),
        count: AtomicIsize::new(1),
    });
    let (worker, notifier) = (parked.clone(), parked.clone());
    main.race(move || leave(&worker), move || notifier.claim());
    let count = parked.count.load(Acquire);
    assert_eq!(count, 0, "a counter leaked");
}
