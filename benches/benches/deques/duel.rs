//! The case of two threads: an owner at work and a thief that never sleeps.
//!
//! The owner pushes a burst and pops until nothing is left, over and over; the
//! figure is its time per item pushed. The thief, on another core, takes half of
//! what it sees (32 at most) into a queue of its own, pops that empty, and goes
//! on. If there is nothing it pauses for one [`spin_loop`] hint; if another thread
//! was in the way it tries again at once, as there is something.
//!
//! An owner is also faster if its thief is slower, so the share of the items that
//! were stolen stands beside the time. A sample counts only if both threads had
//! their cores for themselves.

use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use benches::clock::Stopwatch;
use benches::pin;
use ws_core::Steal;
use ws_core::sync::CachePadded;

use crate::queue::Shared;
use crate::{Figures, Settings};

/// The most that a thief takes at once.
const LIMIT: usize = 32;

/// Items between two reads of the clock.
const CHUNK: usize = 512;

pub(crate) fn duel<Q: Shared>(settings: Settings, burst: usize) -> Option<Figures> {
    let mut queue = Q::new();
    let victim = queue.stealer();
    // On lines of their own: the thief looks at `stop` all the time, and must not
    // disturb what the owner keeps on its stack by that.
    let flag = || CachePadded::new(AtomicBool::new(false));
    let (ready, stop): (&AtomicBool, &AtomicBool) = (&flag(), &flag());
    thread::scope(|scope| {
        let thief = scope.spawn(move || {
            pin::to(settings.thief_core);
            // ORDERING: relaxed; the flags carry no data.
            ready.store(true, Ordering::Relaxed);
            let watch = Stopwatch::start();
            let stolen = rob::<Q>(&victim, stop);
            (stolen, watch.lap())
        });
        while !ready.load(Ordering::Relaxed) {
            spin_loop();
        }
        let stop = StopOnDrop(stop);
        let watch = Stopwatch::start();
        let mut pushed = 0;
        let lap = loop {
            pushed += work(&mut queue, CHUNK / burst, burst);
            if watch.elapsed() >= settings.span {
                break watch.lap();
            }
        };
        drop(stop);
        let (stolen, thief_lap) = thief.join().expect("a thief does not panic");
        let undisturbed = lap.is_undisturbed() && thief_lap.is_undisturbed();
        let per_item = lap.wall.as_secs_f64() * 1e9 / pushed as f64;
        undisturbed.then_some([per_item, stolen as f64 / pushed as f64])
    })
}

/// Ends the thief, also if the owner panics: the scope would wait for ever.
struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The owner's loop; returns how many items it pushed.
#[inline(never)]
fn work<Q: Shared>(queue: &mut Q, bursts: usize, burst: usize) -> usize {
    for _ in 0..bursts {
        let queue = black_box(&mut *queue);
        for item in 0..burst {
            // A bounded queue is full when its thief was stopped in the midst of
            // a steal; the owner then keeps the item.
            if !queue.push(black_box(item)) {
                black_box(item);
            }
        }
        while black_box(queue.pop()).is_some() {}
    }
    bursts * burst
}

/// The thief's loop; returns how many items it stole.
#[inline(never)]
fn rob<Q: Shared>(victim: &Q::Stealer, stop: &AtomicBool) -> usize {
    let mut loot = Q::new();
    let mut stolen = 0;
    while !stop.load(Ordering::Relaxed) {
        match black_box(Q::steal(victim, &mut loot, LIMIT)) {
            Steal::Empty => spin_loop(),
            Steal::Retry => {}
            Steal::Success(_) => {
                stolen += 1;
                while black_box(loot.pop()).is_some() {
                    stolen += 1;
                }
            }
        }
    }
    stolen
}
