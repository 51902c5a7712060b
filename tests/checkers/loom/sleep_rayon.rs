//! The sleep protocol of rayon, and what seed 001 made of it.
//!
//! A word of counters holds the *jobs event counter* (JEC) and the number of
//! sleepers. A worker that found nothing announces itself by making the counter
//! even, searches once more, and sleeps only if the counter is still the same.
//! Whoever posts a job makes an even counter odd, and wakes a sleeper if the same
//! word counts one. After Josh Stone and Niko Matsakis, rayon-core's
//! `sleep/README.md`.

use std::marker::PhantomData;

use loom::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use loom::sync::atomic::{AtomicBool, AtomicUsize, fence};
use loom::sync::{Arc, Condvar, Mutex};

use super::model::Bound::Exhaustive;
use super::model::{Body, Expect, Main, Model};

const DEADLOCK: Expect = Expect::Fails("deadlock");

pub(crate) const MODELS: &[Model] = &[
    Model {
        name: "sleep.jec.same_move",
        shows: "sleeper and poster both make it odd: the poster's move is no news",
        flaws: &[16],
        bound: Exhaustive,
        expect: DEADLOCK,
        body: Body::Roles(announce_against_post::<SameMove>, [0, 0]),
    },
    Model {
        name: "sleep.jec",
        shows: "the sleeper makes it even, the poster odd: no sleep over a posted job",
        flaws: &[16],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(announce_against_post::<Right>, [1_400, 1_300]),
    },
    Model {
        name: "sleep.wake.looks_before_locking",
        shows: "the sleeper counts itself before its flag is set: the wake is skipped",
        flaws: &[17],
        bound: Exhaustive,
        expect: DEADLOCK,
        body: Body::Roles(announce_against_post::<LooksBeforeLocking>, [0, 0]),
    },
    Model {
        name: "sleep.wake",
        shows: "who takes the lock finds the flag of every sleeper it saw counted",
        flaws: &[17],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(sleep_twice, [89_000, 97_000]),
    },
    Model {
        name: "sleep.latch.weak_cas",
        shows: "a weak CAS that fails for no reason leaves the latch sleepy for ever",
        flaws: &[19],
        bound: Exhaustive,
        expect: Expect::Fails("the latch is not set"),
        body: Body::Roles(latch_by_weak_cas, [0, 0]),
    },
    Model {
        name: "sleep.latch",
        shows: "a strong CAS fails only if the latch is set",
        flaws: &[19],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(latch_by_strong_cas, [1_400, 530]),
    },
];

/// The steps that flaws 16 and 17 are about, right unless a type says otherwise.
trait Step: Send + Sync + Sized + 'static {
    /// Whether a counter has this parity before the sleeper moves it.
    fn sleeper_moves(jec: usize) -> bool {
        jec % 2 == 1
    }
    /// Whether a wake gives up before it takes the lock.
    fn gives_up(_: &Sleep<Self>) -> bool {
        false
    }
}

struct Right;
impl Step for Right {}

/// Flaw 16.
struct SameMove;
impl Step for SameMove {
    fn sleeper_moves(jec: usize) -> bool {
        jec % 2 == 0
    }
}

/// Flaw 17.
struct LooksBeforeLocking;
impl Step for LooksBeforeLocking {
    fn gives_up(sleep: &Sleep<Self>) -> bool {
        !sleep.blocked.load(Acquire)
    }
}

/// One step of the JEC, above the number of sleepers.
const JEC: usize = 1 << 8;

fn jec(counters: usize) -> usize {
    counters / JEC
}

fn sleepers(counters: usize) -> usize {
    counters % JEC
}

struct Sleep<S> {
    jobs: AtomicUsize,
    counters: AtomicUsize,
    /// Whether the worker is blocked; changed under the lock.
    blocked: AtomicBool,
    lock: Mutex<()>,
    woken: Condvar,
    step: PhantomData<S>,
}

impl<S: Step> Sleep<S> {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            jobs: AtomicUsize::new(0),
            counters: AtomicUsize::new(0),
            blocked: AtomicBool::new(false),
            lock: Mutex::new(()),
            woken: Condvar::new(),
            step: PhantomData,
        })
    }

    /// Moves the counter if `moves` says so; returns the counters as they are then.
    fn bump(&self, moves: fn(usize) -> bool) -> usize {
        let mut counters = self.counters.load(Acquire);
        while moves(jec(counters)) {
            let next = counters + JEC;
            match self
                .counters
                .compare_exchange(counters, next, AcqRel, Acquire)
            {
                Ok(_) => return next,
                Err(actual) => counters = actual,
            }
        }
        counters
    }

    /// The worker: takes one job, asleep until there is one.
    fn take_job(&self) {
        loop {
            let announced = self.bump(S::sleeper_moves);
            fence(SeqCst);
            if self.jobs.load(Acquire) > 0 {
                self.jobs.fetch_sub(1, AcqRel);
                return;
            }
            self.sleep(jec(announced));
        }
    }

    /// Sleeps, unless a job was posted since the counter was `announced`.
    fn sleep(&self, announced: usize) {
        let mut guard = self.lock.lock().unwrap();
        let mut counters = self.counters.load(Acquire);
        loop {
            if jec(counters) != announced {
                return;
            }
            match self
                .counters
                .compare_exchange(counters, counters + 1, AcqRel, Acquire)
            {
                Ok(_) => break,
                Err(actual) => counters = actual,
            }
        }
        self.blocked.store(true, Release);
        while self.blocked.load(Relaxed) {
            guard = self.woken.wait(guard).unwrap();
        }
    }

    /// The poster: pushes a job, makes it news, and wakes a sleeper.
    fn post(&self) {
        self.jobs.fetch_add(1, AcqRel);
        fence(SeqCst);
        let counters = self.bump(|jec| jec % 2 == 0);
        if sleepers(counters) == 0 || S::gives_up(self) {
            return;
        }
        let guard = self.lock.lock().unwrap();
        if self.blocked.load(Relaxed) {
            self.blocked.store(false, Relaxed);
            self.counters.fetch_sub(1, AcqRel);
            self.woken.notify_one();
        }
        drop(guard);
    }
}

/// Sleeper: announce, search, sleep // poster: push, bump.
fn announce_against_post<S: Step>(main: Main) {
    let sleep = Sleep::<S>::new();
    let poster = sleep.clone();
    main.race(move || sleep.take_job(), move || poster.post());
}

/// The same, twice over, so that the counter has a past.
fn sleep_twice(main: Main) {
    let sleep = Sleep::<Right>::new();
    let poster = sleep.clone();
    main.race(
        move || (0..2).for_each(|_| sleep.take_job()),
        move || (0..2).for_each(|_| poster.post()),
    );
}

const UNSET: usize = 0;
const SLEEPY: usize = 1;
const SLEEPING: usize = 2;
const SET: usize = 3;

/// The latch of a worker: it goes to sleep in two steps, and who sets it learns
/// whether it sleeps.
struct Latch {
    state: AtomicUsize,
    /// When set, the weak CAS fails for no reason.
    spurious: AtomicBool,
}

impl Latch {
    fn strong(&self, from: usize, to: usize) -> bool {
        self.state
            .compare_exchange(from, to, AcqRel, Acquire)
            .is_ok()
    }

    /// loom's weak CAS never fails for no reason; this one does if it is told to.
    fn weak(&self, from: usize, to: usize) -> bool {
        !self.spurious.load(Relaxed) && self.strong(from, to)
    }
}

fn latch_by_weak_cas(main: Main) {
    go_to_sleep_twice(main, Latch::weak);
}

fn latch_by_strong_cas(main: Main) {
    go_to_sleep_twice(main, Latch::strong);
}

/// The worker turns over twice; each step that fails must mean "set".
fn go_to_sleep_twice(main: Main, step: fn(&Latch, usize, usize) -> bool) {
    let latch = Arc::new(Latch {
        state: AtomicUsize::new(UNSET),
        spurious: AtomicBool::new(false),
    });
    let setter = latch.clone();
    main.race(
        move || {
            for _ in 0..2 {
                let asleep = step(&latch, UNSET, SLEEPY) && step(&latch, SLEEPY, SLEEPING);
                if !asleep {
                    let state = latch.state.load(Acquire);
                    assert_eq!(state, SET, "the latch is not set");
                    return;
                }
                // Woken by something else: back to the start.
                latch.strong(SLEEPING, UNSET);
            }
        },
        move || {
            setter.spurious.store(true, Relaxed);
            setter.state.swap(SET, AcqRel);
        },
    );
}
