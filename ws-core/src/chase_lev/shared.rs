//! What both halves of a deque share.

use alloc::vec::Vec;

use super::buffer::Buffer;
use crate::sync::CachePadded;
use crate::sync::atomic::{AtomicI64, AtomicPtr, Ordering};

/// What both halves share.
pub(super) struct Deque<T> {
    /// The oldest item. Moved by one at a time, by compare-and-swap, by anyone.
    pub(super) top: CachePadded<AtomicI64>,
    /// One past the newest item. Written by the owner alone.
    pub(super) bottom: CachePadded<AtomicI64>,
    /// The newest buffer. Written by the owner alone.
    pub(super) buffer: CachePadded<AtomicPtr<Buffer<T>>>,
}

// SAFETY: the halves hand items from thread to thread, so `T: Send` is needed;
// no reference to an item is ever shared, so `T: Sync` is not. Slots are atomic,
// and each item is taken by one thread (see the module docs).
unsafe impl<T: Send> Sync for Deque<T> {}
// SAFETY: as above; the deque owns its items and its buffers.
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
        // A strong exchange: a spurious failure would read as a lost race.
        // ORDERING(deque.top): release side; on failure acquire side, as the
        // owner remembers the outcome. SeqCst, so that the barriers of
        // `sync::barrier` hold by the language's rules, not only the processor's.
        let (success, failure) = (Ordering::SeqCst, Ordering::Acquire);
        self.top
            .compare_exchange(index, index + 1, success, failure)
            .map(drop)
    }

    pub(super) fn oldest(&self) -> Option<i64> {
        // ORDERING: acquire, so that the loads stay in this order: what `bottom` says is
        // about this `top` or a later one.
        let top = self.top.load(Ordering::Acquire);
        (self.bottom.load(Ordering::Relaxed) > top).then_some(top)
    }

    pub(super) fn len(&self) -> usize {
        loop {
            // ORDERING: acquire, so that the loads stay in this order; if `top`
            // is the same at the end, it was so when `bottom` was read.
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
        // ORDERING: relaxed; no half is left, and the last one's drop made
        // everything visible.
        let top = self.top.load(Ordering::Relaxed);
        let bottom = self.bottom.load(Ordering::Relaxed);
        let buffer = self.buffer.load(Ordering::Relaxed);
        // SAFETY: the buffer is alive until the end of this function.
        let slots = unsafe { &*buffer };
        let mut rest = Vec::with_capacity(usize::try_from(bottom - top).unwrap_or(0));
        // SAFETY: the slots between hold items, and no one else is left.
        rest.extend((top..bottom).map(|index| unsafe { slots.load(index).into_item() }));
        // SAFETY: no half is left that could use a buffer.
        unsafe { Buffer::free(buffer) };
        // A vector goes on with the others if an item panics in its drop.
        drop(rest);
    }
}
