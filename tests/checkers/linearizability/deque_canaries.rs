//! Deques with a planted flaw, each of which the run must reject.

use std::sync::Arc;

use ws_core::chase_lev;
use ws_core::sync::atomic::{AtomicU32, AtomicUsize, Ordering::SeqCst};

use super::deque_spec::DequeSpec;
use super::history::Outcome;
use super::program::{Call, Item, Shape, Usage};
use super::structures::{DEQUE_USAGE, DequeOwner, DequeThief, popped};
use super::subject::{Half, Halves, Subject, allowed_by};

pub(crate) const CANARIES: &[Subject] = &[
    Subject {
        name: "chase_lev.empty_when_beaten",
        about: "a thief that lost a race says that there is nothing",
        usage: &DEQUE_USAGE,
        halves: around,
        allows: allowed_by::<DequeSpec>,
        must_see: &[],
    },
    Subject {
        name: "chase_lev.last_item_unraced",
        about: "the owner looks at the top and then takes the last item without a swap",
        usage: &SINGLE_STEALS,
        halves: |_, thieves| small(thieves, Flaw::LastUnraced),
        allows: allowed_by::<DequeSpec>,
        must_see: &[],
    },
    Subject {
        name: "chase_lev.batch_in_one_swap",
        about: "a thief moves the top by half of the items at once (row 7 of the models' README)",
        usage: &BATCHES,
        halves: |_, thieves| small(thieves, Flaw::BatchInOneSwap),
        allows: allowed_by::<DequeSpec>,
        must_see: &[],
    },
];

const SINGLE_STEALS: Usage = Usage {
    thief: &[(1, Call::Steal)],
    ..BATCHES
};

const BATCHES: Usage = Usage {
    owner: &[(5, Call::Push(0)), (8, Call::Pop)],
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
    ..DEQUE_USAGE
};

/// The real deque, with thieves that hide that they lost.
fn around(shape: Shape, thieves: usize) -> Halves {
    let (owner, stealer) = chase_lev::starting_at(shape.position.into(), shape.capacity);
    let thief = |_| Box::new(HidesRetry(DequeThief::new(stealer.clone()))) as Box<dyn Half>;
    (
        Box::new(DequeOwner(owner)),
        (0..thieves).map(thief).collect(),
    )
}

struct HidesRetry(DequeThief);

impl Half for HidesRetry {
    fn call(&mut self, call: Call) -> Outcome {
        match self.0.call(call) {
            Outcome::Retry => Outcome::Empty,
            other => other,
        }
    }

    fn fetch(&mut self) -> Vec<Item> {
        self.0.fetch()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Flaw {
    LastUnraced,
    BatchInOneSwap,
}

/// A deque that never wraps, so that nothing but the ends can race.
struct Small {
    top: AtomicUsize,
    bottom: AtomicUsize,
    slots: Vec<AtomicU32>,
    flaw: Flaw,
}

/// Where the indices start: a pop of an empty deque looks one below.
const START: usize = 1;

fn small(thieves: usize, flaw: Flaw) -> Halves {
    let deque = Arc::new(Small {
        top: AtomicUsize::new(START),
        bottom: AtomicUsize::new(START),
        slots: (0..64).map(|_| AtomicU32::new(0)).collect(),
        flaw,
    });
    let half = |_| Box::new(SmallHalf(deque.clone())) as Box<dyn Half>;
    (half(0), (0..thieves).map(half).collect())
}

impl Small {
    fn push(&self, item: Item) {
        let bottom = self.bottom.load(SeqCst);
        self.slots[bottom].store(item, SeqCst);
        self.bottom.store(bottom + 1, SeqCst);
    }

    fn pop(&self) -> Option<Item> {
        let last = self.bottom.load(SeqCst) - 1;
        self.bottom.store(last, SeqCst);
        let top = self.top.load(SeqCst);
        if top < last {
            return Some(self.slots[last].load(SeqCst));
        }
        let is_ours = top == last && self.takes_last(last);
        self.bottom.store(last + 1, SeqCst);
        is_ours.then(|| self.slots[last].load(SeqCst))
    }

    fn takes_last(&self, last: usize) -> bool {
        if self.flaw == Flaw::LastUnraced {
            self.top.store(last + 1, SeqCst);
            return true;
        }
        self.moves_top(last, 1)
    }

    fn moves_top(&self, top: usize, count: usize) -> bool {
        self.top
            .compare_exchange(top, top + count, SeqCst, SeqCst)
            .is_ok()
    }

    fn steal(&self, wanted: impl FnOnce(usize) -> usize) -> Outcome {
        let top = self.top.load(SeqCst);
        let available = self.bottom.load(SeqCst).saturating_sub(top);
        if available == 0 {
            return Outcome::Empty;
        }
        let count = wanted(available);
        let items = self.slots[top..top + count]
            .iter()
            .map(|slot| slot.load(SeqCst))
            .collect();
        if self.moves_top(top, count) {
            Outcome::Took(items)
        } else {
            Outcome::Retry
        }
    }

    fn steal_half(&self, limit: usize) -> Outcome {
        self.steal(|available| available.div_ceil(2).min(limit.max(1)))
    }
}

/// Both halves: the small deque trusts its users.
struct SmallHalf(Arc<Small>);

impl Half for SmallHalf {
    fn call(&mut self, call: Call) -> Outcome {
        match call {
            Call::Push(item) => {
                self.0.push(item);
                Outcome::Done
            }
            Call::Pop => popped(self.0.pop()),
            Call::StealHalf { limit, .. } => self.0.steal_half(limit),
            _ => self.0.steal(|_| 1),
        }
    }
}
