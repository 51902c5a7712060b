//! The thieves' half of a deque.

use core::fmt;
use core::marker::PhantomData;
use core::panic::{RefUnwindSafe, UnwindSafe};

use super::owner::Owner;
use super::race::{Even, Race};
use super::shared::Deque;
use crate::Steal;
use crate::chaos;
use crate::sync::Arc;
use crate::sync::atomic::Ordering;

/// The half that steals. Clone it for every thread that may steal.
pub struct Stealer<T, R = Even> {
    deque: Arc<Deque<T>>,
    race: PhantomData<R>,
}

impl<T, R> UnwindSafe for Stealer<T, R> {}
impl<T, R> RefUnwindSafe for Stealer<T, R> {}

impl<T, R: Race> Stealer<T, R> {
    pub(super) fn new(deque: &Arc<Deque<T>>) -> Self {
        Self {
            deque: Arc::clone(deque),
            race: PhantomData,
        }
    }

    /// Takes the oldest item.
    ///
    /// ```
    /// use ws_core::{Steal, chase_lev};
    /// let (owner, stealer) = chase_lev::new();
    /// assert_eq!(stealer.steal(), Steal::Empty);
    /// owner.push('x');
    /// assert_eq!(stealer.steal(), Steal::Success('x'));
    /// ```
    #[inline]
    pub fn steal(&self) -> Steal<T> {
        if R::GLANCES && self.is_empty() {
            return Steal::Empty;
        }
        let top = self.look();
        self.take(top)
    }

    /// Reads where the oldest item is, then fences.
    #[inline(always)]
    fn look(&self) -> i64 {
        // ORDERING: acquire as in the paper; the fence alone would be enough.
        let top = self.deque.top.load(Ordering::Acquire);
        // ORDERING(deque.race): see the owner's fence.
        R::look();
        top
    }

    /// Takes the item at `top`, if it is the oldest, after a fence.
    #[inline(always)]
    fn take(&self, top: i64) -> Steal<T> {
        // ORDERING(deque.publish): acquire side. SeqCst for `look_again`.
        let bottom = self.deque.bottom.load(Ordering::SeqCst);
        if bottom - top <= 0 {
            return Steal::Empty;
        }
        chaos::point("deque.steal.observed");
        // ORDERING(deque.grow): acquire side.
        let buffer = self.deque.buffer.load(Ordering::Acquire);
        chaos::point("deque.steal.buffer");
        // SAFETY: the pointer came from `Buffer::allocate` or `Buffer::grown`, and the
        // load above makes the buffer visible (`deque.grow`). Buffers are freed with the
        // deque, which this half keeps alive, and are only changed through atomics.
        let bits = unsafe { &*buffer }.load(top);
        chaos::point("deque.steal.read");
        match self.deque.swap_top(top) {
            // SAFETY: `top` did not move before the swap, so the bits are those of the
            // oldest item. The swap succeeded, so no other thread takes this item (see
            // the module docs).
            Ok(()) => Steal::Success(unsafe { bits.into_item() }),
            Err(_) => Steal::Retry,
        }
    }

    /// Takes half of the items, rounded up. Returns the oldest item and pushes the
    /// others to `thief`, oldest first.
    ///
    /// The cost is one compare-and-swap per item. The call ends early if another thread
    /// is in the way. If `thief` is the owner of this same deque, the call rotates the
    /// deque.
    ///
    /// # Panics
    ///
    /// If `thief` outgrows the address space.
    ///
    /// ```
    /// use ws_core::{Steal, chase_lev};
    /// let (owner, stealer) = chase_lev::new();
    /// (0..5).for_each(|n| owner.push(n));
    ///
    /// let (thief, _) = chase_lev::new();
    /// assert_eq!(stealer.steal_into(&thief), Steal::Success(0));
    /// assert_eq!((thief.len(), owner.len()), (2, 2));
    /// ```
    pub fn steal_into(&self, thief: &Owner<T, R>) -> Steal<T> {
        self.steal_into_limited(thief, usize::MAX)
    }

    /// As [`steal_into`](Self::steal_into), but takes at most `limit` items, the
    /// returned item included. A limit of 0 counts as 1.
    ///
    /// # Panics
    ///
    /// If `thief` outgrows the address space.
    ///
    /// ```
    /// use ws_core::{Steal, chase_lev};
    /// let (owner, stealer) = chase_lev::new();
    /// (0..10).for_each(|n| owner.push(n));
    ///
    /// let (thief, _) = chase_lev::new();
    /// assert_eq!(stealer.steal_into_limited(&thief, 3), Steal::Success(0));
    /// assert_eq!((thief.len(), owner.len()), (2, 7));
    /// ```
    pub fn steal_into_limited(&self, thief: &Owner<T, R>, limit: usize) -> Steal<T> {
        if R::GLANCES && self.is_empty() {
            return Steal::Empty;
        }
        let top = self.look();
        // ORDERING: relaxed; the difference only says how many items to try.
        let available = self.deque.bottom.load(Ordering::Relaxed) - top;
        let half = usize::try_from(available).map_or(0, |count| count.div_ceil(2));
        let first = self.take(top);
        if first.is_success() {
            for taken in 1..half.min(limit) {
                // This thief has just moved `top`, and need not load it again.
                // ORDERING(deque.race): a fence between the swap and the next
                // load of `bottom`, as between the two loads of a single steal.
                R::look_again();
                match self.take(top + taken as i64) {
                    Steal::Success(item) => thief.push(item),
                    Steal::Empty | Steal::Retry => break,
                }
            }
        }
        first
    }

    /// Returns the position of the oldest item, if there is one, at some moment during the
    /// call. As long as the position stays the same, no thread has taken that item.
    ///
    /// ```
    /// let (owner, stealer) = ws_core::chase_lev::new();
    /// assert_eq!(stealer.oldest(), None);
    /// owner.push('a');
    /// let first = stealer.oldest();
    /// owner.push('b');
    /// assert_eq!(stealer.oldest(), first);
    /// ```
    #[must_use]
    pub fn oldest(&self) -> Option<i64> {
        self.deque.oldest()
    }

    /// Returns how many items the deque holds, at some moment during the call.
    ///
    /// ```
    /// let (owner, stealer) = ws_core::chase_lev::new();
    /// owner.push('a');
    /// assert_eq!(stealer.len(), 1);
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        self.deque.len()
    }

    /// Returns whether the deque holds no item.
    ///
    /// ```
    /// let (owner, stealer) = ws_core::chase_lev::new();
    /// owner.push('a');
    /// assert!(!stealer.is_empty());
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T, R: Race> Owner<T, R> {
    /// Makes a half for one more thief.
    ///
    /// ```
    /// let (owner, first) = ws_core::chase_lev::new();
    /// let second = owner.stealer();
    /// owner.push(1);
    /// assert_eq!((first.len(), second.len()), (1, 1));
    /// ```
    #[must_use]
    pub fn stealer(&self) -> Stealer<T, R> {
        Stealer::new(&self.deque)
    }
}

impl<T, R: Race> Clone for Stealer<T, R> {
    fn clone(&self) -> Self {
        Self::new(&self.deque)
    }
}

impl<T, R: Race> fmt::Debug for Stealer<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stealer").field("len", &self.len()).finish()
    }
}
