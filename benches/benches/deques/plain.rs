//! `VecDeque`: behind a lock, what one would write first; alone, the floor.

use std::collections::VecDeque;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex};

use ws_core::Steal;

use crate::queue::{CAPACITY, Queue, Shared, half};

/// From which end the owner pops; thieves always take the oldest.
pub(crate) trait Order: 'static {
    const IS_FIFO: bool;

    fn pop(items: &mut VecDeque<usize>) -> Option<usize>;
}

pub(crate) struct Fifo;

impl Order for Fifo {
    const IS_FIFO: bool = true;

    #[inline(always)]
    fn pop(items: &mut VecDeque<usize>) -> Option<usize> {
        items.pop_front()
    }
}

pub(crate) struct Lifo;

impl Order for Lifo {
    const IS_FIFO: bool = false;

    #[inline(always)]
    fn pop(items: &mut VecDeque<usize>) -> Option<usize> {
        items.pop_back()
    }
}

/// A `VecDeque` that no other thread can reach.
pub(crate) struct Floor<O> {
    items: VecDeque<usize>,
    order: PhantomData<O>,
}

impl<O: Order> Queue for Floor<O> {
    const NAME: &'static str = "VecDeque";

    fn new() -> Self {
        Self {
            items: VecDeque::with_capacity(CAPACITY),
            order: PhantomData,
        }
    }

    #[inline(always)]
    fn push(&mut self, item: usize) -> bool {
        self.items.push_back(item);
        true
    }

    #[inline(always)]
    fn pop(&mut self) -> Option<usize> {
        O::pop(&mut self.items)
    }

    #[inline(always)]
    fn steal_half(&mut self, loot: &mut Self, limit: usize) -> Steal<usize> {
        take_half(&mut self.items, &mut loot.items, limit)
    }
}

/// A `VecDeque` behind a lock.
pub(crate) struct Locked<O> {
    items: Arc<Mutex<VecDeque<usize>>>,
    order: PhantomData<O>,
}

impl<O: Order> Queue for Locked<O> {
    const NAME: &'static str = "Mutex<VecDeque>";

    fn new() -> Self {
        Self {
            items: Arc::new(Mutex::new(VecDeque::with_capacity(CAPACITY))),
            order: PhantomData,
        }
    }

    #[inline(always)]
    fn push(&mut self, item: usize) -> bool {
        self.items.lock().unwrap().push_back(item);
        true
    }

    #[inline(always)]
    fn pop(&mut self) -> Option<usize> {
        O::pop(&mut self.items.lock().unwrap())
    }

    #[inline(always)]
    fn steal_half(&mut self, loot: &mut Self, limit: usize) -> Steal<usize> {
        Self::steal(&self.items, loot, limit)
    }
}

impl<O: Order> Shared for Locked<O> {
    type Stealer = Arc<Mutex<VecDeque<usize>>>;

    fn stealer(&self) -> Self::Stealer {
        Arc::clone(&self.items)
    }

    #[inline(always)]
    fn steal(victim: &Self::Stealer, loot: &mut Self, limit: usize) -> Steal<usize> {
        take_half(
            &mut victim.lock().unwrap(),
            &mut loot.items.lock().unwrap(),
            limit,
        )
    }
}

#[inline(always)]
fn take_half(
    victim: &mut VecDeque<usize>,
    loot: &mut VecDeque<usize>,
    limit: usize,
) -> Steal<usize> {
    let count = half(victim.len(), limit);
    let Some(first) = victim.pop_front() else {
        return Steal::Empty;
    };
    loot.extend(victim.drain(..count - 1));
    Steal::Success(first)
}
