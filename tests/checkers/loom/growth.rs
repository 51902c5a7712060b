//! Growth of a deque, as in seed 001 and as it should be.
//!
//! One growth, from two slots to four, beside one thief. Freed memory is played
//! by a cell: freeing writes it and using the buffer reads it, so that loom
//! reports a use that is not ordered before the freeing.

use std::marker::PhantomData;

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use loom::sync::atomic::{AtomicIsize, AtomicUsize, fence};

use super::items::{self, Ledger};
use super::model::Bound::Exhaustive;
use super::model::{Body, Expect, Main, Model};

const RACE: Expect = Expect::Fails("Causality violation");

pub(crate) const MODELS: &[Model] = &[
    Model {
        name: "growth.plain_fields",
        shows: "pointer and mask as plain fields: a thief reads them while they change",
        flaws: &[8],
        bound: Exhaustive,
        expect: RACE,
        body: Body::Roles(grow_against_steal::<PlainFields>, [0, 0]),
    },
    Model {
        name: "growth.freed_at_once",
        shows: "the old buffer is freed under a thief that reads it",
        flaws: &[8],
        bound: Exhaustive,
        expect: RACE,
        body: Body::Roles(grow_against_steal::<FreedAtOnce>, [0, 0]),
    },
    Model {
        name: "growth.retired",
        shows: "one atomic pointer to a buffer that knows its size; old ones are kept",
        flaws: &[8],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(grow_against_steal::<Retired>, [580, 340]),
    },
];

/// How a grown buffer is published and what becomes of the old one.
trait Step: Send + Sync + Sized + 'static {
    /// The buffer in use, and its mask.
    fn current(deque: &Growable<Self>) -> (usize, usize) {
        let current = deque.current.load(Acquire);
        (current, deque.buffers[current].slots.len() - 1)
    }
    /// Replaces the buffer in use.
    fn publish(deque: &Growable<Self>, grown: usize) {
        deque.current.store(grown, Release);
    }
    /// Disposes of the old buffer.
    fn retire(_: &Buffer) {}
}

struct Retired;
impl Step for Retired {}

struct FreedAtOnce;
impl Step for FreedAtOnce {
    fn retire(old: &Buffer) {
        old.memory.with_mut(|_| {});
    }
}

struct PlainFields;
impl Step for PlainFields {
    fn current(deque: &Growable<Self>) -> (usize, usize) {
        let current = deque.plain_pointer.with(|pointer| {
            // SAFETY: checked by loom.
            unsafe { pointer.read() }
        });
        let mask = deque.plain_mask.with(|mask| {
            // SAFETY: checked by loom.
            unsafe { mask.read() }
        });
        (current, mask)
    }

    fn publish(deque: &Growable<Self>, grown: usize) {
        deque.plain_pointer.with_mut(|pointer| {
            // SAFETY: checked by loom.
            unsafe { pointer.write(grown) }
        });
        deque.plain_mask.with_mut(|mask| {
            // SAFETY: checked by loom.
            unsafe { mask.write(deque.buffers[grown].slots.len() - 1) }
        });
    }
}

struct Buffer {
    slots: Vec<AtomicUsize>,
    /// Read by whoever uses the buffer, written by whoever frees it.
    memory: UnsafeCell<()>,
}

impl Buffer {
    fn new(capacity: usize) -> Self {
        Self {
            slots: (0..capacity)
                .map(|_| AtomicUsize::new(usize::MAX))
                .collect(),
            memory: UnsafeCell::new(()),
        }
    }
}

struct Growable<S> {
    top: AtomicIsize,
    bottom: AtomicIsize,
    buffers: [Buffer; 2],
    current: AtomicUsize,
    plain_pointer: UnsafeCell<usize>,
    plain_mask: UnsafeCell<usize>,
    step: PhantomData<S>,
}

// SAFETY: whether the cells have one user at a time is what the models check.
unsafe impl<S> Sync for Growable<S> {}

impl<S: Step> Growable<S> {
    fn new() -> Self {
        Self {
            top: AtomicIsize::new(0),
            bottom: AtomicIsize::new(0),
            buffers: [Buffer::new(2), Buffer::new(4)],
            current: AtomicUsize::new(0),
            plain_pointer: UnsafeCell::new(0),
            plain_mask: UnsafeCell::new(1),
            step: PhantomData,
        }
    }

    /// The slot of `index`, in the buffer in use.
    fn slot(&self, index: isize) -> &AtomicUsize {
        let (current, mask) = S::current(self);
        self.buffers[current].memory.with(|_| {});
        &self.buffers[current].slots[index as usize & mask]
    }

    fn push(&self, id: usize) {
        items::made(id);
        let bottom = self.bottom.load(Relaxed);
        let top = self.top.load(Acquire);
        let (current, mask) = S::current(self);
        if bottom - top > mask as isize {
            let (old, grown) = (&self.buffers[current], &self.buffers[current + 1]);
            for index in top..bottom {
                let id = old.slots[index as usize & mask].load(Relaxed);
                grown.slots[index as usize & (grown.slots.len() - 1)].store(id, Relaxed);
            }
            S::publish(self, current + 1);
            S::retire(old);
        }
        self.slot(bottom).store(id, Relaxed);
        self.bottom.store(bottom + 1, Release);
    }

    fn steal(&self) -> Option<usize> {
        let top = self.top.load(Acquire);
        fence(SeqCst);
        if top >= self.bottom.load(Acquire) {
            return None;
        }
        let id = self.slot(top).load(Relaxed);
        let won = self.top.compare_exchange(top, top + 1, SeqCst, Relaxed);
        won.ok().map(|_| id)
    }
}

/// Capacity 2, full; owner: push // thief: steal.
fn grow_against_steal<S: Step>(main: Main) {
    let ledger = Ledger::open();
    let deque = Arc::new(Growable::<S>::new());
    (1..=2).for_each(|id| deque.push(id));
    let (owner, thief) = (deque.clone(), deque.clone());
    main.race(
        move || owner.push(3),
        move || thief.steal().into_iter().for_each(items::gone),
    );
    while let Some(id) = deque.steal() {
        items::gone(id);
    }
    ledger.close();
}
