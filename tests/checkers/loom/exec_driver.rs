//! The driver's seat: who sleeps in it, and that it is not left alone unwatched.
//!
//! The owner is the worker that goes to sleep, the thief the one that was in the
//! driver, or that has work.

use std::time::Duration;

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use ws_core::Driver;
use ws_executor::DriverHandoff;
use ws_executor::model::{MonitorCall, MonitorState, Parking, SharedDriver, Sleep, Sleeper};

use super::exec_kit::{Jobs, is_notified, searchers, sleep};
use super::model::Bound::{Exhaustive, Preemptions};
use super::model::{Body, Expect, Main, Model};
use super::sleep::Bell;

pub(crate) const MODELS: &[Model] = &[
    Model {
        name: "exec.driver.one_at_a_time",
        shows: "two workers use the driver one after the other, and each sees what the other did",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(one_at_a_time, [2_600, 2_600]),
    },
    Model {
        name: "exec.driver.leave_against_park",
        shows: "a worker leaves the driver while another one and the monitor go to sleep: one of them sees to it",
        flaws: &[],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(leave_against_park, [13_000, 13_000]),
    },
    Model {
        name: "exec.driver.leave_against_park_eager",
        shows: "the same without a monitor: it takes the driver, or is notified",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(leave_against_park_eager, [990, 850]),
    },
    Model {
        name: "exec.driver.where_it_sleeps",
        shows: "whoever takes a worker knows whether it sleeps in the driver",
        flaws: &[],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(where_it_sleeps, [490, 560]),
    },
    Model {
        name: "exec.driver.kept",
        shows: "a worker that was notified in the driver, and does not come out, hides no push",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(kept, [1_100, 1_100]),
    },
];

/// A driver that only sleeps.
struct Idle(Bell);

impl Driver for Idle {
    fn turn(&self, _: Option<Duration>) {
        self.0.wait();
    }

    fn wake(&self) {
        self.0.ring();
    }
}

struct Driven {
    seat: SharedDriver,
    sleep: Sleep,
}

impl Driven {
    fn new(handoff: DriverHandoff) -> Arc<Self> {
        Arc::new(Self {
            seat: SharedDriver::new(Box::new(Idle(Bell::new())), handoff),
            sleep: sleep(),
        })
    }

    /// A driver that someone is in, and will leave.
    fn taken(handoff: DriverHandoff) -> Arc<Self> {
        let driven = Self::new(handoff);
        assert!(driven.seat.take(), "no one else is in it");
        driven
    }

    /// A worker goes to sleep.
    fn park(&self, worker: usize) -> Parked {
        if self.seat.take() {
            return Parked::InDriver;
        }
        let parking = self.sleep.start_parking(worker, None);
        if self.seat.was_missed() {
            return Parked::Not;
        }
        Parked::Asleep(parking)
    }

    /// Whether someone will see to the driver, which is free.
    fn is_seen_to(&self, parked: Parked) -> bool {
        match parked {
            Parked::InDriver | Parked::Not => true,
            Parked::Asleep(parking) => is_notified(&self.sleep, parking),
        }
    }
}

/// Where a worker that wanted to sleep has come to.
enum Parked {
    InDriver,
    /// The driver is free: it cancels, and takes it.
    Not,
    Asleep(Parking),
}

/// Content that one worker after the other may touch.
struct Content(UnsafeCell<u32>);

// SAFETY: that no two touch it at once is what loom checks.
unsafe impl Sync for Content {}
// SAFETY: as above.
unsafe impl Send for Content {}

fn one_at_a_time(main: Main) {
    let driven = Driven::new(DriverHandoff::Off);
    let content = Arc::new(Content(UnsafeCell::new(0)));
    let turn = |driven: Arc<Driven>, content: Arc<Content>| {
        move || {
            if !driven.seat.take() {
                return 0;
            }
            content.0.with_mut(|content| {
                // SAFETY: no one else is in the driver.
                unsafe { *content += 1 }
            });
            driven.seat.leave();
            1
        }
    };
    let (one, two) = main.race(
        turn(driven.clone(), content.clone()),
        turn(driven.clone(), content.clone()),
    );
    let turns = content.0.with(|content| {
        // SAFETY: both are gone.
        unsafe { *content }
    });
    assert_eq!(turns, one + two);
    assert!(turns > 0, "both found it taken");
}

/// Worker 0 wakes up in the driver, for a task that keeps it.
fn leave_against_park(main: Main) {
    let driven = Driven::taken(DriverHandoff::Monitor);
    let state = Arc::new(MonitorState::absent());
    assert_eq!(state.call(), MonitorCall::Start);
    driven.sleep.enter_driver(0);
    let asleep = driven.sleep.start_parking(0, None);
    let (worker, leaver, watched) = (driven.clone(), driven.clone(), driven.clone());
    let (called, falling) = (state.clone(), state.clone());
    let (parked, (), ()) = main.race_two(
        move || worker.park(1),
        // `leave_place` and `hand_off`.
        move || {
            let cancelled = leaver.sleep.cancel_parking_with_work(asleep);
            assert!(cancelled.is_ok(), "no one else takes it out of the table");
            leaver.sleep.leave_driver();
            leaver.seat.leave();
            if called.needs_call() {
                let _ = called.call();
            }
        },
        move || {
            let all_parked = || watched.sleep.parked() == 2;
            falling.fall_asleep(|| !all_parked() || watched.seat.wants_watching());
        },
    );
    let is_watched = !state.needs_call();
    assert!(
        is_watched || driven.is_seen_to(parked),
        "the driver is left alone"
    );
}

fn leave_against_park_eager(main: Main) {
    let driven = Driven::taken(DriverHandoff::Eager);
    let (worker, leaver) = (driven.clone(), driven.clone());
    let (parked, _) = main.race(
        move || worker.park(1),
        move || {
            leaver.seat.leave();
            leaver.sleep.take_sleeper()
        },
    );
    assert!(driven.is_seen_to(parked), "the driver is left alone");
}

/// The only worker sleeps in the driver; a token for its parker would not wake it.
fn where_it_sleeps(main: Main) {
    let driven = Driven::new(DriverHandoff::Off);
    let jobs = Arc::new(Jobs::new(0));
    let (worker, pusher) = (driven.clone(), driven.clone());
    let seen = jobs.clone();
    main.race(
        move || {
            assert!(worker.seat.take(), "no one else is in it");
            worker.sleep.enter_driver(0);
            let mut parking = worker.sleep.start_parking(0, None);
            if seen.has_some() {
                match worker.sleep.cancel_parking(parking) {
                    Ok(_) => return,
                    Err(still) => parking = still,
                }
            }
            while let Err(still) = worker.sleep.wake_up(parking) {
                parking = still;
                worker.seat.turn(None);
            }
        },
        move || {
            jobs.push(1);
            if let Some(Sleeper(worker)) = pusher.sleep.after_push() {
                let in_driver = pusher.sleep.is_in_driver(worker);
                assert!(in_driver, "the wake goes to where nobody sleeps");
                pusher.seat.wake();
            }
        },
    );
    assert_eq!(searchers(&driven.sleep), 1, "it counts once");
}

/// What worker 0 was notified of is done, but the reactor keeps it. Worker 1 goes to sleep.
fn kept(main: Main) {
    let driven = Driven::new(DriverHandoff::Monitor);
    assert!(driven.seat.take(), "no one else is in it");
    driven.sleep.enter_driver(0);
    let _kept = driven.sleep.start_parking(0, None);
    let notified = driven.sleep.after_push();
    assert!(notified.is_some_and(|Sleeper(worker)| worker == 0));

    let jobs = Arc::new(Jobs::new(0));
    let (worker, pusher) = (driven.clone(), driven.clone());
    let seen = jobs.clone();
    let (parking, _) = main.race(
        move || {
            let parking = worker.sleep.start_parking(1, None);
            (!seen.has_some()).then_some(parking)
        },
        move || {
            jobs.push(1);
            pusher.sleep.after_push()
        },
    );
    let is_seen_to = parking.is_none_or(|parking| is_notified(&driven.sleep, parking));
    assert!(is_seen_to, "the push is hidden");
}
