//! The deque's memory: a power of two of slots, and the buffers it replaced.

use alloc::boxed::Box;
use core::marker::PhantomData;
use core::ptr;

use super::words::{self, Bits, Word};
use crate::sync::atomic::Ordering;

/// The largest number of slots: a quarter of the address space.
const MAX_CAPACITY: usize = 1 << (usize::BITS - 2);

const TOO_MANY: &str = "the capacity of a deque exceeds the address space";

/// The slots of a deque, until the deque grows.
///
/// A buffer is never freed while a thief may have a pointer to it: each buffer
/// keeps its predecessor. As capacities double, all predecessors together are
/// smaller than the buffer in use.
pub(super) struct Buffer<T> {
    /// The number of slots less one.
    mask: usize,
    words: Box<[Word]>,
    /// The buffer that this one replaced, or null.
    older: *mut Buffer<T>,
    /// The slots hold items, which no other field shows.
    items: PhantomData<T>,
}

impl<T> Buffer<T> {
    /// Allocates at least `capacity` slots, and at least one.
    pub(super) fn allocate(capacity: usize) -> *mut Self {
        let capacity = capacity.checked_next_power_of_two();
        Self::replacing(ptr::null_mut(), capacity.expect(TOO_MANY))
    }

    fn replacing(older: *mut Self, capacity: usize) -> *mut Self {
        // Unchecked indexing relies on the power of two. Differences of indices rely
        // on the limit: items without a size take no memory, so memory is no limit.
        assert!(
            capacity.is_power_of_two() && capacity <= MAX_CAPACITY,
            "{TOO_MANY}"
        );
        let words = capacity.checked_mul(words::per_item::<T>());
        let words = words.expect(TOO_MANY);
        Box::into_raw(Box::new(Self {
            mask: capacity - 1,
            words: (0..words).map(|_| Word::new(ptr::null_mut())).collect(),
            older,
            items: PhantomData,
        }))
    }

    /// Allocates a buffer of twice the size, copies the slots of `indices` and
    /// retires `this` to it.
    ///
    /// # Safety
    ///
    /// `this` must come from [`allocate`](Self::allocate) or from this function, and
    /// must not be freed yet. Only the caller may write to it.
    pub(super) unsafe fn grown(this: *mut Self, indices: core::ops::Range<i64>) -> *mut Self {
        // SAFETY: the caller promises that the buffer is alive.
        let old = unsafe { &*this };
        let capacity = old.capacity().checked_mul(2).expect(TOO_MANY);
        let grown = Self::replacing(this, capacity);
        // SAFETY: `replacing` has just allocated the buffer, and no other thread has it.
        let new = unsafe { &*grown };
        for index in indices {
            // Words are copied, not items: a thief may have taken this item by now, and
            // then the owner must not use the item.
            // ORDERING: relaxed; the store of `buffer` publishes the copies.
            for (from, to) in old.slot(index).iter().zip(new.slot(index)) {
                to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
            }
        }
        grown
    }

    /// Frees `this` and all its predecessors. The items are not dropped.
    ///
    /// # Safety
    ///
    /// As for [`grown`](Self::grown). No thread may use any of these buffers any more.
    pub(super) unsafe fn free(mut this: *mut Self) {
        while !this.is_null() {
            // SAFETY: `replacing` took every buffer of the chain out of a box. Each is
            // freed once, here, and the caller promises that it is no longer used.
            let buffer = unsafe { Box::from_raw(this) };
            this = buffer.older;
        }
    }

    /// The number of slots.
    #[inline(always)]
    pub(super) fn capacity(&self) -> usize {
        self.mask + 1
    }

    /// Moves `item` into the slot of `index`.
    #[inline(always)]
    pub(super) fn store(&self, index: i64, item: T) {
        words::store(self.slot(index), item);
    }

    /// Copies the bits in the slot of `index`.
    #[inline(always)]
    pub(super) fn load(&self, index: i64) -> Bits<T> {
        words::load(self.slot(index))
    }

    #[inline(always)]
    fn slot(&self, index: i64) -> &[Word] {
        let per_item = const { words::per_item::<T>() };
        let first = (index as usize & self.mask) * per_item;
        // SAFETY: the masked index is below the capacity, and the buffer has
        // `capacity * per_item` words.
        unsafe { self.words.get_unchecked(first..first + per_item) }
    }
}
