//! Dividing a loop among workers, no finer than needed.
//!
//! A worker runs its part of the loop, and looks at its own lane now and then. If the lane is
//! empty, a thief has taken what the worker had offered there. Then the worker offers half of
//! what is left. So there is always something to steal, and a part that nobody steals is not
//! divided again. That is *lazy binary splitting* (Tzannes, Caragea, Barua and Vishkin, PPoPP
//! 2010). A loop over n items on one worker is divided log n times.
//!
//! A look takes a nanosecond or two, which is too much for each of many small items. So there
//! is a *block* of items between two looks. Blocks grow until they take [`BLOCK_TIME`] or have
//! [`MOST`] items. The bound [`MOST`] matters where large items follow small ones: at most that
//! many large items are kept from other workers.

use std::time::Duration;

use super::Source;
use crate::base::clock::Instant;
use crate::scheduler::fork;
use crate::scheduler::worker::{Worker, current};

/// What is done with the items of a loop.
pub(super) trait Consumer<S: Source>: Sync {
    /// The result of a part of the loop.
    type Output: Send;

    /// The output of no items; up to `items` will be fed to it.
    fn begin(&self, items: usize) -> Self::Output;

    /// Adds items to an output; they directly follow the items that are in it.
    fn feed(&self, output: Self::Output, items: S) -> Self::Output;

    /// The output of two parts; the second part directly follows the first.
    fn combine(&self, left: Self::Output, right: Self::Output) -> Self::Output;
}

/// How long a block should take: so long that the looks at the lane and at the clock do not
/// count, and much shorter than it takes to wake a worker that could help.
const BLOCK_TIME: Duration = Duration::from_micros(2);

/// The most items of a block. With 64, a sum over a slice of numbers takes a few percent
/// longer than without looks.
const MOST: usize = 64;

/// How many full blocks run between two looks at the clock.
const UNTIMED: u32 = 15;

/// Runs the whole loop, on the calling worker and on those that have time. On a thread that is
/// not a worker, the loop runs on that thread.
pub(super) fn drive<S: Source, C: Consumer<S>>(source: S, consumer: &C) -> C::Output {
    current::with_any(|worker| match worker {
        None => {
            let output = consumer.begin(source.count());
            consumer.feed(output, source)
        }
        Some(worker) => part(worker, source, consumer, Block::new()),
    })
}

/// Runs a part of the loop.
fn part<S: Source, C: Consumer<S>>(
    worker: &Worker,
    mut source: S,
    consumer: &C,
    mut block: Block,
) -> C::Output {
    let mut output = None;
    loop {
        let left = source.count();
        if left > 1 && worker.lane_is_empty() {
            let halves = halves(worker, source, consumer, block);
            return match output {
                None => halves,
                Some(output) => consumer.combine(output, halves),
            };
        }
        let (items, rest) = source.split_at(block.size().min(left));
        let so_far = output.unwrap_or_else(|| consumer.begin(left));
        let fed = consumer.feed(so_far, items);
        if rest.count() == 0 {
            return fed;
        }
        block.done();
        output = Some(fed);
        source = rest;
    }
}

/// Runs both halves of a part. The second one may be stolen.
fn halves<S: Source, C: Consumer<S>>(
    worker: &Worker,
    source: S,
    consumer: &C,
    block: Block,
) -> C::Output {
    let middle = source.count() / 2;
    let (left, right) = source.split_at(middle);
    let (left, right) = fork::join(
        worker,
        || part(worker, left, consumer, block),
        || {
            current::with_any(|worker| {
                let worker = worker.expect("forks are run by workers");
                part(worker, right, consumer, block)
            })
        },
    );
    consumer.combine(left, right)
}

/// How many items to run before the next look at the lane.
#[derive(Clone, Copy)]
struct Block {
    size: usize,
    /// How many blocks to run before the next look at the clock.
    untimed: u32,
    /// When the block began, if it is timed.
    began: Option<Instant>,
}

impl Block {
    fn new() -> Self {
        Self {
            size: 1,
            untimed: 0,
            began: None,
        }
    }

    /// Begins the next block, and returns its size.
    fn size(&mut self) -> usize {
        if self.untimed == 0 && self.began.is_none() {
            self.began = Some(Instant::now());
        }
        self.size
    }

    /// Ends the block.
    fn done(&mut self) {
        let Some(began) = self.began.take() else {
            self.untimed -= 1;
            return;
        };
        let now = Instant::now();
        let took = now - began;
        if took < BLOCK_TIME {
            self.size = (self.size * 2).min(MOST);
        } else if took > 2 * BLOCK_TIME {
            self.size = (self.size / 2).max(1);
        }
        if self.size == MOST {
            self.untimed = UNTIMED;
        } else {
            // The end of this block is the beginning of the next.
            self.began = Some(now);
        }
    }
}
