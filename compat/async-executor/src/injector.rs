//! The queue that all `run`s share: for tasks that are woken outside of a `run`, and for the
//! overflow of rings.
//!
//! It is one locked queue. Tasks that are spawned and woken by tasks go into rings, so fewer
//! tasks go through this queue than in an executor with one queue for all tasks.
//!
//! `len` is written under the lock and read without it, as a hint. A `run` that is about to
//! sleep reads `len` after the fence of the sleep protocol. That fence pairs with the fence
//! that follows every push.

use std::collections::VecDeque;
use std::sync::PoisonError;

use async_task::Runnable;
use ws_core::sync::atomic::{AtomicUsize, Ordering};
use ws_core::sync::{Mutex, MutexGuard};

#[derive(Default)]
pub(crate) struct Injector {
    len: AtomicUsize,
    queue: Mutex<VecDeque<Runnable>>,
}

impl Injector {
    pub(crate) fn push(&self, runnable: Runnable) {
        self.change(|queue| queue.push_back(runnable));
    }

    /// Appends all `runnables` under one lock. The iterator must not run code of the user's.
    pub(crate) fn push_batch(&self, runnables: impl ExactSizeIterator<Item = Runnable>) {
        self.change(|queue| queue.extend(runnables));
    }

    /// Takes the oldest task.
    pub(crate) fn pull(&self) -> Option<Runnable> {
        if self.is_empty() {
            return None;
        }
        self.change(VecDeque::pop_front)
    }

    /// Takes a fair share for one of `sharers`, but at most `limit` tasks. Returns the first
    /// task and appends the others to `rest`.
    pub(crate) fn pull_batch(
        &self,
        sharers: usize,
        limit: usize,
        rest: &mut Vec<Runnable>,
    ) -> Option<Runnable> {
        if self.is_empty() {
            return None;
        }
        self.change(|queue| {
            let first = queue.pop_front()?;
            let more = (queue.len() / sharers).min(limit.saturating_sub(1));
            rest.extend(queue.drain(..more));
            Some(first)
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.len.load(Ordering::Relaxed)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn change<R>(&self, change: impl FnOnce(&mut VecDeque<Runnable>) -> R) -> R {
        let mut queue = self.lock();
        let result = change(&mut queue);
        self.len.store(queue.len(), Ordering::Relaxed);
        result
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, VecDeque<Runnable>> {
        // No user code runs under the lock, so the queue is consistent whatever happened.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
