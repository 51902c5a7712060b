//! The slot: one pointer that its owner fills and anyone takes.
//!
//! No model here lets a swap meet an empty slot while the owner fills it with a
//! plain store: `loom_limits.rs` says why loom raises a false alarm there.

use ws_core::slot::{self, Owner, Stealer};

use super::items::{Item, Ledger};
use super::model::Bound::{Exhaustive, Preemptions};
use super::model::{Body, Expect, Main, Model, beat};

pub(crate) const MODELS: &[Model] = &[
    Model {
        name: "slot.push_against_take",
        shows: "a thief that gets an item sees its content",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(push_against_take, [51, 29]),
    },
    Model {
        name: "slot.take_against_take",
        shows: "owner and thief on one item: one of them gets it",
        flaws: &[1],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(take_against_take, [240, 240]),
    },
    Model {
        name: "slot.evict_against_take",
        shows: "the owner puts a second item in while a thief takes the first",
        flaws: &[1, 2],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(evict_against_take, [80, 80]),
    },
    Model {
        name: "slot.evictions_publish",
        shows: "an item that evicted another is published, too",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(evictions_publish, [170, 75]),
    },
    Model {
        name: "slot.refill_against_takes",
        shows: "the plain store into a slot that a thief emptied loses nothing",
        flaws: &[1],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(refill_against_takes, [2_800, 2_600]),
    },
    Model {
        name: "slot.two_thieves",
        shows: "owner and two thieves on one item: one of them gets it",
        flaws: &[1],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(two_thieves, [4_300, 4_300]),
    },
    Model {
        name: "slot.drop_against_take",
        shows: "the owner is dropped while a thief takes: the item is dropped once",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(drop_against_take, [40, 40]),
    },
];

type Halves = (Owner<Item>, Stealer<Item>);

/// A slot with item 1.
fn filled() -> Halves {
    let (owner, stealer) = slot::new();
    assert!(push(&owner, 1).is_none(), "a new slot is empty");
    (owner, stealer)
}

/// Pushes item `id` and returns the number of the evicted one.
fn push(owner: &Owner<Item>, id: usize) -> Option<usize> {
    number(owner.push(Item::new(id)))
}

fn number(item: Option<Item>) -> Option<usize> {
    item.map(Item::take)
}

fn push_against_take(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer): Halves = slot::new();
    let (owner, stolen) = main.race(
        move || {
            assert!(push(&owner, 1).is_none(), "it was empty");
            owner
        },
        move || number(stealer.take()),
    );
    assert_eq!(stolen.is_some(), owner.is_empty());
    drop(owner);
    ledger.close();
}

fn take_against_take(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = filled();
    let (taken, stolen) = main.race(move || number(owner.take()), move || number(stealer.take()));
    assert!(taken.is_some() != stolen.is_some(), "one of them gets it");
    ledger.close();
}

fn evict_against_take(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = filled();
    let ((owner, evicted), stolen) = main.race(
        move || {
            let evicted = push(&owner, 2);
            (owner, evicted)
        },
        move || number(stealer.take()),
    );
    assert!(
        stolen.is_some(),
        "the slot is never empty for the only thief"
    );
    assert_eq!(evicted.is_none(), stolen == Some(1));
    drop(owner);
    ledger.close();
}

fn evictions_publish(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer): Halves = slot::new();
    let (owner, _) = main.race(
        move || {
            push(&owner, 1);
            push(&owner, 2);
            owner
        },
        move || number(stealer.take()),
    );
    drop(owner);
    ledger.close();
}

fn refill_against_takes(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = filled();
    let (owner, _) = main.race(
        move || {
            push(&owner, 2);
            beat();
            push(&owner, 3);
            owner
        },
        move || {
            let first = number(stealer.take());
            beat();
            (first, number(stealer.take()))
        },
    );
    drop(owner);
    ledger.close();
}

fn two_thieves(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = filled();
    let (one, other) = (stealer.clone(), stealer);
    let (taken, first, second) = main.race_two(
        move || number(owner.take()),
        move || number(one.take()),
        move || number(other.take()),
    );
    let takers = [taken, first, second].into_iter().flatten().count();
    assert_eq!(takers, 1, "one of them gets it");
    ledger.close();
}

fn drop_against_take(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = filled();
    main.race(
        move || drop(owner),
        move || {
            assert_eq!(number(stealer.take()), Some(1), "nobody else takes");
            drop(stealer);
        },
    );
    ledger.close();
}
