//! The queues of `ws-core`.

use ws_core::{Steal, chase_lev, ring};

use crate::queue::{CAPACITY, Queue, Shared};

pub(crate) struct Ring {
    owner: ring::Owner<usize, CAPACITY>,
    stealer: ring::Stealer<usize, CAPACITY>,
}

impl Queue for Ring {
    const NAME: &'static str = "ws ring";

    fn new() -> Self {
        let (owner, stealer) = ring::with_capacity();
        Self { owner, stealer }
    }

    #[inline(always)]
    fn push(&mut self, item: usize) -> bool {
        self.owner.push(item).is_ok()
    }

    #[inline(always)]
    fn pop(&mut self) -> Option<usize> {
        self.owner.pop()
    }

    #[inline(always)]
    fn steal_half(&mut self, loot: &mut Self, limit: usize) -> Steal<usize> {
        Self::steal(&self.stealer, loot, limit)
    }
}

impl Shared for Ring {
    type Stealer = ring::Stealer<usize, CAPACITY>;

    fn stealer(&self) -> Self::Stealer {
        self.stealer.clone()
    }

    #[inline(always)]
    fn steal(victim: &Self::Stealer, loot: &mut Self, limit: usize) -> Steal<usize> {
        victim.steal_into_limited(&loot.owner, limit)
    }
}

pub(crate) struct ChaseLev {
    owner: chase_lev::Owner<usize>,
    stealer: chase_lev::Stealer<usize>,
}

impl Queue for ChaseLev {
    const NAME: &'static str = "ws chase_lev";

    fn new() -> Self {
        let (owner, stealer) = chase_lev::with_capacity(CAPACITY);
        Self { owner, stealer }
    }

    #[inline(always)]
    fn push(&mut self, item: usize) -> bool {
        self.owner.push(item);
        true
    }

    #[inline(always)]
    fn pop(&mut self) -> Option<usize> {
        self.owner.pop()
    }

    #[inline(always)]
    fn steal_half(&mut self, loot: &mut Self, limit: usize) -> Steal<usize> {
        Self::steal(&self.stealer, loot, limit)
    }
}

impl Shared for ChaseLev {
    type Stealer = chase_lev::Stealer<usize>;

    fn stealer(&self) -> Self::Stealer {
        self.stealer.clone()
    }

    #[inline(always)]
    fn steal(victim: &Self::Stealer, loot: &mut Self, limit: usize) -> Steal<usize> {
        victim.steal_into_limited(&loot.owner, limit)
    }
}
