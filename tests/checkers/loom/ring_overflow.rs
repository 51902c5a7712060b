//! The ring's overflow: the only operation that moves the tail back.
//!
//! A thief may look at the ring before an overflow and claim after it, as the
//! head is the same again; what it claims must still be there.

use ws_core::ring::{self, Owner};

use super::items::{Item, Ledger, numbers};
use super::model::Bound::{Exhaustive, Preemptions};
use super::model::{Body, Expect, Main, Model, beat};
use super::ring::{drained, empty, holding, push_all};

pub(crate) const MODELS: &[Model] = &[
    Model {
        name: "ring.overflow_against_steal",
        shows: "the older half stays, and a thief takes from it",
        flaws: &[11],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(overflow_against_steal, [1_000, 920]),
    },
    Model {
        name: "ring.overflow_against_half",
        shows: "a claim of half, seen before the overflow and made after it, is covered by what stays",
        flaws: &[11],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(overflow_against_half, [1_000, 920]),
    },
    Model {
        name: "ring.overflow_and_refill",
        shows: "the same, with the cut half pushed anew",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(overflow_and_refill, [46_000, 16_000]),
    },
    Model {
        name: "ring.overflow_against_two_steals",
        shows: "a second steal does not reach what the overflow took away",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(overflow_against_two_steals, [7_100, 12_000]),
    },
    Model {
        name: "ring.overflow_against_two_thieves",
        shows: "two thieves beside an overflow",
        flaws: &[],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(overflow_against_two_thieves, [29_000, 19_000]),
    },
    Model {
        name: "ring.overflow_of_fresh_ring",
        shows: "a thief that sees the head of an overflow sees a tail that fits it",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(overflow_of_fresh_ring, [150_000, 43_000]),
    },
    Model {
        name: "ring.overflow_is_never_empty",
        shows: "a ring that overflows never looks empty",
        flaws: &[12],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(overflow_is_never_empty, [3_900, 2_900]),
    },
    Model {
        name: "ring.overflow_wraps",
        shows: "an overflow where positions wrap at 2^32",
        flaws: &[23],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(overflow_wraps, [1_000, 920]),
    },
];

/// Pushes item 5 onto a full ring and checks what is handed out.
fn overflow(owner: &Owner<Item, 4>) -> Vec<usize> {
    let out = owner.push_or_overflow(Item::new(5)).err().map(numbers);
    let out = out.unwrap_or_default();
    assert!(
        matches!(out[..], [] | [5] | [3, 4, 5]),
        "nothing, the item, or the newer half with it, not {out:?}"
    );
    out
}

fn overflow_against_steal(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = holding(1..=4);
    let ((owner, out), stolen) = main.race(
        move || {
            let out = overflow(&owner);
            (owner, out)
        },
        move || numbers(stealer.steal().success()),
    );
    let mut all = [stolen, drained(&owner), out].concat();
    all.sort_unstable();
    assert_eq!(all, [1, 2, 3, 4, 5]);
    drop(owner);
    ledger.close();
}

fn overflow_against_half(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = holding(1..=4);
    let (thief, _) = empty();
    let ((owner, out), (thief, stolen)) = main.race(
        move || {
            let out = overflow(&owner);
            (owner, out)
        },
        move || {
            let stolen = numbers(stealer.steal_into(&thief).success());
            (thief, stolen)
        },
    );
    let stolen = [stolen, drained(&thief)].concat();
    assert!(
        matches!(stolen[..], [] | [1] | [1, 2]),
        "the oldest, not {stolen:?}"
    );
    let all = [stolen, drained(&owner), out].concat();
    assert_eq!(all.len(), 5);
    drop((owner, thief));
    ledger.close();
}

fn overflow_and_refill(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = holding(1..=4);
    let (thief, _) = empty();
    let (owner, (thief, stolen)) = main.race(
        move || {
            drop(overflow(&owner));
            beat();
            (6..=8).for_each(|id| drop(owner.push(Item::new(id))));
            owner
        },
        move || {
            let stolen = numbers(stealer.steal_into(&thief).success());
            (thief, stolen)
        },
    );
    let stolen = [stolen, drained(&thief)].concat();
    assert!(
        matches!(stolen[..], [] | [1] | [1, 2]),
        "the oldest, not {stolen:?}"
    );
    assert!(drained(&owner).is_sorted());
    drop((owner, thief));
    ledger.close();
}

fn overflow_against_two_steals(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = holding(1..=4);
    let (thief, _) = empty();
    let ((owner, out), (thief, stolen)) = main.race(
        move || {
            let out = overflow(&owner);
            (owner, out)
        },
        move || {
            let first = numbers(stealer.steal_into(&thief).success());
            beat();
            let second = numbers(stealer.steal_into(&thief).success());
            (thief, [first, second].concat())
        },
    );
    let all = [stolen, drained(&thief), drained(&owner), out].concat();
    assert_eq!(all.len(), 5);
    drop((owner, thief));
    ledger.close();
}

fn overflow_against_two_thieves(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = holding(1..=4);
    let (thief, _) = empty();
    let other = stealer.clone();
    let ((owner, out), (thief, stolen), second) = main.race_two(
        move || {
            let out = overflow(&owner);
            (owner, out)
        },
        move || {
            let stolen = numbers(stealer.steal_into(&thief).success());
            (thief, stolen)
        },
        move || numbers(other.steal().success()),
    );
    let all = [stolen, drained(&thief), second, drained(&owner), out].concat();
    assert_eq!(all.len(), 5);
    drop((owner, thief));
    ledger.close();
}

/// The thief knows nothing of the ring but what it reads in the race.
fn overflow_of_fresh_ring(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = empty();
    let (owner, stolen) = main.race(
        move || {
            push_all(&owner, 1..=4);
            drop(owner.pop());
            drop(owner.push(Item::new(5)));
            beat();
            let out = owner.push_or_overflow(Item::new(6)).err().map(numbers);
            assert!(matches!(out.as_deref(), None | Some([6] | [4, 5, 6])));
            owner
        },
        move || numbers(stealer.steal().success()),
    );
    assert!(
        matches!(stolen[..], [] | [1] | [2]),
        "the oldest, not {stolen:?}"
    );
    assert!(drained(&owner).is_sorted());
    drop(owner);
    ledger.close();
}

fn overflow_is_never_empty(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = holding(1..=4);
    let (owner, stolen) = main.race(
        move || {
            drop(overflow(&owner));
            owner
        },
        move || {
            assert!(!stealer.is_empty(), "there is always an item");
            let stolen = stealer.steal();
            assert!(!stolen.is_empty(), "there is always an item");
            stolen.is_success()
        },
    );
    let kept = drained(&owner);
    assert!(kept.len() >= 2 - usize::from(stolen) && kept.is_sorted());
    drop(owner);
    ledger.close();
}

fn overflow_wraps(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = ring::starting_at::<Item, 4>(u32::MAX - 2);
    push_all(&owner, 1..=4);
    let (thief, _) = ring::starting_at::<Item, 4>(u32::MAX);
    let ((owner, out), (thief, stolen)) = main.race(
        move || {
            let out = overflow(&owner);
            (owner, out)
        },
        move || {
            let stolen = numbers(stealer.steal_into(&thief).success());
            (thief, stolen)
        },
    );
    let all = [stolen, drained(&thief), drained(&owner), out].concat();
    assert_eq!(all.len(), 5);
    drop((owner, thief));
    ledger.close();
}
