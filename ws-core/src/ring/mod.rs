//! A bounded FIFO ring: its owner pushes and pops, thieves take half of it.
//!
//! # The idea
//!
//! The owner pushes at the tail and pops at the head. A thief claims the oldest
//! half with one compare-and-swap, copies it at leisure, and gives the slots
//! back with another. For that the head is *two* positions in one word,
//! `[steal | real]`: `real` is where the next item is taken, `steal` is how far
//! thieves have finished copying.
//!
//! ```text
//!              steal     real                  tail
//!                |         |                     |
//!   +---+---+---+---+---+---+---+---+---+---+---+---+---+
//!   | free      | claimed | items               | free  |
//!   +---+---+---+---+---+---+---+---+---+---+---+---+---+
//!                 a thief    the next to be       the owner
//!                 copies     popped or stolen     pushes
//! ```
//!
//! While `steal != real` one thief is at work (or the owner, in an overflow) and
//! no other may claim; the owner still pushes and pops beside it. Positions count
//! for ever and wrap at 2^32; a slot is a position's low bits.
//!
//! The design is that of the run queue of tokio's multi-threaded scheduler,
//! which took it from Go's. Departures: the owner keeps its own copy of the tail
//! and of the last head it saw, so a push touches no shared word but the tail it
//! writes, and a pop is one compare-and-swap, or nothing at all on an empty ring;
//! items are moved by whole runs; an overflow keeps the *older* half (below).
//!
//! # Overflow
//!
//! A full ring sheds its newer half, together with the item that did not fit, to
//! the caller: as one batch, so that one lock moves them all. The older half
//! stays, otherwise newer items would overtake it. To cut the tail back safely
//! the owner first claims one item, which keeps thieves out:
//!
//! 1. `head`: `[h | h]` → `[h | h+1]`, by compare-and-swap;
//! 2. move out `h+N/2 .. h+N`;
//! 3. `tail`: `h+N` → `h+N/2`;
//! 4. `head`: back to `[h | h]`, by a plain store, as no one else may write it now.
//!
//! A thief may have read head and tail before step 1 and claim after step 4, as
//! the head is the same again. That is harmless: it takes at most half of what
//! it saw, so at most the `N/2` items that stayed. (Here is why a claim is never
//! larger than `N/2`, and why `N` is at least 4: during step 3 the ring must not
//! look empty to a thief.) If a thief is at work when the ring is full, only the
//! new item is handed out.
//!
//! # Memory ordering
//!
//! | edge | release side | acquire side | makes visible |
//! |---|---|---|---|
//! | `ring.publish` | owner: store of `tail` | thief: load of `tail` | the items below `tail` |
//! | `ring.reuse` | thief: finishing swap of `head` | owner: every read of `head` | that the thief's reads are over, so the slots may be overwritten |
//! | `ring.forward` | anyone: every write of `head` | thief: load of `head` | a `tail` at least as new as that head, so their difference is a length |
//!
//! A claim reads nothing through `head`, what it takes was published through
//! `tail`; but its release keeps other thieves from measuring an older tail
//! against the claimed head, which would look empty. There is no store-load
//! race: owner and thieves agree through one word, `head`.
//!
//! # Cost
//!
//! A push is two plain stores, a pop one compare-and-swap. That swap is most of a
//! pair: 6.4 of 9 ns where a `VecDeque` needs 2 to 3 (`deques` benchmark, Xeon of
//! 2024). It cannot be had for less: a removal that no thief may repeat needs a
//! read-modify-write or a store-load fence (Attiya et al., *Laws of order*, POPL
//! 2011). What made no difference: a cached pointer to the slots, a branch-free
//! step of the head, head and tail on one cache line.
//!
//! An owner writes to itself at every operation: keep it off cache lines that
//! other threads write.
//!
//! # What a caller has to know
//!
//! - **Progress.** The owner never waits for a thief. Thieves wait for each
//!   other: one that is suspended between claim and finish makes the others
//!   `Retry`, and the owner's pushes go on until the ring is full.
//! - **In transit.** While a thief copies, the items are in neither ring, and a
//!   third thread may see both of them empty.
//! - **Sleeping.** A thread that is about to sleep over `Empty` needs a SeqCst
//!   fence before its last look, and the owner one between its push and its look
//!   for sleepers; otherwise each may miss the other.
//! - **Wrapping.** A compare-and-swap on the head is fooled if a thread sleeps in
//!   the middle of it while exactly a multiple of 2^32 positions go by: it would
//!   claim slots that hold no items. With pushes and pops 2^32 positions take half
//!   a minute or more; two rings of pointers that do nothing but steal from each
//!   other take some seconds, rings of bytes less than one.

mod head;
mod overflow;
mod slots;

use alloc::vec::Vec;
use core::cell::Cell;
use core::iter::{Chain, Fuse};
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::{fmt, option};

use self::head::Head;
use self::slots::Slots;
use crate::Steal;
use crate::chaos;
use crate::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use crate::sync::{Arc, CachePadded};

pub use self::overflow::Overflow;

/// The number of slots of a ring made by [`new`].
///
/// Pointer-sized items then fill 2 KiB, a small part of a first-level cache. Go
/// and tokio use the same number; other sizes were not measured.
pub const DEFAULT_CAPACITY: usize = 256;

/// Makes a ring of [`DEFAULT_CAPACITY`] slots.
///
/// ```
/// let (owner, stealer) = ws_core::ring::new();
/// owner.push("a task").unwrap();
/// assert_eq!(stealer.steal().success(), Some("a task"));
/// ```
pub fn new<T>() -> (Owner<T>, Stealer<T>) {
    with_capacity()
}

/// Makes a ring of `N` slots; `N` is a power of two from 4 to 2^30.
///
/// ```
/// let (owner, _) = ws_core::ring::with_capacity::<u8, 4>();
/// assert_eq!(owner.spare_capacity(), 4);
/// ```
///
/// Another `N` does not compile:
///
/// ```compile_fail,E0080
/// let (owner, _) = ws_core::ring::with_capacity::<u8, 100>();
/// ```
pub fn with_capacity<T, const N: usize>() -> (Owner<T, N>, Stealer<T, N>) {
    starting_at(0)
}

/// Makes a ring whose positions start at `position`: tests let them wrap early.
#[doc(hidden)]
pub fn starting_at<T, const N: usize>(position: u32) -> (Owner<T, N>, Stealer<T, N>) {
    let ring = Arc::new(Ring::new(position));
    let owner = Owner {
        ring: Arc::clone(&ring),
        tail: Cell::new(position),
        head: Cell::new(Head::at(position)),
    };
    (owner, Stealer { ring })
}

/// What both halves share.
struct Ring<T, const N: usize> {
    /// A [`Head`]. Written by everyone, always by compare-and-swap but for the
    /// last step of an overflow.
    head: CachePadded<AtomicU64>,
    /// Where the next item is pushed. Written by the owner alone.
    tail: CachePadded<AtomicU32>,
    /// Cells in `real..tail` hold items; those in `steal..real` belong to the
    /// thief that claimed them; all others are the owner's to fill.
    slots: Slots<T, N>,
}

// SAFETY: the halves hand items from thread to thread, so `T: Send` is needed;
// no reference to an item is ever shared, so `T: Sync` is not. The indices give
// every slot to one thread at a time (see the field docs).
unsafe impl<T: Send, const N: usize> Sync for Ring<T, N> {}
// SAFETY: as above; the ring owns its items.
unsafe impl<T: Send, const N: usize> Send for Ring<T, N> {}

impl<T, const N: usize> Ring<T, N> {
    const CAPACITY: u32 = {
        assert!(
            N.is_power_of_two() && N >= 4 && N <= 1 << 30,
            "the capacity of a ring is a power of two from 4 to 2^30"
        );
        N as u32
    };

    /// What an overflow sheds and what it keeps; also the largest claim.
    const HALF: u32 = Self::CAPACITY / 2;

    fn new(position: u32) -> Self {
        // Naming the constant here makes a wrong `N` fail to compile.
        let _ = Self::CAPACITY;
        Self {
            head: CachePadded::new(AtomicU64::new(Head::at(position).bits())),
            tail: CachePadded::new(AtomicU32::new(position)),
            slots: Slots::new(),
        }
    }

    #[inline(always)]
    fn load_head(&self) -> Head {
        // ORDERING(ring.reuse, ring.forward): acquire side of both; a thief
        // that read an older tail than head would compute a negative length.
        Head::from_bits(self.head.load(Ordering::Acquire))
    }

    /// Replaces `current` by `next`, or says what the head is instead.
    #[inline(always)]
    fn swap_head(&self, current: Head, next: Head) -> Result<(), Head> {
        // A strong exchange: a spurious failure would read as a lost race.
        // ORDERING(ring.reuse): acquire side, also on failure, for the owner,
        // which remembers what it saw. Release side for the thief's finish.
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

    /// Head and tail as a thief sees them; the tail is never the older one.
    #[inline(always)]
    fn observe(&self) -> (Head, u32) {
        let head = self.load_head();
        // ORDERING(ring.publish): acquire side.
        (head, self.tail.load(Ordering::Acquire))
    }

    /// Head and tail as they were at one moment.
    fn snapshot(&self) -> (Head, u32) {
        loop {
            let (head, tail) = self.observe();
            if self.load_head() == head {
                return (head, tail);
            }
        }
    }

    fn len(&self) -> usize {
        let (head, tail) = self.snapshot();
        tail.wrapping_sub(head.real()) as usize
    }

    fn is_empty(&self) -> bool {
        let (head, tail) = self.observe();
        head.real() == tail
    }

    /// Claims `amount(available)` of the oldest items.
    #[inline]
    fn claim(&self, amount: impl FnOnce(u32) -> u32) -> Steal<Claim<'_, T, N>> {
        let (head, tail) = self.observe();
        chaos::point("ring.steal.observed");
        let available = tail.wrapping_sub(head.real());
        if available == 0 {
            return Steal::Empty;
        }
        if head.is_claimed() {
            return Steal::Retry;
        }
        // With a head that is out of date `available` may be anything; the
        // swap then fails, but `amount` must not be led astray.
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

/// Slots that are one thief's, until it calls [`finish`](Claim::finish).
///
/// No foreign code runs while a claim is held, so it cannot be lost by a panic.
#[must_use = "a claim that is not finished blocks all other thieves"]
struct Claim<'a, T, const N: usize> {
    ring: &'a Ring<T, N>,
    first: u32,
    count: u32,
}

impl<T, const N: usize> Claim<'_, T, N> {
    /// Moves the first item out of its slot.
    #[inline(always)]
    fn take_first(&self) -> T {
        // SAFETY: the claim made the slot ours; it holds an item, as it was
        // below `tail`, and the item is published (`ring.publish`).
        unsafe { self.ring.slots.read(self.first) }
    }

    /// Moves all items but the first to `target..` of `slots`.
    ///
    /// # Safety
    ///
    /// These slots are empty and the caller's, and there are enough of them.
    #[inline(always)]
    unsafe fn move_rest(&self, slots: &Slots<T, N>, target: u32) {
        let from = self.first.wrapping_add(1);
        // SAFETY: our slots are ours as in `take_first`, the target's are
        // empty, so the ranges are disjoint even if both rings are the same.
        unsafe { self.ring.slots.move_to(from, slots, target, self.count - 1) }
    }

    /// Gives the emptied slots back to the owner.
    #[inline]
    fn finish(self) {
        let mut head = self.ring.load_head();
        // The owner may pop beside us and move `real`; then try again. No
        // other thief can, so `steal` is still where our claim began.
        while let Err(actual) = self.ring.swap_head(head, head.finished()) {
            head = actual;
        }
    }
}

/// The half that pushes and pops; one thread's at a time.
///
/// It may move to another thread, but it can be neither shared nor cloned:
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
/// If it is dropped, the items stay for the stealers; the last half drops what
/// is left.
pub struct Owner<T, const N: usize = DEFAULT_CAPACITY> {
    ring: Arc<Ring<T, N>>,
    /// The same as the shared tail, which only this half writes.
    tail: Cell<u32>,
    /// The head as last seen: never ahead of the shared one, and never more than
    /// `N` behind the tail, so that the two can be compared across the wrap.
    /// Whatever moves the tail looks at this head first.
    head: Cell<Head>,
}

// No user code runs inside a window, so a panic finds the ring in order.
impl<T, const N: usize> UnwindSafe for Owner<T, N> {}
impl<T, const N: usize> RefUnwindSafe for Owner<T, N> {}

impl<T, const N: usize> Owner<T, N> {
    /// Appends `item`, without any read-modify-write operation.
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
        // SAFETY: `tail - steal < N`, so the slot is neither an item's nor a
        // claim's, and it is the owner's to fill; the thief that had it last is
        // done with it (`ring.reuse`).
        unsafe { self.ring.slots.write(tail, item) };
        chaos::point("ring.push.written");
        self.publish(tail.wrapping_add(1));
        Ok(())
    }

    /// Appends `item`; if the ring is full, hands out its newer half with it.
    ///
    /// # Errors
    ///
    /// The batch that has to go elsewhere, oldest first, `item` last: `N/2 + 1`
    /// items, or `item` alone while a thief is at work on the full ring.
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
    /// Each item is visible to thieves as soon as it is pushed, so the iterator
    /// may panic, or use this very ring, without harm.
    ///
    /// ```
    /// let (owner, _) = ws_core::ring::with_capacity::<u32, 4>();
    /// let rest = owner.push_batch(0..6);
    /// assert!(rest.eq([4, 5]));
    /// assert_eq!(owner.len(), 4);
    /// ```
    #[must_use = "the rest did not fit and is dropped if it is ignored"]
    pub fn push_batch<I>(&self, items: I) -> Chain<option::IntoIter<T>, Fuse<I::IntoIter>>
    where
        I: IntoIterator<Item = T>,
    {
        let mut items = items.into_iter().fuse();
        let mut bounced = None;
        while bounced.is_none() && self.has_room() {
            match items.next() {
                // It bounces only if `next` itself filled the ring.
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
            // The head never passes the tail, so an old head that has reached
            // the tail is the true one: empty, without a look at shared memory.
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
        // SAFETY: moving `real` made the slot ours. It holds an item, as it was
        // below `tail`; only this half fills slots, so it still does.
        Some(unsafe { self.ring.slots.read(head.real()) })
    }

    /// Returns how many items the ring holds; thieves may lower it any time.
    #[inline]
    pub fn len(&self) -> usize {
        self.ring.len()
    }

    /// Returns whether the ring holds no item.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }

    /// Returns how many pushes are sure to succeed.
    #[inline]
    pub fn spare_capacity(&self) -> usize {
        self.room() as usize
    }

    /// Returns the number of slots.
    pub const fn capacity(&self) -> usize {
        N
    }

    /// Makes a half for one more thief.
    pub fn stealer(&self) -> Stealer<T, N> {
        Stealer {
            ring: Arc::clone(&self.ring),
        }
    }

    /// Whether the next push succeeds; looks at the shared head only if the one
    /// seen last says no.
    #[inline(always)]
    fn has_room(&self) -> bool {
        let has_room =
            |head: Head| self.tail.get().wrapping_sub(head.steal()) < Ring::<T, N>::CAPACITY;
        has_room(self.head.get()) || has_room(self.refresh_head())
    }

    /// Looks at the shared head and remembers it.
    fn refresh_head(&self) -> Head {
        let head = self.ring.load_head();
        self.head.set(head);
        head
    }

    /// How many slots can be filled. Claimed ones cannot: a thief may still be
    /// copying out of them.
    fn room(&self) -> u32 {
        let steal = self.refresh_head().steal();
        Ring::<T, N>::CAPACITY - self.tail.get().wrapping_sub(steal)
    }

    /// Makes the items below `tail` visible to thieves.
    #[inline(always)]
    fn publish(&self, tail: u32) {
        self.tail.set(tail);
        // ORDERING(ring.publish): release side.
        self.ring.tail.store(tail, Ordering::Release);
    }

    /// The full ring's side of [`push_or_overflow`](Self::push_or_overflow);
    /// the steps are those of the module docs.
    #[cold]
    fn overflow(&self, mut item: T) -> Result<(), Overflow<T>> {
        loop {
            // The failed push has just looked at the shared head.
            let head = self.head.get();
            if head.is_claimed() {
                return Err(Overflow::new(Vec::new(), item));
            }
            // Allocated outside the window: the allocator is foreign code.
            let mut newer = Vec::with_capacity(N / 2);
            if self.ring.swap_head(head, head.claimed(1)).is_ok() {
                chaos::point("ring.overflow.claimed");
                let kept = head.real().wrapping_add(Ring::<T, N>::HALF);
                // SAFETY: the ring is full and thieves are kept out by the
                // claim, so this half of it holds items that are ours.
                unsafe {
                    self.ring
                        .slots
                        .move_out(kept, Ring::<T, N>::HALF, &mut newer)
                };
                self.publish(kept);
                chaos::point("ring.overflow.cut");
                // ORDERING(ring.forward): release side; otherwise a thief could
                // see this head with a tail from before it.
                self.ring.head.store(head.bits(), Ordering::Release);
                return Err(Overflow::new(newer, item));
            }
            // A thief came first: it has made room, or is about to.
            match self.push(item) {
                Ok(()) => return Ok(()),
                Err(back) => item = back,
            }
        }
    }
}

/// The half that steals; clone it for every thread that may.
pub struct Stealer<T, const N: usize = DEFAULT_CAPACITY> {
    ring: Arc<Ring<T, N>>,
}

impl<T, const N: usize> UnwindSafe for Stealer<T, N> {}
impl<T, const N: usize> RefUnwindSafe for Stealer<T, N> {}

impl<T, const N: usize> Stealer<T, N> {
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
    /// room at all, one item is still returned.
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
                claim.finish();
                Steal::Success(first)
            }
        }
    }

    /// Returns how many items the ring holds, at some moment during the call; one
    /// less while the owner overflows.
    #[inline]
    pub fn len(&self) -> usize {
        self.ring.len()
    }

    /// Returns whether the ring holds no item, at some moment during the call.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }

    /// Returns how much room there is, at some moment during the call.
    #[inline]
    pub fn spare_capacity(&self) -> usize {
        let (head, tail) = self.ring.snapshot();
        N - tail.wrapping_sub(head.steal()) as usize
    }

    /// Returns the number of slots.
    pub const fn capacity(&self) -> usize {
        N
    }
}

impl<T, const N: usize> Clone for Stealer<T, N> {
    fn clone(&self) -> Self {
        Self {
            ring: Arc::clone(&self.ring),
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
        // SAFETY: no half is left, so every item is ours.
        unsafe { self.slots.move_out(head.real(), count, &mut rest) };
        // A vector goes on with the others if an item panics in its drop.
        drop(rest);
    }
}

impl<T, const N: usize> fmt::Debug for Owner<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt_half(f, "Owner", &self.ring)
    }
}

impl<T, const N: usize> fmt::Debug for Stealer<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt_half(f, "Stealer", &self.ring)
    }
}

fn fmt_half<T, const N: usize>(
    f: &mut fmt::Formatter<'_>,
    half: &str,
    ring: &Ring<T, N>,
) -> fmt::Result {
    let (head, tail) = ring.observe();
    f.debug_struct(half)
        .field("head", &head)
        .field("tail", &tail)
        .field("capacity", &N)
        .finish()
}
