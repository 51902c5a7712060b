//! A ring with packed heads, with one step wrong at a time.
//!
//! Four slots of bare numbers, in cells that loom watches: reading a slot while
//! its owner fills it is what flaws 9 and 10 are about.

use std::marker::PhantomData;

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release};
use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use ws_core::Steal;

use super::items::{self, Ledger};
use super::model::Bound::{Exhaustive, Preemptions};
use super::model::{Body, Expect, Main, Model, beat};

const RACE: Expect = Expect::Fails("Causality violation");

pub(crate) const MODELS: &[Model] = &[
    Model {
        name: "plain_ring.into_claimed.no_room_check",
        shows: "a thief fills slots that another still copies out of its ring",
        flaws: &[9],
        bound: Exhaustive,
        expect: RACE,
        body: Body::Roles(into_claimed::<NoRoomCheck>, [0, 0]),
    },
    Model {
        name: "plain_ring.into_claimed",
        shows: "room counts from where thieves have finished",
        flaws: &[9],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(into_claimed::<Right>, [41_000, 24_000]),
    },
    Model {
        name: "plain_ring.reuse.finish_without_release",
        shows: "the owner's next push races with the reads of a thief that has finished",
        flaws: &[10],
        bound: Exhaustive,
        expect: RACE,
        body: Body::Roles(reuse::<FinishWithoutRelease>, [0, 0]),
    },
    Model {
        name: "plain_ring.reuse",
        shows: "the finishing CAS releases, and a push acquires",
        flaws: &[10],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(reuse::<Right>, [2_400, 670]),
    },
    Model {
        name: "plain_ring.spurious_failure.is_empty",
        shows: "a weak CAS that fails for no reason reads as an empty ring",
        flaws: &[12],
        bound: Exhaustive,
        expect: Expect::Fails("there is always an item"),
        body: Body::Once(spurious_failure::<FailureIsEmpty>, 0),
    },
    Model {
        name: "plain_ring.spurious_failure",
        shows: "a failed CAS is its own outcome",
        flaws: &[12],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Once(spurious_failure::<Right>, 170),
    },
];

/// The steps that the flaws are about, right unless a type says otherwise.
trait Step: Send + Sync + Sized + 'static {
    /// The order of the CAS that gives claimed slots back.
    const FINISH: Ordering = AcqRel;
    /// What a lost race looks like to the caller.
    const LOST: Steal<usize> = Steal::Retry;
    /// How many items fit into the thief's own ring.
    fn room(ring: &Ring<Self>) -> u32 {
        let (steal, _) = unpack(ring.head.load(Acquire));
        CAPACITY - ring.tail.load(Relaxed).wrapping_sub(steal)
    }
}

struct Right;
impl Step for Right {}

/// Flaw 9.
struct NoRoomCheck;
impl Step for NoRoomCheck {
    fn room(_: &Ring<Self>) -> u32 {
        CAPACITY
    }
}

/// Flaw 10.
struct FinishWithoutRelease;
impl Step for FinishWithoutRelease {
    const FINISH: Ordering = Acquire;
}

/// Flaw 12.
struct FailureIsEmpty;
impl Step for FailureIsEmpty {
    const LOST: Steal<usize> = Steal::Empty;
}

const CAPACITY: u32 = 4;

struct Ring<S> {
    head: AtomicU64,
    tail: AtomicU32,
    buffer: [UnsafeCell<usize>; CAPACITY as usize],
    /// When set, the next weak CAS fails for no reason.
    spurious: AtomicBool,
    step: PhantomData<S>,
}

// SAFETY: whether a slot has one user at a time is what the models check.
unsafe impl<S> Sync for Ring<S> {}

fn pack(steal: u32, real: u32) -> u64 {
    (u64::from(steal) << 32) | u64::from(real)
}

fn unpack(head: u64) -> (u32, u32) {
    ((head >> 32) as u32, head as u32)
}

impl<S: Step> Ring<S> {
    fn empty() -> Arc<Self> {
        Arc::new(Self {
            head: AtomicU64::new(0),
            tail: AtomicU32::new(0),
            buffer: std::array::from_fn(|_| UnsafeCell::new(0)),
            spurious: AtomicBool::new(false),
            step: PhantomData,
        })
    }

    fn holding(ids: std::ops::RangeInclusive<usize>) -> Arc<Self> {
        let ring = Self::empty();
        ids.for_each(|id| ring.push(id));
        ring
    }

    fn read(&self, index: u32) -> usize {
        self.buffer[(index % CAPACITY) as usize].with(|slot| {
            // SAFETY: checked by loom.
            unsafe { slot.read() }
        })
    }

    fn write(&self, index: u32, id: usize) {
        self.buffer[(index % CAPACITY) as usize].with_mut(|slot| {
            // SAFETY: checked by loom.
            unsafe { slot.write(id) }
        });
    }

    /// Makes item `id`; a full ring refuses it.
    fn push(&self, id: usize) {
        items::made(id);
        let tail = self.tail.load(Relaxed);
        let (steal, _) = unpack(self.head.load(Acquire));
        if tail.wrapping_sub(steal) < CAPACITY {
            self.write(tail, id);
            self.tail.store(tail.wrapping_add(1), Release);
        } else {
            items::gone(id);
        }
    }

    fn pop(&self) -> Option<usize> {
        let mut head = self.head.load(Acquire);
        loop {
            let (steal, real) = unpack(head);
            if real == self.tail.load(Relaxed) {
                return None;
            }
            let next = real.wrapping_add(1);
            let next = if steal == real {
                pack(next, next)
            } else {
                pack(steal, next)
            };
            match self.head.compare_exchange(head, next, AcqRel, Acquire) {
                Ok(_) => return Some(self.read(real)),
                Err(actual) => head = actual,
            }
        }
    }

    /// loom's weak CAS never fails for no reason; this one does if it is told to.
    fn weak_claim(&self, head: u64, next: u64) -> bool {
        !self.spurious.load(Relaxed)
            && self
                .head
                .compare_exchange(head, next, AcqRel, Acquire)
                .is_ok()
    }

    fn steal_into(&self, thief: &Self) -> Steal<usize> {
        let thief_tail = thief.tail.load(Relaxed);
        let head = self.head.load(Acquire);
        let (steal, real) = unpack(head);
        if steal != real {
            return S::LOST;
        }
        let available = self.tail.load(Acquire).wrapping_sub(real);
        if available == 0 {
            return Steal::Empty;
        }
        let count = available
            .div_ceil(2)
            .min(CAPACITY / 2)
            .min(S::room(thief) + 1);
        if !self.weak_claim(head, pack(steal, real.wrapping_add(count))) {
            return S::LOST;
        }
        let first = self.read(real);
        for offset in 1..count {
            let id = self.read(real.wrapping_add(offset));
            thief.write(thief_tail.wrapping_add(offset - 1), id);
        }
        thief
            .tail
            .store(thief_tail.wrapping_add(count - 1), Release);

        let mut head = self.head.load(Acquire);
        loop {
            let (_, real) = unpack(head);
            match self
                .head
                .compare_exchange(head, pack(real, real), S::FINISH, Acquire)
            {
                Ok(_) => return Steal::Success(first),
                Err(actual) => head = actual,
            }
        }
    }
}

/// Takes what is left.
fn drain<S: Step>(ring: &Ring<S>) {
    std::iter::from_fn(|| ring.pop()).for_each(items::gone);
}

/// Two full rings. The thief steals from the first; its owner empties it and
/// steals from the second into it.
fn into_claimed<S: Step>(main: Main) {
    let ledger = Ledger::open();
    let (first, second) = (Ring::<S>::holding(1..=4), Ring::<S>::holding(5..=8));
    let third = Ring::<S>::empty();
    let rings = [first.clone(), second.clone(), third.clone()];
    main.race(
        move || {
            drain(&*first);
            beat();
            second
                .steal_into(&first)
                .success()
                .into_iter()
                .for_each(items::gone);
        },
        {
            let first = rings[0].clone();
            move || {
                first
                    .steal_into(&third)
                    .success()
                    .into_iter()
                    .for_each(items::gone)
            }
        },
    );
    rings.iter().for_each(|ring| drain(ring));
    ledger.close();
}

/// Owner: (pop, push) ×3 // thief: steal.
fn reuse<S: Step>(main: Main) {
    let ledger = Ledger::open();
    let ring = Ring::<S>::holding(1..=4);
    let thief = Ring::<S>::empty();
    let rings = [ring.clone(), thief.clone()];
    let victim = ring.clone();
    main.race(
        move || {
            for id in 5..=7 {
                ring.pop().into_iter().for_each(items::gone);
                ring.push(id);
                beat();
            }
        },
        move || {
            victim
                .steal_into(&thief)
                .success()
                .into_iter()
                .for_each(items::gone)
        },
    );
    rings.iter().for_each(|ring| drain(ring));
    ledger.close();
}

/// A thief on a ring that nobody else touches; another thread decides when the
/// weak CAS fails.
fn spurious_failure<S: Step>() {
    let ledger = Ledger::open();
    let ring = Ring::<S>::holding(1..=2);
    let thief = Ring::<S>::empty();
    let (victim, dice) = (ring.clone(), ring.clone());
    Main::Owner.race(
        move || {
            let stolen = victim.steal_into(&thief);
            assert!(!stolen.is_empty(), "there is always an item");
            stolen.success().into_iter().for_each(items::gone);
        },
        move || dice.spurious.store(true, Relaxed),
    );
    drain(&*ring);
    ledger.close();
}
