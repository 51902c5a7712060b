//! The queues of crossbeam-deque and st3.
//!
//! A crossbeam deque starts with 64 slots, doubles when it is full, and halves
//! when a pop leaves it a quarter full. A burst of 256 thus grows and shrinks it
//! every time; that is its policy, and it counts. Where a case measures something
//! else it is emptied by stealing, which shrinks nothing.

use std::marker::PhantomData;

use crossbeam_deque::{Stealer, Worker};
use st3::StealError;
use ws_core::Steal;

use crate::plain::Order;
use crate::queue::{CAPACITY, Queue, Shared, half};

pub(crate) struct Crossbeam<O> {
    worker: Worker<usize>,
    stealer: Stealer<usize>,
    order: PhantomData<O>,
}

impl<O: Order> Queue for Crossbeam<O> {
    const NAME: &'static str = if O::IS_FIFO {
        "crossbeam fifo"
    } else {
        "crossbeam lifo"
    };

    fn new() -> Self {
        let worker = if O::IS_FIFO {
            Worker::new_fifo()
        } else {
            Worker::new_lifo()
        };
        let stealer = worker.stealer();
        Self {
            worker,
            stealer,
            order: PhantomData,
        }
    }

    #[inline(always)]
    fn push(&mut self, item: usize) -> bool {
        self.worker.push(item);
        true
    }

    #[inline(always)]
    fn pop(&mut self) -> Option<usize> {
        self.worker.pop()
    }

    #[inline(always)]
    fn steal_half(&mut self, loot: &mut Self, limit: usize) -> Steal<usize> {
        Self::steal(&self.stealer, loot, limit)
    }

    fn clear(&mut self) {
        while self.stealer.steal().is_success() {}
    }
}

impl<O: Order> Shared for Crossbeam<O> {
    type Stealer = Stealer<usize>;

    fn stealer(&self) -> Self::Stealer {
        self.stealer.clone()
    }

    #[inline(always)]
    fn steal(victim: &Self::Stealer, loot: &mut Self, limit: usize) -> Steal<usize> {
        // The call without a limit takes at most 32.
        match victim.steal_batch_with_limit_and_pop(&loot.worker, limit) {
            crossbeam_deque::Steal::Empty => Steal::Empty,
            crossbeam_deque::Steal::Success(item) => Steal::Success(item),
            crossbeam_deque::Steal::Retry => Steal::Retry,
        }
    }
}

/// The two st3 queues have the same methods, but no trait for them.
macro_rules! st3 {
    ($queue:ident, $name:literal, $module:ident) => {
        pub(crate) struct $queue {
            worker: st3::$module::Worker<usize>,
            stealer: st3::$module::Stealer<usize>,
        }

        impl Queue for $queue {
            const NAME: &'static str = $name;

            fn new() -> Self {
                let worker = st3::$module::Worker::new(CAPACITY);
                let stealer = worker.stealer();
                Self { worker, stealer }
            }

            #[inline(always)]
            fn push(&mut self, item: usize) -> bool {
                self.worker.push(item).is_ok()
            }

            #[inline(always)]
            fn pop(&mut self) -> Option<usize> {
                self.worker.pop()
            }

            #[inline(always)]
            fn steal_half(&mut self, loot: &mut Self, limit: usize) -> Steal<usize> {
                Self::steal(&self.stealer, loot, limit)
            }
        }

        impl Shared for $queue {
            type Stealer = st3::$module::Stealer<usize>;

            fn stealer(&self) -> Self::Stealer {
                self.stealer.clone()
            }

            #[inline(always)]
            fn steal(victim: &Self::Stealer, loot: &mut Self, limit: usize) -> Steal<usize> {
                match victim.steal_and_pop(&loot.worker, |available| half(available, limit)) {
                    Ok((item, _)) => Steal::Success(item),
                    Err(StealError::Empty) => Steal::Empty,
                    Err(StealError::Busy) => Steal::Retry,
                }
            }
        }
    };
}

st3!(St3Fifo, "st3 fifo", fifo);
st3!(St3Lifo, "st3 lifo", lifo);
