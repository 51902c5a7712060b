//! What is in a join when its executor ends, ends first.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use tests::census::stress_rounds;
use tests::exec::{Gate, executor, until};
use tests::watchdog;
use ws_executor::{Handle, join};

use super::{fib, join_stolen};

#[test]
fn a_shutdown_waits_for_both_closures() {
    watchdog::guard("shutdown", || {
        for _ in 0..20 {
            let executor = executor(2);
            let handle = executor.handle();
            let (begun, begins) = mpsc::channel();
            let ended = Arc::new(AtomicU64::new(0));
            let (closed, count) = (handle.clone(), Arc::clone(&ended));
            let task = executor.spawn(async move {
                let end = || {
                    until(|| closed.is_shut_down());
                    count.fetch_add(1, Ordering::SeqCst);
                    // Joins go on as before, on those who are in one.
                    fib(10)
                };
                let both = join_stolen(
                    || {
                        begun.send(()).unwrap();
                        end()
                    },
                    end,
                );
                count.fetch_add(both.0 + both.1, Ordering::SeqCst);
            });
            begins.recv().unwrap();
            executor.shutdown();
            assert_eq!(ended.load(Ordering::SeqCst), 2 + 55 + 55);
            // The poll came to its end, but nobody was to get the output.
            assert!(task.is_finished());
        }
    });
}

#[test]
fn a_closure_may_shut_its_executor_down() {
    watchdog::guard("from inside", || {
        for workers in [1, 2] {
            let executor = executor(workers);
            let handle = executor.handle();
            let (sends, receives) = mpsc::channel();
            handle
                .spawn(async move {
                    let (a, b) = join(
                        || {
                            executor.shutdown();
                            fib(12)
                        },
                        || fib(13),
                    );
                    sends.send((a, b)).unwrap();
                })
                .detach();
            assert_eq!(receives.recv(), Ok((144, 233)));
            assert!(handle.is_shut_down());
        }
    });
}

/// A join from outside gives its results whether or not there are still workers.
#[test]
fn joins_from_outside_race_with_the_shutdown() {
    watchdog::guard("race", || {
        for round in 0..stress_rounds(60) {
            let executor = executor(2);
            let late = AtomicU64::new(0);
            thread::scope(|threads| {
                for _ in 0..4 {
                    let handle = executor.handle();
                    let late = &late;
                    threads.spawn(move || {
                        // Until some have come too late.
                        for _ in 0..10 {
                            until(|| {
                                let text = String::from("borrowed");
                                assert_eq!(handle.join(|| text.len(), || fib(6)), (8, 8));
                                handle.is_shut_down()
                            });
                            late.fetch_add(1, Ordering::Relaxed);
                        }
                    });
                }
                if round % 2 == 0 {
                    thread::yield_now();
                }
                executor.shutdown();
            });
            assert_eq!(late.into_inner(), 40);
        }
    });
}

/// A drain is not over while there is a join, and runs what that spawns.
#[test]
fn a_drain_waits_for_joins_and_what_follows_from_them() {
    watchdog::guard("drain", || {
        for round in 0..10 {
            let executor = executor(2);
            let (gate, ran) = (Gate::new(), Arc::new(AtomicBool::new(false)));
            let (closed, runs) = (gate.clone(), Arc::clone(&ran));
            executor
                .spawn(async move {
                    let handle = Handle::current();
                    // One of them waits for the other, and sleeps.
                    join_stolen(
                        || (),
                        || {
                            closed.wait();
                            let follows = async move { runs.store(true, Ordering::SeqCst) };
                            handle.spawn(follows).detach();
                        },
                    );
                })
                .detach();
            thread::scope(|threads| {
                threads.spawn(|| executor.drain());
                // Time for a drain that would be over too soon.
                thread::sleep(Duration::from_millis(round));
                gate.open();
            });
            assert!(ran.load(Ordering::SeqCst));
        }
    });
}
