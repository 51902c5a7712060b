//! Items that show when one is lost, taken twice, or read before it was written.
//!
//! The [`Ledger`] counts every item from its making to its drop. The counters
//! are plain `std` atomics, which loom does not see, so that counting orders
//! nothing. They are static, because a process explores one model, one
//! interleaving after another.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use loom::cell::UnsafeCell;
use ws_core::slot::Pointer;

/// The most items a model makes.
const ITEMS: usize = 16;

static MADE: [AtomicBool; ITEMS] = [const { AtomicBool::new(false) }; ITEMS];
static GONE: [AtomicU32; ITEMS] = [const { AtomicU32::new(0) }; ITEMS];

/// The account of one interleaving.
#[must_use = "close the ledger, or lost items go unnoticed"]
pub(crate) struct Ledger(());

impl Ledger {
    /// Forgets the items of the interleaving before.
    pub(crate) fn open() -> Self {
        MADE.iter().for_each(|made| made.store(false, Relaxed));
        GONE.iter().for_each(|gone| gone.store(0, Relaxed));
        CONTENTS.with_borrow_mut(BTreeMap::clear);
        Self(())
    }

    /// Checks that every item that was made is gone, exactly once.
    ///
    /// # Panics
    ///
    /// Panics when an item is lost: it was neither taken nor dropped.
    pub(crate) fn close(self) {
        for id in 0..ITEMS {
            if MADE[id].load(Relaxed) {
                assert!(GONE[id].load(Relaxed) > 0, "item {id} was lost");
            }
        }
    }
}

/// Notes that item `id` exists; for structures that hold bare numbers.
pub(crate) fn made(id: usize) {
    assert!(id < ITEMS, "at most {ITEMS} items, and {id} is beyond them");
    let before = MADE[id].swap(true, Relaxed);
    assert!(!before, "item {id} was made twice");
}

/// Notes that item `id` is gone; for structures that hold bare numbers.
///
/// # Panics
///
/// Panics when the item is gone already, or never existed.
pub(crate) fn gone(id: usize) {
    assert!(
        id < ITEMS && MADE[id].load(Relaxed),
        "item {id} never existed"
    );
    let before = GONE[id].fetch_add(1, Relaxed);
    assert!(before == 0, "item {id} was taken twice");
}

/// What an item points to.
#[derive(Debug)]
struct Content {
    id: usize,
    /// Written by the maker, read by the taker: loom checks the order.
    written: UnsafeCell<usize>,
}

thread_local! {
    /// The contents of this interleaving's items. loom runs all threads of a
    /// model on one thread of the system, so they share it. Nothing is freed
    /// before the next interleaving: an item that was taken twice can still be
    /// told from one that never existed.
    static CONTENTS: RefCell<BTreeMap<usize, Box<Content>>> =
        const { RefCell::new(BTreeMap::new()) };
}

/// An item of one word that is not `Copy` and whose content lies elsewhere, like
/// a box; dropping it enters it into the ledger.
#[derive(Debug)]
pub(crate) struct Item(NonNull<Content>);

// SAFETY: the content is written before the item can move to another thread and
// only read afterwards; loom checks that each read happens after the write.
unsafe impl Send for Item {}

// SAFETY: what is read through a reference, the number, is never written again.
unsafe impl Sync for Item {}

impl Item {
    /// Makes item `id`.
    pub(crate) fn new(id: usize) -> Self {
        made(id);
        let written = UnsafeCell::new(0);
        written.with_mut(|written| {
            // SAFETY: nobody else knows the cell yet.
            unsafe { written.write(id) }
        });
        let content = Box::new(Content { id, written });
        let item = Self(NonNull::from(&*content));
        CONTENTS.with_borrow_mut(|contents| contents.insert(id, content));
        item
    }

    /// The item's number, without taking it.
    pub(crate) fn id(&self) -> usize {
        // SAFETY: contents live as long as the interleaving.
        unsafe { self.0.as_ref() }.id
    }

    /// Takes the item and returns its number.
    pub(crate) fn take(self) -> usize {
        self.id()
    }
}

// SAFETY: the pointer to the content is the item, and the content is kept alive.
unsafe impl Pointer for Item {
    fn into_raw(self) -> NonNull<()> {
        ManuallyDrop::new(self).0.cast()
    }

    unsafe fn from_raw(raw: NonNull<()>) -> Self {
        Self(raw.cast())
    }
}

impl Drop for Item {
    fn drop(&mut self) {
        gone(self.id());
        // SAFETY: contents live as long as the interleaving.
        let content = unsafe { self.0.as_ref() };
        let written = content.written.with(|written| {
            // SAFETY: loom checks that the write happened before.
            unsafe { written.read() }
        });
        assert_eq!(written, content.id, "the content of an item changed");
    }
}

/// Makes items with these numbers.
pub(crate) fn items(ids: impl IntoIterator<Item = usize>) -> impl Iterator<Item = Item> {
    ids.into_iter().map(Item::new)
}

/// Takes the items and returns their numbers, in order.
pub(crate) fn numbers(items: impl IntoIterator<Item = Item>) -> Vec<usize> {
    items.into_iter().map(Item::take).collect()
}
