//! Rings that are stolen from while they steal.
//!
//! A thief fills its own ring. Slots of that ring may still be claimed by another
//! thief, and what it fills in may be stolen the moment it is published.

use ws_core::ring;

use super::items::{Item, Ledger, numbers};
use super::model::Bound::{Exhaustive, Preemptions};
use super::model::{Body, Expect, Main, Model, beat};
use super::ring::{drained, empty, holding, push_all};

pub(crate) const MODELS: &[Model] = &[
    Model {
        name: "ring.chain_into_claimed",
        shows: "a thief leaves alone what another thief still copies out of its ring",
        flaws: &[9],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(chain_into_claimed, [18_000, 13_000]),
    },
    Model {
        name: "ring.chain_publishes",
        shows: "what was stolen into a ring can be stolen from it at once",
        flaws: &[9],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(chain_publishes, [63, 58]),
    },
    Model {
        name: "ring.chain_of_three",
        shows: "an item that is pushed, stolen and stolen again keeps its content",
        flaws: &[],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(chain_of_three, [3_600, 1_700]),
    },
    Model {
        name: "ring.chain_in_a_circle",
        shows: "two owners that steal from each other",
        flaws: &[9],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Once(chain_in_a_circle, 170_000),
    },
    Model {
        name: "ring.chain_into_itself",
        shows: "an owner that steals from its own ring beside a thief",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(chain_into_itself, [17_000, 7_100]),
    },
    Model {
        name: "ring.chain_into_full",
        shows: "a full ring still gets the one item that is returned",
        flaws: &[9],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(chain_into_full, [140, 300]),
    },
    Model {
        name: "ring.chain_limited",
        shows: "a limit is kept beside the owner's pops",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(chain_limited, [210, 430]),
    },
];

/// Two full rings. The thief steals from the first; its owner empties it and
/// steals from the second into it.
fn chain_into_claimed(main: Main) {
    let ledger = Ledger::open();
    let (first, first_stealer) = holding(1..=4);
    let (second, second_stealer) = holding(5..=8);
    let (thief, _) = ring::with_capacity::<Item, 4>();
    let (first, (thief, _)) = main.race(
        move || {
            drop(drained(&first));
            beat();
            drop(second_stealer.steal_into(&first).success());
            first
        },
        move || {
            let stolen = numbers(first_stealer.steal_into(&thief).success());
            (thief, stolen)
        },
    );
    assert!(drained(&thief).is_sorted() && drained(&first).is_sorted());
    drop((first, second, thief));
    ledger.close();
}

/// The owner of the second ring steals into it; a thief steals from it.
fn chain_publishes(main: Main) {
    let ledger = Ledger::open();
    let (first, first_stealer) = holding(1..=4);
    let (second, second_stealer) = empty();
    let (second, stolen) = main.race(
        move || {
            let stolen = numbers(first_stealer.steal_into(&second).success());
            assert_eq!(stolen, [1], "nobody else takes");
            second
        },
        move || numbers(second_stealer.steal().success()),
    );
    assert!(matches!(stolen[..], [] | [2]));
    drop((first, second));
    ledger.close();
}

/// One pushes, one steals into its own ring, a third steals from that one.
fn chain_of_three(main: Main) {
    let ledger = Ledger::open();
    let (first, first_stealer) = empty();
    let (second, second_stealer) = empty();
    let (first, second, _) = main.race_two(
        move || {
            push_all(&first, 1..=3);
            first
        },
        move || {
            drop(first_stealer.steal_into(&second).success());
            second
        },
        move || numbers(second_stealer.steal().success()),
    );
    drop((first, second));
    ledger.close();
}

/// Each of two owners steals half of the other's ring, then pops.
fn chain_in_a_circle() {
    let ledger = Ledger::open();
    let (one, one_stealer) = holding(1..=3);
    let (other, other_stealer) = holding(4..=6);
    let (one, other) = Main::Owner.race(
        move || {
            drop(other_stealer.steal_into(&one).success());
            beat();
            drop(one.pop());
            one
        },
        move || {
            drop(one_stealer.steal_into(&other).success());
            beat();
            drop(other.pop());
            other
        },
    );
    drop((one, other));
    ledger.close();
}

/// The owner steals from the ring it owns; it is a thief like others there.
fn chain_into_itself(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = holding(1..=3);
    let own = owner.stealer();
    let (owner, _) = main.race(
        move || {
            drop(own.steal_into(&owner).success());
            beat();
            drop(owner.push(Item::new(4)));
            owner
        },
        move || numbers(stealer.steal().success()),
    );
    drop(owner);
    ledger.close();
}

/// The thief's ring is full, and another thief takes from it meanwhile.
fn chain_into_full(main: Main) {
    let ledger = Ledger::open();
    let (first, first_stealer) = holding(1..=4);
    let (second, second_stealer) = holding(5..=8);
    let (second, stolen) = main.race(
        move || {
            let stolen = numbers(first_stealer.steal_into(&second).success());
            assert_eq!(stolen, [1], "nobody else takes");
            second
        },
        move || numbers(second_stealer.steal().success()),
    );
    assert_eq!(stolen, [5], "nobody else takes");
    let kept = drained(&second);
    assert!(matches!(kept[..], [6, 7, 8] | [6, 7, 8, 2]), "not {kept:?}");
    drop((first, second));
    ledger.close();
}

fn chain_limited(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = holding(1..=4);
    let (thief, _) = ring::with_capacity::<Item, 4>();
    let (owner, (thief, stolen)) = main.race(
        move || {
            drop(owner.pop());
            owner
        },
        move || {
            let stolen = numbers(stealer.steal_into_limited(&thief, 1).success());
            (thief, stolen)
        },
    );
    assert!(
        thief.is_empty(),
        "the limit counts the item that is returned"
    );
    assert!(matches!(stolen[..], [] | [1] | [2]));
    assert!(drained(&owner).is_sorted());
    drop((owner, thief));
    ledger.close();
}
