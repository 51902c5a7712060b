//! A growable deque: LIFO for its owner, FIFO for thieves.
//!
//! # The idea
//!
//! The owner pushes and pops at the bottom, thieves take from the top. As long as
//! there are two items or more, owner and thieves do not meet, and the owner needs no
//! read-modify-write operation at all. For the last item, owner and thieves compete
//! with a compare-and-swap on `top`.
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
//! - **The owner remembers `top`.** `top` only grows, so an old value is safe. A push
//!   does not read the thieves' cache line until the deque seems full. A pop of a
//!   deque that the owner knows to be empty needs no fence.
//! - **The owner takes the last known item like a thief.** If there is one item by the
//!   remembered `top`, this item is the last one (or already taken). Then the owner
//!   starts with the compare-and-swap: one read-modify-write instead of a fence and a
//!   read-modify-write.
//! - **Slots are atomic words** (`words.rs`). So it is not a data race, for any item
//!   type, if a thief reads a slot while the owner overwrites it.
//! - **Retired buffers are kept** until the last half is dropped. There is no garbage
//!   collector to rely on, and there is no cost of epochs.
//! - **A batch is stolen item by item.** The owner pops without a compare-and-swap
//!   while, by the `top` that it read, two items are left. So a thief that moved `top`
//!   by more than one could take the item that the owner is popping.
//! - **Thieves may pay for the owner's fence** (`race.rs`), if the system can fence
//!   for another thread. The argument below is the same.
//!
//! # Why no item is lost or taken twice
//!
//! Only a compare-and-swap moves `top`, by one, and the thread whose swap succeeds takes
//! the item at `top`. There is one exception: the owner's pop of an item at
//! `last = bottom - 1` when the owner reads `top < last`. Suppose that a thief takes index
//! `last` nevertheless: the thief read `top = last`, then `bottom > last`. Between the
//! two loads the thief has a SeqCst fence. The owner has one between its store
//! `bottom = last` and its load of `top`. One of the two fences comes first (C++20,
//! \[atomics.order\] paragraph 4). If the owner's fence comes first, the thief's load of
//! `bottom` sees `last` or a later store. A later store is larger than `last` only if the
//! pop is over and a push has reused the index, for another item. If the thief's fence
//! comes first, the owner's load sees `top = last` at least, and the owner competes.
//!
//! A pop that starts with the swap needs no fence: it takes nothing without the swap. A
//! thread that reads the `top` written by this swap also sees the last lowering of
//! `bottom` before it.
//!
//! A thief reads the slot before its swap. Suppose that the thief's swap at `t` succeeds.
//! Then `top` was `t` from the thief's load to the swap. The slot could still have changed
//! in two ways:
//!
//! - *A pop and a push at the same index.* A pop of `t` that competed would have
//!   moved `top`. A pop of `t` that did not compete has read `top < t` after its fence.
//!   So that fence precedes the thief's, and the thief's `bottom` is that pop's store or
//!   a later one. If this `bottom` is above `t`, it publishes the later push, whose bits
//!   the thief then sees.
//! - *A push a whole turn later.* The owner must have read `top > t`. Only the thief's own
//!   swap wrote such a `top`, and that swap is a release after the thief's read
//!   (`deque.top`).
//!
//! Growth copies `t`, because the owner's `top` is not above `t`. The old buffer is not
//! written to again, so a thief that still has the old buffer reads the same bits.
//!
//! # Cost
//!
//! A push is two plain stores. A pop is one barrier, or one compare-and-swap for the last
//! item. A steal is a fence and a swap, also for each item of a batch. If a thief on a
//! second core takes batches, a deque that claims a batch at once (st3) is two to three
//! times faster for its owner, but pays with a read-modify-write for every pop (`deques`
//! benchmark). What made no difference: a cached pointer to the slots, `top` and `bottom`
//! on one cache line.
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
//! Every store of `bottom` is a release, also the stores of a pop: a thief that reads
//! such a store must still see the items that earlier pushes published.
//!
//! # Limits
//!
//! If an item has pointers at unaligned places (`repr(packed)`), these pointers lose
//! their provenance on the way through the slots. Formally, it is undefined behaviour to
//! use such a pointer then. Put such items into a box.
//!
//! Indices are signed 64-bit numbers and do not wrap within centuries.

mod buffer;
mod owner;
mod race;
mod shared;
mod stealer;
#[cfg_attr(
    not(all(
        any(
            target_arch = "x86_64",
            target_arch = "x86",
            target_arch = "aarch64",
            target_arch = "arm",
            target_arch = "riscv64",
            target_arch = "loongarch64"
        ),
        not(any(miri, ws_boxed))
    )),
    path = "boxed.rs"
)]
mod words;

use self::shared::Deque;
use crate::sync::{Arc, asymmetric};

pub use self::owner::Owner;
pub use self::race::{Even, Race, Uneven};
pub use self::stealer::Stealer;

/// The number of slots of a deque made by [`new`], before the deque grows.
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
#[must_use]
pub fn new<T>() -> (Owner<T>, Stealer<T>) {
    with_capacity(INITIAL_CAPACITY)
}

/// Makes an empty deque with room for at least `capacity` items before it grows.
///
/// # Panics
///
/// If so many items do not fit the address space.
///
/// ```
/// let (owner, _) = ws_core::chase_lev::with_capacity::<u8>(100);
/// assert_eq!(owner.capacity(), 128);
/// ```
#[must_use]
pub fn with_capacity<T>(capacity: usize) -> (Owner<T>, Stealer<T>) {
    starting_at(0, capacity)
}

/// Makes an empty deque whose thieves pay for its owner's pops; see [`Uneven`].
///
/// ```
/// use ws_core::{Steal, chase_lev};
///
/// let (owner, stealer) = chase_lev::uneven();
/// owner.push(1);
/// owner.push(2);
/// assert_eq!(owner.pop(), Some(2));
/// assert_eq!(stealer.steal(), Steal::Success(1));
/// assert_eq!(stealer.steal(), Steal::Empty);
/// ```
#[must_use]
pub fn uneven<T>() -> (Owner<T, Uneven>, Stealer<T, Uneven>) {
    uneven_starting_at(0, INITIAL_CAPACITY)
}

/// Makes a deque whose indices start at `index`, so that the slots wrap early in tests.
#[doc(hidden)]
pub fn starting_at<T>(index: i64, capacity: usize) -> (Owner<T>, Stealer<T>) {
    make(index, capacity)
}

/// As [`starting_at`], for [`uneven`].
#[doc(hidden)]
pub fn uneven_starting_at<T>(
    index: i64,
    capacity: usize,
) -> (Owner<T, Uneven>, Stealer<T, Uneven>) {
    // The first call in the process asks the system for permission. Until then, the
    // owners' side is a real fence.
    asymmetric::prepare();
    make(index, capacity)
}

fn make<T, R: Race>(index: i64, capacity: usize) -> (Owner<T, R>, Stealer<T, R>) {
    assert!(index.unsigned_abs() <= 1 << 62, "indices must not wrap");
    let deque = Arc::new(Deque::new(index, capacity));
    (Owner::new(&deque), Stealer::new(&deque))
}
