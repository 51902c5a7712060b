//! What the Chase-Lev deque promises: a stack for its owner, a queue for thieves.
//!
//! It is never full. A thief may be told to retry only if the oldest index moved
//! under it, because another thief took that item, or the owner when it was the
//! last one. The item may be gone a little earlier than the index moves: while
//! the owner pops the last item, others already find nothing. So taking the
//! oldest item has two steps.
//!
//! A batch is a sequence of single steals, each at its own moment, half of the
//! length that was there at a moment before.

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
    /// A thief looks at the length and wants half of it, at most its limit. It may
    /// end early, unless no one is there to be in its way.
    Measure {
        took: usize,
        limit: usize,
        alone: bool,
    },
    IsEmpty(bool),
    Len(usize),
}

#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct State {
    items: VecDeque<Item>,
    /// The oldest index, which may lag behind the items.
    top: usize,
    /// Who has to move it.
    unsettled: [bool; MAX_THREADS],
    /// The oldest index that each thread saw last.
    aim: [usize; MAX_THREADS],
}

impl Specification for DequeSpec {
    type Step = Step;
    type State = State;

    fn initial(_shape: Shape) -> State {
        State {
            items: VecDeque::new(),
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
                let mut steps = vec![Step::Measure { took, limit, alone }];
                steps.extend(
                    items
                        .iter()
                        .flat_map(|&item| [Step::Steal(item), Step::Settle]),
                );
                steps
            }
            (Call::IsEmpty, &Outcome::Answer(answer)) => vec![Step::IsEmpty(answer)],
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
                state.unsettled[thread] = state.items.len() == 1;
                state.items.pop_back() == Some(item)
            }
            Step::Empty => state.items.is_empty(),
            Step::Steal(item) => {
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
                let half = state.items.len().div_ceil(2);
                let most = half.min(limit).max(1);
                took == most || (took < most && !alone)
            }
            Step::IsEmpty(answer) => state.items.is_empty() == answer,
            Step::Len(count) => state.items.len() == count,
        }
    }
}
