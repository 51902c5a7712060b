//! The ring: push, pop and steal beside each other.
//!
//! Rings of four slots, the smallest there are. Whatever a model takes or leaves
//! behind, its ledger sees every item exactly once.

use ws_core::ring::{self, Owner, Stealer};

use super::items::{Item, Ledger, items, numbers};
use super::model::Bound::{Exhaustive, Preemptions};
use super::model::{Body, Expect, Main, Model, beat};

pub(crate) const MODELS: &[Model] = &[
    Model {
        name: "ring.push_against_steal",
        shows: "a thief that sees an item sees its content",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(push_against_steal, [180, 110]),
    },
    Model {
        name: "ring.push_pop_against_steal",
        shows: "owner pushes and pops the only item beside a thief: one of them gets it",
        flaws: &[1],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(push_pop_against_steal, [940, 850]),
    },
    Model {
        name: "ring.last_item",
        shows: "owner and thief on the last item: one of them gets it",
        flaws: &[1],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(last_item, [130, 250]),
    },
    Model {
        name: "ring.last_item_two_thieves",
        shows: "owner and two thieves on the last item: one of them gets it",
        flaws: &[1],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(last_item_two_thieves, [3_200, 4_800]),
    },
    Model {
        name: "ring.pops_against_steals",
        shows: "both ends take in order, and no item twice",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(pops_against_steals, [51_000, 100_000]),
    },
    Model {
        name: "ring.two_thieves_on_two_items",
        shows: "two thieves on two items: none is lost",
        flaws: &[1],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Once(two_thieves_on_two_items, 910),
    },
    Model {
        name: "ring.push_into_full",
        shows: "a push past capacity is refused or goes into a slot that a thief is done with",
        flaws: &[2, 6],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(push_into_full, [66, 150]),
    },
    Model {
        name: "ring.reuse",
        shows: "the owner reuses a slot only after the thief has read it",
        flaws: &[6, 10],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(reuse, [220_000, 100_000]),
    },
    Model {
        name: "ring.reuse_by_push",
        shows: "a push that looks at the head again sees the thief's reads as done",
        flaws: &[6, 10],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(reuse_by_push, [8_700, 25_000]),
    },
    Model {
        name: "ring.reuse_after_empty_pop",
        shows: "a pop that finds the ring emptied by a thief has seen its reads as done",
        flaws: &[10],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(reuse_after_empty_pop, [3_700, 2_500]),
    },
    Model {
        name: "ring.reuse_beside_two_thieves",
        shows: "a thief that finishes gives back no slot that another still reads",
        flaws: &[6, 10],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(reuse_beside_two_thieves, [6_800, 22_000]),
    },
    Model {
        name: "ring.push_batch_against_steal",
        shows: "a batch is stolen from while it is pushed",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(push_batch_against_steal, [1_400, 1_100]),
    },
    Model {
        name: "ring.wrap",
        shows: "positions wrap at 2^32 beside a thief",
        flaws: &[23],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(wrap, [650, 1_200]),
    },
    Model {
        name: "ring.len_is_never_absurd",
        shows: "an observer sees lengths and room that fit the ring",
        flaws: &[],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(len_is_never_absurd, [230_000, 180_000]),
    },
    Model {
        name: "ring.never_empty",
        shows: "a thief does not see a ring as empty that holds an item all the time",
        flaws: &[12],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(never_empty, [140_000, 98_000]),
    },
    Model {
        name: "ring.never_empty_after_claim",
        shows: "a thief that sees another's claim sees the tail that was claimed from",
        flaws: &[12],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(never_empty_after_claim, [15_000, 21_000]),
    },
];

/// A ring without items.
pub(crate) fn empty() -> (Owner<Item, 4>, Stealer<Item, 4>) {
    ring::with_capacity()
}

/// A ring with these items.
pub(crate) fn holding(ids: std::ops::RangeInclusive<usize>) -> (Owner<Item, 4>, Stealer<Item, 4>) {
    let (owner, stealer) = empty();
    push_all(&owner, ids);
    (owner, stealer)
}

/// Pushes items for which there is room.
pub(crate) fn push_all(owner: &Owner<Item, 4>, ids: std::ops::RangeInclusive<usize>) {
    assert_eq!(
        owner.push_batch(items(ids)).count(),
        0,
        "there is room for all"
    );
}

/// Takes what is left, alone, and returns the numbers in order.
pub(crate) fn drained(owner: &Owner<Item, 4>) -> Vec<usize> {
    numbers(std::iter::from_fn(|| owner.pop()))
}

fn push_against_steal(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = empty();
    let (owner, stolen) = main.race(
        move || {
            push_all(&owner, 1..=2);
            owner
        },
        move || stealer.steal().success().map(Item::take),
    );
    let rest = drained(&owner);
    assert_eq!(numbers_of(stolen, rest), [1, 2]);
    drop(owner);
    ledger.close();
}

/// What a thief got, then what was left.
fn numbers_of(stolen: Option<usize>, rest: Vec<usize>) -> Vec<usize> {
    stolen.into_iter().chain(rest).collect()
}

fn push_pop_against_steal(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = empty();
    let ((owner, popped), stolen) = main.race(
        move || {
            push_all(&owner, 1..=1);
            beat();
            let popped = owner.pop().map(Item::take);
            (owner, popped)
        },
        move || stealer.steal().success().map(Item::take),
    );
    assert!(popped.is_some() != stolen.is_some(), "one of them gets it");
    drop(owner);
    ledger.close();
}

fn last_item(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = holding(1..=1);
    let ((owner, popped), stolen) = main.race(
        move || {
            let popped = owner.pop().map(Item::take);
            (owner, popped)
        },
        move || stealer.steal().success().map(Item::take),
    );
    assert!(popped.is_some() != stolen.is_some(), "one of them gets it");
    drop(owner);
    ledger.close();
}

fn last_item_two_thieves(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = holding(1..=1);
    let (one, other) = (stealer.clone(), stealer.clone());
    let ((owner, popped), first, second) = main.race_two(
        move || {
            let popped = owner.pop().map(Item::take);
            (owner, popped)
        },
        move || one.steal().success().map(Item::take),
        move || other.steal().success().map(Item::take),
    );
    let takers = [popped, first, second].into_iter().flatten().count();
    assert_eq!(takers, 1, "one of them gets it");
    drop((owner, stealer));
    ledger.close();
}

fn pops_against_steals(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = holding(1..=4);
    let ((owner, popped), stolen) = main.race(
        move || {
            let popped = two_of(|| owner.pop());
            (owner, popped)
        },
        move || two_of(|| stealer.steal().success()),
    );
    assert!(
        popped.is_sorted() && stolen.is_sorted(),
        "first in, first out"
    );
    assert_eq!(
        popped.len(),
        2,
        "the owner never fails while there are items"
    );
    drop(owner);
    ledger.close();
}

/// Takes twice, with a beat between.
fn two_of(take: impl Fn() -> Option<Item>) -> Vec<usize> {
    let first = take().map(Item::take);
    beat();
    first.into_iter().chain(take().map(Item::take)).collect()
}

fn two_thieves_on_two_items() {
    let ledger = Ledger::open();
    let (owner, stealer) = holding(1..=2);
    let (one, other) = (stealer.clone(), stealer.clone());
    let (first, second) = Main::Owner.race(
        move || one.steal().success().map(Item::take),
        move || other.steal().success().map(Item::take),
    );
    assert!(
        first.is_some() || second.is_some(),
        "a thief is stopped by a thief only"
    );
    drop((owner, stealer));
    ledger.close();
}

fn push_into_full(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = holding(1..=4);
    let (owner, stolen) = main.race(
        move || {
            drop(owner.push(Item::new(5)));
            owner
        },
        move || stealer.steal().success().map(Item::take),
    );
    assert_eq!(stolen, Some(1), "nobody else takes");
    assert!(drained(&owner).starts_with(&[2, 3, 4]));
    drop(owner);
    ledger.close();
}

fn reuse(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = holding(1..=4);
    let (thief, _) = empty();
    let (owner, (thief, stolen)) = main.race(
        move || {
            for id in 5..=7 {
                drop(owner.pop());
                drop(owner.push(Item::new(id)));
                beat();
            }
            owner
        },
        move || {
            let stolen = stealer.steal_into(&thief).success().map(Item::take);
            (thief, stolen)
        },
    );
    assert!(numbers_of(stolen, drained(&thief)).is_sorted());
    assert!(drained(&owner).is_sorted());
    drop((owner, thief));
    ledger.close();
}

fn reuse_by_push(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = holding(1..=4);
    let (owner, stolen) = main.race(
        move || {
            drop(owner.push(Item::new(5)));
            beat();
            drop(owner.push(Item::new(6)));
            owner
        },
        move || two_of(|| stealer.steal().success()),
    );
    assert_eq!(stolen, [1, 2], "nobody else takes");
    assert!(drained(&owner).starts_with(&[3, 4]));
    drop(owner);
    ledger.close();
}

fn reuse_after_empty_pop(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = holding(1..=1);
    let (owner, _) = main.race(
        move || {
            drop(owner.pop());
            (2..=5).for_each(|id| drop(owner.push(Item::new(id))));
            owner
        },
        move || numbers(stealer.steal().success()),
    );
    assert!(drained(&owner).is_sorted());
    drop(owner);
    ledger.close();
}

fn reuse_beside_two_thieves(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = holding(1..=4);
    let (one, other) = (stealer.clone(), stealer);
    let (owner, ..) = main.race_two(
        move || {
            (5..=6).for_each(|id| drop(owner.push(Item::new(id))));
            owner
        },
        move || numbers(one.steal().success()),
        move || numbers(other.steal().success()),
    );
    assert!(drained(&owner).is_sorted());
    drop(owner);
    ledger.close();
}

fn push_batch_against_steal(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = holding(1..=2);
    let (thief, _) = empty();
    let (owner, (thief, stolen)) = main.race(
        move || {
            owner.push_batch(items(3..=6)).for_each(drop);
            owner
        },
        move || {
            let stolen = stealer.steal_into(&thief).success().map(Item::take);
            (thief, stolen)
        },
    );
    assert_eq!(stolen, Some(1), "nobody else takes");
    assert!(drained(&thief).is_sorted());
    assert!(drained(&owner).is_sorted());
    drop((owner, thief));
    ledger.close();
}

fn wrap(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = ring::starting_at::<Item, 4>(u32::MAX - 1);
    let (thief, _) = ring::starting_at::<Item, 4>(u32::MAX);
    push_all(&owner, 1..=4);
    let ((owner, popped), (thief, stolen)) = main.race(
        move || {
            let popped = owner.pop().map(Item::take);
            drop(owner.push(Item::new(5)));
            (owner, popped)
        },
        move || {
            let stolen = stealer.steal_into(&thief).success().map(Item::take);
            (thief, stolen)
        },
    );
    assert!(popped.is_some());
    assert!(numbers_of(stolen, drained(&thief)).is_sorted());
    assert!(drained(&owner).is_sorted());
    drop((owner, thief));
    ledger.close();
}

fn len_is_never_absurd(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = holding(1..=2);
    let thief = stealer.clone();
    let (owner, ..) = main.race_two(
        move || {
            drop(owner.pop());
            drop(owner.push(Item::new(3)));
            owner
        },
        move || {
            let len = stealer.len();
            assert!(len <= 2, "there were never more than two items, not {len}");
            let spare = stealer.spare_capacity();
            assert!(
                (1..=4).contains(&spare),
                "there was always room for one, not {spare}"
            );
        },
        move || drop(thief.steal()),
    );
    assert_eq!(owner.len(), drained(&owner).len());
    assert!(owner.is_empty());
    drop(owner);
    ledger.close();
}

fn never_empty(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = holding(1..=2);
    let (owner, stolen) = main.race(
        move || {
            for id in 3..=4 {
                drop(owner.pop());
                drop(owner.push(Item::new(id)));
                beat();
            }
            owner
        },
        move || {
            assert!(!stealer.is_empty(), "there is always an item");
            let stolen = stealer.steal();
            assert!(!stolen.is_empty(), "there is always an item");
            stolen.success().map(Item::take)
        },
    );
    assert!(drained(&owner).len() == 2 - usize::from(stolen.is_some()));
    drop(owner);
    ledger.close();
}

/// One thief takes the first item only after it has seen the second, so that the
/// other one can never find the ring empty.
fn never_empty_after_claim(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = holding(1..=1);
    let (one, other) = (stealer.clone(), stealer);
    let (owner, ..) = main.race_two(
        move || {
            push_all(&owner, 2..=2);
            owner
        },
        move || {
            let stolen = one.steal();
            assert!(!stolen.is_empty(), "there is always an item");
            numbers(stolen.success())
        },
        move || match other.len() {
            2 => numbers(other.steal().success()),
            _ => Vec::new(),
        },
    );
    drop(owner);
    ledger.close();
}
