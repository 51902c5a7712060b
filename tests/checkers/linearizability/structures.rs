//! The structures of `ws-core` as subjects.

use std::iter;
use std::ptr::{self, NonNull};

use ws_core::{Steal, chase_lev, ring, slot};

use super::deque_spec::DequeSpec;
use super::history::Outcome;
use super::program::{Call, Item, Shape, Usage};
use super::ring_spec::RingSpec;
use super::slot_spec::SlotSpec;
use super::subject::{Half, Halves, Subject, allowed_by};

pub(crate) const SUBJECTS: &[Subject] = &[
    Subject {
        name: "ring",
        about: "4 or 8 slots; positions start at 0 or shortly before they wrap",
        usage: &RING_USAGE,
        halves: ring_halves,
        allows: allowed_by::<RingSpec>,
        must_see: &[
            "push: full",
            "push or overflow: shed one",
            "push or overflow: shed several",
            "steal: retry",
            "steal half: took several",
            "steal half: retry",
        ],
    },
    Subject {
        name: "chase_lev",
        about: "grows from 1, 2 or 4 slots",
        usage: &DEQUE_USAGE,
        halves: deque_halves,
        allows: allowed_by::<DequeSpec>,
        must_see: &[
            "pop: empty",
            "steal: retry",
            "steal half: took several",
            "steal half: retry",
        ],
    },
    Subject {
        name: "slot",
        about: "one item",
        usage: &SLOT_USAGE,
        halves: slot_halves,
        allows: allowed_by::<SlotSpec>,
        must_see: &[
            "push: shed one",
            "pop: took one",
            "steal: took one",
            "steal: empty",
        ],
    },
];

const HALF: Call = Call::StealHalf {
    limit: 0,
    filled: 0,
};

pub(crate) const RING_USAGE: Usage = Usage {
    capacities: &[4, 4, 4, 8],
    before: 6,
    owner: &[
        (6, Call::Push(0)),
        (6, Call::PushOrOverflow(0)),
        (2, Call::PushBatch(0, 0)),
        (6, Call::Pop),
        (1, Call::IsEmpty),
        (1, Call::Len),
        (1, Call::SpareCapacity),
    ],
    thief: &[
        (5, Call::Steal),
        (8, HALF),
        (1, Call::IsEmpty),
        (1, Call::Len),
        (1, Call::SpareCapacity),
    ],
};

pub(crate) const DEQUE_USAGE: Usage = Usage {
    capacities: &[1, 2, 4],
    before: 6,
    owner: &[
        (6, Call::Push(0)),
        (8, Call::Pop),
        (1, Call::IsEmpty),
        (1, Call::Len),
    ],
    thief: &[
        (8, Call::Steal),
        (5, HALF),
        (1, Call::IsEmpty),
        (1, Call::Len),
    ],
};

pub(crate) const SLOT_USAGE: Usage = Usage {
    capacities: &[1],
    before: 1,
    owner: &[(8, Call::Push(0)), (5, Call::Pop), (1, Call::IsEmpty)],
    thief: &[(8, Call::Steal), (1, Call::IsEmpty)],
};

/// An item of three words, which a torn read would give away.
pub(crate) struct Wide([usize; 3]);

impl Wide {
    pub(crate) fn new(item: Item) -> Self {
        let word = item as usize;
        Self([word, !word, word])
    }

    pub(crate) fn item(&self) -> Item {
        let word = self.0[0];
        assert_eq!(self.0, [word, !word, word], "a torn item");
        word as Item
    }
}

/// What a pop says.
pub(crate) fn popped(item: Option<Item>) -> Outcome {
    item.map_or(Outcome::Empty, |item| Outcome::Took(vec![item]))
}

/// What a thief says.
pub(crate) fn stolen(first: Steal<Wide>) -> Outcome {
    match first {
        Steal::Empty => Outcome::Empty,
        Steal::Retry => Outcome::Retry,
        Steal::Success(first) => Outcome::Took(vec![first.item()]),
    }
}

fn ring_halves(shape: Shape, thieves: usize) -> Halves {
    match shape.capacity {
        4 => ring_halves_of::<4>(shape, thieves),
        8 => ring_halves_of::<8>(shape, thieves),
        other => unreachable!("no ring of {other} slots is in use"),
    }
}

fn ring_halves_of<const N: usize>(shape: Shape, thieves: usize) -> Halves {
    let (owner, stealer) = ring::starting_at::<Wide, N>(shape.position);
    let thief = |_| Box::new(RingThief::new(stealer.clone())) as Box<dyn Half>;
    (
        Box::new(RingOwner(owner)),
        (0..thieves).map(thief).collect(),
    )
}

pub(crate) struct RingOwner<const N: usize>(pub(crate) ring::Owner<Wide, N>);

impl<const N: usize> Half for RingOwner<N> {
    fn call(&mut self, call: Call) -> Outcome {
        match call {
            Call::Push(item) => match self.0.push(Wide::new(item)) {
                Ok(()) => Outcome::Done,
                Err(back) => {
                    assert_eq!(back.item(), item, "another item came back");
                    Outcome::Full
                }
            },
            Call::PushOrOverflow(item) => match self.0.push_or_overflow(Wide::new(item)) {
                Ok(()) => Outcome::Done,
                Err(batch) => Outcome::Shed(batch.map(|item| item.item()).collect()),
            },
            Call::PushBatch(first, count) => {
                let items = (first..first + count).map(Wide::new);
                let rest: Vec<Item> = self.0.push_batch(items).map(|item| item.item()).collect();
                let pushed = count - rest.len() as u32;
                assert!(
                    rest.into_iter().eq(first + pushed..first + count),
                    "another rest came back"
                );
                Outcome::Pushed(pushed)
            }
            Call::Pop => popped(self.0.pop().map(|item| item.item())),
            Call::IsEmpty => Outcome::Answer(self.0.is_empty()),
            Call::Len => Outcome::Count(self.0.len()),
            Call::SpareCapacity => Outcome::Count(self.0.spare_capacity()),
            other => unreachable!("{other:?} is no call of an owner"),
        }
    }
}

pub(crate) struct RingThief<const N: usize> {
    stealer: ring::Stealer<Wide, N>,
    /// Where stolen items go.
    own: ring::Owner<Wide, N>,
    /// How many items of no interest come first in there.
    filled: usize,
}

impl<const N: usize> RingThief<N> {
    pub(crate) fn new(stealer: ring::Stealer<Wide, N>) -> Self {
        Self {
            stealer,
            own: ring::starting_at(u32::MAX).0,
            filled: 0,
        }
    }
}

impl<const N: usize> Half for RingThief<N> {
    fn prepare(&mut self, call: Call) {
        while self.own.pop().is_some() {}
        self.filled = match call {
            Call::StealHalf { filled, .. } => filled.min(N),
            _ => 0,
        };
        assert!((0..self.filled).all(|_| self.own.push(Wide::new(0)).is_ok()));
    }

    fn call(&mut self, call: Call) -> Outcome {
        match call {
            Call::Steal => stolen(self.stealer.steal()),
            Call::StealHalf { limit, .. } => {
                stolen(self.stealer.steal_into_limited(&self.own, limit))
            }
            Call::IsEmpty => Outcome::Answer(self.stealer.is_empty()),
            Call::Len => Outcome::Count(self.stealer.len()),
            Call::SpareCapacity => Outcome::Count(self.stealer.spare_capacity()),
            other => unreachable!("{other:?} is no call of a thief"),
        }
    }

    fn fetch(&mut self) -> Vec<Item> {
        let items = iter::from_fn(|| self.own.pop()).map(|item| item.item());
        items.skip(self.filled).collect()
    }
}

fn deque_halves(shape: Shape, thieves: usize) -> Halves {
    let (owner, stealer) = chase_lev::starting_at(shape.position.into(), shape.capacity);
    let thief = |_| Box::new(DequeThief::new(stealer.clone())) as Box<dyn Half>;
    (
        Box::new(DequeOwner(owner)),
        (0..thieves).map(thief).collect(),
    )
}

pub(crate) struct DequeOwner(pub(crate) chase_lev::Owner<Wide>);

impl Half for DequeOwner {
    fn call(&mut self, call: Call) -> Outcome {
        match call {
            Call::Push(item) => {
                self.0.push(Wide::new(item));
                Outcome::Done
            }
            Call::Pop => popped(self.0.pop().map(|item| item.item())),
            Call::IsEmpty => Outcome::Answer(self.0.is_empty()),
            Call::Len => Outcome::Count(self.0.len()),
            other => unreachable!("{other:?} is no call of an owner"),
        }
    }
}

pub(crate) struct DequeThief {
    stealer: chase_lev::Stealer<Wide>,
    /// Where stolen items go.
    own: chase_lev::Owner<Wide>,
}

impl DequeThief {
    pub(crate) fn new(stealer: chase_lev::Stealer<Wide>) -> Self {
        Self {
            stealer,
            own: chase_lev::with_capacity(1).0,
        }
    }
}

impl Half for DequeThief {
    fn call(&mut self, call: Call) -> Outcome {
        match call {
            Call::Steal => stolen(self.stealer.steal()),
            Call::StealHalf { limit, .. } => {
                stolen(self.stealer.steal_into_limited(&self.own, limit))
            }
            Call::IsEmpty => Outcome::Answer(self.stealer.is_empty()),
            Call::Len => Outcome::Count(self.stealer.len()),
            other => unreachable!("{other:?} is no call of a thief"),
        }
    }

    fn fetch(&mut self) -> Vec<Item> {
        let newest_first = iter::from_fn(|| self.own.pop()).map(|item| item.item());
        let mut items: Vec<Item> = newest_first.collect();
        items.reverse();
        items
    }
}

/// A pointer that is a number: nothing is freed twice if one is taken twice.
struct Token(Item);

// SAFETY: the number goes through the pointer unchanged, and owns nothing.
unsafe impl slot::Pointer for Token {
    fn into_raw(self) -> NonNull<()> {
        NonNull::new(ptr::without_provenance_mut(self.0 as usize)).expect("items start at 1")
    }

    unsafe fn from_raw(raw: NonNull<()>) -> Self {
        Self(raw.addr().get() as Item)
    }
}

fn slot_halves(_shape: Shape, thieves: usize) -> Halves {
    let (owner, stealer) = slot::new();
    let thief = |_| Box::new(SlotThief(stealer.clone())) as Box<dyn Half>;
    (
        Box::new(SlotOwner(owner)),
        (0..thieves).map(thief).collect(),
    )
}

struct SlotOwner(slot::Owner<Token>);

impl Half for SlotOwner {
    fn call(&mut self, call: Call) -> Outcome {
        match call {
            Call::Push(item) => match self.0.push(Token(item)) {
                None => Outcome::Done,
                Some(evicted) => Outcome::Shed(vec![evicted.0]),
            },
            Call::Pop => popped(self.0.take().map(|token| token.0)),
            Call::IsEmpty => Outcome::Answer(self.0.is_empty()),
            other => unreachable!("{other:?} is no call of an owner"),
        }
    }
}

struct SlotThief(slot::Stealer<Token>);

impl Half for SlotThief {
    fn call(&mut self, call: Call) -> Outcome {
        match call {
            Call::Steal => popped(self.0.take().map(|token| token.0)),
            Call::IsEmpty => Outcome::Answer(self.0.is_empty()),
            other => unreachable!("{other:?} is no call of a thief"),
        }
    }
}
