//! The tasks that wait, so that a shutdown can reach them.
//!
//! A task that is due to run is in a queue, and is dropped with the queue. A task that waits is
//! in no queue: only the holder of its waker knows it. So a task takes an *entry* here when
//! it must wait for the first time. The entry holds its waker. The task gives the entry back when
//! its future is gone. A task that never waits costs nothing. A shutdown wakes every registered
//! task, which is thereby scheduled, refused and dropped.
//!
//! The entries are in shards, each under its own lock. A worker uses its own shard, so two
//! workers meet only when a task ends on another worker than the one where it began to wait.
//! The last shard is for threads that are not workers. A shutdown closes all shards. A worker
//! whose host gives up closes its own shard.

use std::mem;
use std::task::Waker;

use ws_core::sync::{CachePadded, Mutex, MutexGuard};

/// All entries of one executor.
pub struct Registry {
    shards: Box<[CachePadded<Mutex<Entries>>]>,
}

#[derive(Default)]
struct Entries {
    list: Vec<Entry>,
    /// The first free entry, if any.
    free: Option<u32>,
    /// How many entries are taken.
    taken: usize,
    closed: bool,
}

enum Entry {
    Taken(Waker),
    Free { next: Option<u32> },
}

/// The key of a task's entry. The entry is given back with [`Registry::leave`].
#[must_use = "an entry that is not given back stays taken"]
#[derive(Debug)]
pub struct RegistryKey {
    shard: u32,
    number: u32,
}

impl RegistryKey {
    /// The key as a number of 63 bits.
    pub(super) fn bits(&self) -> u64 {
        u64::from(self.number) << 31 | u64::from(self.shard)
    }

    /// The key of this number.
    pub(super) fn from_bits(bits: u64) -> Self {
        Self {
            shard: (bits & ((1 << 31) - 1)) as u32,
            number: (bits >> 31) as u32,
        }
    }
}

impl Registry {
    /// A registry with `shards` shards.
    pub fn new(shards: usize) -> Self {
        let shard = |_| CachePadded::new(Mutex::new(Entries::default()));
        Self {
            shards: (0..shards).map(shard).collect(),
        }
    }

    /// The shard for threads that have none of their own: the last one.
    pub fn common_shard(&self) -> usize {
        self.shards.len() - 1
    }

    /// Gives a task an entry in a shard; `None` if the shard is closed.
    pub fn enter(&self, number: usize, waker: &Waker) -> Option<RegistryKey> {
        let waker = waker.clone();
        let mut shard = self.lock(number);
        if shard.closed {
            drop(shard);
            return None;
        }
        let key = shard.take_free(waker);
        Some(RegistryKey {
            shard: number as u32,
            number: key,
        })
    }

    /// Gives an entry back. Returns whether its shard is closed.
    pub fn leave(&self, key: RegistryKey) -> bool {
        let mut shard = self.lock(key.shard as usize);
        let waker = shard.release(key.number);
        let closed = shard.closed;
        // No waker is dropped under the lock: it may be the task's last reference.
        drop(shard);
        drop(waker);
        closed
    }

    /// Whether all shards are closed and no entry is taken. Once true, this stays true.
    pub fn is_finished(&self) -> bool {
        let is_finished = |number| {
            let shard = self.lock(number);
            shard.closed && shard.taken == 0
        };
        (0..self.shards.len()).all(is_finished)
    }

    /// Closes one shard: calls `wake` for every task that is registered there, and refuses all
    /// further ones.
    pub fn close(&self, number: usize, wake: impl FnMut(Waker)) {
        let mut shard = self.lock(number);
        shard.closed = true;
        let wakers: Vec<Waker> = shard.list.iter().filter_map(Entry::waker).collect();
        // Outside the lock: a task that is dropped gives its entry back.
        drop(shard);
        wakers.into_iter().for_each(wake);
    }

    /// The waker in an entry. If the entry was given back, it is the waker of another task, or
    /// there is none.
    pub fn waker(&self, key: &RegistryKey) -> Option<Waker> {
        self.lock(key.shard as usize).list[key.number as usize].waker()
    }

    /// Whether no entry is taken; looks at one shard after the other.
    pub fn is_empty(&self) -> bool {
        (0..self.shards.len()).all(|shard| self.lock(shard).taken == 0)
    }

    /// Closes all shards.
    pub fn close_all(&self, mut wake: impl FnMut(Waker)) {
        (0..self.shards.len()).for_each(|number| self.close(number, &mut wake));
    }

    fn lock(&self, shard: usize) -> MutexGuard<'_, Entries> {
        // No user code runs under the lock, so it is not poisoned.
        self.shards[shard]
            .lock()
            .expect("the registry's lock is never poisoned")
    }
}

impl Entries {
    fn take_free(&mut self, waker: Waker) -> u32 {
        self.taken += 1;
        let Some(number) = self.free else {
            self.list.push(Entry::Taken(waker));
            return u32::try_from(self.list.len() - 1).expect("fewer than 2^32 tasks wait");
        };
        let key = &mut self.list[number as usize];
        if let Entry::Free { next } = mem::replace(key, Entry::Taken(waker)) {
            self.free = next;
        }
        number
    }

    fn release(&mut self, number: u32) -> Entry {
        self.taken -= 1;
        let free = Entry::Free { next: self.free };
        self.free = Some(number);
        mem::replace(&mut self.list[number as usize], free)
    }
}

impl Entry {
    fn waker(&self) -> Option<Waker> {
        match self {
            Entry::Taken(waker) => Some(waker.clone()),
            Entry::Free { .. } => None,
        }
    }
}
