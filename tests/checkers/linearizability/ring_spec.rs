//! What the ring promises: a bounded FIFO of which thieves take half.
//!
//! The contents are a queue. Beside them the state knows which slots are still
//! held: those that a thief has claimed and not yet given back, with those that
//! the owner popped meanwhile. They count against the capacity, and as long as
//! someone holds slots no one else can claim. From this follows exactly when a
//! push may find the ring full, when an overflow is one item only, and when a
//! thief may be told to retry.

use std::collections::VecDeque;

use super::checker::Specification;
use super::history::{OWNER, Outcome, Record};
use super::program::{Call, Item, MAX_THREADS, Shape};

pub(crate) struct RingSpec;

#[derive(Debug)]
pub(crate) enum Step {
    /// One item goes in at the end.
    Push(Item),
    /// There is no room for one more.
    Full,
    /// The owner takes the oldest item.
    Pop(Item),
    /// There is no item.
    Empty,
    /// A thief looks at the length.
    Look,
    /// It takes half of that, but no more than its limit and its room allow.
    Claim {
        items: Vec<Item>,
        limit: usize,
        filled: usize,
    },
    /// It gives the slots back.
    Finish,
    /// A thief looks at where the oldest item is.
    Aim,
    /// It is turned away: someone holds slots, or took something since.
    Beaten,
    /// The owner of a full ring keeps thieves out.
    Close,
    /// It cuts off the newer half.
    Cut(Vec<Item>),
    /// It lets thieves in again.
    Open,
    /// The ring is full, and a thief holds slots of it.
    FullAndHeld,
    IsEmpty(bool),
    Len(usize),
    SpareCapacity(usize),
}

#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct State {
    capacity: usize,
    items: VecDeque<Item>,
    /// Who keeps others from claiming.
    holder: Option<usize>,
    /// Slots without items that are not free yet.
    held: usize,
    /// How often the place of the oldest item, or the holder, has changed.
    moves: usize,
    /// What each thread remembers of its last look.
    memory: [usize; MAX_THREADS],
}

impl State {
    fn spare(&self) -> usize {
        self.capacity - self.items.len() - self.held
    }

    fn hold(&mut self, thread: usize) -> bool {
        self.moves += 1;
        self.holder.replace(thread).is_none()
    }

    fn release(&mut self, thread: usize) -> bool {
        self.moves += 1;
        self.held = 0;
        self.holder.take() == Some(thread)
    }

    fn takes(&mut self, expected: &[Item]) -> bool {
        expected
            .iter()
            .all(|&item| self.items.pop_front() == Some(item))
    }
}

impl Specification for RingSpec {
    type Step = Step;
    type State = State;

    fn initial(shape: Shape) -> State {
        State {
            capacity: shape.capacity,
            items: VecDeque::new(),
            holder: None,
            held: 0,
            moves: 0,
            memory: [0; MAX_THREADS],
        }
    }

    fn steps(record: &Record, _alone: bool) -> Vec<Step> {
        match (record.call, &record.outcome) {
            (Call::Push(item) | Call::PushOrOverflow(item), Outcome::Done) => {
                vec![Step::Push(item)]
            }
            (Call::Push(_), Outcome::Full) => vec![Step::Full],
            (Call::PushOrOverflow(item), Outcome::Shed(shed)) => match shed.split_last() {
                Some((&last, [])) if last == item => vec![Step::FullAndHeld],
                Some((&last, newer)) if last == item => {
                    vec![Step::Close, Step::Cut(newer.to_vec()), Step::Open]
                }
                _ => panic!("an overflow without its own item: {record:?}"),
            },
            (Call::PushBatch(first, count), &Outcome::Pushed(pushed)) => {
                let full = (pushed < count).then_some(Step::Full);
                (first..first + pushed)
                    .map(Step::Push)
                    .chain(full)
                    .collect()
            }
            (Call::Pop, Outcome::Took(items)) => vec![Step::Pop(items[0])],
            (Call::Pop | Call::Steal | Call::StealHalf { .. }, Outcome::Empty) => {
                vec![Step::Empty]
            }
            (Call::Steal, Outcome::Took(items)) => claim(items, 1, 0),
            (Call::StealHalf { limit, filled }, Outcome::Took(items)) => {
                claim(items, limit, filled)
            }
            (Call::Steal | Call::StealHalf { .. }, Outcome::Retry) => {
                vec![Step::Aim, Step::Beaten]
            }
            (Call::IsEmpty, &Outcome::Answer(answer)) => vec![Step::IsEmpty(answer)],
            (Call::Len, &Outcome::Count(count)) => vec![Step::Len(count)],
            (Call::SpareCapacity, &Outcome::Count(count)) => vec![Step::SpareCapacity(count)],
            _ => panic!("not an outcome of this call: {record:?}"),
        }
    }

    fn apply(state: &mut State, thread: usize, step: &Step) -> bool {
        match step {
            Step::Push(item) => {
                let fits = state.spare() > 0;
                state.items.push_back(*item);
                fits
            }
            Step::Full => state.spare() == 0,
            Step::Pop(item) => {
                state.moves += 1;
                // Beside a thief the slot stays occupied until that is done.
                state.held += usize::from(state.holder.is_some());
                state.takes(&[*item])
            }
            Step::Empty => state.items.is_empty(),
            Step::Look => {
                state.memory[thread] = state.items.len();
                true
            }
            Step::Claim {
                items,
                limit,
                filled,
            } => {
                // The item that is returned needs no room.
                let room = state.capacity.saturating_sub(*filled) + 1;
                let most = limit.clamp(&1, &room);
                state.held = items.len();
                items.len() == state.memory[thread].div_ceil(2).min(*most)
                    && state.takes(items)
                    && state.hold(thread)
            }
            Step::Finish => state.release(thread),
            Step::Aim => {
                state.memory[thread] = state.moves;
                true
            }
            Step::Beaten => state.holder.is_some() || state.memory[thread] != state.moves,
            Step::Close => state.spare() == 0 && state.hold(thread),
            Step::Cut(newer) => state.items.split_off(state.capacity / 2) == *newer,
            Step::Open => state.release(thread),
            Step::FullAndHeld => state.spare() == 0 && state.holder.is_some(),
            Step::IsEmpty(answer) => state.items.is_empty() == *answer,
            Step::Len(count) => {
                // The owner keeps thieves out by a claim of one item, which a
                // thief that asks meanwhile does not count.
                let claimed = usize::from(state.holder == Some(OWNER));
                state.items.len() - claimed == *count
            }
            Step::SpareCapacity(count) => state.spare() == *count,
        }
    }
}

fn claim(items: &[Item], limit: usize, filled: usize) -> Vec<Step> {
    let items = items.to_vec();
    vec![
        Step::Look,
        Step::Claim {
            items,
            limit,
            filled,
        },
        Step::Finish,
    ]
}
