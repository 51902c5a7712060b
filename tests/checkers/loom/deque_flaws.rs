//! Deques as they are often printed: a plain one, a hasty one and an unsigned one. They fail.
//!
//! The right deque, on which the same scenarios hold, is in `deque_right.rs`.

use loom::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use loom::sync::atomic::{AtomicIsize, AtomicUsize, fence};
use ws_core::Steal;

use super::deque::{self, Deque, VACANT};
use super::model::Bound::{Exhaustive, Preemptions};
use super::model::{Body, Expect, Model};

const LOST: Expect = Expect::Fails("was lost");
const TWICE: Expect = Expect::Fails("was taken twice");

pub(crate) const MODELS: &[Model] = &[
    Model {
        name: "hasty_deque.last_item",
        shows: "the slot is emptied before the CAS is won: the loser loses the item",
        flaws: &[1],
        bound: Exhaustive,
        expect: LOST,
        body: Body::Roles(deque::last_item::<Seed002>, [0, 0]),
    },
    Model {
        name: "hasty_deque.two_thieves_on_two_items",
        shows: "of two thieves on one slot the loser has emptied it",
        flaws: &[1],
        bound: Exhaustive,
        expect: LOST,
        body: Body::Once(deque::two_thieves_on_two_items::<Seed002>, 0),
    },
    Model {
        name: "hasty_deque.past_capacity",
        shows: "the push past capacity overwrites the oldest item",
        flaws: &[2],
        bound: Exhaustive,
        expect: LOST,
        body: Body::Once(deque::past_capacity::<Seed002>, 0),
    },
    Model {
        name: "plain_deque.pop_against_two_thieves",
        shows: "without a fence a thief sees a stale bottom and takes what was popped",
        flaws: &[5],
        bound: Preemptions(3),
        expect: TWICE,
        body: Body::Roles(deque::pop_against_two_thieves::<Seed001>, [0, 0]),
    },
    Model {
        name: "plain_deque.two_owners",
        shows: "callers from outside all run as the owner of one deque",
        flaws: &[21],
        bound: Preemptions(3),
        expect: LOST,
        body: Body::Once(deque::two_owners::<Seed001>, 0),
    },
    Model {
        name: "unsigned_deque.pop_on_new",
        shows: "an unsigned bottom wraps below zero and reads as a full deque",
        flaws: &[23],
        bound: Exhaustive,
        expect: Expect::Fails("an empty deque gave an item"),
        body: Body::Once(deque::pop_on_new::<Seed004>, 0),
    },
];

/// Seed 002: `take()` before the CAS, no full check, no fence.
struct Seed002 {
    top: AtomicUsize,
    bottom: AtomicUsize,
    buffer: Vec<AtomicUsize>,
}

impl Seed002 {
    /// `Option::take` on a slot.
    fn take(&self, index: usize) -> Option<usize> {
        let slot = &self.buffer[index % self.buffer.len()];
        Some(slot.swap(VACANT, Relaxed)).filter(|id| *id != VACANT)
    }
}

impl Deque for Seed002 {
    fn new(capacity: usize) -> Self {
        Self {
            top: AtomicUsize::new(0),
            bottom: AtomicUsize::new(0),
            buffer: (0..capacity).map(|_| AtomicUsize::new(VACANT)).collect(),
        }
    }

    fn push(&self, id: usize) -> Result<(), usize> {
        let bottom = self.bottom.load(Relaxed);
        self.buffer[bottom % self.buffer.len()].store(id, Relaxed);
        self.bottom.store(bottom + 1, Release);
        Ok(())
    }

    fn steal(&self) -> Steal<usize> {
        let top = self.top.load(Acquire);
        let bottom = self.bottom.load(Acquire);
        if top >= bottom {
            return Steal::Empty;
        }
        let item = self.take(top);
        match self.top.compare_exchange(top, top + 1, SeqCst, SeqCst) {
            Ok(_) => item.map_or(Steal::Empty, Steal::Success),
            Err(_) => Steal::Retry,
        }
    }

    fn pop(&self) -> Option<usize> {
        let bottom = self.bottom.load(Relaxed);
        if bottom == 0 {
            return None;
        }
        self.bottom.store(bottom - 1, SeqCst);
        let top = self.top.load(Acquire);
        let new_bottom = bottom - 1;
        if new_bottom > top {
            self.take(new_bottom)
        } else if new_bottom == top {
            let item = self.take(new_bottom);
            let won = self.top.compare_exchange(top, top + 1, SeqCst, SeqCst);
            self.bottom.store(top + 1, Relaxed);
            won.ok().and(item)
        } else {
            self.bottom.store(top, Relaxed);
            None
        }
    }
}

/// Seed 001: no fence in `steal`; its `pop` is given the fence that stands for
/// its two SeqCst accesses, so that only the thief is wrong.
struct Seed001 {
    top: AtomicIsize,
    bottom: AtomicIsize,
    buffer: Vec<AtomicUsize>,
}

impl Seed001 {
    /// The buffer as a ring: the printed one grows without bound.
    fn slot(&self, index: isize) -> &AtomicUsize {
        &self.buffer[index.rem_euclid(self.buffer.len() as isize) as usize]
    }
}

impl Deque for Seed001 {
    fn new(capacity: usize) -> Self {
        Self {
            top: AtomicIsize::new(0),
            bottom: AtomicIsize::new(0),
            buffer: (0..capacity).map(|_| AtomicUsize::new(VACANT)).collect(),
        }
    }

    fn push(&self, id: usize) -> Result<(), usize> {
        let bottom = self.bottom.load(Relaxed);
        self.slot(bottom).store(id, Relaxed);
        self.bottom.store(bottom + 1, Release);
        Ok(())
    }

    fn pop(&self) -> Option<usize> {
        let bottom = self.bottom.load(Relaxed) - 1;
        self.bottom.store(bottom, SeqCst);
        fence(SeqCst);
        let top = self.top.load(SeqCst);
        if top <= bottom {
            let item = self.slot(bottom).load(Relaxed);
            if top == bottom
                && self
                    .top
                    .compare_exchange(top, top + 1, SeqCst, Relaxed)
                    .is_err()
            {
                self.bottom.store(bottom + 1, Relaxed);
                return None;
            }
            // The printed one leaves `bottom` below `top` here; put right, since it is
            // another flaw than the one shown.
            if top == bottom {
                self.bottom.store(bottom + 1, Relaxed);
            }
            return Some(item);
        }
        self.bottom.store(bottom + 1, Relaxed);
        None
    }

    fn steal(&self) -> Steal<usize> {
        let top = self.top.load(Acquire);
        let bottom = self.bottom.load(Acquire);
        if top >= bottom {
            return Steal::Empty;
        }
        let item = self.slot(top).load(Relaxed);
        match self
            .top
            .compare_exchange_weak(top, top + 1, SeqCst, Relaxed)
        {
            Ok(_) => Steal::Success(item),
            Err(_) => Steal::Retry,
        }
    }
}

/// Seed 004: unsigned indices, and nothing that keeps `bottom - 1` above zero.
struct Seed004 {
    top: AtomicUsize,
    bottom: AtomicUsize,
    buffer: Vec<AtomicUsize>,
}

impl Deque for Seed004 {
    fn new(capacity: usize) -> Self {
        Self {
            top: AtomicUsize::new(0),
            bottom: AtomicUsize::new(0),
            buffer: (0..capacity).map(|_| AtomicUsize::new(VACANT)).collect(),
        }
    }

    fn push(&self, id: usize) -> Result<(), usize> {
        let bottom = self.bottom.load(Relaxed);
        self.buffer[bottom % self.buffer.len()].store(id, Relaxed);
        self.bottom.store(bottom.wrapping_add(1), Release);
        Ok(())
    }

    fn pop(&self) -> Option<usize> {
        // C++ wraps silently.
        let bottom = self.bottom.load(Relaxed).wrapping_sub(1);
        self.bottom.store(bottom, Relaxed);
        fence(SeqCst);
        let top = self.top.load(Relaxed);
        if top > bottom {
            self.bottom.store(bottom.wrapping_add(1), Relaxed);
            return None;
        }
        let item = self.buffer[bottom % self.buffer.len()].load(Relaxed);
        if top == bottom {
            let won = self.top.compare_exchange(top, top + 1, SeqCst, Relaxed);
            self.bottom.store(bottom.wrapping_add(1), Relaxed);
            return won.ok().map(|_| item);
        }
        Some(item)
    }

    fn steal(&self) -> Steal<usize> {
        let top = self.top.load(Relaxed);
        fence(SeqCst);
        let bottom = self.bottom.load(Acquire);
        if top >= bottom {
            return Steal::Empty;
        }
        let item = self.buffer[top % self.buffer.len()].load(Relaxed);
        match self.top.compare_exchange(top, top + 1, SeqCst, Relaxed) {
            Ok(_) => Steal::Success(item),
            Err(_) => Steal::Retry,
        }
    }
}
