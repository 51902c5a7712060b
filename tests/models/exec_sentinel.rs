//! The sentinel: a task in a LIFO slot is watched, if there is anyone to watch it.
//!
//! The owner is the worker that sleeps or watches, the thief the one that pushes
//! into its own slot. Being watched means at the end: a parked worker holds the duty,
//! or was notified, and will take the duty when it parks again.

use loom::sync::Arc;
use loom::sync::atomic::AtomicUsize;
use loom::sync::atomic::Ordering::Relaxed;
use ws_core::slot::{self, Owner, Stealer};
use ws_executor::model::{Duty, Parking, Searching, Sleep, Sleeper};

use super::exec_kit::{is_notified, searching, sleep};
use super::items::{Item, Ledger};
use super::model::Bound::{Exhaustive, Preemptions};
use super::model::{Body, Expect, Main, Model, beat};

pub(crate) const MODELS: &[Model] = &[
    Model {
        name: "exec.sentinel.push_against_park",
        shows: "a push into a slot while a worker goes to sleep: that one watches",
        errata: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(push_against_park, [1_000, 1_300]),
    },
    Model {
        name: "exec.sentinel.push_against_give_up",
        shows: "a push into a slot while the sentinel gives up: it goes on, or is called",
        errata: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(push_against_give_up, [880, 1_000]),
    },
    Model {
        name: "exec.sentinel.push_against_return",
        shows: "a push into a slot while the sentinel is notified, and parks again",
        errata: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(push_against_return, [810, 850]),
    },
    Model {
        name: "exec.sentinel.two_pushes",
        shows: "two pushes into slots call one sentinel",
        errata: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(two_pushes, [390, 390]),
    },
    Model {
        name: "exec.sentinel.two_pushes_against_park",
        shows: "two pushes into slots while a worker goes to sleep: that one watches",
        errata: &[],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(two_pushes_against_park, [2_100, 3_700]),
    },
    Model {
        name: "exec.sentinel.hand_on_against_park",
        shows: "the sentinel finds work while another worker goes to sleep: that one watches",
        errata: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(hand_on_against_park, [700, 840]),
    },
    Model {
        name: "exec.sentinel.hand_on_beside_searcher",
        shows: "the sentinel and another searcher find work: the last one calls a new sentinel",
        errata: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(hand_on_beside_searcher, [130, 130]),
    },
    Model {
        name: "exec.sentinel.rescue_against_take",
        shows: "the sentinel takes a slot's task while its worker does: one of them gets it",
        errata: &[1],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(rescue_against_take, [47_000, 16_000]),
    },
    Model {
        name: "exec.sentinel.rescue_against_evict",
        shows: "the sentinel takes a slot's task while its worker puts another in: none is lost",
        errata: &[1, 2],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(rescue_against_evict, [6_100, 5_900]),
    },
];

/// A worker's slot, and the protocol.
fn parts() -> (Arc<Sleep>, Owner<Item>, Stealer<Item>) {
    let (owner, stealer) = slot::new();
    (Arc::new(sleep()), owner, stealer)
}

/// What a worker does after a push into its slot.
fn push(sleep: &Sleep, slot: &Owner<Item>, id: usize) -> Option<Sleeper> {
    assert!(slot.push(Item::new(id)).is_none(), "it was empty");
    sleep.want_sentinel()
}

/// Steps W1 to W4 without other queues, and the look at the duty.
fn park(sleep: &Sleep, worker: usize, watched: &[Stealer<Item>]) -> (Parking, Option<Duty>) {
    let parking = sleep.start_parking(worker, None);
    let something = watched.iter().any(|slot| !slot.is_empty());
    (parking, sleep.take_duty(something))
}

/// Whether the parked worker watches, or will.
pub(crate) fn watches(sleep: &Sleep, (parking, duty): (Parking, Option<Duty>)) -> bool {
    duty.is_some() || is_notified(sleep, parking)
}

fn push_against_park(main: Main) {
    let ledger = Ledger::open();
    let (sleep, slot, stealer) = parts();
    let (worker, pusher) = (sleep.clone(), sleep.clone());
    let (parked, (slot, _)) = main.race(
        move || park(&worker, 1, &[stealer]),
        move || {
            let called = push(&pusher, &slot, 1);
            (slot, called)
        },
    );
    assert!(watches(&sleep, parked), "nobody watches");
    drop(slot);
    ledger.close();
}

fn push_against_give_up(main: Main) {
    let ledger = Ledger::open();
    let (sleep, slot, stealer) = parts();
    let parking = sleep.start_parking(1, None);
    let duty = sleep.take_duty(true).expect("no one else has it");
    let (sentinel, pusher) = (sleep.clone(), sleep.clone());
    let (duty, (slot, _)) = main.race(
        move || {
            sentinel.give_up(duty);
            sentinel.take_duty(!stealer.is_empty())
        },
        move || {
            let called = push(&pusher, &slot, 1);
            (slot, called)
        },
    );
    assert!(watches(&sleep, (parking, duty)), "nobody watches");
    drop(slot);
    ledger.close();
}

fn push_against_return(main: Main) {
    let ledger = Ledger::open();
    let (sleep, slot, stealer) = parts();
    let duty = sleep.take_duty(true).expect("no one else has it");
    let searching = searching(&sleep);
    let (sentinel, pusher) = (sleep.clone(), sleep.clone());
    let (parked, (slot, _)) = main.race(
        move || {
            sentinel.hand_on(duty);
            let parking = sentinel.start_parking(1, Some(searching));
            (parking, sentinel.take_duty(!stealer.is_empty()))
        },
        move || {
            let called = push(&pusher, &slot, 1);
            (slot, called)
        },
    );
    assert!(watches(&sleep, parked), "nobody watches");
    drop(slot);
    ledger.close();
}

fn two_pushes(main: Main) {
    let ledger = Ledger::open();
    let (sleep, one, _) = parts();
    let (two, _) = slot::new();
    let parking = sleep.start_parking(1, None);
    let (first, second) = (sleep.clone(), sleep.clone());
    let ((one, by_first), (two, by_second)) = main.race(
        move || {
            let called = push(&first, &one, 1);
            (one, called)
        },
        move || {
            let called = push(&second, &two, 2);
            (two, called)
        },
    );
    assert!(
        by_first.is_some() != by_second.is_some(),
        "one sleeper, and one call"
    );
    assert!(is_notified(&sleep, parking), "taken, and not notified");
    assert!(sleep.take_duty(false).is_some(), "the duty is not wanted");
    drop((one, two));
    ledger.close();
}

fn two_pushes_against_park(main: Main) {
    let ledger = Ledger::open();
    let (sleep, one, one_seen) = parts();
    let (two, two_seen) = slot::new();
    let (first, second, worker) = (sleep.clone(), sleep.clone(), sleep.clone());
    let (parked, one, two) = main.race_two(
        move || park(&worker, 1, &[one_seen, two_seen]),
        move || (push(&first, &one, 1), one).1,
        move || (push(&second, &two, 2), two).1,
    );
    assert!(watches(&sleep, parked), "nobody watches");
    drop((one, two));
    ledger.close();
}

/// Steps S1 to S3, as far as the duty goes.
pub(crate) fn found_work(sleep: &Sleep, searching: Searching) {
    if sleep.found_work(searching) && sleep.sentinel.is_wanted() {
        let _called = sleep.take_sleeper();
    }
}

fn hand_on_against_park(main: Main) {
    let sleep = Arc::new(sleep());
    let duty = sleep.take_duty(true).expect("no one else has it");
    let searching = searching(&sleep);
    let (sentinel, worker) = (sleep.clone(), sleep.clone());
    let (parked, ()) = main.race(
        move || park(&worker, 1, &[]),
        move || {
            sentinel.hand_on(duty);
            found_work(&sentinel, searching);
        },
    );
    assert!(watches(&sleep, parked), "nobody watches");
}

fn hand_on_beside_searcher(main: Main) {
    let sleep = Arc::new(sleep());
    let duty = sleep.take_duty(true).expect("no one else has it");
    let parking = sleep.start_parking(1, None);
    let (first, second) = (searching(&sleep), searching(&sleep));
    let (sentinel, other) = (sleep.clone(), sleep.clone());
    main.race(
        move || {
            sentinel.hand_on(duty);
            found_work(&sentinel, first);
        },
        move || found_work(&other, second),
    );
    assert!(watches(&sleep, (parking, None)), "nobody watches");
}

/// What the sentinel does with a slot: two looks in the same poll, then it takes.
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
    let (_, slot, stealer) = parts();
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
    let (_, slot, stealer) = parts();
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
