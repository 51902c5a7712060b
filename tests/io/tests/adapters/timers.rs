//! Timers.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures::future::{join_all, pending};
use io_tests::world::World;
use ws_executor::{Executor, Handle};

pub(crate) fn timeouts_fire_or_do_not<W: World>(_: &str) {
    let (executor, _keep) = W::start(2);
    let whole = executor.spawn(async {
        let begun = Instant::now();
        let late = W::timeout(Duration::from_millis(20), pending::<()>()).await;
        assert_eq!(late, None);
        assert!(begun.elapsed() >= Duration::from_millis(20));

        let hour = Duration::from_secs(3600);
        assert_eq!(W::timeout(hour, async { 1 }).await, Some(1));
        let short = async {
            W::sleep(Duration::from_millis(5)).await;
            2
        };
        assert_eq!(W::timeout(hour, short).await, Some(2));
        // One inside the other: the inner one fires.
        let inner = W::timeout(Duration::from_millis(5), pending::<()>());
        assert_eq!(W::timeout(hour, inner).await, Some(None));
    });
    executor.block_on(whole);
}

/// Timers that are due when the reactor is looked at fire together, in any order: so a
/// machine that stands still may swap some, but not always.
pub(crate) fn timers_fire_in_order_and_never_early<W: World>(_: &str) {
    let (executor, _keep) = W::start(1);
    let in_order = |_| {
        let order = order_of_timers::<W>(&executor);
        assert_eq!(order.len(), 50);
        let swaps = order.windows(2).filter(|pair| pair[0] > pair[1]).count();
        swaps <= 10
    };
    assert!((0..10).any(in_order));
}

/// The order in which 50 timers fire, 4 ms apart, started in a mixed order.
fn order_of_timers<W: World>(executor: &Executor) -> Vec<u32> {
    let order = Arc::new(Mutex::new(Vec::new()));
    let begun = Instant::now();
    let timers = (0..50_u32).map(|number| {
        let (number, order) = (number * 7 % 50, Arc::clone(&order));
        executor.spawn(async move {
            let due = Duration::from_millis(50) + number * Duration::from_millis(4);
            W::sleep(due.saturating_sub(begun.elapsed())).await;
            assert!(begun.elapsed() >= due, "timer {number} was early");
            order.lock().unwrap().push(number);
        })
    });
    let timers: Vec<_> = timers.collect();
    executor.block_on(join_all(timers));
    Arc::into_inner(order).unwrap().into_inner().unwrap()
}

pub(crate) fn many_timers_at_one_instant<W: World>(_: &str) {
    let timers = if cfg!(debug_assertions) {
        100_000
    } else {
        1_000_000
    };
    let (executor, _keep) = W::start(2);
    let fired = Arc::new(AtomicUsize::new(0));
    let whole = executor.spawn({
        let fired = Arc::clone(&fired);
        async move {
            let at = Instant::now() + Duration::from_millis(200);
            let tasks = Handle::current().spawn_many((0..timers).map(|_| {
                let fired = Arc::clone(&fired);
                async move {
                    W::sleep(at.saturating_duration_since(Instant::now())).await;
                    fired.fetch_add(1, Ordering::Relaxed);
                }
            }));
            for task in tasks {
                task.await;
            }
        }
    });
    executor.block_on(whole);
    assert_eq!(fired.load(Ordering::Relaxed), timers, "each fires once");
}

pub(crate) fn zero_and_endless_timers<W: World>(_: &str) {
    let (executor, _keep) = W::start(2);
    let whole = executor.spawn(async {
        for _ in 0..100 {
            W::sleep(Duration::ZERO).await;
        }
        // A timer that never fires costs nothing, and overflows nothing.
        let endless = Handle::current().spawn(W::sleep(Duration::MAX));
        W::sleep(Duration::from_millis(2)).await;
        assert!(!endless.is_finished());
        assert!(endless.cancel().await.is_none());
    });
    executor.block_on(whole);
}
