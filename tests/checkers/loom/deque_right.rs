//! The bounded deque of Lê, Pop, Cohen and Zappa Nardelli, "Correct and
//! efficient work-stealing for weak memory models" (2013), and the same deque
//! with one step changed.
//!
//! Each [`Step`] is one flaw on its own: nothing else is wrong, so the model
//! that fails fails because of that step.

use loom::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use loom::sync::atomic::{AtomicIsize, AtomicUsize, fence};
use ws_core::Steal;

use super::deque::{self, Deque, VACANT};
use super::model::Bound::{Exhaustive, Preemptions};
use super::model::{Body, Expect, Model};

const TWICE: Expect = Expect::Fails("was taken twice");

pub(crate) const MODELS: &[Model] = &[
    Model {
        name: "deque.last_item",
        shows: "owner and thief on the last item: one of them gets it",
        flaws: &[1],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(deque::last_item::<Right>, [3_800, 1_000]),
    },
    Model {
        name: "deque.two_thieves_on_two_items",
        shows: "two thieves on two items: none is lost",
        flaws: &[1],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Once(deque::two_thieves_on_two_items::<Right>, 240),
    },
    Model {
        name: "deque.past_capacity",
        shows: "a full deque gives the item back",
        flaws: &[2],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Once(deque::past_capacity::<Right>, 1),
    },
    Model {
        name: "deque.pop_against_two_thieves",
        shows: "with both fences the pop without a CAS is safe against two thieves",
        flaws: &[4, 5],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(deque::pop_against_two_thieves::<Right>, [4_500, 5_700]),
    },
    Model {
        name: "deque.pop_against_two_steals",
        shows: "with both fences the pop without a CAS is safe against two steals",
        flaws: &[4, 5],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(deque::pop_against_two_steals::<Right>, [5_000, 5_600]),
    },
    Model {
        name: "deque.no_owner_fence.two_thieves",
        shows: "a SeqCst store and an acquire load are no store-load order",
        flaws: &[4],
        bound: Preemptions(3),
        expect: TWICE,
        body: Body::Roles(deque::pop_against_two_thieves::<Mini<NoOwnerFence>>, [0, 0]),
    },
    Model {
        name: "deque.no_owner_fence.two_steals",
        shows: "a SeqCst store and an acquire load are no store-load order",
        flaws: &[4],
        bound: Exhaustive,
        expect: TWICE,
        body: Body::Roles(deque::pop_against_two_steals::<Mini<NoOwnerFence>>, [0, 0]),
    },
    Model {
        name: "deque.no_thief_fence.two_thieves",
        shows: "acquire on top and bottom lets a thief see a stale bottom",
        flaws: &[5],
        bound: Preemptions(3),
        expect: TWICE,
        body: Body::Roles(deque::pop_against_two_thieves::<Mini<NoThiefFence>>, [0, 0]),
    },
    Model {
        name: "deque.push_into_full",
        shows: "a thief that copies before its CAS never returns an overwritten slot",
        flaws: &[6],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(deque::push_into_full::<Right>, [90, 160]),
    },
    Model {
        name: "deque.copy_after_cas.push_into_full",
        shows: "once top moved, the owner wraps and overwrites what the thief copies",
        flaws: &[6],
        bound: Exhaustive,
        expect: TWICE,
        body: Body::Roles(deque::push_into_full::<Mini<CopyAfterCas>>, [0, 0]),
    },
    Model {
        name: "deque.pops_against_batch",
        shows: "one CAS per item: a batch takes nothing that the owner popped",
        flaws: &[7],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(deque::pops_against_batch::<Right>, [36_000, 20_000]),
    },
    Model {
        name: "deque.batch_with_one_cas",
        shows: "the owner pops inside the range that one CAS claimed",
        flaws: &[7],
        bound: Exhaustive,
        expect: TWICE,
        body: Body::Roles(deque::pops_against_batch::<Mini<BatchWithOneCas>>, [0, 0]),
    },
    Model {
        name: "deque.pop_on_new",
        shows: "signed indices: a pop on a new deque finds nothing",
        flaws: &[23],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Once(deque::pop_on_new::<Right>, 1),
    },
];

pub(crate) type Right = Mini<Paper>;

/// The steps that the flaws are about, right unless a type says otherwise.
pub(crate) trait Step: Send + Sync + 'static {
    /// Orders the owner's store of `bottom` before its load of `top`.
    fn owner_fence() {
        fence(SeqCst);
    }
    /// Orders a thief's load of `top` before its load of `bottom`.
    fn thief_fence() {
        fence(SeqCst);
    }
    /// Claims the item at `top` and reads it.
    fn claim(deque: &Mini<Self>, top: isize) -> Option<usize>
    where
        Self: Sized,
    {
        let id = deque.slot(top).load(Relaxed);
        deque.advance(top, 1).then_some(id)
    }
    /// Steals up to two items.
    fn steal_two(deque: &Mini<Self>) -> Vec<usize>
    where
        Self: Sized,
    {
        let first = deque.steal().success();
        first.into_iter().chain(deque.steal().success()).collect()
    }
}

/// As in the paper.
pub(crate) struct Paper;
impl Step for Paper {}

/// Flaw 4.
struct NoOwnerFence;
impl Step for NoOwnerFence {
    fn owner_fence() {}
}

/// Flaw 5.
struct NoThiefFence;
impl Step for NoThiefFence {
    fn thief_fence() {}
}

/// Flaw 6.
struct CopyAfterCas;
impl Step for CopyAfterCas {
    fn claim(deque: &Mini<Self>, top: isize) -> Option<usize> {
        deque.advance(top, 1).then(|| deque.slot(top).load(Relaxed))
    }
}

/// Flaw 7.
struct BatchWithOneCas;
impl Step for BatchWithOneCas {
    fn steal_two(deque: &Mini<Self>) -> Vec<usize> {
        let top = deque.top.load(Relaxed);
        fence(SeqCst);
        let count = (deque.bottom.load(Acquire) - top).clamp(0, 2);
        let copied = (0..count)
            .map(|n| deque.slot(top + n).load(Relaxed))
            .collect();
        if count > 0 && deque.advance(top, count) {
            copied
        } else {
            Vec::new()
        }
    }
}

pub(crate) struct Mini<S> {
    top: AtomicIsize,
    bottom: AtomicIsize,
    slots: Vec<AtomicUsize>,
    step: std::marker::PhantomData<S>,
}

impl<S> Mini<S> {
    fn slot(&self, index: isize) -> &AtomicUsize {
        &self.slots[index.rem_euclid(self.slots.len() as isize) as usize]
    }

    fn advance(&self, top: isize, by: isize) -> bool {
        self.top
            .compare_exchange(top, top + by, SeqCst, Relaxed)
            .is_ok()
    }
}

impl<S: Step> Deque for Mini<S> {
    fn new(capacity: usize) -> Self {
        Self {
            top: AtomicIsize::new(0),
            bottom: AtomicIsize::new(0),
            slots: (0..capacity).map(|_| AtomicUsize::new(VACANT)).collect(),
            step: std::marker::PhantomData,
        }
    }

    fn push(&self, id: usize) -> Result<(), usize> {
        let bottom = self.bottom.load(Relaxed);
        let top = self.top.load(Acquire);
        if bottom - top >= self.slots.len() as isize {
            return Err(id);
        }
        self.slot(bottom).store(id, Relaxed);
        self.bottom.store(bottom + 1, Release);
        Ok(())
    }

    fn pop(&self) -> Option<usize> {
        let bottom = self.bottom.load(Relaxed) - 1;
        self.bottom.store(bottom, SeqCst);
        S::owner_fence();
        let top = self.top.load(Acquire);
        if top > bottom {
            self.bottom.store(bottom + 1, Relaxed);
            return None;
        }
        let id = self.slot(bottom).load(Relaxed);
        if top < bottom {
            return Some(id);
        }
        let won = self.advance(top, 1);
        self.bottom.store(bottom + 1, Relaxed);
        won.then_some(id)
    }

    fn steal(&self) -> Steal<usize> {
        let top = self.top.load(Acquire);
        S::thief_fence();
        let bottom = self.bottom.load(Acquire);
        if top >= bottom {
            return Steal::Empty;
        }
        S::claim(self, top).map_or(Steal::Retry, Steal::Success)
    }

    fn steal_two(&self) -> Vec<usize> {
        S::steal_two(self)
    }
}
