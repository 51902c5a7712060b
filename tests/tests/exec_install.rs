//! `install` runs a closure on a worker and waits for it.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread::{self, ThreadId};

use tests::census::stress_rounds;
use tests::drops::Drops;
use tests::exec::{assert_alive, executor, on_worker, payload_of, until};
use tests::watchdog::guard;
use ws_executor::{Executor, Handle, install, join};

/// The executor that the calling code is on, by its number of workers, and the thread.
fn here() -> (Option<usize>, ThreadId) {
    let handle = Handle::try_current().ok();
    (
        handle.map(|handle| handle.workers()),
        thread::current().id(),
    )
}

/// Whether the calling thread is a worker: only there, a join stays on its thread.
fn joins_here(executor: &Executor) -> bool {
    let me = thread::current().id();
    executor.join(|| thread::current().id(), || ()).0 == me
}

#[test]
fn from_outside_it_runs_on_a_worker() {
    guard("outside", || {
        let executor = executor(2);
        let me = thread::current().id();
        for _ in 0..100 {
            let (found, thread) = executor.install(here);
            assert_eq!(found, Some(2));
            assert_ne!(thread, me);
            assert!(executor.install(|| joins_here(&executor)));
        }
        // A thread in `block_on` is not a worker either.
        let (_, thread) = executor.block_on(async { executor.handle().install(here) });
        assert_ne!(thread, me);
    });
}

#[test]
fn on_a_worker_it_is_a_call() {
    guard("inside", || {
        let executor = executor(2);
        let (outer, inner) = on_worker(&executor, || (here(), executor.install(here)));
        assert_eq!(outer, inner);
        // One inside the other, on a single worker, which nobody else could relieve.
        let single = tests::exec::executor(1);
        let depth = single.install(|| single.install(|| single.handle().install(|| install(|| 4))));
        assert_eq!(depth, 4);
    });
}

#[test]
fn on_a_worker_of_another_executor_it_goes_to_its_own() {
    guard("another", || {
        let (executor, other) = (executor(1), executor(2));
        let (found, thread) = on_worker(&other, || executor.install(here));
        assert_eq!(found, Some(1));
        assert_eq!(thread, executor.install(here).1);
        // The function without an executor stays where it is.
        let (outer, inner) = on_worker(&other, || (here(), install(here)));
        assert_eq!(outer, inner);
        // And takes that of the innermost `block_on`.
        assert_eq!(executor.block_on(async { install(here) }).0, Some(1));
    });
}

/// The closure borrows, and gives back what need not be `'static`.
#[test]
fn it_borrows() {
    guard("borrows", || {
        let executor = executor(2);
        let mut numbers: Vec<u64> = (0..1_000).collect();
        let first = executor.install(|| {
            let (low, high) = numbers.split_at_mut(500);
            join(
                || low.iter_mut().for_each(|number| *number += 1),
                || high.iter_mut().for_each(|number| *number += 2),
            );
            &numbers[..1]
        });
        assert_eq!(first, [1]);
        assert_eq!(numbers.iter().sum::<u64>(), 499_500 + 500 + 1_000);
    });
}

#[test]
fn a_panic_goes_on_at_the_caller() {
    guard("panic", || {
        let executor = executor(2);
        for _ in 0..20 {
            let drops = Drops::of(1);
            let item = drops.item(0);
            let payload = payload_of(|| {
                executor.install(|| {
                    let _item = item;
                    std::panic::panic_any(7_u8);
                })
            });
            assert_eq!(payload.downcast_ref::<u8>(), Some(&7));
            drops.assert_each_once();
        }
        assert_alive(&executor);
    });
}

/// The outcome of a `join` from outside: the closure runs here.
#[test]
fn after_the_shutdown_it_runs_on_the_caller() {
    guard("shut down", || {
        let executor = executor(2);
        let handle = executor.handle();
        executor.shutdown();
        assert_eq!(handle.install(here).1, thread::current().id());
        let payload = payload_of(|| handle.install(|| std::panic::panic_any(8_u8)));
        assert_eq!(payload.downcast_ref::<u8>(), Some(&8));
    });
}

#[test]
fn it_runs_once_whenever_the_shutdown_comes() {
    guard("race", || {
        for _ in 0..stress_rounds(60) {
            let executor = executor(2);
            let (calls, runs) = (AtomicU64::new(0), AtomicU64::new(0));
            thread::scope(|threads| {
                for _ in 0..3 {
                    let handle = executor.handle();
                    let (calls, runs) = (&calls, &runs);
                    threads.spawn(move || {
                        // Until one has come too late.
                        until(|| {
                            calls.fetch_add(1, Ordering::Relaxed);
                            let late = handle.is_shut_down();
                            handle.install(|| runs.fetch_add(1, Ordering::Relaxed));
                            late
                        });
                    });
                }
                executor.shutdown();
            });
            assert_eq!(calls.into_inner(), runs.into_inner());
        }
    });
}

/// Threads outside that install at the same time share the workers.
#[test]
fn many_at_once() {
    guard("many", || {
        let executor = executor(2);
        let runs = AtomicUsize::new(0);
        thread::scope(|threads| {
            for _ in 0..4 {
                threads.spawn(|| {
                    for _ in 0..stress_rounds(200) {
                        executor.install(|| runs.fetch_add(1, Ordering::Relaxed));
                    }
                });
            }
        });
        assert_eq!(runs.into_inner() as u64, 4 * stress_rounds(200));
    });
}
