//! What both halves of a deque share.

use alloc::vec::Vec;

use super::buffer::Buffer;
use crate::sync::CachePadded;
use crate::sync::atomic::{AtomicI64, AtomicPtr, Ordering};

/// What both halves share.
pub(super) struct Deque<T> {
    /// The oldest item. Any thread moves it, by one at a time, by compare-and-swap.
    pub(super) top: CachePadded<AtomicI64>,
    /// One past the newest item. Written by the owner alone.
    pub(super) bottom: CachePadded<AtomicI64>,
    /// The newest buffer. Written by the owner alone.
    pub(super) buffer: CachePadded<AtomicPtr<Buffer<T>>>,
}

// SAFETY: the halves move items from thread to thread, so `T: Send` is needed. No
// reference to an item is ever shared, so `T: Sync` is not needed. Slots are atomic,
// and each item is taken by one thread (see the module docs).
unsafe impl<T: Send> Sync for Deque<T> {}
// SAFETY: the deque owns its items and its buffers, so it may move to another thread if
// the items may.
unsafe impl<T: Send> Send for Deque<T> {}

impl<T> Deque<T> {
    pub(super) fn new(index: i64, capacity: usize) -> Self {
        Self {
            top: CachePadded::new(AtomicI64::new(index)),
            bottom: CachePadded::new(AtomicI64::new(index)),
            buffer: CachePadded::new(AtomicPtr::new(Buffer::allocate(capacity))),
        }
    }

    /// Takes the item at `index`, if it is still the oldest.
    #[inline(always)]
    pub(super) fn swap_top(&self, index: i64) -> Result<(), i64> {
        // A strong exchange: a spurious failure would look like a lost race.
        // ORDERING(deque.top): release side; on failure acquire side, as the
        // owner remembers the outcome. SeqCst, so that the barriers of
        // `sync::barrier` hold by the language's rules, not only by the processor's.
        let (success, failure) = (Ordering::SeqCst, Ordering::Acquire);
        self.top
            .compare_exchange(index, index + 1, success, failure)
            .map(drop)
    }

    pub(super) fn oldest(&self) -> Option<i64> {
        // ORDERING: acquire, so that the loads stay in this order: the `bottom` that is
        // read belongs to this `top` or to a later one.
        let top = self.top.load(Ordering::Acquire);
        (self.bottom.load(Ordering::Relaxed) > top).then_some(top)
    }

    pub(super) fn len(&self) -> usize {
        loop {
            // ORDERING: acquire, so that the loads stay in this order. If `top` is the
            // same at the end, it was the same when `bottom` was read.
            let top = self.top.load(Ordering::Acquire);
            let bottom = self.bottom.load(Ordering::Acquire);
            if self.top.load(Ordering::Relaxed) == top {
                // A pop that finds nothing lowers `bottom` below `top`.
                return usize::try_from(bottom - top).unwrap_or(0);
            }
        }
    }
}

impl<T> Drop for Deque<T> {
    fn drop(&mut self) {
        // ORDERING: relaxed; no half is left, and the drops of the halves have made
        // everything visible.
        let top = self.top.load(Ordering::Relaxed);
        let bottom = self.bottom.load(Ordering::Relaxed);
        let buffer = self.buffer.load(Ordering::Relaxed);
        // SAFETY: `buffer` came from `allocate` or `grown`, and is freed below, after
        // the last use of `slots`.
        let slots = unsafe { &*buffer };
        let mut rest = Vec::with_capacity(usize::try_from(bottom - top).unwrap_or(0));
        // SAFETY: the slots in `top..bottom` hold items, and no half is left that could
        // take one or write a slot.
        rest.extend((top..bottom).map(|index| unsafe { slots.load(index).into_item() }));
        // SAFETY: `buffer` came from `allocate` or `grown` and is freed only here. No half
        // is left that could use or write a buffer.
        unsafe { Buffer::free(buffer) };
        // If the drop of an item panics, the vector still drops the other items.
        drop(rest);
    }
}
