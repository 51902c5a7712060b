//! What every queue has to do here.

use ws_core::Steal;

/// How many items a queue must hold: the size of the bounded ones.
pub(crate) const CAPACITY: usize = 256;

/// A queue and the two ends of it, used from one thread.
pub(crate) trait Queue: Sized + 'static {
    const NAME: &'static str;

    /// Makes an empty queue with room for [`CAPACITY`] items, if the queue lets
    /// one choose.
    fn new() -> Self;

    /// Adds an item, if there is room; returns whether there was.
    fn push(&mut self, item: usize) -> bool;

    /// Takes the oldest item (FIFO) or the newest (LIFO).
    fn pop(&mut self) -> Option<usize>;

    /// Takes half of the items, at most `limit`, as a thief does: returns one of
    /// them and moves the others to `loot`.
    fn steal_half(&mut self, loot: &mut Self, limit: usize) -> Steal<usize>;

    /// Takes all items and keeps the memory, which a pop might give back.
    fn clear(&mut self) {
        while self.pop().is_some() {}
    }
}

/// A queue that another thread may steal from meanwhile.
pub(crate) trait Shared: Queue {
    /// The thief's half.
    type Stealer: Send + 'static;

    fn stealer(&self) -> Self::Stealer;

    /// As [`steal_half`](Queue::steal_half), from another thread.
    fn steal(victim: &Self::Stealer, loot: &mut Self, limit: usize) -> Steal<usize>;
}

/// What a thief takes of `available` items: half, rounded up.
#[inline(always)]
pub(crate) fn half(available: usize, limit: usize) -> usize {
    available.div_ceil(2).min(limit)
}
