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
//! - **Thieves may pay for the owner's fence** (`race.rs`), where the system can fence
//!   for another thread. The argument below is the same.
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
#[must_use]
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

/// Makes a deque whose indices start at `index`: tests let the slots wrap early.
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
    // The first one of the process asks the system for it; until then, owners fence.
    asymmetric::heavy();
    make(index, capacity)
}

fn make<T, R: Race>(index: i64, capacity: usize) -> (Owner<T, R>, Stealer<T, R>) {
    assert!(index.unsigned_abs() <= 1 << 62, "indices must not wrap");
    let deque = Arc::new(Deque::new(index, capacity));
    (Owner::new(&deque), Stealer::new(&deque))
}
