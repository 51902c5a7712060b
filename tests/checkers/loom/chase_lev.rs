//! The Chase-Lev deque: the scenarios of the small deques, on the real one.
//!
//! Items are one word, so that a slot is one atomic; `chase_lev_growth.rs` has
//! the wider ones.

use ws_core::chase_lev::{self, Owner, Stealer};

use super::items::{Item, Ledger, numbers};
use super::model::Bound::{Exhaustive, Preemptions};
use super::model::{Body, Expect, Main, Model, beat};

pub(crate) const MODELS: &[Model] = &[
    Model {
        name: "chase_lev.push_against_steal",
        shows: "a thief that sees an item sees its content",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(push_against_steal, [180, 110]),
    },
    Model {
        name: "chase_lev.push_pop_against_steal",
        shows: "owner pushes and pops the only item beside a thief: one of them gets it",
        flaws: &[1],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(push_pop_against_steal, [570, 460]),
    },
    Model {
        name: "chase_lev.pop_publishes",
        shows: "a thief that sees the bottom that a pop left sees the items below it",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(pop_publishes, [1_200, 600]),
    },
    Model {
        name: "chase_lev.last_item",
        shows: "owner and thief on the last item: one of them gets it",
        flaws: &[1],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(last_item, [81, 99]),
    },
    Model {
        name: "chase_lev.last_item_two_thieves",
        shows: "owner and two thieves on the last item: one of them gets it",
        flaws: &[1],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(last_item_two_thieves, [2_300, 2_500]),
    },
    Model {
        name: "chase_lev.two_thieves_on_two_items",
        shows: "two thieves on two items: none is lost",
        flaws: &[1],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Once(two_thieves_on_two_items, 240),
    },
    Model {
        name: "chase_lev.pop_against_two_thieves",
        shows: "the pop without a CAS is safe against two thieves",
        flaws: &[4, 5],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(pop_against_two_thieves, [3_800, 6_500]),
    },
    Model {
        name: "chase_lev.pop_against_two_steals",
        shows: "the pop without a CAS is safe against two steals",
        flaws: &[4, 5],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(pop_against_two_steals, [2_100, 3_800]),
    },
    Model {
        name: "chase_lev.pops_against_batch",
        shows: "a batch takes nothing that the owner popped",
        flaws: &[7],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(pops_against_batch, [47_000, 49_000]),
    },
    Model {
        name: "chase_lev.batch_publishes",
        shows: "what was stolen into a deque can be stolen from it at once",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(batch_publishes, [63, 58]),
    },
    Model {
        name: "chase_lev.pop_on_new",
        shows: "a pop on a new deque finds nothing and leaves it usable",
        flaws: &[23],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(pop_on_new, [63, 58]),
    },
    Model {
        name: "chase_lev.pop_remembers_top",
        shows: "an owner with an old top finds out that a thief was there",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(pop_remembers_top, [1_500, 1_000]),
    },
    Model {
        name: "chase_lev.never_empty",
        shows: "a thief does not see a deque as empty that holds an item all the time",
        flaws: &[12],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(never_empty, [800, 510]),
    },
    Model {
        name: "chase_lev.len_is_never_absurd",
        shows: "an observer sees lengths that fit the deque",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(len_is_never_absurd, [5_400, 8_600]),
    },
    Model {
        name: "chase_lev.drop_owner_against_steal",
        shows: "the owner is dropped while a thief steals: each item is dropped once",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(drop_owner_against_steal, [570, 690]),
    },
];

/// A deque with these items and room for `capacity`.
pub(crate) fn holding(
    capacity: usize,
    ids: std::ops::RangeInclusive<usize>,
) -> (Owner<Item>, Stealer<Item>) {
    let (owner, stealer) = chase_lev::with_capacity(capacity);
    ids.for_each(|id| owner.push(Item::new(id)));
    (owner, stealer)
}

/// Takes what is left, alone, and returns the numbers, newest first.
pub(crate) fn drained(owner: &Owner<Item>) -> Vec<usize> {
    numbers(std::iter::from_fn(|| owner.pop()))
}

fn push_against_steal(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = chase_lev::with_capacity::<Item>(2);
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

fn push_pop_against_steal(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = chase_lev::with_capacity::<Item>(2);
    let ((owner, popped), stolen) = main.race(
        move || {
            owner.push(Item::new(1));
            beat();
            let popped = numbers(owner.pop());
            (owner, popped)
        },
        move || numbers(stealer.steal().success()),
    );
    assert_eq!([popped, stolen].concat(), [1]);
    drop(owner);
    ledger.close();
}

fn pop_publishes(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = chase_lev::with_capacity::<Item>(2);
    let (owner, stolen) = main.race(
        move || {
            owner.push(Item::new(1));
            owner.push(Item::new(2));
            assert_eq!(numbers(owner.pop()), [2], "a thief takes the older one");
            owner
        },
        move || numbers(stealer.steal().success()),
    );
    assert_eq!([drained(&owner), stolen].concat(), [1]);
    drop(owner);
    ledger.close();
}

fn last_item(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = holding(2, 1..=1);
    let ((owner, popped), stolen) = main.race(
        move || {
            let popped = numbers(owner.pop());
            (owner, popped)
        },
        move || numbers(stealer.steal().success()),
    );
    assert_eq!([popped, stolen].concat(), [1]);
    drop(owner);
    ledger.close();
}

fn last_item_two_thieves(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = holding(2, 1..=1);
    let (one, other) = (stealer.clone(), stealer);
    let ((owner, popped), first, second) = main.race_two(
        move || {
            let popped = numbers(owner.pop());
            (owner, popped)
        },
        move || numbers(one.steal().success()),
        move || numbers(other.steal().success()),
    );
    assert_eq!([popped, first, second].concat(), [1]);
    drop(owner);
    ledger.close();
}

fn two_thieves_on_two_items() {
    let ledger = Ledger::open();
    let (owner, stealer) = holding(2, 1..=2);
    let (one, other) = (stealer.clone(), stealer);
    let (first, second) = Main::Owner.race(
        move || numbers(one.steal().success()),
        move || numbers(other.steal().success()),
    );
    assert!(first != second, "a thief is stopped by a thief only");
    drop(owner);
    ledger.close();
}

fn pop_against_two_thieves(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = holding(2, 1..=2);
    let (one, other) = (stealer.clone(), stealer);
    let (owner, ..) = main.race_two(
        move || {
            drop(owner.pop());
            owner
        },
        move || numbers(one.steal().success()),
        move || numbers(other.steal().success()),
    );
    drop(owner);
    ledger.close();
}

fn pop_against_two_steals(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = holding(2, 1..=2);
    let (owner, stolen) = main.race(
        move || {
            drop(owner.pop());
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

fn pops_against_batch(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = holding(4, 1..=4);
    let (thief, _) = chase_lev::with_capacity::<Item>(2);
    let ((owner, popped), (thief, stolen)) = main.race(
        move || {
            let popped: Vec<_> = (0..3).flat_map(|_| numbers(owner.pop())).collect();
            (owner, popped)
        },
        move || {
            let stolen = numbers(stealer.steal_into(&thief).success());
            (thief, stolen)
        },
    );
    assert!(popped.is_sorted_by(|one, next| one > next), "newest first");
    assert!(matches!(stolen[..], [] | [1]), "the oldest first");
    drop((owner, thief));
    ledger.close();
}

fn batch_publishes(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = holding(4, 1..=3);
    let (thief, thiefs_stealer) = chase_lev::with_capacity::<Item>(2);
    let (thief, stolen) = main.race(
        move || {
            let stolen = numbers(stealer.steal_into_limited(&thief, 2).success());
            assert_eq!(stolen, [1], "nobody else takes");
            thief
        },
        move || numbers(thiefs_stealer.steal().success()),
    );
    assert_eq!([drained(&thief), stolen].concat(), [2]);
    drop((owner, thief));
    ledger.close();
}

fn pop_on_new(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = chase_lev::with_capacity::<Item>(2);
    let (owner, stolen) = main.race(
        move || {
            assert!(owner.pop().is_none(), "an empty deque gave an item");
            owner.push(Item::new(1));
            owner
        },
        move || numbers(stealer.steal().success()),
    );
    assert_eq!([drained(&owner), stolen].concat(), [1]);
    assert!(owner.pop().is_none(), "an empty deque gave an item");
    drop(owner);
    ledger.close();
}

/// After the first pop the owner knows a top that thieves have left behind.
fn pop_remembers_top(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = holding(4, 1..=3);
    let ((owner, popped), stolen) = main.race(
        move || {
            let first = numbers(owner.pop());
            beat();
            let popped = [first, numbers(owner.pop())].concat();
            owner.push(Item::new(4));
            (owner, popped)
        },
        move || numbers(stealer.steal().success()),
    );
    let mut all = [popped, stolen, drained(&owner)].concat();
    all.sort_unstable();
    assert_eq!(all, [1, 2, 3, 4]);
    drop(owner);
    ledger.close();
}

fn never_empty(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = holding(4, 1..=2);
    let (owner, _) = main.race(
        move || {
            assert_eq!(numbers(owner.pop()).len(), 1);
            owner.push(Item::new(3));
            beat();
            owner.push(Item::new(4));
            owner
        },
        move || {
            let stolen = stealer.steal();
            assert!(!stolen.is_empty(), "there is always an item");
            stolen.success().map(Item::take)
        },
    );
    drop(owner);
    ledger.close();
}

fn len_is_never_absurd(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = holding(4, 1..=1);
    let (owner, _) = main.race(
        move || {
            drop(owner.pop());
            drop(owner.pop());
            owner.push(Item::new(2));
            assert!(owner.len() <= 1);
            owner
        },
        move || {
            let len = stealer.len();
            assert!(len <= 1, "there was never more than one item, not {len}");
            drop(stealer.steal().success());
        },
    );
    assert_eq!(owner.len(), drained(&owner).len());
    assert!(owner.is_empty());
    drop(owner);
    ledger.close();
}

fn drop_owner_against_steal(main: Main) {
    let ledger = Ledger::open();
    let (owner, stealer) = holding(4, 1..=3);
    main.race(
        move || {
            drop(owner.pop());
            drop(owner);
        },
        move || {
            drop(stealer.steal().success());
            drop(stealer);
        },
    );
    ledger.close();
}
