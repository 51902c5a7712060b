//! Halves of a ring that are dropped while the other half is at work.

use super::items::{Item, Ledger, numbers};
use super::model::Bound::Exhaustive;
use super::model::{Body, Expect, Main, Model};
use super::ring::{empty, holding, push_all};

pub(crate) const MODELS: &[Model] = &[
    Model {
        name: "ring.drop_owner_against_steal",
        shows: "the owner is dropped while a thief steals: each item is dropped once",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(drop_owner_against_steal, [40, 40]),
    },
    Model {
        name: "ring.drop_owner_against_half",
        shows: "the owner is dropped while a thief moves half of the ring",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(drop_owner_against_half, [1_200, 640]),
    },
    Model {
        name: "ring.drop_stealer_against_push",
        shows: "the last stealer is dropped while the owner pushes and pops",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(drop_stealer_against_push, [3_500, 4_800]),
    },
];

fn drop_owner_against_steal(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = holding(1..=2);
    main.race(
        move || drop(owner),
        move || {
            let stolen = numbers(stealer.steal().success());
            assert_eq!(stolen, [1], "nobody else takes");
        },
    );
    ledger.close();
}

fn drop_owner_against_half(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = empty();
    let (thief, _) = empty();
    main.race(
        move || {
            push_all(&owner, 1..=3);
            drop(owner);
        },
        move || {
            drop(stealer.steal_into(&thief).success());
            drop(stealer);
            drop(thief);
        },
    );
    ledger.close();
}

fn drop_stealer_against_push(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = holding(1..=1);
    main.race(
        move || {
            push_all(&owner, 2..=2);
            assert!(owner.pop().map(Item::take).is_some());
        },
        move || {
            drop(stealer.steal().success());
            drop(stealer);
        },
    );
    ledger.close();
}
