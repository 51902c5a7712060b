//! The numbers of the scheduler, with their reasons.

use std::time::Duration;

/// How often in a row the LIFO slot may be used before the ring has its turn. Two
/// tasks that wake each other would otherwise starve all others.
pub(crate) const LIFO_CAP: u32 = 3;

/// The fewest and the most ticks between two looks at the injector while there is
/// local work. The upper bound is the promise to tasks from outside.
pub(crate) const INJECTOR_INTERVAL: (u32, u32) = (8, 61);

/// How long a task from outside should wait at most while there is local work:
/// the interval is this, divided by the mean time of a poll. That of tokio.
pub(crate) const INJECTOR_LATENCY: Duration = Duration::from_micros(200);

/// How many jobs are taken from the injector at once, at most. A quarter of the
/// ring: others want some, too. Not measured.
pub(crate) const INJECTOR_BATCH: usize = 64;

/// How often an idle worker looks everywhere before it parks: between these, as
/// it proves useful. A futex call costs as much as some hundred looks; but on a
/// machine that has nothing to do they are a waste.
pub(crate) const SEARCH_ROUNDS: (u32, u32) = (8, 400);

/// How long the sentinel sleeps. A task that is stuck in a slot is found after one
/// to two of them.
pub(crate) const PERIOD: Duration = Duration::from_micros(450);

/// How many calls of `block_on` on one worker run other tasks while they wait, one
/// inside the other; further ones only wait. Each takes some stack.
pub(crate) const MAX_NESTING: u32 = 32;

/// How often a `block_on` outside of workers looks whether it was woken, before it
/// sleeps. Some microseconds: what a short task on a worker that is awake takes.
pub(crate) const BLOCK_ON_SPINS: u32 = 100;
