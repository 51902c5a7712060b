//! What the Chase-Lev deque promises: a stack for its owner, a queue for thieves.
//!
//! It is never full. A thief may be told to retry only if the oldest index moved
//! under it, because another thief took that item, or the owner when it was the
//! last one. The item may be gone a little earlier than the index moves: while
//! the owner pops the last item, others already find nothing. So taking the
//! oldest item has two steps.
//!
//! For the same reason a thief that asks whether there is nothing may be told no
//! when there has been nothing all along, but never yes when there is something:
//! it looks at the oldest index and then at the newest, as does a batch.
//!
//! A batch is a sequence of single steals, each at its own moment; how many there
//! may be follows from these two looks.

use std::collections::VecDeque;
use std::mem;

use super::checker::Specification;
use super::history::{Outcome, Record};
use super::program::{Call, Item, MAX_THREADS, Shape};

pub(crate) struct DequeSpec;

#[derive(Debug)]
pub(crate) enum Step {
    /// One item goes in at the bottom.
    Push(Item),
    /// The owner takes the newest item.
    Pop(Item),
    /// There is no item.
    Empty,
    /// A thief takes the oldest item.
    Steal(Item),
    /// If it was the oldest item that this thread took, its index moves on.
    Settle,
    /// A thief looks at the oldest index.
    Aim,
    /// It is turned away: the index has moved since.
    Beaten,
    /// A thief, after a look at the oldest item, looks at the newest and wants
    /// half of what is between, at most its limit. It may end early, unless no
    /// one is there to be in its way.
    Measure {
        took: usize,
        limit: usize,
        alone: bool,
    },
    /// After a look at the oldest index the newest is beyond it.
    NotEmpty,
    Len(usize),
}

#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct State {
    items: VecDeque<Item>,
    /// How many items were taken as the oldest.
    taken: usize,
    /// The oldest index, which lags behind.
    top: usize,
    /// Who has to move it.
    unsettled: [bool; MAX_THREADS],
    /// The oldest index that each thread saw last.
    aim: [usize; MAX_THREADS],
}

impl State {
    /// How many items there seem to be to a thread that looked at the oldest
    /// index before, and looks at the newest now.
    fn seen_by(&self, thread: usize) -> usize {
        (self.taken + self.items.len()).saturating_sub(self.aim[thread])
    }
}

impl Specification for DequeSpec {
    type Step = Step;
    type State = State;

    fn initial(_shape: Shape) -> State {
        State {
            items: VecDeque::new(),
            taken: 0,
            top: 0,
            unsettled: [false; MAX_THREADS],
            aim: [0; MAX_THREADS],
        }
    }

    fn steps(record: &Record, alone: bool) -> Vec<Step> {
        match (record.call, &record.outcome) {
            (Call::Push(item), Outcome::Done) => vec![Step::Push(item)],
            (Call::Pop, Outcome::Took(items)) => {
                vec![Step::Pop(items[0]), Step::Settle]
            }
            (Call::Pop | Call::Steal | Call::StealHalf { .. }, Outcome::Empty) => {
                vec![Step::Empty]
            }
            (Call::Steal, Outcome::Took(items)) => {
                vec![Step::Steal(items[0]), Step::Settle]
            }
            (Call::Steal | Call::StealHalf { .. }, Outcome::Retry) => {
                vec![Step::Aim, Step::Beaten]
            }
            (Call::StealHalf { limit, .. }, Outcome::Took(items)) => {
                let took = items.len();
                let mut steps = vec![Step::Aim, Step::Measure { took, limit, alone }];
                steps.extend(
                    items
                        .iter()
                        .flat_map(|&item| [Step::Steal(item), Step::Settle]),
                );
                steps
            }
            (Call::IsEmpty, Outcome::Answer(true)) => vec![Step::Empty],
            (Call::IsEmpty, Outcome::Answer(false)) => vec![Step::Aim, Step::NotEmpty],
            (Call::Len, &Outcome::Count(count)) => vec![Step::Len(count)],
            _ => panic!("not an outcome of this call: {record:?}"),
        }
    }

    fn apply(state: &mut State, thread: usize, step: &Step) -> bool {
        match *step {
            Step::Push(item) => {
                state.items.push_back(item);
                true
            }
            Step::Pop(item) => {
                // The last item is taken as a thief would.
                if state.items.len() == 1 {
                    state.taken += 1;
                    state.unsettled[thread] = true;
                }
                state.items.pop_back() == Some(item)
            }
            Step::Empty => state.items.is_empty(),
            Step::Steal(item) => {
                state.taken += 1;
                state.unsettled[thread] = true;
                state.items.pop_front() == Some(item)
            }
            Step::Settle => {
                state.top += usize::from(mem::take(&mut state.unsettled[thread]));
                true
            }
            Step::Aim => {
                state.aim[thread] = state.top;
                true
            }
            Step::Beaten => state.aim[thread] != state.top,
            Step::Measure { took, limit, alone } => {
                let half = state.seen_by(thread).div_ceil(2);
                let most = half.min(limit).max(1);
                took == most || (took < most && !alone)
            }
            Step::NotEmpty => state.seen_by(thread) > 0,
            Step::Len(count) => state.items.len() == count,
        }
    }
}
