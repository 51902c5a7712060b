//! Fork-join: the latch, the take-back of a fork against a thief, sleeping while a worker
//! waits.
//!
//! The owner is the worker that forks and waits, the thief whoever runs its fork. Jobs,
//! latches, lanes and both instances of the sleep protocol are the real ones; what a
//! worker does between their calls is written here once more, as in `exec_kit.rs`.

use loom::sync::Arc;
use loom::sync::atomic::Ordering::{Relaxed, SeqCst};
use loom::sync::atomic::{AtomicBool, fence};
use ws_core::chase_lev::{self, Owner, Stealer, Uneven};
use ws_executor::model::{CountLatch, Fork, OnceLatch, Searching, Sleep, StackJob};

use super::exec_kit::{is_notified, searchers, searching, sleep};
use super::items::{Item, Ledger, numbers};
use super::model::Bound::{Exhaustive, Preemptions};
use super::model::{Body, Expect, Main, Model, beat};
use super::sleep::Bell;

pub(crate) const MODELS: &[Model] = &[
    Model {
        name: "exec.fork.latch",
        shows: "a latch is set while its worker falls asleep: it wakes, and sees the result",
        flaws: &[19],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(latch, [5_000, 4_400]),
    },
    Model {
        name: "exec.fork.count_latch",
        shows: "two closures of a scope end while its worker falls asleep: it wakes, and sees both",
        flaws: &[],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(count_latch, [4_800, 5_600]),
    },
    Model {
        name: "exec.fork.take_back",
        shows: "a fork is taken back or stolen: its code runs once, and its owner has the result",
        flaws: &[1, 21],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(take_back, [24_000, 22_000]),
    },
    Model {
        name: "exec.fork.take_back_of_two",
        shows: "a join in a join beside a thief: each code runs once, each has its result",
        flaws: &[4, 5],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(take_back_of_two, [6_900, 2_100]),
    },
    Model {
        name: "exec.fork.uneven_pop_against_two_thieves",
        shows: "the lane's fences: one pops, two steal, no item twice",
        flaws: &[4, 5],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(uneven_pop_against_two_thieves, [25_000, 43_000]),
    },
    Model {
        name: "exec.fork.push_against_helper",
        shows: "a fork is pushed while a helper falls asleep: the helper gets it",
        flaws: &[14],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(push_against_helper, [1_000, 830]),
    },
    Model {
        name: "exec.fork.push_against_idle",
        shows: "a fork is pushed while an idle worker falls asleep: that one gets it",
        flaws: &[14],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(push_against_idle, [26_000, 24_000]),
    },
    Model {
        name: "exec.fork.helper_leaves",
        shows: "a push relies on a helper whose wait is over: an idle worker is notified",
        flaws: &[22],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(helper_leaves, [4_600, 4_600]),
    },
    Model {
        name: "exec.fork.helper_leaves_against_park",
        shows: "the same while the idle worker falls asleep: it gets the fork",
        flaws: &[22],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(helper_leaves_against_park, [11_000, 8_400]),
    },
    Model {
        name: "exec.fork.latch_against_notification",
        shows: "a helper is notified of a fork and its latch is set at once: it is counted right",
        flaws: &[15],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(latch_against_notification, [27_000, 7_300]),
    },
    Model {
        name: "exec.fork.flag",
        shows: "a worker enters a join and pushes a fork without a fence, while another one parks: one sees the other",
        flaws: &[14],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(flag::<true>, [1_100, 1_100]),
    },
    Model {
        name: "exec.fork.flag_without_fence",
        shows: "the same without the fence after the flag",
        flaws: &[14],
        bound: Exhaustive,
        expect: Expect::Fails("the fork is forgotten"),
        body: Body::Roles(flag::<false>, [0, 0]),
    },
];

/// Waits for a latch as a worker does that finds nothing to help with.
fn wait(bell: &Bell, is_set: impl Fn() -> bool, try_sleep: impl Fn() -> bool) {
    while !is_set() {
        if try_sleep() {
            bell.wait();
        }
    }
}

fn latch(main: Main) {
    let shared = Arc::new((OnceLatch::new(), Bell::new()));
    let result = Arc::new(loom::cell::UnsafeCell::new(0));
    let (worker, thief) = (shared.clone(), shared);
    let (seen, written) = (result.clone(), result);
    // SAFETY: the model is about just that.
    struct Shared<T>(T);
    unsafe impl<T> Send for Shared<T> {}
    let (seen, written) = (Shared(seen), Shared(written));
    main.race(
        move || {
            let seen = { &seen }.0.clone();
            let (latch, bell) = &*worker;
            wait(bell, || latch.is_set(), || latch.try_sleep());
            // SAFETY: the latch is set.
            assert_eq!(seen.with(|value| unsafe { *value }), 1);
        },
        move || {
            let written = { &written }.0.clone();
            // SAFETY: nobody looks before the latch is set.
            written.with_mut(|value| unsafe { *value = 1 });
            let (latch, bell) = &*thief;
            if latch.set() {
                bell.ring();
            }
        },
    );
}

fn count_latch(main: Main) {
    let shared = Arc::new((CountLatch::default(), Bell::new()));
    let done = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
    shared.0.add();
    shared.0.add();
    let (worker, one, two) = (shared.clone(), shared.clone(), shared);
    let (seen, first, second) = (done.clone(), done.clone(), done);
    let end = |which: usize, shared: Arc<(CountLatch, Bell)>, done: Arc<[AtomicBool; 2]>| {
        done[which].store(true, Relaxed);
        if shared.0.remove() {
            shared.1.ring();
        }
    };
    main.race_two(
        move || {
            let (latch, bell) = &*worker;
            wait(bell, || latch.is_zero(), || latch.try_sleep());
            assert!(seen.iter().all(|done| done.load(Relaxed)));
        },
        move || end(0, one, first),
        move || end(1, two, second),
    );
}

/// One worker's lane, and its bell.
struct Lane {
    stealer: Stealer<Fork, Uneven>,
    bell: Bell,
}

fn lane() -> (Owner<Fork, Uneven>, Arc<Lane>) {
    let (owner, stealer) = chase_lev::uneven_starting_at(0, 2);
    let bell = Bell::new();
    (owner, Arc::new(Lane { stealer, bell }))
}

impl Lane {
    /// A thief, who tries once.
    fn steal(&self) {
        if let Some(fork) = self.stealer.steal().success() {
            beat();
            if fork.run(0).is_some() {
                self.bell.ring();
            }
        }
    }

    /// `join`, as `fork/join.rs` has it.
    fn join<RA, RB: Send>(
        &self,
        lane: &Owner<Fork, Uneven>,
        a: impl FnOnce() -> RA,
        b: impl FnOnce() -> RB + Send,
    ) -> (RA, RB) {
        let job = StackJob::new(b);
        // SAFETY: this does not return before the fork is back, or was run.
        lane.push(unsafe { job.fork() });
        beat();
        let first = a();
        let second = match lane.pop() {
            Some(fork) => {
                assert!(job.owns(&fork), "another fork is newer");
                // SAFETY: the fork is back.
                let code = unsafe { job.take_code() };
                code()
            }
            None => {
                let latch = job.latch();
                wait(&self.bell, || latch.is_set(), || latch.try_sleep());
                // SAFETY: the latch is set.
                unsafe { job.take_result() }.unwrap_or_else(|_| panic!("the code panicked"))
            }
        };
        (first, second)
    }
}

fn take_back(main: Main) {
    let ledger = Ledger::open();
    let (owner, lane) = lane();
    let thief = lane.clone();
    let (result, ()) = main.race(
        move || {
            let item = Item::new(1);
            let (one, two) = lane.join(&owner, || 1, || numbers([item]));
            (one, two)
        },
        move || thief.steal(),
    );
    assert_eq!(result, (1, vec![1]));
    ledger.close();
}

fn take_back_of_two(main: Main) {
    let ledger = Ledger::open();
    let (owner, lane) = lane();
    let thief = lane.clone();
    let (result, ()) = main.race(
        move || {
            let (outer, inner) = (Item::new(1), Item::new(2));
            let (inner, outer) = lane.join(
                &owner,
                || lane.join(&owner, || (), || numbers([inner])).1,
                || numbers([outer]),
            );
            (inner, outer)
        },
        move || {
            thief.steal();
            thief.steal();
        },
    );
    assert_eq!(result, (vec![2], vec![1]));
    ledger.close();
}

fn uneven_pop_against_two_thieves(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = chase_lev::uneven_starting_at(0, 2);
    (1..=2).for_each(|id| owner.push(Item::new(id)));
    let (one, other) = (stealer.clone(), stealer);
    let (owner, ..) = main.race_two(
        move || {
            drop(owner.pop());
            owner
        },
        move || numbers(one.steal().success()),
        move || numbers(other.steal().success()),
    );
    drop(owner);
    ledger.close();
}

/// Helpers, idle workers, and a fork that is one flag.
struct Pool {
    helpers: Sleep,
    idle: Sleep,
    fork: AtomicBool,
    bells: [Bell; 2],
}

impl Pool {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            helpers: sleep(),
            idle: sleep(),
            fork: AtomicBool::new(false),
            bells: [Bell::new(), Bell::new()],
        })
    }

    /// `notify_fork`, after the push.
    fn push(&self) {
        self.fork.store(true, Relaxed);
        if self.helpers.after_fork(&self.idle) {
            self.notify();
        }
    }

    fn notify(&self) {
        if let Some(sleeper) = self.helpers.take_helper(&self.idle) {
            self.bells[sleeper.0].ring();
        }
    }

    /// `stop_helping`.
    fn stop_helping(&self, searching: Searching) {
        let last = self.helpers.found_work_beside(searching, &self.idle);
        if last && self.fork.load(Relaxed) {
            self.notify();
        }
    }

    /// Sleeps in one of the tables until there is a fork.
    fn sleep_in(&self, sleep: &Sleep, me: usize, searching: Option<Searching>) -> Searching {
        let mut parking = sleep.start_parking(me, searching);
        if self.fork.load(Relaxed) {
            match sleep.cancel_parking(parking) {
                Ok(searching) => return searching,
                Err(notified) => parking = notified,
            }
        }
        loop {
            match sleep.wake_up(parking) {
                Ok(searching) => return searching,
                Err(again) => parking = again,
            }
            self.bells[me].wait();
        }
    }
}

fn push_against_helper(main: Main) {
    let pool = Pool::new();
    let idle = pool.idle.start_parking(1, None);
    let (helper, pusher) = (pool.clone(), pool.clone());
    main.race(
        move || {
            let searching = searching(&helper.helpers);
            let searching = helper.sleep_in(&helper.helpers, 0, Some(searching));
            assert!(helper.fork.load(Relaxed), "woken for nothing");
            // It takes the fork.
            helper.fork.store(false, Relaxed);
            helper.stop_helping(searching);
        },
        move || pusher.push(),
    );
    assert_eq!(searchers(&pool.helpers), 0, "counted wrong");
    // The idle one may have been notified, before the helper was asleep.
    let _ = is_notified(&pool.idle, idle);
}

fn push_against_idle(main: Main) {
    let pool = Pool::new();
    let (worker, pusher) = (pool.clone(), pool.clone());
    main.race(
        move || {
            let searching = searching(&worker.idle);
            let searching = worker.sleep_in(&worker.idle, 1, Some(searching));
            assert!(worker.fork.load(Relaxed), "woken for nothing");
            assert!(!worker.idle.found_work(searching), "nobody else is there");
        },
        move || pusher.push(),
    );
    assert_eq!(searchers(&pool.idle), 0, "counted wrong");
}

/// Worker 1 is idle and parked; worker 0 is a helper that searches, and its wait is over
/// before it finds anything.
fn helper_leaves(main: Main) {
    let pool = Pool::new();
    let idle = pool.idle.start_parking(1, None);
    let searching = searching(&pool.helpers);
    let (helper, pusher) = (pool.clone(), pool.clone());
    main.race(
        move || helper.stop_helping(searching),
        move || pusher.push(),
    );
    assert!(is_notified(&pool.idle, idle), "the fork is forgotten");
    assert_eq!(searchers(&pool.helpers), 0, "counted wrong");
}

fn helper_leaves_against_park(main: Main) {
    let pool = Pool::new();
    let helping = searching(&pool.helpers);
    let (worker, helper, pusher) = (pool.clone(), pool.clone(), pool.clone());
    main.race_two(
        move || {
            let searching = searching(&worker.idle);
            let searching = worker.sleep_in(&worker.idle, 1, Some(searching));
            assert!(!worker.idle.found_work(searching), "nobody else is there");
        },
        move || helper.stop_helping(helping),
        move || pusher.push(),
    );
    assert_eq!(searchers(&pool.idle), 0, "counted wrong");
}

/// A helper that sleeps is notified of a fork, while a thief sets its latch.
fn latch_against_notification(main: Main) {
    let pool = Pool::new();
    let latch = Arc::new(OnceLatch::new());
    let (helper, pusher, thief) = (pool.clone(), pool.clone(), pool.clone());
    let (waiting, setting) = (latch.clone(), latch);
    main.race_two(
        move || {
            let helpers = &helper.helpers;
            let mut parking = helpers.start_parking(0, None);
            let mut cancel = helper.fork.load(Relaxed) || !waiting.try_sleep();
            let searching = loop {
                let mut ended = helpers.wake_up(parking);
                if cancel || waiting.is_set() {
                    ended = ended.or_else(|parking| helpers.cancel_parking(parking));
                }
                cancel = false;
                match ended {
                    Ok(searching) => break searching,
                    Err(again) => parking = again,
                }
                helper.bells[0].wait();
            };
            helper.stop_helping(searching);
        },
        move || pusher.push(),
        move || {
            if setting.set() {
                thief.bells[0].ring();
            }
        },
    );
    assert_eq!(searchers(&pool.helpers), 0, "counted wrong");
}

/// `enter_outermost`, and a push whose fence is free, so that it orders nothing here. A worker
/// that sees the flag fences for both, which loom cannot play: that one is taken to see the
/// fork.
fn flag<const FENCE: bool>(main: Main) {
    let forking = Arc::new(AtomicBool::new(false));
    let sleep = Arc::new(sleep());
    let (seen, pusher, worker) = (forking.clone(), sleep.clone(), sleep);
    let ((parking, fences), sees) = main.race(
        move || {
            // W1 to W3, and the look of `fence_against_forks`.
            let parking = worker.start_parking(1, None);
            (parking, seen.load(Relaxed))
        },
        move || {
            forking.store(true, Relaxed);
            if FENCE {
                fence(SeqCst);
            }
            pusher.someone_parked()
        },
    );
    assert!(fences || sees, "the fork is forgotten");
    drop(parking);
}
