//! Programs: what each thread of a history calls, drawn at random.

use ws_core::FastRand;

/// What goes through the queues. Every item of a program is another number.
pub(crate) type Item = u32;

/// One call on one half of a structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// The owner's push.
    Push(Item),
    /// The ring's push that sheds half of a full ring.
    PushOrOverflow(Item),
    /// The ring's push of several items, numbered from the first.
    PushBatch(Item, u32),
    /// The owner's pop, or its taking from a slot.
    Pop,
    /// A thief's taking of one item.
    Steal,
    /// A thief's taking of half, `limit` at most, into a queue of its own in
    /// which `filled` places are taken.
    StealHalf {
        /// The most that may be taken.
        limit: usize,
        /// How full the thief's own queue is.
        filled: usize,
    },
    /// Whether there is nothing; either half may ask.
    IsEmpty,
    /// How many items there are; either half may ask.
    Len,
    /// How many pushes will fit; either half may ask.
    SpareCapacity,
}

/// How a structure starts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Slots of a ring, or slots of a deque before it grows.
    pub(crate) capacity: usize,
    /// Where the indices start.
    pub(crate) position: u32,
}

/// The calls of every thread.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) shape: Shape,
    /// Calls of the owner before there are thieves.
    pub(crate) before: Vec<Call>,
    /// Calls of the owner beside the thieves.
    pub(crate) owner: Vec<Call>,
    /// Calls of each thief.
    pub(crate) thieves: Vec<Vec<Call>>,
}

/// The most threads that a program has: the owner and two thieves. Three of
/// them can be in each other's way in every way that the protocols know.
pub(crate) const MAX_THREADS: usize = 3;

/// How a structure is used: its calls with their weights.
pub(crate) struct Usage {
    /// Capacities to choose from.
    pub(crate) capacities: &'static [usize],
    /// The most pushes before there are thieves.
    pub(crate) before: u32,
    /// The owner's calls; the numbers in them are placeholders.
    pub(crate) owner: &'static [(u32, Call)],
    /// The thieves' calls.
    pub(crate) thief: &'static [(u32, Call)],
}

impl Usage {
    /// Draws a program: some pushes first, then two to seven calls of the owner
    /// against one to three of each of one or two thieves.
    pub(crate) fn program(&self, rand: &mut FastRand) -> Program {
        let capacity = self.capacities[rand.below(self.capacities.len() as u32) as usize];
        // Half of the programs pass the point where 32-bit positions wrap.
        let position = if rand.below(2) == 0 {
            0
        } else {
            0u32.wrapping_sub(rand.below(8))
        };
        let mut next_item = 0;
        let mut renumber = |call, rand: &mut FastRand| renumbered(call, &mut next_item, rand);

        let before = (0..rand.below(self.before + 1))
            .map(|_| renumber(Call::Push(0), rand))
            .collect();
        let owner = (0..2 + rand.below(6))
            .map(|_| renumber(chosen(self.owner, rand), rand))
            .collect();
        let thieves = (0..1 + rand.below(MAX_THREADS as u32 - 1))
            .map(|_| {
                let calls = 0..1 + rand.below(3);
                calls
                    .map(|_| renumber(chosen(self.thief, rand), rand))
                    .collect()
            })
            .collect();
        Program {
            shape: Shape { capacity, position },
            before,
            owner,
            thieves,
        }
    }
}

/// Draws one of `weighted`, by weight.
fn chosen(weighted: &[(u32, Call)], rand: &mut FastRand) -> Call {
    let total = weighted.iter().map(|(weight, _)| weight).sum();
    let mut rest = rand.below(total);
    for &(weight, call) in weighted {
        if rest < weight {
            return call;
        }
        rest -= weight;
    }
    unreachable!("the weights sum up to {total}")
}

/// Gives `call` fresh items, and limits of its own.
fn renumbered(call: Call, next_item: &mut Item, rand: &mut FastRand) -> Call {
    let mut take = |count| {
        let first = *next_item + 1;
        *next_item += count;
        first
    };
    match call {
        Call::Push(_) => Call::Push(take(1)),
        Call::PushOrOverflow(_) => Call::PushOrOverflow(take(1)),
        Call::PushBatch(..) => {
            let count = 1 + rand.below(3);
            Call::PushBatch(take(count), count)
        }
        Call::StealHalf { .. } => {
            // Mostly unlimited: limits make the history tamer.
            let tight = rand.below(4) == 0;
            Call::StealHalf {
                limit: if tight {
                    rand.below(3) as usize
                } else {
                    usize::MAX
                },
                filled: if tight { rand.below(5) as usize } else { 0 },
            }
        }
        other => other,
    }
}
