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
mod owner;
mod shared;
mod slots;
mod stealer;

use self::shared::Ring;
use crate::sync::Arc;

pub use self::overflow::Overflow;
pub use self::owner::Owner;
pub use self::shared::DEFAULT_CAPACITY;
pub use self::stealer::Stealer;

/// Makes a ring of [`DEFAULT_CAPACITY`] slots.
///
/// ```
/// let (owner, stealer) = ws_core::ring::new();
/// owner.push("a task").unwrap();
/// assert_eq!(stealer.steal().success(), Some("a task"));
/// ```
#[must_use]
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
#[must_use]
pub fn with_capacity<T, const N: usize>() -> (Owner<T, N>, Stealer<T, N>) {
    starting_at(0)
}

/// Makes a ring whose positions start at `position`: tests let them wrap early.
#[doc(hidden)]
pub fn starting_at<T, const N: usize>(position: u32) -> (Owner<T, N>, Stealer<T, N>) {
    let ring = Arc::new(Ring::new(position));
    (Owner::new(&ring, position), Stealer::new(&ring))
}
