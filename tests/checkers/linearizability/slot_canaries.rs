//! Slots with a planted flaw, each of which the run must reject.

use std::sync::Arc;

use ws_core::sync::atomic::{AtomicU32, Ordering::SeqCst};

use super::history::Outcome;
use super::program::{Call, Item};
use super::slot_spec::SlotSpec;
use super::structures::{SLOT_USAGE, popped};
use super::subject::{Half, Halves, Subject, allowed_by};

pub(crate) const CANARIES: &[Subject] = &[
    Subject {
        name: "slot.take_by_store",
        about: "taking is a load and a store, instead of one swap",
        usage: &SLOT_USAGE,
        halves: |_, thieves| flawed(thieves, Flaw::TakeByStore),
        allows: allowed_by::<SlotSpec>,
        must_see: &[],
    },
    Subject {
        name: "slot.push_by_store",
        about: "the owner loads what it evicts and then stores over it",
        usage: &SLOT_USAGE,
        halves: |_, thieves| flawed(thieves, Flaw::PushByStore),
        allows: allowed_by::<SlotSpec>,
        must_see: &[],
    },
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Flaw {
    TakeByStore,
    PushByStore,
}

fn flawed(thieves: usize, flaw: Flaw) -> Halves {
    let item = Arc::new(AtomicU32::new(0));
    let half = |_| {
        let item = item.clone();
        Box::new(Flawed { item, flaw }) as Box<dyn Half>
    };
    (half(0), (0..thieves).map(half).collect())
}

/// Both halves; 0 is no item.
struct Flawed {
    item: Arc<AtomicU32>,
    flaw: Flaw,
}

impl Flawed {
    /// Puts `item` in by one swap, or by two steps if that is the flaw.
    fn replace(&self, item: Item, flaw: Flaw) -> Option<Item> {
        if self.flaw != flaw {
            return Some(self.item.swap(item, SeqCst)).filter(|&old| old != 0);
        }
        let old = self.item.load(SeqCst);
        self.item.store(item, SeqCst);
        Some(old).filter(|&old| old != 0)
    }
}

impl Half for Flawed {
    fn call(&mut self, call: Call) -> Outcome {
        match call {
            Call::Push(item) => match self.replace(item, Flaw::PushByStore) {
                None => Outcome::Done,
                Some(evicted) => Outcome::Shed(vec![evicted]),
            },
            Call::IsEmpty => Outcome::Answer(self.item.load(SeqCst) == 0),
            _ => popped(self.replace(0, Flaw::TakeByStore)),
        }
    }
}
