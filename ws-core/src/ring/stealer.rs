//! The thieves' half of a ring.

use core::fmt;
use core::panic::{RefUnwindSafe, UnwindSafe};

use super::owner::Owner;
use super::shared::{DEFAULT_CAPACITY, Ring};
use crate::Steal;
use crate::chaos;
use crate::sync::Arc;

/// The half that steals. Clone it for every thread that may steal.
pub struct Stealer<T, const N: usize = DEFAULT_CAPACITY> {
    ring: Arc<Ring<T, N>>,
}

impl<T, const N: usize> UnwindSafe for Stealer<T, N> {}
impl<T, const N: usize> RefUnwindSafe for Stealer<T, N> {}

impl<T, const N: usize> Stealer<T, N> {
    pub(super) fn new(ring: &Arc<Ring<T, N>>) -> Self {
        Self {
            ring: Arc::clone(ring),
        }
    }

    /// Takes the oldest item.
    ///
    /// A steal costs two read-modify-write operations, for one item or for half of
    /// the ring. Prefer [`steal_into`](Self::steal_into) if there is a ring to steal
    /// into.
    ///
    /// ```
    /// use ws_core::{Steal, ring};
    /// let (owner, stealer) = ring::new();
    /// assert_eq!(stealer.steal(), Steal::Empty);
    /// owner.push('x').unwrap();
    /// assert_eq!(stealer.steal(), Steal::Success('x'));
    /// ```
    #[inline]
    pub fn steal(&self) -> Steal<T> {
        match self.ring.claim(|_| 1) {
            Steal::Empty => Steal::Empty,
            Steal::Retry => Steal::Retry,
            Steal::Success(claim) => {
                chaos::point("ring.steal.claimed");
                let item = claim.take_first();
                chaos::point("ring.steal.moved");
                claim.finish();
                Steal::Success(item)
            }
        }
    }

    /// Takes half of the items, rounded up. Returns the oldest item and moves the
    /// others to `thief`, as far as `thief` has room.
    ///
    /// [`Retry`](Steal::Retry) means that another thread is, or was just now, in
    /// the way: a thief, or the owner in a pop or an overflow. If `thief` has no
    /// room at all, one item is still returned. If `thief` is the owner of this same
    /// ring, the call rotates the ring.
    ///
    /// ```
    /// use ws_core::{Steal, ring};
    /// let (owner, stealer) = ring::new();
    /// assert!(owner.push_batch(0..5).next().is_none());
    ///
    /// let (thief, _) = ring::new();
    /// assert_eq!(stealer.steal_into(&thief), Steal::Success(0));
    /// assert_eq!((thief.len(), owner.len()), (2, 2));
    /// ```
    #[inline]
    pub fn steal_into(&self, thief: &Owner<T, N>) -> Steal<T> {
        self.steal_into_limited(thief, N)
    }

    /// As [`steal_into`](Self::steal_into), but takes at most `limit` items, the
    /// returned item included. A limit of 0 counts as 1.
    ///
    /// ```
    /// use ws_core::{Steal, ring};
    /// let (owner, stealer) = ring::new();
    /// assert!(owner.push_batch(0..10).next().is_none());
    ///
    /// let (thief, _) = ring::new();
    /// assert_eq!(stealer.steal_into_limited(&thief, 3), Steal::Success(0));
    /// assert_eq!((thief.len(), owner.len()), (2, 7));
    /// ```
    pub fn steal_into_limited(&self, thief: &Owner<T, N>, limit: usize) -> Steal<T> {
        let claim = self.ring.claim(|available| {
            // The first item is returned and needs no room.
            let limit = limit.clamp(1, thief.room() as usize + 1) as u32;
            available.div_ceil(2).min(limit)
        });
        match claim {
            Steal::Empty => Steal::Empty,
            Steal::Retry => Steal::Retry,
            Steal::Success(claim) => {
                chaos::point("ring.steal.claimed");
                let tail = thief.tail.get();
                let first = claim.take_first();
                // SAFETY: `thief` is the only owner half of its ring and is not `Sync`,
                // so no other thread fills its slots. `room` has seen that `count - 1`
                // slots from `tail` are free, and that no thief still reads them
                // (`ring.reuse`).
                unsafe { claim.move_rest(&thief.ring.slots, tail) };
                chaos::point("ring.steal.moved");
                thief.publish(tail.wrapping_add(claim.count - 1));
                chaos::point("ring.steal.published");
                claim.finish();
                Steal::Success(first)
            }
        }
    }

    /// Returns how many items the ring holds, at some moment during the call. While
    /// the owner is in an overflow, the result is one less.
    ///
    /// ```
    /// let (owner, stealer) = ws_core::ring::with_capacity::<_, 4>();
    /// owner.push('a').unwrap();
    /// assert_eq!(stealer.len(), 1);
    /// ```
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.ring.len()
    }

    /// Returns whether the ring holds no item, at some moment during the call.
    ///
    /// ```
    /// let (owner, stealer) = ws_core::ring::with_capacity::<_, 4>();
    /// owner.push('a').unwrap();
    /// assert!(!stealer.is_empty());
    /// ```
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }

    /// Returns how many slots are free, at some moment during the call.
    ///
    /// ```
    /// let (owner, stealer) = ws_core::ring::with_capacity::<_, 4>();
    /// owner.push('a').unwrap();
    /// assert_eq!(stealer.spare_capacity(), 3);
    /// ```
    #[must_use]
    #[inline]
    pub fn spare_capacity(&self) -> usize {
        let (head, tail) = self.ring.snapshot();
        N - tail.wrapping_sub(head.steal()) as usize
    }

    /// Returns the number of slots.
    ///
    /// ```
    /// let (_, stealer) = ws_core::ring::new::<u8>();
    /// assert_eq!(stealer.capacity(), 256);
    /// ```
    #[must_use]
    pub const fn capacity(&self) -> usize {
        N
    }
}

impl<T, const N: usize> Owner<T, N> {
    /// Makes a half for one more thief.
    ///
    /// ```
    /// let (owner, first) = ws_core::ring::new();
    /// let second = owner.stealer();
    /// owner.push(1).unwrap();
    /// assert_eq!((first.len(), second.len()), (1, 1));
    /// ```
    #[must_use]
    pub fn stealer(&self) -> Stealer<T, N> {
        Stealer::new(&self.ring)
    }
}

impl<T, const N: usize> Clone for Stealer<T, N> {
    fn clone(&self) -> Self {
        Self::new(&self.ring)
    }
}

impl<T, const N: usize> fmt::Debug for Stealer<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Stealer").field(&self.ring).finish()
    }
}
