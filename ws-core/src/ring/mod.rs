//! A bounded FIFO ring: its owner pushes and pops, thieves take half of it.
//!
//! # The idea
//!
//! The owner pushes at the tail and pops at the head. A thief claims the oldest
//! half with one compare-and-swap, copies the claimed items, and gives the slots
//! back with a second compare-and-swap. For that the head is *two* positions in one
//! word, `[steal | real]`: `real` is where the next item is taken, `steal` is how far
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
//! While `steal != real`, one thief is copying (or the owner is in an overflow), and
//! no other thread may claim. The owner still pushes and pops meanwhile. Positions
//! never stop counting and wrap at 2^32. The low bits of a position are its slot.
//!
//! The design is that of the run queue of tokio's multi-threaded scheduler,
//! which took it from Go's. Departures:
//!
//! - The owner keeps its own copy of the tail and of the last head it saw. So a push
//!   touches no shared word but the tail, which it writes. A pop is one
//!   compare-and-swap, or no access at all on an empty ring.
//! - Items are moved by whole runs.
//! - An overflow keeps the *older* half (below).
//!
//! # Overflow
//!
//! A full ring hands its newer half to the caller, together with the item that did
//! not fit. It is one batch, so that one lock moves all of its items. The older half
//! stays: otherwise newer items would overtake older ones. To cut the tail back
//! safely, the owner first claims one item, which keeps thieves out:
//!
//! 1. `head`: `[h | h]` → `[h | h+1]`, by compare-and-swap;
//! 2. move out `h+N/2 .. h+N`;
//! 3. `tail`: `h+N` → `h+N/2`;
//! 4. `head`: back to `[h | h]`, by a plain store, as no other thread may write the
//!    head now.
//!
//! A thief may have read head and tail before step 1, and may claim after step 4, as
//! the head is the same again. That is harmless: the thief takes at most half of the
//! items it saw, so at most the `N/2` items that stayed. (This is why a claim is never
//! larger than `N/2`. It is also why `N` is at least 4: during step 3 the ring must not
//! look empty to a thief.) If a thief is copying when the ring is full, only the new
//! item is handed out.
//!
//! # Memory ordering
//!
//! | edge | release side | acquire side | makes visible |
//! |---|---|---|---|
//! | `ring.publish` | owner: store of `tail` | thief: load of `tail` | the items below `tail` |
//! | `ring.reuse` | thief: finishing swap of `head` | owner: every read of `head` | that the thief's reads are over, so the slots may be overwritten |
//! | `ring.forward` | any thread: every write of `head` | thief: load of `head` | a `tail` at least as new as that head, so their difference is a length |
//!
//! A claim reads nothing through `head`: the items that it takes were published
//! through `tail`. But the claim's release is needed. Without it another thief could
//! compare an older tail with the claimed head, and the ring would look empty. There is
//! no store-load race: owner and thieves agree through one word, `head`.
//!
//! # Cost
//!
//! A push is two plain stores, a pop one compare-and-swap. The compare-and-swap is most
//! of the time of a push and a pop: 6.4 of 9 ns, where a `VecDeque` needs 2 to 3
//! (`deques` benchmark, Xeon of 2024). No algorithm can avoid this cost: a removal that
//! no thief may repeat needs a read-modify-write or a store-load fence (Attiya et al.,
//! *Laws of order*, POPL 2011). What made no difference: a cached pointer to the slots, a
//! branch-free step of the head, head and tail on one cache line.
//!
//! An owner writes to its own fields at every operation. Keep the owner off cache lines
//! that other threads write.
//!
//! # What a caller must know
//!
//! - **Progress.** The owner never waits for a thief. Thieves wait for each other: while
//!   a thief is suspended between claim and finish, other thieves get `Retry`. The
//!   owner can push until the ring is full.
//! - **In transit.** While a thief copies, the items are in neither ring, and a
//!   third thread may see both rings empty.
//! - **Sleeping.** A thread that parks after `Empty` must execute a SeqCst fence between
//!   its announcement as a sleeper and its last look at the ring. The owner must execute
//!   a SeqCst fence between its push and its check for sleepers. Otherwise each may miss
//!   what the other wrote.
//! - **Wrapping.** A compare-and-swap on the head succeeds wrongly if exactly a multiple
//!   of 2^32 positions go by while its thread is suspended between the load of the head
//!   and the compare-and-swap. The thread would then claim slots that hold no items. With
//!   pushes and pops, 2^32 positions take half a minute or more. Two rings of pointers
//!   that only steal from each other take some seconds, rings of bytes less than one.

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

/// Makes a ring of `N` slots. `N` must be a power of two from 4 to 2^30.
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

/// Makes a ring whose positions start at `position`, so that they wrap early in tests.
#[doc(hidden)]
pub fn starting_at<T, const N: usize>(position: u32) -> (Owner<T, N>, Stealer<T, N>) {
    let ring = Arc::new(Ring::new(position));
    (Owner::new(&ring, position), Stealer::new(&ring))
}
