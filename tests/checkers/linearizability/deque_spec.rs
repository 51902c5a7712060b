//! What the Chase-Lev deque promises: a stack for its owner, a queue for thieves.
//!
//! It is never full. A thief may be told to retry only if the oldest index moved
//! under it, because another thief took that item, or the owner did when no older
//! one was left. The item may be gone a little earlier than the index moves: while
//! the owner pops the last item, others already find nothing. And thieves may take
//! all older items while the owner pops, so that its item becomes the last one
//! only then. So taking an item has two steps.
//!
//! A batch is a sequence of single steals, each at its own moment, half of the
//! length that was there at a moment before.

use std::collections::VecDeque;

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
    /// The index of what this thief has taken is passed.
    PassStolen,
    /// The index of what the owner has taken is passed, if no older item is left.
    PassPopped,
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
    /// The index of the first of them.
    oldest: usize,
    /// The oldest index that thieves see; it may lag behind.
    top: usize,
    /// The index of what the owner popped last.
    popped: usize,
    /// The oldest index that each thread saw last.
    aim: [usize; MAX_THREADS],
}

impl Specification for DequeSpec {
    type Step = Step;
    type State = State;

    fn initial(_shape: Shape) -> State {
        State {
            items: VecDeque::new(),
            oldest: 0,
            top: 0,
            popped: 0,
            aim: [0; MAX_THREADS],
        }
    }

    fn steps(record: &Record, alone: bool) -> Vec<Step> {
        match (record.call, &record.outcome) {
            (Call::Push(item), Outcome::Done) => vec![Step::Push(item)],
            (Call::Pop, Outcome::Took(items)) => {
                vec![Step::Pop(items[0]), Step::PassPopped]
            }
            (Call::Pop | Call::Steal | Call::StealHalf { .. }, Outcome::Empty) => {
                vec![Step::Empty]
            }
            (Call::Steal, Outcome::Took(items)) => {
                vec![Step::Steal(items[0]), Step::PassStolen]
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
                        .flat_map(|&item| [Step::Steal(item), Step::PassStolen]),
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
                let popped = state.items.pop_back();
                state.popped = state.oldest + state.items.len();
                popped == Some(item)
            }
            Step::PassPopped => {
                // It is taken as a thief would take it, and its index not reused.
                let is_last = state.top == state.popped;
                state.top += usize::from(is_last);
                state.oldest += usize::from(is_last);
                true
            }
            Step::Empty => state.items.is_empty(),
            Step::Steal(item) => {
                state.oldest += 1;
                state.items.pop_front() == Some(item)
            }
            Step::PassStolen => {
                state.top += 1;
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
