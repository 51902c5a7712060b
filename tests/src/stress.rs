//! A little scheduler that moves numbers through queues and counts them.
//!
//! Each worker pushes its share of the numbers through its own queue, pops some,
//! steals from everyone, and sends what overflows to a common queue. In the end
//! each number was seen once, by anyone.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use ws_core::chase_lev::{self, Race};
use ws_core::{FastRand, Steal, ring};

use crate::census::Census;

/// A queue of numbers, as a worker uses it.
pub trait Queue: Sized + Send {
    /// The half for thieves.
    type Stealer: Send + Sync;

    /// About how many items a worker pushes and pops in one go.
    fn burst(rand: &mut FastRand) -> u32;

    /// Pushes `item`; what has to go elsewhere goes to `overflow`.
    fn push(&self, item: u64, overflow: impl FnOnce(&mut dyn Iterator<Item = u64>));

    /// Takes an item.
    fn pop(&self) -> Option<u64>;

    /// Steals in one of several ways: one item, or several into this queue.
    fn steal(&self, victim: &Self::Stealer, rand: &mut FastRand) -> Steal<u64>;
}

/// Moves the numbers `0..items` through `queues`, one worker each.
///
/// # Panics
///
/// If a number was lost or seen twice.
pub fn conserve<Q: Queue>(items: u64, queues: Vec<(Q, Q::Stealer)>) {
    let (owners, stealers): (Vec<Q>, Vec<Q::Stealer>) = queues.into_iter().unzip();
    let common = Mutex::new(VecDeque::new());
    let next = AtomicU64::new(0);
    let left = AtomicU64::new(items);

    let work = |me: usize, owner: Q| {
        let mut rand = FastRand::for_worker(1, me);
        let mut census = Census::of(items);
        let mut see = |item: u64| {
            census.see(item);
            left.fetch_sub(1, Ordering::Relaxed);
        };
        while left.load(Ordering::Relaxed) > 0 {
            let burst = u64::from(Q::burst(&mut rand));
            let first = next.fetch_add(burst, Ordering::Relaxed);
            for item in first..(first + burst).min(items) {
                owner.push(item, |overflow| common.lock().unwrap().extend(overflow));
            }
            for _ in 0..Q::burst(&mut rand) {
                owner.pop().into_iter().for_each(&mut see);
            }
            for victim in rand.victims(stealers.len(), me) {
                let stolen = owner.steal(&stealers[victim], &mut rand);
                stolen.success().into_iter().for_each(&mut see);
            }
            if first >= items {
                std::iter::from_fn(|| owner.pop()).for_each(&mut see);
                let rest = std::mem::take(&mut *common.lock().unwrap());
                rest.into_iter().for_each(&mut see);
            }
        }
        census
    };

    let censuses: Vec<Census> = thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = (owners.into_iter().enumerate())
            .map(|(me, owner)| scope.spawn(move || work(me, owner)))
            .collect();
        let censuses = threads.into_iter().map(|thread| thread.join().unwrap());
        censuses.collect()
    });
    Census::assert_each_once(censuses);
}

impl<const N: usize> Queue for ring::Owner<u64, N> {
    type Stealer = ring::Stealer<u64, N>;

    fn burst(rand: &mut FastRand) -> u32 {
        rand.below(2 * N as u32)
    }

    fn push(&self, item: u64, overflow: impl FnOnce(&mut dyn Iterator<Item = u64>)) {
        if let Err(mut batch) = self.push_or_overflow(item) {
            overflow(&mut batch);
        }
    }

    fn pop(&self) -> Option<u64> {
        self.pop()
    }

    fn steal(&self, victim: &Self::Stealer, rand: &mut FastRand) -> Steal<u64> {
        match rand.below(4) {
            0 => victim.steal(),
            1 => victim.steal_into_limited(self, 3),
            _ => victim.steal_into(self),
        }
    }
}

/// Items on the heap, so that one that is taken twice is freed twice.
impl<R: Race + Send + Sync> Queue for chase_lev::Owner<Box<u64>, R> {
    type Stealer = chase_lev::Stealer<Box<u64>, R>;

    /// Mostly few items, so that owner and thieves meet at the last one; now and
    /// then many, so that the deque grows.
    fn burst(rand: &mut FastRand) -> u32 {
        match rand.below(200) {
            0 => 300,
            _ => rand.below(5),
        }
    }

    fn push(&self, item: u64, _: impl FnOnce(&mut dyn Iterator<Item = u64>)) {
        self.push(Box::new(item));
    }

    fn pop(&self) -> Option<u64> {
        self.pop().map(|item| *item)
    }

    fn steal(&self, victim: &Self::Stealer, rand: &mut FastRand) -> Steal<u64> {
        let stolen = match rand.below(2) {
            0 => victim.steal(),
            _ => victim.steal_into_limited(self, 8),
        };
        stolen.map(|item| *item)
    }
}
