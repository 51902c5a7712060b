//! The tasks that are not finished, so that the end of an executor finds them all.
//!
//! A task that waits is in no queue: only its wakers refer to it, and these may be anywhere.
//! So each task has an entry here, with one more waker, from its spawning until its future is
//! dropped. The entries are divided into shards, each behind a lock. A thread uses one shard
//! for all tasks that it spawns, so threads seldom compete for a lock.

use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use pin_project_lite::pin_project;
use slab::Slab;
use ws_core::sync::CachePadded;

use crate::thread_number::thread_number;

/// A power of two. Not measured.
const SHARDS: usize = 8;

#[derive(Default)]
pub(crate) struct Registry {
    shards: [CachePadded<Mutex<Slab<Waker>>>; SHARDS],
}

/// Where a task is in the registry.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    shard: usize,
    key: usize,
}

impl Registry {
    /// Enters a task. `make` receives the task's entry, and returns a waker of the task and a
    /// result. `make` runs under a lock, so it must not call code of the user's.
    pub(crate) fn enter<R>(&self, make: impl FnOnce(Entry) -> (Waker, R)) -> R {
        let shard = thread_number() % SHARDS;
        let mut tasks = self.lock(shard);
        let vacant = tasks.vacant_entry();
        let key = vacant.key();
        let (waker, result) = make(Entry { shard, key });
        vacant.insert(waker);
        result
    }

    fn leave(&self, entry: Entry) {
        let waker = self.lock(entry.shard).try_remove(entry.key);
        // The waker is the task's own, so its drop runs no code of the user's. It is dropped
        // after the lock is released all the same.
        drop(waker);
    }

    /// Wakes every task.
    pub(crate) fn wake_all(&self) {
        for shard in 0..SHARDS {
            let wakers: Vec<Waker> = self.lock(shard).iter().map(|(_, w)| w.clone()).collect();
            wakers.into_iter().for_each(Waker::wake);
        }
    }

    /// How many tasks there are, at some moment.
    pub(crate) fn len(&self) -> usize {
        (0..SHARDS).map(|shard| self.lock(shard).len()).sum()
    }

    /// Whether there is no task. All shards are checked at one moment: otherwise a task could
    /// spawn a task into a shard that was checked already, and end before its own shard is
    /// checked.
    pub(crate) fn is_empty(&self) -> bool {
        let shards: [_; SHARDS] = std::array::from_fn(|shard| self.lock(shard));
        shards.iter().all(|tasks| tasks.is_empty())
    }

    fn lock(&self, shard: usize) -> MutexGuard<'_, Slab<Waker>> {
        // No user code runs under the lock, so the shard is consistent whatever happened.
        self.shards[shard]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// A value through which a task has access to the registry for as long as the task lives.
pub(crate) trait Registrar {
    fn registry(&self) -> &Registry;
}

pin_project! {
    /// A future that leaves the registry after it was dropped.
    pub(crate) struct Registered<F, R: Registrar> {
        // The fields are dropped in this order, so the task is still in the registry while
        // its future is being dropped.
        #[pin]
        future: F,
        membership: Membership<R>,
    }
}

impl<F, R: Registrar> Registered<F, R> {
    pub(crate) fn new(future: F, entry: Entry, registrar: R) -> Self {
        Self {
            future,
            membership: Membership { entry, registrar },
        }
    }
}

impl<F: Future, R: Registrar> Future for Registered<F, R> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        self.project().future.poll(cx)
    }
}

struct Membership<R: Registrar> {
    entry: Entry,
    registrar: R,
}

impl<R: Registrar> Drop for Membership<R> {
    fn drop(&mut self) {
        self.registrar.registry().leave(self.entry);
    }
}
