//! The queue that all workers share: for tasks from outside, and for overflows.
//!
//! It is cut into shards, each a [queue with a lock](super::locked_queue). A thread keeps to one
//! shard, so threads that spawn at the same time seldom meet. A worker takes a batch under one
//! lock, and goes round the shards so that none starves. Within a shard the order is first in,
//! first out; between shards there is none.
//!
//! On their way from here to a ring, items are in no queue at all. The worker that pulled them
//! announces them anew when they are in the ring. It does not put them there under the lock, so
//! that pushers need not wait for it.

use ws_core::sync::CachePadded;

use super::locked_queue::LockedQueue;
use crate::base::thread_number::thread_number;

/// The most shards. With more, an idle worker's last look would take long. Not measured.
const MAX_SHARDS: usize = 8;

/// The queue that all workers share.
pub struct Injector<T> {
    shards: Box<[CachePadded<LockedQueue<T>>]>,
}

impl<T> Injector<T> {
    /// An open injector, with a shard for each worker, rounded up to a power of two; eight at
    /// most.
    pub fn new(workers: usize) -> Self {
        let shards = workers.next_power_of_two().min(MAX_SHARDS);
        Self {
            shards: (0..shards).map(|_| CachePadded::default()).collect(),
        }
    }

    /// Appends an item, or gives it back if the injector is closed.
    pub fn push(&self, item: T) -> Result<(), T> {
        self.shard(thread_number()).push(item)
    }

    /// Appends items under one lock, or gives them back if the injector is closed.
    pub fn push_batch(&self, items: Vec<T>) -> Result<(), Vec<T>> {
        self.shard(thread_number()).push_batch(items)
    }

    /// Takes one item, first looking at shard `start`.
    pub fn pull(&self, start: usize) -> Option<T> {
        self.shards_from(start).find_map(LockedQueue::pull)
    }

    /// Takes at most `limit` items out of one shard, first looking at `start`. Returns
    /// the first, and appends the others to `rest`, which has room for them.
    pub fn pull_batch(&self, start: usize, limit: usize, rest: &mut Vec<T>) -> Option<T> {
        self.shards_from(start)
            .find_map(|shard| shard.pull_batch(limit, rest))
    }

    /// How many items there are, at some moment.
    pub fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.len()).sum()
    }

    /// Whether there is no item, at some moment.
    pub fn is_empty(&self) -> bool {
        self.shards.iter().all(|shard| shard.is_empty())
    }

    /// Refuses all further items, and hands out those that are there.
    pub fn close(&self) -> Vec<T> {
        self.shards.iter().flat_map(|shard| shard.close()).collect()
    }

    fn shard(&self, number: usize) -> &LockedQueue<T> {
        &self.shards[number & (self.shards.len() - 1)]
    }

    fn shards_from(&self, start: usize) -> impl Iterator<Item = &LockedQueue<T>> {
        (0..self.shards.len()).map(move |offset| self.shard(start.wrapping_add(offset)))
    }
}
