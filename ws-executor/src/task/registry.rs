//! The tasks that wait, so that a shutdown can reach them.
//!
//! A task that is due to run is in a queue, and is dropped with the queue. One that
//! waits is nowhere: only whatever will wake it knows it. So a task takes a seat
//! here when it has to wait for the first time, and gives it up when its future is
//! gone; a task that never waits costs nothing. On a shutdown every seated task is
//! woken, and thereby scheduled, and thereby refused and dropped.
//!
//! The seats are in shards, each under its own lock; a worker uses its own one, so
//! two meet only when a task ends on another worker than it began to wait on.

use std::mem;
use std::task::Waker;

use ws_core::sync::{CachePadded, Mutex, MutexGuard};

/// All seats of one executor.
pub struct Registry {
    shards: Box<[CachePadded<Mutex<Seats>>]>,
}

#[derive(Default)]
struct Seats {
    seats: Vec<Entry>,
    /// The first free seat, if any.
    free: Option<u32>,
    closed: bool,
}

enum Entry {
    Taken(Waker),
    Free { next: Option<u32> },
}

/// A task's seat. It is given back with [`Registry::leave`].
#[must_use = "a seat that is not given back stays taken"]
#[derive(Debug)]
pub struct Seat {
    shard: u32,
    number: u32,
}

impl Registry {
    /// As many shards as there are workers.
    pub fn new(workers: usize) -> Self {
        let shard = |_| CachePadded::new(Mutex::new(Seats::default()));
        Self {
            shards: (0..workers).map(shard).collect(),
        }
    }

    /// Seats a task in the shard of `worker`; refuses when that is closed.
    pub fn enter(&self, worker: usize, waker: &Waker) -> Option<Seat> {
        let waker = waker.clone();
        let mut shard = self.lock(worker);
        if shard.closed {
            drop(shard);
            return None;
        }
        let number = shard.take_free(waker);
        Some(Seat {
            shard: worker as u32,
            number,
        })
    }

    /// Gives a seat back.
    pub fn leave(&self, seat: Seat) {
        let mut shard = self.lock(seat.shard as usize);
        let waker = shard.release(seat.number);
        // No waker is dropped under the lock: it may be the task's last reference.
        drop(shard);
        drop(waker);
    }

    /// Wakes every seated task of one shard, and refuses all further ones.
    pub fn close(&self, worker: usize) {
        let mut shard = self.lock(worker);
        shard.closed = true;
        let wakers: Vec<Waker> = shard.seats.iter().filter_map(Entry::waker).collect();
        // Outside the lock: a task that is dropped gives up its seat.
        drop(shard);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Closes all shards.
    pub fn close_all(&self) {
        (0..self.shards.len()).for_each(|worker| self.close(worker));
    }

    fn lock(&self, shard: usize) -> MutexGuard<'_, Seats> {
        // No user code runs under the lock, so it is not poisoned.
        self.shards[shard]
            .lock()
            .expect("the registry's lock is never poisoned")
    }
}

impl Seats {
    fn take_free(&mut self, waker: Waker) -> u32 {
        let Some(number) = self.free else {
            self.seats.push(Entry::Taken(waker));
            return u32::try_from(self.seats.len() - 1).expect("fewer than 2^32 tasks wait");
        };
        let seat = &mut self.seats[number as usize];
        if let Entry::Free { next } = mem::replace(seat, Entry::Taken(waker)) {
            self.free = next;
        }
        number
    }

    fn release(&mut self, number: u32) -> Entry {
        let free = Entry::Free { next: self.free };
        self.free = Some(number);
        mem::replace(&mut self.seats[number as usize], free)
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
