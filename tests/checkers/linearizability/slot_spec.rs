//! What the slot promises: it holds one item or none, and every call is one swap.

use super::checker::Specification;
use super::history::{Outcome, Record};
use super::program::{Call, Item, Shape};

pub(crate) struct SlotSpec;

#[derive(Debug)]
pub(crate) enum Step {
    /// What goes in, and what comes out.
    Swap(Option<Item>, Option<Item>),
    IsEmpty(bool),
}

impl Specification for SlotSpec {
    type Step = Step;
    type State = Option<Item>;

    fn initial(_shape: Shape) -> Option<Item> {
        None
    }

    fn steps(record: &Record, _alone: bool) -> Vec<Step> {
        let step = match (record.call, &record.outcome) {
            (Call::Push(item), Outcome::Done) => Step::Swap(Some(item), None),
            (Call::Push(item), Outcome::Shed(evicted)) => Step::Swap(Some(item), Some(evicted[0])),
            (Call::Pop | Call::Steal, Outcome::Took(items)) => Step::Swap(None, Some(items[0])),
            (Call::Pop | Call::Steal, Outcome::Empty) => Step::Swap(None, None),
            (Call::IsEmpty, &Outcome::Answer(answer)) => Step::IsEmpty(answer),
            _ => panic!("not an outcome of this call: {record:?}"),
        };
        vec![step]
    }

    fn apply(state: &mut Option<Item>, _thread: usize, step: &Step) -> bool {
        match *step {
            Step::Swap(item, expected) => std::mem::replace(state, item) == expected,
            Step::IsEmpty(answer) => state.is_none() == answer,
        }
    }
}
