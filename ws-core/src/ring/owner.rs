//! The owner's half of a ring.

use alloc::vec::Vec;
use core::cell::Cell;
use core::fmt;
use core::panic::{RefUnwindSafe, UnwindSafe};

use super::head::Head;
use super::overflow::Overflow;
use super::shared::{DEFAULT_CAPACITY, Ring};
use crate::chaos;
use crate::sync::Arc;
use crate::sync::atomic::Ordering;

/// The half that pushes and pops. It belongs to one thread at a time.
///
/// It may move to another thread. It can be neither shared nor cloned:
///
/// ```compile_fail,E0277
/// fn shared<T: Sync>(_: T) {}
/// shared(ws_core::ring::new::<u8>().0);
/// ```
///
/// ```compile_fail,E0599
/// let (owner, _) = ws_core::ring::new::<u8>();
/// let second = owner.clone();
/// ```
///
/// If the owner is dropped, the items stay for the stealers. The drop of the last half
/// drops the items that are left.
pub struct Owner<T, const N: usize = DEFAULT_CAPACITY> {
    pub(super) ring: Arc<Ring<T, N>>,
    /// The same as the shared tail, which only this half writes.
    pub(super) tail: Cell<u32>,
    /// The head as last seen: never ahead of the shared head, and never more than
    /// `N` behind the tail, so that the two can be compared across the wrap.
    /// Every operation that moves the tail checks this head first.
    head: Cell<Head>,
}

// No user code runs between the steps of an operation, so a panic leaves the ring
// consistent.
impl<T, const N: usize> UnwindSafe for Owner<T, N> {}
impl<T, const N: usize> RefUnwindSafe for Owner<T, N> {}

impl<T, const N: usize> Owner<T, N> {
    pub(super) fn new(ring: &Arc<Ring<T, N>>, position: u32) -> Self {
        Self {
            ring: Arc::clone(ring),
            tail: Cell::new(position),
            head: Cell::new(Head::at(position)),
        }
    }

    /// Appends `item`, without any read-modify-write operation.
    ///
    /// If a full ring must not refuse the item, use
    /// [`push_or_overflow`](Self::push_or_overflow).
    ///
    /// # Errors
    ///
    /// Gives the item back if the ring is full.
    ///
    /// ```
    /// let (owner, _) = ws_core::ring::with_capacity::<u32, 4>();
    /// assert!((0..4).all(|n| owner.push(n).is_ok()));
    /// assert_eq!(owner.push(4), Err(4));
    /// ```
    #[inline]
    pub fn push(&self, item: T) -> Result<(), T> {
        if !self.has_room() {
            return Err(item);
        }
        let tail = self.tail.get();
        // SAFETY: `tail - steal < N`, so the slot holds no item and belongs to no
        // claim. Only the owner fills such slots, and no thread reads one. The thief
        // that had the slot last no longer reads it (`ring.reuse`).
        unsafe { self.ring.slots.write(tail, item) };
        chaos::point("ring.push.written");
        self.publish(tail.wrapping_add(1));
        Ok(())
    }

    /// Appends `item`. If the ring is full, returns its newer half and `item`.
    ///
    /// # Errors
    ///
    /// The batch that must go elsewhere, oldest first, `item` last: `N/2 + 1`
    /// items, or `item` alone while a thief is copying out of the full ring.
    ///
    /// ```
    /// let (owner, _) = ws_core::ring::with_capacity::<u32, 4>();
    /// assert!((0..4).all(|n| owner.push_or_overflow(n).is_ok()));
    ///
    /// let overflow = owner.push_or_overflow(4).unwrap_err();
    /// assert!(overflow.eq([2, 3, 4]));
    /// assert_eq!(owner.pop(), Some(0));
    /// ```
    #[inline]
    pub fn push_or_overflow(&self, item: T) -> Result<(), Overflow<T>> {
        self.push(item).or_else(|item| self.overflow(item))
    }

    /// Appends items until they end or the ring is full, and returns the rest.
    ///
    /// Each item is visible to thieves as soon as it is pushed. So the iterator
    /// may panic, and may use this same ring.
    ///
    /// ```
    /// let (owner, _) = ws_core::ring::with_capacity::<u32, 4>();
    /// let rest = owner.push_batch(0..6);
    /// assert!(rest.eq([4, 5]));
    /// assert_eq!(owner.len(), 4);
    /// ```
    #[must_use = "the rest did not fit and is dropped if it is ignored"]
    pub fn push_batch<I>(&self, items: I) -> impl Iterator<Item = T> + use<T, I, N>
    where
        I: IntoIterator<Item = T>,
    {
        let mut items = items.into_iter().fuse();
        let mut bounced = None;
        while bounced.is_none() && self.has_room() {
            match items.next() {
                // The push fails only if `next` itself filled the ring.
                Some(item) => bounced = self.push(item).err(),
                None => break,
            }
        }
        bounced.into_iter().chain(items)
    }

    /// Takes the oldest item.
    ///
    /// ```
    /// let (owner, _) = ws_core::ring::new();
    /// owner.push(1).unwrap();
    /// owner.push(2).unwrap();
    /// assert_eq!(owner.pop(), Some(1));
    /// ```
    #[inline]
    pub fn pop(&self) -> Option<T> {
        let mut head = self.head.get();
        loop {
            // The head never passes the tail. So if the head seen last has reached the
            // tail, it is the current head: the ring is empty, and no shared word is
            // read.
            if head.real() == self.tail.get() {
                self.head.set(head);
                return None;
            }
            match self.ring.swap_head(head, head.popped()) {
                Ok(()) => break,
                Err(actual) => head = actual,
            }
        }
        self.head.set(head.popped());
        chaos::point("ring.pop.claimed");
        // SAFETY: moving `real` gave this slot to the owner alone, and marked it as
        // empty. The slot was below `tail`, so this half filled it, and it still holds
        // the item: no other thread fills slots.
        Some(unsafe { self.ring.slots.read(head.real()) })
    }

    /// Returns how many items the ring holds. Thieves may take some at any time.
    ///
    /// ```
    /// let (owner, _) = ws_core::ring::with_capacity::<_, 4>();
    /// owner.push('a').unwrap();
    /// assert_eq!(owner.len(), 1);
    /// ```
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.ring.len()
    }

    /// Returns whether the ring holds no item.
    ///
    /// ```
    /// let (owner, _) = ws_core::ring::with_capacity::<_, 4>();
    /// owner.push('a').unwrap();
    /// assert!(!owner.is_empty());
    /// ```
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }

    /// Returns how many pushes are sure to succeed.
    ///
    /// ```
    /// let (owner, _) = ws_core::ring::with_capacity::<_, 4>();
    /// owner.push('a').unwrap();
    /// assert_eq!(owner.spare_capacity(), 3);
    /// ```
    #[must_use]
    #[inline]
    pub fn spare_capacity(&self) -> usize {
        self.room() as usize
    }

    /// Returns the number of slots.
    ///
    /// ```
    /// let (owner, _) = ws_core::ring::new::<u8>();
    /// assert_eq!(owner.capacity(), 256);
    /// ```
    #[must_use]
    pub const fn capacity(&self) -> usize {
        N
    }

    /// Whether the next push succeeds. Reads the shared head only if the head seen
    /// last says no.
    #[inline(always)]
    fn has_room(&self) -> bool {
        let has_room =
            |head: Head| self.tail.get().wrapping_sub(head.steal()) < Ring::<T, N>::CAPACITY;
        has_room(self.head.get()) || has_room(self.refresh_head())
    }

    /// Reads the shared head and remembers it.
    fn refresh_head(&self) -> Head {
        let head = self.ring.load_head();
        self.head.set(head);
        head
    }

    /// How many slots can be filled. Claimed slots cannot: a thief may still be
    /// copying out of them.
    pub(super) fn room(&self) -> u32 {
        let steal = self.refresh_head().steal();
        Ring::<T, N>::CAPACITY - self.tail.get().wrapping_sub(steal)
    }

    /// Makes the items below `tail` visible to thieves.
    #[inline(always)]
    pub(super) fn publish(&self, tail: u32) {
        self.tail.set(tail);
        // ORDERING(ring.publish): release side; without it a thief could read a
        // slot before the item is in it.
        self.ring.tail.store(tail, Ordering::Release);
    }

    /// The part of [`push_or_overflow`](Self::push_or_overflow) for a full ring. The
    /// steps are those of the module docs.
    #[cold]
    fn overflow(&self, mut item: T) -> Result<(), Overflow<T>> {
        // Before the steps below, because the allocator is foreign code.
        let mut newer = Vec::with_capacity(N / 2);
        loop {
            // A thief may have made room meanwhile.
            match self.push(item) {
                Ok(()) => return Ok(()),
                Err(back) => item = back,
            }
            // The failed push has just looked at the shared head.
            let head = self.head.get();
            if head.is_claimed() {
                return Err(Overflow::new(Vec::new(), item));
            }
            if self.ring.swap_head(head, head.claimed(1)).is_ok() {
                chaos::point("ring.overflow.claimed");
                let kept = head.real().wrapping_add(Ring::<T, N>::HALF);
                // SAFETY: the ring is full, and the claim keeps thieves out, so the
                // slots from `kept` hold items that belong to the owner alone.
                // `publish` below marks them as empty. `newer` has room for `N/2`.
                unsafe {
                    self.ring
                        .slots
                        .move_out(kept, Ring::<T, N>::HALF, &mut newer)
                };
                chaos::point("ring.overflow.moved");
                self.publish(kept);
                chaos::point("ring.overflow.cut");
                // ORDERING(ring.forward): release side; otherwise a thief could
                // see this head with a tail from before it.
                self.ring.head.store(head.bits(), Ordering::Release);
                return Err(Overflow::new(newer, item));
            }
        }
    }
}

impl<T, const N: usize> fmt::Debug for Owner<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Owner").field(&self.ring).finish()
    }
}
