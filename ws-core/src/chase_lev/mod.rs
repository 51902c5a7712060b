//! A growable deque: LIFO for its owner, FIFO for thieves.
//!
//! # The idea
//!
//! The owner pushes and pops at the bottom, thieves take from the top. As long
//! as there are two items or more they do not meet, and the owner needs no
//! read-modify-write operation at all; for the last one both compete with a
//! compare-and-swap on `top`.
//!
//! ```text
//!          top                          bottom
//!           |                              |
//!   --+---+---+---+---+---+---+---+---+---+---+--
//!     |   | oldest               newest |   |
//!   --+---+---+---+---+---+---+---+---+---+---+--
//!         thieves →                    ↔ the owner
//! ```
//!
//! This is the deque of Chase and Lev, *Dynamic circular work-stealing deque*
//! (SPAA 2005), with the fences of Lê, Pop, Cohen and Zappa Nardelli, *Correct
//! and efficient work-stealing for weak memory models* (PPoPP 2013). Departures:
//!
//! - **The owner remembers `top`.** It only grows, so an old value is a safe
//!   one: a push does not look at the thieves' cache line until the deque seems
//!   full, and a pop of a deque that it knows to be empty needs no fence.
//! - **The last known item is taken like a thief.** If by the remembered `top`
//!   there is one item, it is the last one (or gone), and the owner goes straight
//!   for the compare-and-swap: one read-modify-write instead of a fence and one.
//! - **Slots are atomic words** (`words.rs`), so that a thief's reading of a slot
//!   that the owner overwrites is no data race, for any item type.
//! - **Retired buffers are kept** until the last half is dropped; there is no
//!   garbage collector to rely on, and no epochs to pay for.
//! - **A batch is stolen item by item.** The owner pops without any
//!   compare-and-swap while it thinks that two items are left, so a thief that
//!   moved `top` by more than one could take what the owner is popping.
//!
//! # Why no item is lost or taken twice
//!
//! Only a compare-and-swap moves `top`, by one, and an item at `top` is taken by
//! whoever succeeds. The one way around it is the owner's pop of an item at
//! `last = bottom - 1` when it reads `top < last`. Let a thief take index `last`
//! nevertheless: it read `top = last`, then `bottom > last`. Between the two it
//! has a SeqCst fence, and so has the owner between its store `bottom = last` and
//! its load of `top`. One fence comes first (C++20, \[atomics.order\] paragraph
//! 4). If the owner's does, the thief's load of `bottom` sees `last` or a later
//! store: later ones are larger only if the pop is over and a push has reused the
//! index, for another item. If the thief's fence comes first, the owner's load
//! sees `top = last` at least, and it competes.
//!
//! A pop that goes straight for the swap needs no fence: it takes nothing without
//! the swap, and whoever reads the `top` that it wrote also sees the last lowering
//! of `bottom` before it.
//!
//! A thief reads the slot before its swap. Suppose that its swap at `t` succeeds.
//! `top` was `t` from its load to the swap, and two things could still have
//! changed the slot:
//!
//! - *A pop and a push at the same index.* A pop of `t` that competed would have
//!   moved `top`. One that did not has read `top < t` after its fence, so that
//!   fence precedes the thief's, and the thief's `bottom` is that pop's store or a
//!   later one. If it is above `t`, it publishes the later push, whose bits the
//!   thief then sees.
//! - *A push a whole turn later.* The owner must have read `top > t`, which only
//!   the thief's own swap wrote; that is a release after the thief's read
//!   (`deque.top`).
//!
//! Growth copies `t`, because the owner's `top` is not above it, and the old
//! buffer is not written to again: a thief that holds it reads the same bits.
//!
//! # Cost
//!
//! A push is two plain stores, a pop one barrier, and for the last item one
//! compare-and-swap instead. A steal is a fence and a swap, also for each item of
//! a batch: with a thief on a second core that takes batches, a deque that claims
//! them at once (st3) is two to three times faster for its owner, but pays with a
//! read-modify-write for every pop (`deques` benchmark). What made no difference:
//! a cached pointer to the slots, `top` and `bottom` on one cache line.
//!
//! # Memory ordering
//!
//! | edge | release side | acquire side | makes visible |
//! |---|---|---|---|
//! | `deque.publish` | owner: every store of `bottom` | thief: load of `bottom` | the items below `bottom` |
//! | `deque.grow` | owner: store of `buffer` | thief: load of `buffer` | the copied slots |
//! | `deque.top` | thief: swap of `top` | owner: every read of `top` | that the thief has read the slot, so it may be overwritten |
//! | `deque.race` | owner: fence in pop | thief: fence in steal | see above: a SeqCst pair, in both directions |
//!
//! Every store of `bottom` is a release, also those of a pop: a thief that reads
//! one of them must still see the items that earlier pushes published.
//!
//! # Limits
//!
//! An item with pointers at unaligned places (`repr(packed)`) loses their
//! provenance on its way through the slots, so that using them is undefined
//! behaviour by the letter; put such items in a box.
//!
//! Indices are signed 64-bit numbers and do not wrap within centuries.

mod buffer;

#[cfg(all(
    any(
        target_arch = "x86_64",
        target_arch = "x86",
        target_arch = "aarch64",
        target_arch = "arm",
        target_arch = "riscv64",
        target_arch = "loongarch64"
    ),
    not(any(miri, ws_boxed))
))]
mod words;

#[cfg(not(all(
    any(
        target_arch = "x86_64",
        target_arch = "x86",
        target_arch = "aarch64",
        target_arch = "arm",
        target_arch = "riscv64",
        target_arch = "loongarch64"
    ),
    not(any(miri, ws_boxed))
)))]
#[path = "boxed.rs"]
mod words;

use alloc::vec::Vec;
use core::cell::Cell;
use core::fmt;
use core::panic::{RefUnwindSafe, UnwindSafe};

use self::buffer::Buffer;
use crate::Steal;
use crate::chaos;
use crate::sync::atomic::{AtomicI64, AtomicPtr, Ordering, fence};
use crate::sync::{Arc, CachePadded, fence_after_swap, store_and_fence};

/// The number of slots of a deque made by [`new`], before it grows.
///
/// Not measured: a depth of 64 covers most divide-and-conquer recursions.
const INITIAL_CAPACITY: usize = 64;

/// Makes an empty deque.
///
/// ```
/// use ws_core::{Steal, chase_lev};
///
/// let (owner, stealer) = chase_lev::new();
/// for n in 1..=3 {
///     owner.push(n);
/// }
/// assert_eq!(owner.pop(), Some(3));
/// assert_eq!(stealer.steal(), Steal::Success(1));
/// ```
pub fn new<T>() -> (Owner<T>, Stealer<T>) {
    with_capacity(INITIAL_CAPACITY)
}

/// Makes an empty deque with room for at least `capacity` items before it grows.
///
/// # Panics
///
/// If so many do not fit the address space.
///
/// ```
/// let (owner, _) = ws_core::chase_lev::with_capacity::<u8>(100);
/// assert_eq!(owner.capacity(), 128);
/// ```
pub fn with_capacity<T>(capacity: usize) -> (Owner<T>, Stealer<T>) {
    starting_at(0, capacity)
}

/// Makes a deque whose indices start at `index`: tests let the slots wrap early.
#[doc(hidden)]
pub fn starting_at<T>(index: i64, capacity: usize) -> (Owner<T>, Stealer<T>) {
    assert!(index.unsigned_abs() <= 1 << 62, "indices must not wrap");
    let buffer = Buffer::allocate(capacity);
    let deque = Arc::new(Deque {
        top: CachePadded::new(AtomicI64::new(index)),
        bottom: CachePadded::new(AtomicI64::new(index)),
        buffer: CachePadded::new(AtomicPtr::new(buffer)),
    });
    let owner = Owner {
        deque: Arc::clone(&deque),
        bottom: Cell::new(index),
        top: Cell::new(index),
        buffer: Cell::new(buffer),
    };
    (owner, Stealer { deque })
}

/// What both halves share.
struct Deque<T> {
    /// The oldest item. Moved by one at a time, by compare-and-swap, by anyone.
    top: CachePadded<AtomicI64>,
    /// One past the newest item. Written by the owner alone.
    bottom: CachePadded<AtomicI64>,
    /// The newest buffer. Written by the owner alone.
    buffer: CachePadded<AtomicPtr<Buffer<T>>>,
}

// SAFETY: the halves hand items from thread to thread, so `T: Send` is needed;
// no reference to an item is ever shared, so `T: Sync` is not. Slots are atomic,
// and each item is taken by one thread (see the module docs).
unsafe impl<T: Send> Sync for Deque<T> {}
// SAFETY: as above; the deque owns its items and its buffers.
unsafe impl<T: Send> Send for Deque<T> {}

impl<T> Deque<T> {
    /// Takes the item at `index`, if it is still the oldest.
    #[inline(always)]
    fn swap_top(&self, index: i64) -> Result<(), i64> {
        // A strong exchange: a spurious failure would read as a lost race.
        // ORDERING(deque.top): release side; on failure acquire side, as the
        // owner remembers the outcome. SeqCst, so that the barriers of
        // `sync::barrier` hold by the language's rules, not only the processor's.
        let (success, failure) = (Ordering::SeqCst, Ordering::Acquire);
        self.top
            .compare_exchange(index, index + 1, success, failure)
            .map(drop)
    }

    fn len(&self) -> usize {
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

/// The half that pushes and pops; one thread's at a time.
///
/// It may move to another thread, but it can be neither shared nor cloned:
///
/// ```compile_fail,E0277
/// fn shared<T: Sync>(_: T) {}
/// shared(ws_core::chase_lev::new::<u8>().0);
/// ```
///
/// ```compile_fail,E0599
/// let (owner, _) = ws_core::chase_lev::new::<u8>();
/// let second = owner.clone();
/// ```
///
/// If it is dropped, the items stay for the stealers; the last half drops what
/// is left.
pub struct Owner<T> {
    deque: Arc<Deque<T>>,
    /// The same as the shared bottom, which only this half writes.
    bottom: Cell<i64>,
    /// The shared top as last seen: never ahead of it.
    top: Cell<i64>,
    /// The same as the shared buffer, which only this half writes.
    buffer: Cell<*mut Buffer<T>>,
}

// SAFETY: the raw pointer is to a buffer that the shared deque owns.
unsafe impl<T: Send> Send for Owner<T> {}

// No user code runs while the deque is changed, so a panic finds it in order.
impl<T> UnwindSafe for Owner<T> {}
impl<T> RefUnwindSafe for Owner<T> {}

impl<T> Owner<T> {
    /// Puts `item` at the bottom; grows the deque if it is full.
    ///
    /// # Panics
    ///
    /// If the deque outgrows the address space.
    ///
    /// ```
    /// let (owner, _) = ws_core::chase_lev::with_capacity(1);
    /// owner.push('a');
    /// owner.push('b');
    /// assert_eq!((owner.len(), owner.capacity()), (2, 2));
    /// ```
    #[inline]
    pub fn push(&self, item: T) {
        let bottom = self.bottom.get();
        if !self.has_room() {
            self.grow();
        }
        self.buffer().store(bottom, item);
        chaos::point("deque.push.written");
        self.publish(bottom + 1);
    }

    /// Takes the newest item.
    ///
    /// ```
    /// let (owner, _) = ws_core::chase_lev::new();
    /// owner.push('a');
    /// owner.push('b');
    /// assert_eq!(owner.pop(), Some('b'));
    /// assert_eq!(owner.pop(), Some('a'));
    /// assert_eq!(owner.pop(), None);
    /// ```
    #[inline]
    pub fn pop(&self) -> Option<T> {
        let bottom = self.bottom.get();
        let last = bottom - 1;
        // `top` never passes `bottom`, and the remembered one never passes it.
        match last - self.top.get() {
            ..0 => None,
            0 => self.take_oldest(last),
            1.. => self.take_newest(last),
        }
    }

    /// Takes the item at `last`, of which there are older ones, as far as known.
    #[inline(always)]
    fn take_newest(&self, last: i64) -> Option<T> {
        // ORDERING(deque.publish): release side, as for every store of `bottom`.
        // ORDERING(deque.race): without the fence a thief and this pop may each
        // miss what the other one did, and both take the item.
        store_and_fence(&self.deque.bottom, last);
        chaos::point("deque.pop.fenced");
        // ORDERING(deque.top): acquire side, as later pushes rely on it. SeqCst
        // for the barrier above: this load must not be older than that store.
        let top = self.deque.top.load(Ordering::SeqCst);
        self.top.set(top);
        if top < last {
            self.bottom.set(last);
            // SAFETY: the slot at `last` holds an item, and no thief can take
            // it: one that reads `top == last` has its fence after ours, and so
            // sees this `bottom`.
            return Some(unsafe { self.buffer().load(last).into_item() });
        }
        let item = if top == last {
            self.take_oldest(last)
        } else {
            None
        };
        // Whoever took the last item, `top` is where `bottom` was. The shared
        // one goes back there; no thief can tell the difference.
        self.publish(last + 1);
        item
    }

    /// Competes with the thieves for the item at `last`, which is the only one.
    #[inline(always)]
    fn take_oldest(&self, last: i64) -> Option<T> {
        // Either we or a thief moves it.
        self.top.set(last + 1);
        self.deque.swap_top(last).ok()?;
        // SAFETY: the slot holds an item, and the swap made it ours.
        Some(unsafe { self.buffer().load(last).into_item() })
    }

    /// Returns how many items the deque holds; thieves may lower it any time.
    pub fn len(&self) -> usize {
        self.deque.len()
    }

    /// Returns whether the deque holds no item.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns how many items fit before the deque grows.
    pub fn capacity(&self) -> usize {
        self.buffer().capacity()
    }

    /// Makes a half for one more thief.
    pub fn stealer(&self) -> Stealer<T> {
        Stealer {
            deque: Arc::clone(&self.deque),
        }
    }

    #[inline(always)]
    fn buffer(&self) -> &Buffer<T> {
        // SAFETY: buffers are freed with the shared deque, which we hold; the
        // pointer is replaced by `grow` alone, which no caller of ours runs
        // while it uses the reference.
        unsafe { &*self.buffer.get() }
    }

    #[inline(always)]
    fn has_room(&self) -> bool {
        let capacity = self.buffer().capacity() as i64;
        let has_room = |top: i64| self.bottom.get() - top < capacity;
        has_room(self.top.get()) || has_room(self.refresh_top())
    }

    #[cold]
    fn refresh_top(&self) -> i64 {
        // ORDERING(deque.top): acquire side; the slots below are free.
        let top = self.deque.top.load(Ordering::Acquire);
        self.top.set(top);
        top
    }

    /// Makes the items below `bottom` visible to thieves.
    #[inline(always)]
    fn publish(&self, bottom: i64) {
        self.bottom.set(bottom);
        // ORDERING(deque.publish): release side.
        self.deque.bottom.store(bottom, Ordering::Release);
    }

    #[cold]
    fn grow(&self) {
        let items = self.top.get()..self.bottom.get();
        // SAFETY: the buffer is alive, and only the owner writes to it.
        let grown = unsafe { Buffer::grown(self.buffer.get(), items) };
        chaos::point("deque.grow.copied");
        self.buffer.set(grown);
        // ORDERING(deque.grow): release side.
        self.deque.buffer.store(grown, Ordering::Release);
    }
}

/// The half that steals; clone it for every thread that may.
pub struct Stealer<T> {
    deque: Arc<Deque<T>>,
}

impl<T> UnwindSafe for Stealer<T> {}
impl<T> RefUnwindSafe for Stealer<T> {}

impl<T> Stealer<T> {
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
        let top = self.look();
        self.take(top)
    }

    /// Looks where the oldest item is.
    #[inline(always)]
    fn look(&self) -> i64 {
        // ORDERING: acquire as in the paper; the fence alone would do.
        let top = self.deque.top.load(Ordering::Acquire);
        // ORDERING(deque.race): see the owner's fence.
        fence(Ordering::SeqCst);
        top
    }

    /// Takes the item at `top`, if it is the oldest, after a fence.
    #[inline(always)]
    fn take(&self, top: i64) -> Steal<T> {
        // ORDERING(deque.publish): acquire side. SeqCst for `fence_after_swap`.
        let bottom = self.deque.bottom.load(Ordering::SeqCst);
        if bottom - top <= 0 {
            return Steal::Empty;
        }
        chaos::point("deque.steal.observed");
        // ORDERING(deque.grow): acquire side.
        let buffer = self.deque.buffer.load(Ordering::Acquire);
        chaos::point("deque.steal.buffer");
        // SAFETY: buffers are freed with the deque, which we hold.
        let bits = unsafe { &*buffer }.load(top);
        chaos::point("deque.steal.read");
        match self.deque.swap_top(top) {
            // SAFETY: `top` had not moved, so the bits are those of the oldest
            // item, and the swap made it ours (see the module docs).
            Ok(()) => Steal::Success(unsafe { bits.into_item() }),
            Err(_) => Steal::Retry,
        }
    }

    /// Takes half of the items, rounded up: returns the oldest, pushes the
    /// others to `thief`, oldest first.
    ///
    /// One compare-and-swap per item; it ends early when another thread is in
    /// the way. Stealing from oneself rotates the deque.
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
    /// assert_eq!(stealer.steal_batch_into(&thief), Steal::Success(0));
    /// assert_eq!((thief.len(), owner.len()), (2, 2));
    /// ```
    pub fn steal_batch_into(&self, thief: &Owner<T>) -> Steal<T> {
        self.steal_batch_into_limited(thief, usize::MAX)
    }

    /// As [`steal_batch_into`](Self::steal_batch_into), but takes at most
    /// `limit` items, with the one returned; a limit of 0 counts as 1.
    ///
    /// # Panics
    ///
    /// If `thief` outgrows the address space.
    pub fn steal_batch_into_limited(&self, thief: &Owner<T>, limit: usize) -> Steal<T> {
        let top = self.look();
        // ORDERING: relaxed; it only says how many to try.
        let available = self.deque.bottom.load(Ordering::Relaxed) - top;
        let half = usize::try_from(available).map_or(0, |count| count.div_ceil(2));
        let first = self.take(top);
        if first.is_success() {
            for taken in 1..half.min(limit) {
                // We have just moved `top` there, and need not look again.
                // ORDERING(deque.race): a fence between the swap and the next
                // look at `bottom`, as between the two loads of a single steal.
                fence_after_swap();
                match self.take(top + taken as i64) {
                    Steal::Success(item) => thief.push(item),
                    Steal::Empty | Steal::Retry => break,
                }
            }
        }
        first
    }

    /// Returns how many items the deque holds, at some moment during the call.
    pub fn len(&self) -> usize {
        self.deque.len()
    }

    /// Returns whether the deque holds no item.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T> Clone for Stealer<T> {
    fn clone(&self) -> Self {
        Self {
            deque: Arc::clone(&self.deque),
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

impl<T> fmt::Debug for Owner<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("Owner");
        text.field("len", &self.len())
            .field("capacity", &self.capacity())
            .finish()
    }
}

impl<T> fmt::Debug for Stealer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stealer").field("len", &self.len()).finish()
    }
}
