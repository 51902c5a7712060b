//! The thieves' half of a ring.

use core::fmt;
use core::panic::{RefUnwindSafe, UnwindSafe};

use super::owner::Owner;
use super::shared::{DEFAULT_CAPACITY, Ring};
use crate::Steal;
use crate::chaos;
use crate::sync::Arc;

/// The half that steals; clone it for every thread that may.
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
    /// Two read-modify-write operations, whether it takes one item or half of
    /// the ring: prefer [`steal_into`](Self::steal_into) where there is a ring
    /// to steal into.
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

    /// Takes half of the items, rounded up: returns the oldest, moves the
    /// others to `thief`, as far as that has room.
    ///
    /// [`Retry`](Steal::Retry) means that another thread is, or was just now, in
    /// the way: a thief, or the owner that overflows or pops. If `thief` has no
    /// room at all, one item is still returned. Stealing from oneself rotates the
    /// ring.
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

    /// As [`steal_into`](Self::steal_into), but takes at most `limit` items,
    /// with the one returned; a limit of 0 counts as 1.
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
            // One item is returned and needs no room.
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
                // SAFETY: the thief's owner half is here, so no one else fills
                // its slots, and `count - 1` of them are free.
                unsafe { claim.move_rest(&thief.ring.slots, tail) };
                chaos::point("ring.steal.moved");
                thief.publish(tail.wrapping_add(claim.count - 1));
                chaos::point("ring.steal.published");
                claim.finish();
                Steal::Success(first)
            }
        }
    }

    /// Returns how many items the ring holds, at some moment during the call; one
    /// less while the owner overflows.
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

    /// Returns how much room there is, at some moment during the call.
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
