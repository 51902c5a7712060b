//! The cases of one thread.
//!
//! Each has one measured loop, which is compiled for every queue from the same
//! source and never inlined, so that all of them start alike. Items go through
//! [`black_box`] one by one, on their way in and out. The queue itself does so
//! once a burst: what a queue keeps in registers meanwhile is its merit.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use benches::clock::Stopwatch;

use crate::queue::{CAPACITY, Queue};
use crate::{Figures, Settings};

/// Items between two reads of the clock where a case may choose. A read costs
/// some 25 ns, so a hundredth of a nanosecond per item.
const CHUNK: usize = 4096;

/// Queues that a short case prepares, and then measures in one go.
///
/// With two of them per turn, and slots of 2 KiB, they just fit the first-level
/// cache of 48 KiB.
const PREPARED: usize = 8;

/// Repeats `chunk`, which returns the time that `items` items took, for the span
/// of a sample.
fn sample(
    settings: Settings,
    items: usize,
    mut chunk: impl FnMut() -> Duration,
) -> Option<Figures> {
    // The first one pays for cold caches and for growth.
    chunk();
    let (mut time, mut chunks) = (Duration::ZERO, 0_u32);
    let watch = Stopwatch::start();
    let lap = loop {
        time += chunk().saturating_sub(settings.clock);
        chunks += 1;
        if watch.elapsed() >= settings.span {
            break watch.lap();
        }
    };
    let per_item = time.as_secs_f64() * 1e9 / (f64::from(chunks) * items as f64);
    lap.is_undisturbed().then_some([per_item, f64::NAN])
}

/// What an uncontended compare-and-swap takes, in ns: the least that a pop can
/// cost from which no thief may get the same item. One such instruction, or a
/// fence, is unavoidable (Attiya et al., *Laws of Order*, POPL 2011).
pub(crate) fn compare_and_swap() -> f64 {
    const COUNT: u64 = 100_000;
    let word = AtomicU64::new(0);
    let word = black_box(&word);
    let turn = |_| {
        let start = Instant::now();
        for value in 0..COUNT {
            // ORDERING: that of the ring's pop.
            let order = (Ordering::AcqRel, Ordering::Acquire);
            assert!(
                word.compare_exchange(value, value + 1, order.0, order.1)
                    .is_ok()
            );
        }
        let time = start.elapsed();
        word.store(0, Ordering::Relaxed);
        time.as_secs_f64() * 1e9 / COUNT as f64
    };
    (0..20).map(turn).fold(f64::INFINITY, f64::min)
}

/// Pushes `burst` items and pops them, over and over: ns per pair.
pub(crate) fn pairs<Q: Queue>(settings: Settings, burst: usize) -> Option<Figures> {
    let mut queue = Q::new();
    let bursts = CHUNK / burst;
    sample(settings, bursts * burst, || {
        let start = Instant::now();
        push_and_pop(&mut queue, bursts, burst);
        start.elapsed()
    })
}

#[inline(never)]
fn push_and_pop<Q: Queue>(queue: &mut Q, bursts: usize, burst: usize) {
    for _ in 0..bursts {
        let queue = black_box(&mut *queue);
        for item in 0..burst {
            assert!(queue.push(black_box(item)));
        }
        for _ in 0..burst {
            black_box(queue.pop());
        }
    }
}

/// Pushes until queues of [`CAPACITY`] are full: ns per push.
pub(crate) fn fill<Q: Queue>(settings: Settings) -> Option<Figures> {
    let mut queues = prepare::<Q>();
    sample(settings, PREPARED * CAPACITY, || {
        queues.iter_mut().for_each(Queue::clear);
        let start = Instant::now();
        push_all(&mut queues, CAPACITY);
        start.elapsed()
    })
}

#[inline(never)]
fn push_all<Q: Queue>(queues: &mut [Q], count: usize) {
    for queue in queues {
        let queue = black_box(queue);
        for item in 0..count {
            assert!(queue.push(black_box(item)));
        }
    }
}

/// Pops until full queues of [`CAPACITY`] are empty: ns per pop.
pub(crate) fn drain<Q: Queue>(settings: Settings) -> Option<Figures> {
    let mut queues = prepare::<Q>();
    sample(settings, PREPARED * CAPACITY, || {
        push_all(&mut queues, CAPACITY);
        let start = Instant::now();
        pop_all(&mut queues, CAPACITY);
        start.elapsed()
    })
}

#[inline(never)]
fn pop_all<Q: Queue>(queues: &mut [Q], count: usize) {
    for queue in queues {
        let queue = black_box(queue);
        for _ in 0..count {
            black_box(queue.pop());
        }
    }
}

/// Steals half out of full queues into empty ones: ns per item.
///
/// Only the steals are timed. Between two turns the sources are filled up and
/// the destinations emptied, so the items are in the cache.
pub(crate) fn half_steal<Q: Queue>(settings: Settings) -> Option<Figures> {
    const HALF: usize = CAPACITY / 2;
    let (mut victims, mut loots) = (prepare::<Q>(), prepare::<Q>());
    push_all(&mut victims, HALF);
    sample(settings, PREPARED * HALF, || {
        push_all(&mut victims, HALF);
        loots.iter_mut().for_each(Queue::clear);
        let start = Instant::now();
        steal_all(&mut victims, &mut loots, HALF);
        start.elapsed()
    })
}

#[inline(never)]
fn steal_all<Q: Queue>(victims: &mut [Q], loots: &mut [Q], limit: usize) {
    for (victim, loot) in victims.iter_mut().zip(loots) {
        let (victim, loot) = (black_box(victim), black_box(loot));
        assert!(black_box(victim.steal_half(loot, limit)).is_success());
    }
}

fn prepare<Q: Queue>() -> Vec<Q> {
    (0..PREPARED).map(|_| Q::new()).collect()
}
