//! The sleep protocol of the executor: pushes against workers that go to sleep.
//!
//! The owner is the worker, the thief the pusher. A job that is forgotten leaves its
//! worker asleep, which loom reports as a deadlock, or is asserted at the end.

use loom::sync::Arc;
use loom::sync::atomic::AtomicBool;
use loom::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use super::exec_kit::{Pool, is_notified, searchers, searching, sleep};
use super::model::Bound::{Exhaustive, Preemptions};
use super::model::{Body, Expect, Main, Model, beat};

pub(crate) const MODELS: &[Model] = &[
    Model {
        name: "exec.sleep.push_against_park",
        shows: "a push between the last look and the sleep: the worker gets the job",
        flaws: &[14],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(push_against_park, [28_000, 25_000]),
    },
    Model {
        name: "exec.sleep.push_against_searcher",
        shows: "a push that leaves the job to a searcher, which is on its way to sleep",
        flaws: &[14],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(push_against_searcher, [24_000, 19_000]),
    },
    Model {
        name: "exec.sleep.two_pushes",
        shows: "two pushes, one worker: it gets both jobs",
        flaws: &[14],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(two_pushes, [4_400, 6_100]),
    },
    Model {
        name: "exec.sleep.two_pushers",
        shows: "two pushers at once notify one worker, once",
        flaws: &[14],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(two_pushers, [39_000, 46_000]),
    },
    Model {
        name: "exec.sleep.two_workers",
        shows: "two jobs that block, and two workers that go to sleep: each gets one",
        flaws: &[13, 22],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(two_workers, [310_000, 230_000]),
    },
    Model {
        name: "exec.sleep.last_searcher",
        shows: "a push relies on a searcher, which finds another job: a second one is woken",
        flaws: &[22],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(last_searcher, [25_000, 15_000]),
    },
    Model {
        name: "exec.sleep.last_searcher_against_park",
        shows: "the same while the second worker goes to sleep",
        flaws: &[22],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(last_searcher_against_park, [44_000, 30_000]),
    },
    Model {
        name: "exec.sleep.loot",
        shows: "what one searcher stole and queued is seen by the last one, who goes to sleep",
        flaws: &[22],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(loot, [1_000, 1_000]),
    },
    Model {
        name: "exec.sleep.loot_of_two",
        shows: "two searchers find work: the last one sees what the other has queued",
        flaws: &[22],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(loot_of_two, [310, 310]),
    },
    Model {
        name: "exec.sleep.early_return",
        shows: "the parker returns for no reason: no job and no count is lost",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(early_return, [1_800, 1_700]),
    },
    Model {
        name: "exec.sleep.early_searcher",
        shows: "a worker that looks early is counted when it is notified, so no push is hidden",
        flaws: &[],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(early_searcher, [31_000, 61_000]),
    },
    Model {
        name: "exec.sleep.cancel_against_taker",
        shows: "a worker takes itself out of the table while a pusher does: it is counted once",
        flaws: &[15],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(cancel_against_taker, [510, 380]),
    },
    Model {
        name: "exec.sleep.two_takers",
        shows: "two pushers take two sleepers, or one of them none: each is taken once",
        flaws: &[15],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(two_takers, [39_000, 39_000]),
    },
    Model {
        name: "exec.sleep.batch",
        shows: "two jobs at once: the sleeper is notified, and so is the one that falls asleep",
        flaws: &[],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(batch, [2_600, 4_600]),
    },
    Model {
        name: "exec.sleep.batch_of_sleepers",
        shows: "two jobs at once, two sleepers: both are notified, if none leaves by itself",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(batch_of_sleepers, [8_200, 7_700]),
    },
    Model {
        name: "exec.sleep.pinned",
        shows: "a push that only one worker can see, while that one goes to sleep",
        flaws: &[14],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(pinned, [13_000, 10_000]),
    },
    Model {
        name: "exec.sleep.pinned_beside_close",
        shows: "a push that only one worker can see, which waits inside a poll of a closed executor",
        flaws: &[14],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(pinned_beside_close, [2_000, 1_900]),
    },
    Model {
        name: "exec.sleep.shutdown",
        shows: "a flag and a token end the sleep that they race with",
        flaws: &[18],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(shutdown, [2_400, 2_500]),
    },
    Model {
        name: "exec.sleep.shutdown_against_push",
        shows: "a shutdown and a push race with a sleep: the worker ends, counted right",
        flaws: &[18],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(shutdown_against_push, [75_000, 70_000]),
    },
];

fn push_against_park(main: Main) {
    let pool = Pool::new();
    let pusher = pool.clone();
    let worker = pool.clone();
    main.race(move || worker.work(0, None), move || pusher.push());
    assert_eq!(searchers(&pool.sleep), 0, "a searcher too many");
}

fn push_against_searcher(main: Main) {
    let pool = Pool::new();
    let pusher = pool.clone();
    let worker = pool.clone();
    let searching = searching(&pool.sleep);
    main.race(
        move || worker.work(0, Some(searching)),
        move || pusher.push(),
    );
    assert_eq!(searchers(&pool.sleep), 0, "a searcher too many");
}

fn two_pushes(main: Main) {
    let pool = Pool::new();
    let pusher = pool.clone();
    let worker = pool.clone();
    main.race(
        move || {
            worker.work(0, None);
            beat();
            worker.work(0, None);
        },
        move || {
            pusher.push();
            beat();
            pusher.push();
        },
    );
    assert_eq!(searchers(&pool.sleep), 0, "a searcher too many");
}

/// The worker is asleep.
fn two_pushers(main: Main) {
    let pool = Pool::new();
    let parking = pool.sleep.start_parking(0, None);
    let (one, two) = (pool.clone(), pool.clone());
    let worker = pool.clone();
    main.race_two(
        move || {
            let searching = worker.wait(parking, || worker.wait_for_token(0));
            worker.work(0, Some(searching));
            worker.work(0, None);
        },
        move || one.push(),
        move || two.push(),
    );
    assert_eq!(searchers(&pool.sleep), 0, "a searcher too many");
}

fn two_workers(main: Main) {
    let pool = Pool::new();
    let pusher = pool.clone();
    let (one, two) = (pool.clone(), pool.clone());
    main.race_two(
        move || one.work(0, None),
        move || pusher.push_two(),
        move || two.work(1, None),
    );
    assert_eq!(searchers(&pool.sleep), 0, "a searcher too many");
}

/// Worker 1 is parked, worker 0 searches, and there is one job.
fn last_searcher(main: Main) {
    let pool = Pool::with_jobs(1);
    let searching = searching(&pool.sleep);
    let parking = pool.sleep.start_parking(1, None);
    let (searcher, pusher) = (pool.clone(), pool.clone());
    main.race(
        move || searcher.work(0, Some(searching)),
        move || pusher.push(),
    );
    // One job is left, and its worker is gone.
    assert!(
        is_notified(&pool.sleep, parking),
        "the second job is forgotten"
    );
    assert_eq!(searchers(&pool.sleep), 1, "counted wrong");
}

fn last_searcher_against_park(main: Main) {
    let pool = Pool::with_jobs(1);
    let searching = searching(&pool.sleep);
    let (searcher, pusher, other) = (pool.clone(), pool.clone(), pool.clone());
    main.race_two(
        move || searcher.work(0, Some(searching)),
        move || pusher.push(),
        move || other.work(1, None),
    );
    assert_eq!(searchers(&pool.sleep), 0, "a searcher too many");
}

/// Two searchers. One has stolen two jobs, keeps one and queues the other where thieves
/// can see it, as a ring does; no one is notified of that. The other found nothing.
fn loot(main: Main) {
    let pool = Pool::new();
    let queued = Arc::new(AtomicBool::new(false));
    let (first, second) = (searching(&pool.sleep), searching(&pool.sleep));
    let (thief, idle) = (pool.clone(), pool.clone());
    let seen = queued.clone();
    let (must_notify, parked) = main.race(
        move || {
            queued.store(true, Release);
            thief.sleep.found_work(first)
        },
        move || {
            let parking = idle.sleep.start_parking(1, Some(second));
            (!seen.load(Acquire)).then_some(parking)
        },
    );
    assert!(
        must_notify || parked.is_none(),
        "a stolen job is left alone"
    );
}

/// As [`loot`], but the other one finds work, too, and a third worker is parked.
fn loot_of_two(main: Main) {
    let pool = Pool::new();
    let queued = Arc::new(AtomicBool::new(false));
    let parking = pool.sleep.start_parking(1, None);
    let (first, second) = (searching(&pool.sleep), searching(&pool.sleep));
    let (thief, other) = (pool.clone(), pool.clone());
    let (queue, seen) = (queued.clone(), queued.clone());
    let (by_thief, by_other) = main.race(
        move || {
            queue.store(true, Release);
            thief.sleep.found_work(first) && queue.load(Acquire)
        },
        move || other.sleep.found_work(second) && seen.load(Acquire),
    );
    assert!(by_thief || by_other, "a stolen job is left alone");
    drop(parking);
}

/// The worker is asleep.
fn early_return(main: Main) {
    let pool = Pool::new();
    let parking = pool.sleep.start_parking(0, None);
    let (worker, pusher) = (pool.clone(), pool.clone());
    main.race(
        move || {
            let mut returns = 0;
            let searching = worker.wait(parking, || {
                returns += 1;
                // Twice for no reason, then as it should.
                if returns > 2 {
                    worker.wait_for_token(0);
                }
            });
            worker.work(0, Some(searching));
        },
        move || pusher.push(),
    );
    assert_eq!(searchers(&pool.sleep), 0, "a searcher too many");
}

/// Both workers sleep. The parker of the first returns for no reason, so it may see the
/// notification before its token; then it takes a job and is gone.
fn early_searcher(main: Main) {
    let pool = Pool::new();
    let mut parking = pool.sleep.start_parking(0, None);
    let other = pool.sleep.start_parking(1, None);
    let (worker, one, two) = (pool.clone(), pool.clone(), pool.clone());
    let (parking, (), ()) = main.race_two(
        move || {
            for _ in 0..2 {
                match worker.sleep.wake_up(parking) {
                    Err(still) => parking = still,
                    Ok(searching) => {
                        worker.work(0, Some(searching));
                        return None;
                    }
                }
            }
            Some(parking)
        },
        move || one.push(),
        move || two.push(),
    );
    let first = parking.is_some_and(|parking| is_notified(&pool.sleep, parking));
    let seen = first || is_notified(&pool.sleep, other);
    assert!(seen || !pool.jobs.has_some(), "a job is forgotten");
}

fn cancel_against_taker(main: Main) {
    let sleep = Arc::new(sleep());
    let parking = sleep.start_parking(0, None);
    let (worker, taker) = (sleep.clone(), sleep.clone());
    let (cancelled, taken) = main.race(
        move || worker.cancel_parking(parking),
        move || taker.take_sleeper(),
    );
    assert_eq!(
        taken.is_some(),
        cancelled.is_err(),
        "taken by both, or none"
    );
    if let Err(parking) = cancelled {
        assert!(is_notified(&sleep, parking), "taken, and not notified");
    }
    assert_eq!(searchers(&sleep), 1, "counted wrong");
}

fn two_takers(main: Main) {
    let sleep = Arc::new(sleep());
    let parked = [0, 1].map(|worker| sleep.start_parking(worker, None));
    let (one, two, three) = (sleep.clone(), sleep.clone(), sleep.clone());
    let taken = main.race_two(
        move || one.take_sleeper(),
        move || two.take_sleeper(),
        move || three.take_this(0),
    );
    let taken = [taken.0, taken.1, taken.2].into_iter().flatten();
    let mut taken: Vec<usize> = taken.map(|sleeper| sleeper.0).collect();
    taken.sort_unstable();
    assert_eq!(taken, [0, 1], "a worker was taken twice, or is left");
    for parking in parked {
        assert!(is_notified(&sleep, parking), "taken, and not notified");
    }
    assert_eq!(searchers(&sleep), 2, "counted wrong");
}

/// Worker 1 is parked, worker 0 goes to sleep.
fn batch(main: Main) {
    let pool = Pool::new();
    let parking = pool.sleep.start_parking(1, None);
    let (worker, pusher) = (pool.clone(), pool.clone());
    main.race(move || worker.work(0, None), move || pusher.push_two());
    assert!(
        is_notified(&pool.sleep, parking),
        "the second job is forgotten"
    );
    assert_eq!(searchers(&pool.sleep), 1, "counted wrong");
}

/// Both workers are asleep, and the first wakes up by itself.
fn batch_of_sleepers(main: Main) {
    let pool = Pool::new();
    let parked = pool.sleep.start_parking(0, None);
    let other = pool.sleep.start_parking(1, None);
    let (worker, pusher) = (pool.clone(), pool.clone());
    let (left, ()) = main.race(
        move || worker.sleep.cancel_parking(parked),
        move || pusher.push_two(),
    );
    let awake = left.map_or_else(|parking| is_notified(&pool.sleep, parking), |_| true);
    assert!(awake, "taken, and not notified");
    assert!(
        is_notified(&pool.sleep, other),
        "the second job is forgotten"
    );
    assert_eq!(searchers(&pool.sleep), 2, "counted wrong");
}

fn pinned(main: Main) {
    let pool = Pool::new();
    let (worker, pusher) = (pool.clone(), pool.clone());
    main.race(
        move || worker.work(0, None),
        move || {
            pusher.jobs.push(1);
            if let Some(sleeper) = pusher.sleep.take_this(0) {
                pusher.unpark(sleeper);
            }
        },
    );
    assert_eq!(searchers(&pool.sleep), 0, "a searcher too many");
}

/// `Worker::wait` of a worker that has closed the executor itself, and `push_pinned` of another
/// thread.
fn pinned_beside_close(main: Main) {
    let pool = Pool::new();
    let closed = Arc::new(AtomicBool::new(false));
    let (worker, pusher) = (pool.clone(), pool.clone());
    let seen = closed.clone();
    main.race(
        move || {
            closed.store(true, Relaxed);
            worker.sleep.fence_against_pinned();
            while !worker.jobs.pop() {
                worker.wait_for_token(0);
                worker.sleep.fence_against_pinned();
            }
        },
        move || {
            pusher.jobs.push(1);
            match pusher.sleep.take_this(0) {
                Some(sleeper) => pusher.unpark(sleeper),
                None if seen.load(Relaxed) => pusher.ring(0),
                None => {}
            }
        },
    );
}

/// A worker that sleeps until the flag is set; as [`Pool::work`], without jobs.
fn until_closed(pool: &Pool, closed: &AtomicBool) {
    while !closed.load(Relaxed) {
        let mut parking = pool.sleep.start_parking(0, None);
        let searching = loop {
            let mut ended = pool.sleep.wake_up(parking);
            if closed.load(Relaxed) || pool.jobs.has_some() {
                ended = ended.or_else(|parking| pool.sleep.cancel_parking(parking));
            }
            match ended {
                Ok(searching) => break searching,
                Err(still) => parking = still,
            }
            pool.wait_for_token(0);
        };
        // Whether it found the job or not: it stops searching.
        pool.jobs.pop();
        pool.found_work(searching);
    }
}

fn shutdown(main: Main) {
    let pool = Pool::new();
    let closed = Arc::new(AtomicBool::new(false));
    let (worker, closer) = (pool.clone(), pool.clone());
    let seen = closed.clone();
    main.race(
        move || until_closed(&worker, &seen),
        move || {
            closed.store(true, Relaxed);
            closer.ring(0);
        },
    );
    assert_eq!(searchers(&pool.sleep), 0, "a searcher too many");
}

fn shutdown_against_push(main: Main) {
    let pool = Pool::new();
    let closed = Arc::new(AtomicBool::new(false));
    let (worker, closer, pusher) = (pool.clone(), pool.clone(), pool.clone());
    let seen = closed.clone();
    main.race_two(
        move || until_closed(&worker, &seen),
        move || {
            closed.store(true, Relaxed);
            closer.ring(0);
        },
        move || pusher.push(),
    );
    assert_eq!(searchers(&pool.sleep), 0, "a searcher too many");
}
