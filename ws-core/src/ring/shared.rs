//! What both halves of a ring share: the indices, the slots, and claims on them.

use alloc::vec::Vec;
use core::fmt;

use super::head::Head;
use super::slots::Slots;
use crate::Steal;
use crate::chaos;
use crate::sync::CachePadded;
use crate::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The number of slots of a ring made by [`new`](super::new).
///
/// Pointer-sized items then fill 2 KiB, a small part of a first-level cache. Go
/// and tokio use the same number. Other sizes were not measured.
pub const DEFAULT_CAPACITY: usize = 256;

/// What both halves share.
pub(super) struct Ring<T, const N: usize> {
    /// A [`Head`]. Any thread writes it, always by compare-and-swap, except in the
    /// last step of an overflow.
    pub(super) head: CachePadded<AtomicU64>,
    /// Where the next item is pushed. Written by the owner alone.
    pub(super) tail: CachePadded<AtomicU32>,
    /// Cells in `real..tail` hold items. Cells in `steal..real` belong to the thread
    /// that claimed them, except the cells that the owner has popped meanwhile. All
    /// other cells are empty, and only the owner may fill them.
    pub(super) slots: Slots<T, N>,
}

// SAFETY: the halves move items from thread to thread, so `T: Send` is needed. No
// reference to an item is ever shared, so `T: Sync` is not needed. The indices give
// every slot to one thread at a time (see the field docs).
unsafe impl<T: Send, const N: usize> Sync for Ring<T, N> {}
// SAFETY: the ring owns its items, so it may move to another thread if they may.
unsafe impl<T: Send, const N: usize> Send for Ring<T, N> {}

impl<T, const N: usize> Ring<T, N> {
    pub(super) const CAPACITY: u32 = {
        assert!(
            N.is_power_of_two() && N >= 4 && N <= 1 << 30,
            "the capacity of a ring is a power of two from 4 to 2^30"
        );
        N as u32
    };

    /// How many items an overflow hands out, and how many stay; also the largest claim.
    pub(super) const HALF: u32 = Self::CAPACITY / 2;

    pub(super) fn new(position: u32) -> Self {
        // A wrong `N` does not compile, because the constant is used here.
        let _ = Self::CAPACITY;
        Self {
            head: CachePadded::new(AtomicU64::new(Head::at(position).bits())),
            tail: CachePadded::new(AtomicU32::new(position)),
            slots: Slots::new(),
        }
    }

    #[inline(always)]
    pub(super) fn load_head(&self) -> Head {
        // ORDERING(ring.reuse, ring.forward): acquire side of both; if a thief
        // read a tail older than the head, it would compute a negative length.
        Head::from_bits(self.head.load(Ordering::Acquire))
    }

    /// Replaces `current` by `next`, or returns the actual head.
    #[inline(always)]
    pub(super) fn swap_head(&self, current: Head, next: Head) -> Result<(), Head> {
        // A strong exchange: a spurious failure would look like a lost race.
        // ORDERING(ring.reuse): acquire side, also on failure, for the owner,
        // which remembers the head that it saw. Release side for the thief's finish.
        // ORDERING(ring.forward): release side, for every swap.
        let order = (Ordering::AcqRel, Ordering::Acquire);
        match self
            .head
            .compare_exchange(current.bits(), next.bits(), order.0, order.1)
        {
            Ok(_) => Ok(()),
            Err(actual) => Err(Head::from_bits(actual)),
        }
    }

    /// Head and tail as a thief sees them. The tail is at least as new as the head.
    #[inline(always)]
    fn observe(&self) -> (Head, u32) {
        let head = self.load_head();
        // ORDERING(ring.publish): acquire side; without it a thief could read a
        // slot before the item is in it.
        (head, self.tail.load(Ordering::Acquire))
    }

    /// Head and tail as they were at one moment.
    pub(super) fn snapshot(&self) -> (Head, u32) {
        loop {
            let (head, tail) = self.observe();
            if self.load_head() == head {
                return (head, tail);
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        let (head, tail) = self.snapshot();
        tail.wrapping_sub(head.real()) as usize
    }

    pub(super) fn is_empty(&self) -> bool {
        let (head, tail) = self.observe();
        head.real() == tail
    }

    /// Claims `amount(available)` of the oldest items.
    #[inline]
    pub(super) fn claim(&self, amount: impl FnOnce(u32) -> u32) -> Steal<Claim<'_, T, N>> {
        let (head, tail) = self.observe();
        chaos::point("ring.steal.observed");
        let available = tail.wrapping_sub(head.real());
        if available == 0 {
            return Steal::Empty;
        }
        if head.is_claimed() {
            return Steal::Retry;
        }
        // If the head is out of date, `available` may be any number. The swap then
        // fails, but `amount` must get a number within its range.
        let count = amount(available.min(Self::CAPACITY));
        debug_assert!(0 < count && count <= Self::HALF);
        match self.swap_head(head, head.claimed(count)) {
            Ok(()) => Steal::Success(Claim {
                ring: self,
                first: head.real(),
                count,
            }),
            Err(_) => Steal::Retry,
        }
    }
}

/// Slots that belong to one thief, until the thief calls [`finish`](Claim::finish).
///
/// No foreign code runs while a claim is held, so a panic cannot lose the claim.
#[must_use = "a claim that is not finished blocks all other thieves"]
pub(super) struct Claim<'a, T, const N: usize> {
    ring: &'a Ring<T, N>,
    first: u32,
    pub(super) count: u32,
}

impl<T, const N: usize> Claim<'_, T, N> {
    /// Moves the first item out of its slot.
    #[inline(always)]
    pub(super) fn take_first(&self) -> T {
        // SAFETY: the claim gave the slot to this thief alone. The slot was below
        // `tail`, so it holds an item, which is visible here (`ring.publish`). The slot
        // counts as empty from here on: `finish` gives it back to the owner.
        unsafe { self.ring.slots.read(self.first) }
    }

    /// Moves all items but the first to `target..` of `slots`.
    ///
    /// # Safety
    ///
    /// The target slots, `count - 1` of them, must be empty, and no other thread may
    /// use them.
    #[inline(always)]
    pub(super) unsafe fn move_rest(&self, slots: &Slots<T, N>, target: u32) {
        let from = self.first.wrapping_add(1);
        // SAFETY: the source slots are this thief's and hold visible items, as in
        // `take_first`. The caller promises that the target slots are empty and not in
        // use. So the ranges share no slot, even if both rings are the same. `count` is
        // at most `HALF`.
        unsafe { self.ring.slots.move_to(from, slots, target, self.count - 1) }
    }

    /// Gives the emptied slots back to the owner.
    #[inline]
    pub(super) fn finish(self) {
        let mut head = self.ring.load_head();
        // The owner may pop meanwhile and move `real`; then this thief tries again.
        // No other thief can change the head, so `steal` is still where this claim
        // began.
        while let Err(actual) = self.ring.swap_head(head, head.finished()) {
            head = actual;
        }
    }
}

impl<T, const N: usize> Drop for Ring<T, N> {
    fn drop(&mut self) {
        let (head, tail) = self.observe();
        debug_assert!(
            !head.is_claimed(),
            "a thief is at work on a ring that no one holds"
        );
        let count = tail.wrapping_sub(head.real());
        let mut rest = Vec::with_capacity(count as usize);
        // SAFETY: no half is left, so no other thread uses the slots, and those in
        // `real..tail` hold visible items (`ring.publish`). The ring, and with it the
        // slots, is not used again. `rest` has room for `count` items.
        unsafe { self.slots.move_out(head.real(), count, &mut rest) };
        // If the drop of an item panics, the vector still drops the other items.
        drop(rest);
    }
}

impl<T, const N: usize> fmt::Debug for Ring<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (head, tail) = self.observe();
        let mut text = f.debug_struct("Ring");
        text.field("head", &head)
            .field("tail", &tail)
            .field("capacity", &N)
            .finish()
    }
}
