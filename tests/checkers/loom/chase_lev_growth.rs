//! The Chase-Lev deque when its slots are used again: by growth, and by wrapping
//! around.
//!
//! In both cases a thief may hold an old pointer, or an old index, and look into
//! memory that the owner has moved on from.

use ws_core::chase_lev::{self, Owner};

use super::chase_lev::{drained, holding};
use super::items::{Item, Ledger, numbers};
use super::model::Bound::{Exhaustive, Preemptions};
use super::model::{Body, Expect, Main, Model, beat};

pub(crate) const MODELS: &[Model] = &[
    Model {
        name: "chase_lev.growth_against_steal",
        shows: "the deque grows while a thief steals: an old buffer is still readable",
        flaws: &[2, 8],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(growth_against_steal, [510, 430]),
    },
    Model {
        name: "chase_lev.growth_of_fresh_deque",
        shows: "a thief that sees the grown buffer sees what was copied into it",
        flaws: &[8],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(growth_of_fresh_deque, [550, 330]),
    },
    Model {
        name: "chase_lev.growth_twice",
        shows: "two growths beside a thief with the oldest buffer",
        flaws: &[8],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(growth_twice, [1_500, 1_400]),
    },
    Model {
        name: "chase_lev.growth_against_two_thieves",
        shows: "the deque grows while two thieves steal",
        flaws: &[8],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(growth_against_two_thieves, [12_000, 14_000]),
    },
    Model {
        name: "chase_lev.push_into_full",
        shows: "the owner fills the slot of an item that a thief is just taking",
        flaws: &[6],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(push_into_full, [270, 340]),
    },
    Model {
        name: "chase_lev.wrap_against_stale_thief",
        shows: "a thief that read an overwritten slot loses the race for it",
        flaws: &[6],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(wrap_against_stale_thief, [38_000, 12_000]),
    },
    Model {
        name: "chase_lev.wide_items",
        shows: "a torn item of two words is never looked at",
        flaws: &[6],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(wide_items, [2_400, 2_000]),
    },
    Model {
        name: "chase_lev.drop_grown",
        shows: "a grown deque is dropped while a thief holds on: each item and buffer once",
        flaws: &[8],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(drop_grown, [830, 1_000]),
    },
];

fn growth_against_steal(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = holding(2, 1..=2);
    let (owner, stolen) = main.race(
        move || {
            owner.push(Item::new(3));
            owner.push(Item::new(4));
            owner
        },
        move || numbers(stealer.steal().success()),
    );
    assert_eq!(stolen, [1], "nobody else takes");
    assert_eq!(drained(&owner), [4, 3, 2]);
    drop(owner);
    ledger.close();
}

fn growth_of_fresh_deque(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = chase_lev::with_capacity::<Item>(1);
    let (owner, stolen) = main.race(
        move || {
            owner.push(Item::new(1));
            owner.push(Item::new(2));
            owner
        },
        move || numbers(stealer.steal().success()),
    );
    assert_eq!([drained(&owner), stolen].concat(), [2, 1]);
    drop(owner);
    ledger.close();
}

fn growth_twice(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = holding(1, 1..=1);
    let (owner, stolen) = main.race(
        move || {
            owner.push(Item::new(2));
            owner.push(Item::new(3));
            assert_eq!(owner.pop().map(Item::take), Some(3));
            owner
        },
        move || {
            let first = numbers(stealer.steal().success());
            beat();
            [first, numbers(stealer.steal().success())].concat()
        },
    );
    assert!(
        matches!(stolen[..], [1] | [1, 2]),
        "the oldest first, not {stolen:?}"
    );
    drop(owner);
    ledger.close();
}

fn growth_against_two_thieves(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = holding(2, 1..=2);
    let (one, other) = (stealer.clone(), stealer);
    let (owner, ..) = main.race_two(
        move || {
            owner.push(Item::new(3));
            owner
        },
        move || numbers(one.steal().success()),
        move || numbers(other.steal().success()),
    );
    drop(owner);
    ledger.close();
}

fn push_into_full(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = holding(2, 1..=2);
    let (owner, stolen) = main.race(
        move || {
            owner.push(Item::new(3));
            owner
        },
        move || numbers(stealer.steal().success()),
    );
    assert_eq!(stolen, [1], "nobody else takes");
    assert_eq!(drained(&owner), [3, 2]);
    drop(owner);
    ledger.close();
}

/// The deque never grows, as a thief makes room; slots are used again.
fn wrap_against_stale_thief(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = holding(2, 1..=2);
    let helper = stealer.clone();
    let (owner, stolen) = main.race(
        move || {
            // The owner plays a second thief, so that slots become free.
            drop(helper.steal().success());
            owner.push(Item::new(3));
            beat();
            drop(helper.steal().success());
            owner.push(Item::new(4));
            owner
        },
        move || numbers(stealer.steal().success()),
    );
    assert!(stolen.len() <= 1);
    assert!(
        drained(&owner).is_sorted_by(|one, next| one > next),
        "newest first"
    );
    drop(owner);
    ledger.close();
}

/// An item that knows whether it is whole.
struct Wide {
    item: Item,
    check: usize,
}

impl Wide {
    fn new(id: usize) -> Self {
        Self {
            item: Item::new(id),
            check: !id,
        }
    }

    fn take(self) -> usize {
        let id = self.item.take();
        assert_eq!(self.check, !id, "the halves belong to different items");
        id
    }
}

fn wide_items(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = chase_lev::with_capacity(1);
    owner.push(Wide::new(1));
    let (owner, stolen): (Owner<Wide>, _) = main.race(
        move || {
            if let Some(wide) = owner.pop() {
                wide.take();
            }
            owner.push(Wide::new(2));
            owner
        },
        move || stealer.steal().success().map(Wide::take),
    );
    assert!(matches!(stolen, None | Some(1 | 2)));
    while let Some(wide) = owner.pop() {
        wide.take();
    }
    drop(owner);
    ledger.close();
}

fn drop_grown(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = holding(1, 1..=1);
    main.race(
        move || {
            owner.push(Item::new(2));
            drop(owner);
        },
        move || {
            assert_eq!(numbers(stealer.steal().success()), [1], "nobody else takes");
            drop(stealer);
        },
    );
    ledger.close();
}
