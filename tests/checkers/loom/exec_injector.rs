//! The executor's injector: nothing is lost between it, the rings, and its end.
//!
//! The owner is a worker, the thief whoever pushes, closes or looks.

use loom::sync::Arc;
use ws_core::ring;
use ws_executor::model::Injector;

use super::exec_kit::{is_notified, searchers, sleep};
use super::items::{Item, Ledger, numbers};
use super::model::Bound::{Exhaustive, Preemptions};
use super::model::{Body, Expect, Main, Model};
use super::sleep::Bell;

pub(crate) const MODELS: &[Model] = &[
    Model {
        name: "exec.injector.close_against_push",
        shows: "a push against the end: the item is refused, or comes out of the close",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(close_against_push, [140, 180]),
    },
    Model {
        name: "exec.injector.close_against_batch",
        shows: "a batch against the end: all of it is refused, or comes out of the close",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(close_against_batch, [140, 180]),
    },
    Model {
        name: "exec.injector.close_against_pull",
        shows: "a pull against the end: each item comes out of one of them",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(close_against_pull, [450, 450]),
    },
    Model {
        name: "exec.injector.two_pullers",
        shows: "two pulls and a push: each item is taken once, in order within a pull",
        flaws: &[],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(two_pullers, [6_300, 6_300]),
    },
    Model {
        name: "exec.injector.pull_against_park",
        shows: "a job moves to a ring while a worker goes to sleep: it sees it, or is notified",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(pull_against_park, [1_700, 2_500]),
    },
    Model {
        name: "exec.injector.push_against_park",
        shows: "a push against a worker that goes to sleep, with the real queue",
        flaws: &[14],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(push_against_park, [780, 810]),
    },
];

/// An injector of one shard with these items.
fn injector(ids: impl IntoIterator<Item = usize>) -> Arc<Injector<Item>> {
    let injector = Arc::new(Injector::new(1));
    for id in ids {
        assert!(injector.push(Item::new(id)).is_ok(), "it is open");
    }
    injector
}

fn close_against_push(main: Main) {
    let ledger = Ledger::open();
    let injector = injector([]);
    let (closer, pusher) = (injector.clone(), injector.clone());
    let (rest, pushed) = main.race(move || closer.close(), move || pusher.push(Item::new(1)));
    assert_eq!(rest.len(), usize::from(pushed.is_ok()), "kept, or lost");
    assert!(injector.is_empty(), "a closed injector has items");
    drop((rest, pushed));
    ledger.close();
}

fn close_against_batch(main: Main) {
    let ledger = Ledger::open();
    let injector = injector([]);
    let (closer, pusher) = (injector.clone(), injector.clone());
    let (rest, pushed) = main.race(
        move || closer.close(),
        move || pusher.push_batch(vec![Item::new(1), Item::new(2)]),
    );
    let expected = if pushed.is_ok() { 2 } else { 0 };
    assert_eq!(rest.len(), expected, "kept, or lost");
    drop((rest, pushed));
    ledger.close();
}

fn close_against_pull(main: Main) {
    let ledger = Ledger::open();
    let injector = injector([1, 2]);
    let (closer, puller) = (injector.clone(), injector.clone());
    let (pulled, rest) = main.race(
        move || {
            let mut more = Vec::new();
            let first = puller.pull_batch(0, 2, &mut more);
            first.into_iter().chain(more).collect::<Vec<_>>()
        },
        move || closer.close(),
    );
    assert_eq!(pulled.len() + rest.len(), 2);
    drop((pulled, rest));
    ledger.close();
}

fn two_pullers(main: Main) {
    let ledger = Ledger::open();
    let injector = injector([1, 2]);
    let (one, two, pusher) = (injector.clone(), injector.clone(), injector.clone());
    let pull = |injector: Arc<Injector<Item>>| {
        move || {
            let mut more = Vec::new();
            let first = injector.pull_batch(0, 2, &mut more);
            numbers(first.into_iter().chain(more))
        }
    };
    let (one, two, pushed) = main.race_two(pull(one), pull(two), move || pusher.push(Item::new(3)));
    assert!(pushed.is_ok(), "it is open");
    assert!(one.is_sorted() && two.is_sorted(), "out of order");
    assert_eq!(one.len() + two.len() + injector.len(), 3);
    drop(injector);
    ledger.close();
}

/// A worker that runs pulls two jobs, and will run one of them for ever.
fn pull_against_park(main: Main) {
    let ledger = Ledger::open();
    let injector = injector([1, 2]);
    let (ring, stealer) = ring::new();
    let sleep = Arc::new(sleep());
    let (puller, pulling) = (sleep.clone(), injector.clone());
    let (worker, looking) = (sleep.clone(), injector.clone());
    let (parked, (ring, _)) = main.race(
        move || {
            let parking = worker.start_parking(1, None);
            let has_work = !looking.is_empty() || !stealer.is_empty();
            (!has_work).then_some(parking)
        },
        move || {
            let mut rest = Vec::new();
            let first = pulling.pull_batch(0, 2, &mut rest);
            drop(first);
            for item in rest {
                assert!(ring.push(item).is_ok(), "there is room");
            }
            (ring, puller.after_push())
        },
    );
    let seen = parked.is_none_or(|parking| is_notified(&sleep, parking));
    assert!(seen, "the second job is forgotten");
    drop((injector, ring));
    ledger.close();
}

fn push_against_park(main: Main) {
    let ledger = Ledger::open();
    let injector = injector([]);
    let (sleep, bell) = (Arc::new(sleep()), Arc::new(Bell::new()));
    let (queue, worker, woken) = (injector.clone(), sleep.clone(), bell.clone());
    let pusher = sleep.clone();
    main.race(
        move || {
            let mut searching = None;
            let item = loop {
                if let Some(item) = queue.pull(0) {
                    break item;
                }
                let mut parking = worker.start_parking(0, searching);
                let mut look = !queue.is_empty();
                searching = loop {
                    let mut ended = worker.wake_up(parking);
                    if std::mem::take(&mut look) {
                        ended = ended.or_else(|parking| worker.cancel_parking(parking));
                    }
                    match ended {
                        Ok(searching) => break Some(searching),
                        Err(still) => parking = still,
                    }
                    woken.wait();
                };
            };
            if let Some(searching) = searching {
                let alone = worker.found_work(searching);
                assert!(!alone, "no one else is parked");
            }
            drop(item);
        },
        move || {
            assert!(injector.push(Item::new(1)).is_ok(), "it is open");
            if pusher.after_push().is_some() {
                bell.ring();
            }
        },
    );
    assert_eq!(searchers(&sleep), 0, "a searcher too many");
    ledger.close();
}
