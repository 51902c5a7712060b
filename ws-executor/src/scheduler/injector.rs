//! The queue that all workers share: for tasks from outside, and for overflows.
//!
//! It is cut into shards, each a locked queue. A thread keeps to one shard, so threads that
//! spawn at the same time seldom meet. A worker takes a batch under one lock, and goes round
//! the shards so that none starves. Within a shard the order is first in, first out; between
//! shards there is none.
//!
//! # Closing
//!
//! A closed shard refuses: [`push`](Injector::push) gives the items back, and the caller drops
//! them outside the lock. So every item is either refused, or in a shard when that is closed.
//! In the second case it comes out of [`close`](Injector::close).
//!
//! # Memory ordering
//!
//! | edge | release side | acquire side | makes visible |
//! |---|---|---|---|
//! | (the lock) | unlock | lock | the items |
//!
//! `len` is written under the lock and read without it, as a hint. A worker that is about to
//! sleep reads it after the fence of the sleep protocol, which pairs with the fence that
//! follows every push. On their way from here to a ring, items are in no queue at all. The
//! worker that pulled them announces them anew when they are in the ring. It does not put them
//! there under the lock, so that pushers need not wait for it.

use std::collections::VecDeque;

use ws_core::sync::atomic::{AtomicUsize, Ordering};
use ws_core::sync::{CachePadded, Mutex, MutexGuard};

use crate::base::thread_number::thread_number;

/// The most shards. With more, an idle worker's last look would take long. Not measured.
const MAX_SHARDS: usize = 8;

/// The queue that all workers share.
pub struct Injector<T> {
    shards: Box<[CachePadded<Shard<T>>]>,
}

struct Shard<T> {
    /// The length of the queue, as last written under the lock.
    len: AtomicUsize,
    /// `None` when closed.
    queue: Mutex<Option<VecDeque<T>>>,
}

impl<T> Injector<T> {
    /// An open injector, with a shard for each worker, rounded up to a power of two; eight at
    /// most.
    pub fn new(workers: usize) -> Self {
        let shard = |_| {
            CachePadded::new(Shard {
                len: AtomicUsize::new(0),
                queue: Mutex::new(Some(VecDeque::new())),
            })
        };
        let shards = workers.next_power_of_two().min(MAX_SHARDS);
        Self {
            shards: (0..shards).map(shard).collect(),
        }
    }

    /// Appends an item, or gives it back if the injector is closed.
    pub fn push(&self, item: T) -> Result<(), T> {
        self.push_with(item, |queue, item| queue.push_back(item))
    }

    /// Appends items under one lock, or gives them back if the injector is closed.
    pub fn push_batch(&self, items: Vec<T>) -> Result<(), Vec<T>> {
        // A vector: taking from it runs no code of the user's under the lock.
        self.push_with(items, |queue, items| queue.extend(items))
    }

    fn push_with<I>(&self, items: I, append: impl FnOnce(&mut VecDeque<T>, I)) -> Result<(), I> {
        let shard = self.shard(thread_number());
        let mut queue = shard.lock();
        let Some(open) = &mut *queue else {
            return Err(items);
        };
        append(open, items);
        shard.len.store(open.len(), Ordering::Relaxed);
        Ok(())
    }

    /// Takes one item, first looking at shard `start`.
    pub fn pull(&self, start: usize) -> Option<T> {
        self.pull_with(start, VecDeque::pop_front)
    }

    /// Takes at most `limit` items out of one shard, first looking at `start`. Returns
    /// the first, and appends the others to `rest`, which has room for them.
    pub fn pull_batch(&self, start: usize, limit: usize, rest: &mut Vec<T>) -> Option<T> {
        self.pull_with(start, |queue| {
            let first = queue.pop_front()?;
            let more = queue.len().min(limit - 1);
            rest.extend(queue.drain(..more));
            Some(first)
        })
    }

    fn pull_with(
        &self,
        start: usize,
        mut take: impl FnMut(&mut VecDeque<T>) -> Option<T>,
    ) -> Option<T> {
        (0..self.shards.len()).find_map(|offset| {
            let shard = self.shard(start.wrapping_add(offset));
            if shard.len.load(Ordering::Relaxed) == 0 {
                return None;
            }
            let mut queue = shard.lock();
            let open = queue.as_mut()?;
            let first = take(open)?;
            shard.len.store(open.len(), Ordering::Relaxed);
            Some(first)
        })
    }

    /// How many items there are, at some moment.
    pub fn len(&self) -> usize {
        let len = |shard: &CachePadded<Shard<T>>| shard.len.load(Ordering::Relaxed);
        self.shards.iter().map(len).sum()
    }

    /// Whether there is no item, at some moment.
    pub fn is_empty(&self) -> bool {
        let empty = |shard: &CachePadded<Shard<T>>| shard.len.load(Ordering::Relaxed) == 0;
        self.shards.iter().all(empty)
    }

    /// Refuses all further items, and hands out those that are there.
    pub fn close(&self) -> Vec<T> {
        let mut rest = Vec::new();
        for shard in &self.shards {
            let mut queue = shard.lock();
            rest.extend(queue.take().into_iter().flatten());
            shard.len.store(0, Ordering::Relaxed);
        }
        rest
    }

    fn shard(&self, number: usize) -> &Shard<T> {
        &self.shards[number & (self.shards.len() - 1)]
    }
}

impl<T> Shard<T> {
    fn lock(&self) -> MutexGuard<'_, Option<VecDeque<T>>> {
        // No user code runs under the lock, so it is not poisoned.
        self.queue
            .lock()
            .expect("the injector's lock is never poisoned")
    }
}
