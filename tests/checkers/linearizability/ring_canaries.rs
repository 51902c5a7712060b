//! Rings with a planted flaw, each of which the run must reject.
//!
//! Where the flaw is in what is said, it is put around the real ring; where it is
//! in the protocol, a small ring has it that is right otherwise.

use std::sync::Arc;

use ws_core::ring;
use ws_core::sync::atomic::{AtomicU32, AtomicUsize, Ordering::SeqCst};

use super::history::Outcome;
use super::program::{Call, Item, Shape, Usage};
use super::ring_spec::RingSpec;
use super::structures::{RING_USAGE, RingOwner, RingThief, Wide, popped};
use super::subject::{Half, Halves, Subject, allowed_by};

pub(crate) const CANARIES: &[Subject] = &[
    Subject {
        name: "ring.empty_when_beaten",
        about: "a thief that lost a race says that there is nothing",
        usage: &RING_OF_4,
        halves: |shape, thieves| {
            around(shape, thieves, OwnerFlaw::None, ThiefFlaw::EmptyWhenBeaten)
        },
        allows: allowed_by::<RingSpec>,
        must_see: &[],
    },
    Subject {
        name: "ring.beaten_by_no_one",
        about: "a thief says retry though it has no rival",
        usage: &RING_OF_4,
        halves: |shape, thieves| around(shape, thieves, OwnerFlaw::None, ThiefFlaw::BeatenByNoOne),
        allows: allowed_by::<RingSpec>,
        must_see: &[],
    },
    Subject {
        name: "ring.sheds_older_half",
        about: "an overflow hands out the oldest items (row 11 of the models' README)",
        usage: &RING_OF_4,
        halves: |shape, thieves| around(shape, thieves, OwnerFlaw::ShedsOlder, ThiefFlaw::None),
        allows: allowed_by::<RingSpec>,
        must_see: &[],
    },
    Subject {
        name: "ring.claim_by_store",
        about: "a thief loads the head and stores it, instead of one swap",
        usage: &SMALL_RING,
        halves: |_, thieves| small(thieves, Claim::Store),
        allows: allowed_by::<RingSpec>,
        must_see: &[],
    },
    Subject {
        name: "ring.claim_of_old_length",
        about: "a thief that failed to claim tries again with the length it saw first",
        usage: &SMALL_RING,
        halves: |_, thieves| small(thieves, Claim::OldLength),
        allows: allowed_by::<RingSpec>,
        must_see: &[],
    },
];

const RING_OF_4: Usage = Usage {
    capacities: &[4],
    ..RING_USAGE
};

/// Larger than any program, so that it is never full.
const SMALL_RING: Usage = Usage {
    capacities: &[64],
    before: 6,
    owner: &[(6, Call::Push(0)), (6, Call::Pop)],
    thief: &[
        (5, Call::Steal),
        (
            8,
            Call::StealHalf {
                limit: 0,
                filled: 0,
            },
        ),
    ],
};

#[derive(Clone, Copy)]
enum OwnerFlaw {
    None,
    ShedsOlder,
}

#[derive(Clone, Copy)]
enum ThiefFlaw {
    None,
    EmptyWhenBeaten,
    BeatenByNoOne,
}

/// The real ring with a flaw put around it.
fn around(shape: Shape, thieves: usize, owner_flaw: OwnerFlaw, flaw: ThiefFlaw) -> Halves {
    let (owner, stealer) = ring::starting_at::<Wide, 4>(shape.position);
    let thief = |_| {
        let half = RingThief::new(stealer.clone());
        Box::new(FlawedThief {
            half,
            flaw,
            calls: 0,
        }) as Box<dyn Half>
    };
    let thieves = (0..thieves).map(thief).collect();
    let half = RingOwner(owner);
    (
        Box::new(FlawedOwner {
            half,
            flaw: owner_flaw,
        }),
        thieves,
    )
}

struct FlawedOwner {
    half: RingOwner<4>,
    flaw: OwnerFlaw,
}

impl Half for FlawedOwner {
    fn call(&mut self, call: Call) -> Outcome {
        let (Call::PushOrOverflow(item), OwnerFlaw::ShedsOlder) = (call, self.flaw) else {
            return self.half.call(call);
        };
        match self.half.call(Call::Push(item)) {
            Outcome::Full => {
                let older = (0..2)
                    .filter_map(|_| self.half.0.pop())
                    .map(|item| item.item());
                Outcome::Shed(older.chain([item]).collect())
            }
            other => other,
        }
    }
}

struct FlawedThief {
    half: RingThief<4>,
    flaw: ThiefFlaw,
    calls: u32,
}

impl Half for FlawedThief {
    fn prepare(&mut self, call: Call) {
        self.half.prepare(call);
    }

    fn call(&mut self, call: Call) -> Outcome {
        self.calls += 1;
        let is_steal = matches!(call, Call::Steal | Call::StealHalf { .. });
        match self.flaw {
            ThiefFlaw::BeatenByNoOne if is_steal && self.calls % 2 == 0 => Outcome::Retry,
            ThiefFlaw::EmptyWhenBeaten => match self.half.call(call) {
                Outcome::Retry => Outcome::Empty,
                other => other,
            },
            _ => self.half.call(call),
        }
    }

    fn fetch(&mut self) -> Vec<Item> {
        self.half.fetch()
    }
}

#[derive(Clone, Copy)]
enum Claim {
    Store,
    OldLength,
}

/// A ring with one head, which never wraps, so that nothing but claims can race.
struct Small {
    head: AtomicUsize,
    tail: AtomicUsize,
    slots: Vec<AtomicU32>,
    claim: Claim,
}

fn small(thieves: usize, claim: Claim) -> Halves {
    let ring = Arc::new(Small {
        head: AtomicUsize::new(0),
        tail: AtomicUsize::new(0),
        slots: (0..64).map(|_| AtomicU32::new(0)).collect(),
        claim,
    });
    let half = |_| Box::new(SmallHalf(ring.clone())) as Box<dyn Half>;
    (half(0), (0..thieves).map(half).collect())
}

impl Small {
    fn push(&self, item: Item) {
        let tail = self.tail.load(SeqCst);
        self.slots[tail].store(item, SeqCst);
        self.tail.store(tail + 1, SeqCst);
    }

    fn pop(&self) -> Option<Item> {
        loop {
            let head = self.head.load(SeqCst);
            if head >= self.tail.load(SeqCst) {
                return None;
            }
            if self
                .head
                .compare_exchange(head, head + 1, SeqCst, SeqCst)
                .is_ok()
            {
                return Some(self.slots[head].load(SeqCst));
            }
        }
    }

    /// Where the claimed items start, and how many there are.
    fn claim(&self, limit: usize) -> (usize, usize) {
        let mut head = self.head.load(SeqCst);
        let available = self.tail.load(SeqCst).saturating_sub(head);
        let count = available.div_ceil(2).min(limit.max(1));
        if count == 0 {
            return (head, 0);
        }
        match self.claim {
            Claim::Store => self.head.store(head + count, SeqCst),
            Claim::OldLength => {
                while let Err(actual) =
                    self.head
                        .compare_exchange(head, head + count, SeqCst, SeqCst)
                {
                    head = actual;
                }
            }
        }
        (head, count)
    }
}

/// Both halves: the small ring trusts its users.
struct SmallHalf(Arc<Small>);

impl Half for SmallHalf {
    fn call(&mut self, call: Call) -> Outcome {
        let limit = match call {
            Call::Push(item) => {
                self.0.push(item);
                return Outcome::Done;
            }
            Call::Pop => return popped(self.0.pop()),
            Call::StealHalf { limit, .. } => limit,
            _ => 1,
        };
        let (first, count) = self.0.claim(limit);
        let range = self.0.slots[first..first + count].iter();
        let items: Vec<Item> = range.map(|slot| slot.load(SeqCst)).collect();
        if items.is_empty() {
            Outcome::Empty
        } else {
            Outcome::Took(items)
        }
    }
}
