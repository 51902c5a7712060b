//! The sleep protocol of `compat/async-executor`: pushes against `run`s and `tick`s that go
//! to sleep, are polled for other reasons, and are dropped.
//!
//! The owner is the one who sleeps, the thief the pusher. A job that is forgotten leaves its
//! `run` asleep, which loom reports as a deadlock.

use std::sync::Arc;
use std::task::{Wake, Waker};

use compat::model::{Parked, Queues, Seat, Sleepers};

use super::exec_kit::Jobs;
use super::model::Bound::{Exhaustive, Preemptions};
use super::model::{Body, Expect, Main, Model, beat};
use super::sleep::Bell;

pub(crate) const MODELS: &[Model] = &[
    Model {
        name: "compat.sleep.push_against_park",
        shows: "a push between the last look and the sleep: the `run` gets the job",
        flaws: &[14],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(push_against_park, [3_000, 2_900]),
    },
    Model {
        name: "compat.sleep.two_runs",
        shows: "two jobs that block, and two `run`s that go to sleep: each gets one",
        flaws: &[22],
        bound: Preemptions(2),
        expect: Expect::Holds,
        body: Body::Roles(two_runs, [22_000, 28_000]),
    },
    Model {
        name: "compat.sleep.renewed",
        shows: "a `run` that sleeps is polled with another waker: that one is woken",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(renewed, [90_000, 30_000]),
    },
    Model {
        name: "compat.sleep.dropped",
        shows: "a `run` that sleeps is dropped: its notification goes to another one",
        flaws: &[],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(dropped, [26_000, 26_000]),
    },
    Model {
        name: "compat.sleep.two_jobs_for_one_searcher",
        shows: "one that falls asleep sees two jobs whose pusher relied on it: another has one",
        flaws: &[22],
        bound: Preemptions(2),
        expect: Expect::Holds,
        body: Body::Roles(two_jobs_for_one_searcher, [100_000, 21_000]),
    },
    Model {
        name: "compat.sleep.own_thread",
        shows: "a thread pushes, and waits instead of polling its own `run`: another has the jobs",
        flaws: &[],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(own_thread, [2_400, 10_000]),
    },
    Model {
        name: "compat.sleep.called",
        shows: "a `run` that its own thread has called is dropped: the next one is called",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Once(called, 1),
    },
];

/// The sleepers of an executor, and its queue.
struct Executor {
    sleepers: Sleepers,
    jobs: Jobs,
}

impl Queues for Executor {
    fn sleepers(&self) -> &Sleepers {
        &self.sleepers
    }

    fn has_work(&self) -> bool {
        self.jobs.has_some()
    }
}

impl Executor {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            sleepers: Sleepers::default(),
            jobs: Jobs::new(0),
        })
    }

    fn push(&self) {
        self.jobs.push(1);
        self.sleepers.notify();
    }

    /// One poll of a `run`: until it has a job, or sleeps. Then it is gone, or waits.
    fn poll(&self, seat: &mut Seat<'_, Self>, waker: &Waker) -> bool {
        seat.wake_up();
        loop {
            if self.jobs.pop() {
                seat.leave();
                return true;
            }
            if seat.park(waker) == Parked::Asleep {
                return false;
            }
        }
    }

    /// A `run` until it has a job. Its poll never returns, so whatever is left is for others.
    fn run(&self) {
        self.run_on(Seat::new(self), &Host::new());
    }

    /// As [`run`](Self::run), from the middle.
    fn run_on(&self, mut seat: Seat<'_, Self>, host: &Arc<Host>) {
        while !self.poll(&mut seat, &host.waker()) {
            host.0.wait();
        }
    }

    fn check(&self) {
        assert_eq!(self.sleepers.searching(), 0, "a searcher too many");
        assert_eq!(self.sleepers.sleeping(), 0, "a sleeper too many");
    }
}

/// A thread that polls a future, and sleeps meanwhile.
struct Host(Bell);

impl Host {
    fn new() -> Arc<Self> {
        Arc::new(Self(Bell::new()))
    }

    fn waker(self: &Arc<Self>) -> Waker {
        Waker::from(Arc::clone(self))
    }
}

impl Wake for Host {
    fn wake(self: Arc<Self>) {
        self.0.ring();
    }
}

fn push_against_park(main: Main) {
    let executor = Executor::new();
    let (run, pusher) = (Arc::clone(&executor), Arc::clone(&executor));
    main.race(move || run.run(), move || pusher.push());
    executor.check();
}

fn two_runs(main: Main) {
    let executor = Executor::new();
    let (one, two) = (Arc::clone(&executor), Arc::clone(&executor));
    let pusher = Arc::clone(&executor);
    main.race_two(
        move || one.run(),
        move || {
            pusher.push();
            beat();
            pusher.push();
        },
        move || two.run(),
    );
    executor.check();
}

fn renewed(main: Main) {
    let executor = Executor::new();
    let (run, pusher) = (Arc::clone(&executor), Arc::clone(&executor));
    main.race(
        move || {
            let (old, new) = (Host::new(), Host::new());
            let mut seat = Seat::new(&*run);
            if run.poll(&mut seat, &old.waker()) {
                return;
            }
            beat();
            // Nobody waits for the old one any more.
            while !run.poll(&mut seat, &new.waker()) {
                new.0.wait();
            }
        },
        move || pusher.push(),
    );
    executor.check();
}

fn dropped(main: Main) {
    let executor = Executor::new();
    let (run, pusher) = (Arc::clone(&executor), Arc::clone(&executor));
    let other = Arc::clone(&executor);
    main.race_two(
        move || run.run(),
        move || {
            pusher.push();
        },
        move || {
            // Asleep at most, and dropped: it may be notified, but never takes the job.
            let mut seat = Seat::new(&*other);
            let slept = seat.park(&Host::new().waker());
            beat();
            drop((slept, seat));
        },
    );
    executor.check();
}

fn two_jobs_for_one_searcher(main: Main) {
    let executor = Executor::new();
    let (one, two) = (Arc::clone(&executor), Arc::clone(&executor));
    let pusher = Arc::clone(&executor);
    main.race_two(
        move || {
            let host = Host::new();
            let mut seat = Seat::new(&*one);
            // It was woken for nothing, and counts as searching.
            let _ = seat.park(&host.waker());
            one.sleepers.notify();
            seat.wake_up();
            one.run_on(seat, &host);
        },
        move || {
            pusher.push();
            pusher.push();
        },
        move || two.run(),
    );
    executor.check();
}

fn own_thread(main: Main) {
    let executor = Executor::new();
    let (run, pusher) = (Arc::clone(&executor), Arc::clone(&executor));
    let done = Arc::new(Bell::new());
    let is_done = Arc::clone(&done);
    main.race(
        move || {
            run.run();
            run.run();
            done.ring();
        },
        move || {
            let mut seat = Seat::new(&*pusher);
            let slept = seat.park(&Host::new().waker());
            pusher.push();
            beat();
            pusher.push();
            is_done.wait();
            drop((slept, seat));
        },
    );
    executor.check();
}

fn called() {
    let executor = Executor::new();
    let (first, second) = (Host::new(), Host::new());
    let mut seats = [Seat::new(&*executor), Seat::new(&*executor)];
    for (seat, host) in seats.iter_mut().zip([&first, &second]) {
        assert!(!executor.poll(seat, &host.waker()));
    }
    executor.push();
    second.0.wait();
    let [mut seat, second] = seats;
    drop(second);
    first.0.wait();
    assert!(executor.poll(&mut seat, &first.waker()));
    drop(seat);
    executor.check();
}
