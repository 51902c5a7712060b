//! Closures of a scope run, whatever becomes of the executor.

use std::sync::atomic::AtomicU64;
use std::sync::mpsc;
use std::thread;

use tests::exec::{executor, hold, until};
use tests::watchdog;

use super::grow;

/// Those that wait in a queue run on a thread that shuts down: the one that calls `shutdown`,
/// or a worker at its end. Never on the thread of the scope, which only waits.
#[test]
fn a_shutdown_runs_those_that_wait() {
    watchdog::guard("leftovers", || {
        for workers in [1, 2] {
            let executor = executor(workers);
            let handle = executor.handle();
            let held = hold(&executor);
            let count = AtomicU64::new(0);
            thread::scope(|threads| {
                let (given, gives) = mpsc::channel();
                let count = &count;
                let scoped = handle.clone();
                threads.spawn(move || {
                    let me = thread::current().id();
                    scoped.scope(|s| {
                        for _ in 0..100 {
                            s.run(move |s| {
                                assert_ne!(thread::current().id(), me);
                                grow(s, count, 2);
                            });
                        }
                        given.send(()).unwrap();
                    });
                });
                gives.recv().unwrap();
                held.until_closed(handle.clone());
                executor.shutdown();
            });
            assert_eq!(count.into_inner(), 700);
        }
    });
}

#[test]
fn on_an_executor_that_is_shut_down() {
    watchdog::guard("shut down", || {
        let executor = executor(2);
        let handle = executor.handle();
        executor.shutdown();
        let count = AtomicU64::new(0);
        handle.scope(|s| grow(s, &count, 5));
        assert_eq!(count.into_inner(), 63);
    });
}

/// A worker that is in a scope when the executor is closed runs its closures, also if the
/// body is in a `block_on` that waits for one.
#[test]
fn a_worker_runs_its_closures_after_the_shutdown() {
    watchdog::guard("on a worker", || {
        for workers in [1, 2] {
            let executor = executor(workers);
            let handle = executor.handle();
            let (begins, begun) = mpsc::channel();
            let (ends, ended) = mpsc::channel();
            handle
                .clone()
                .spawn(async move {
                    let count = AtomicU64::new(0);
                    handle.scope(|s| {
                        begins.send(()).unwrap();
                        until(|| handle.is_shut_down());
                        // Nobody else is left to take them.
                        grow(s, &count, 5);
                        let (sends, receives) = futures::channel::oneshot::channel();
                        s.run(|_| sends.send(()).unwrap());
                        handle.block_on(receives).unwrap();
                    });
                    ends.send(count.into_inner()).unwrap();
                })
                .detach();
            begun.recv().unwrap();
            executor.shutdown();
            assert_eq!(ended.recv(), Ok(63));
        }
    });
}

/// Scopes from outside and from tasks, while the executor ends.
#[test]
fn scopes_race_with_the_shutdown() {
    watchdog::guard("race", || {
        for _ in 0..tests::census::stress_rounds(40) {
            let executor = executor(2);
            thread::scope(|threads| {
                for _ in 0..3 {
                    let handle = executor.handle();
                    threads.spawn(move || {
                        until(|| {
                            let count = AtomicU64::new(0);
                            handle.scope(|s| grow(s, &count, 3));
                            assert_eq!(count.into_inner(), 15);
                            handle.is_shut_down()
                        });
                    });
                }
                thread::yield_now();
                executor.shutdown();
            });
        }
    });
}
