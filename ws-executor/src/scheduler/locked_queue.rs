//! A queue behind a lock, whose length can be seen without the lock.
//!
//! The [injector](super::injector) consists of such queues. The pinned tasks of a worker are in
//! one, and so are the computations.
//!
//! # Closing
//!
//! A closed queue refuses: [`push`](LockedQueue::push) gives the items back, and the caller
//! drops them outside the lock. So every item is either refused, or in the queue when that is
//! closed. In the second case it comes out of [`close`](LockedQueue::close).
//!
//! # Memory ordering
//!
//! | edge | release side | acquire side | makes visible |
//! |---|---|---|---|
//! | (the lock) | unlock | lock | the items |
//!
//! `len` is written under the lock and read without it, as a hint. A worker that is about to
//! sleep reads it after the fence of the sleep protocol, which pairs with the fence that
//! follows every push.

use std::collections::VecDeque;

use ws_core::sync::atomic::{AtomicUsize, Ordering};
use ws_core::sync::{Mutex, MutexGuard};

/// A queue behind a lock.
pub struct LockedQueue<T> {
    /// The length of the queue, as last written under the lock.
    len: AtomicUsize,
    /// `None` when closed.
    queue: Mutex<Option<VecDeque<T>>>,
}

impl<T> LockedQueue<T> {
    /// An open queue.
    pub fn new() -> Self {
        Self {
            len: AtomicUsize::new(0),
            queue: Mutex::new(Some(VecDeque::new())),
        }
    }

    /// Appends an item, or gives it back if the queue is closed.
    pub fn push(&self, item: T) -> Result<(), T> {
        self.push_with(item, |queue, item| queue.push_back(item))
    }

    /// Appends items under one lock, or gives them back if the queue is closed.
    pub fn push_batch(&self, items: Vec<T>) -> Result<(), Vec<T>> {
        // A vector: taking from it runs no code of the user's under the lock.
        self.push_with(items, |queue, items| queue.extend(items))
    }

    fn push_with<I>(&self, items: I, append: impl FnOnce(&mut VecDeque<T>, I)) -> Result<(), I> {
        let mut queue = self.lock();
        let Some(open) = &mut *queue else {
            return Err(items);
        };
        append(open, items);
        self.len.store(open.len(), Ordering::Relaxed);
        Ok(())
    }

    /// Takes the oldest item.
    pub fn pull(&self) -> Option<T> {
        self.pull_with(VecDeque::pop_front)
    }

    /// Takes at most `limit` items. Returns the first, and appends the others to `rest`, which
    /// has room for them.
    pub fn pull_batch(&self, limit: usize, rest: &mut Vec<T>) -> Option<T> {
        self.pull_with(|queue| {
            let first = queue.pop_front()?;
            let more = queue.len().min(limit - 1);
            rest.extend(queue.drain(..more));
            Some(first)
        })
    }

    fn pull_with(&self, take: impl FnOnce(&mut VecDeque<T>) -> Option<T>) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        let mut queue = self.lock();
        let open = queue.as_mut()?;
        let first = take(open)?;
        self.len.store(open.len(), Ordering::Relaxed);
        Some(first)
    }

    /// How many items there are, at some moment.
    #[inline]
    pub fn len(&self) -> usize {
        self.len.load(Ordering::Relaxed)
    }

    /// Whether there is no item, at some moment.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Refuses all further items, and hands out those that are there.
    pub fn close(&self) -> Vec<T> {
        let mut queue = self.lock();
        let rest = queue.take().into_iter().flatten().collect();
        self.len.store(0, Ordering::Relaxed);
        rest
    }

    fn lock(&self) -> MutexGuard<'_, Option<VecDeque<T>>> {
        // No user code runs under the lock, so it is not poisoned.
        self.queue.lock().expect("the queue is never poisoned")
    }
}

impl<T> Default for LockedQueue<T> {
    fn default() -> Self {
        Self::new()
    }
}
