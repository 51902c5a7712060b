//! `drain`: everything that is due runs, and all that follows from it.

use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use tests::drops::Drops;
use tests::exec::{executor, hold, until};
use tests::watchdog;
use ws_executor::{Executor, Handle, yield_now};

/// A tree of tasks that nobody awaits.
fn tree(count: Arc<AtomicUsize>, depth: usize) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        count.fetch_add(1, Ordering::SeqCst);
        if depth == 0 {
            return;
        }
        yield_now().await;
        let handle = Handle::current();
        handle.spawn(tree(Arc::clone(&count), depth - 1)).detach();
        let pinned = tree(count, depth - 1);
        handle
            .spawn_pinned(depth % handle.workers(), || pinned)
            .detach();
    })
}

#[test]
fn what_follows_runs_too() {
    watchdog::guard("drain a tree", || {
        for workers in [1, 2, 4, 65] {
            for _ in 0..20 {
                let executor = executor(workers);
                let count = Arc::new(AtomicUsize::new(0));
                executor.spawn(tree(Arc::clone(&count), 6)).detach();
                executor.drain();
                assert_eq!(
                    count.load(Ordering::SeqCst),
                    (1 << 7) - 1,
                    "{workers} workers"
                );
            }
        }
    });
}

/// Little work, often: the drain comes while the workers go to sleep, or wake up.
#[test]
fn what_is_due_runs_at_the_edge_of_sleep() {
    watchdog::guard("drain at the edge", || {
        for round in 0..3_000_usize {
            let executor = executor(2);
            let handle = executor.handle();
            let count = Arc::new(AtomicUsize::new(0));
            if round % 2 == 0 {
                until(|| executor.metrics().parked_workers() == 2);
            }
            let add = || {
                let count = Arc::clone(&count);
                async move {
                    count.fetch_add(1, Ordering::SeqCst);
                    let inner = Arc::clone(&count);
                    let adds = async move { inner.fetch_add(1, Ordering::SeqCst) };
                    Handle::current().spawn(adds).detach();
                }
            };
            if round % 3 == 0 {
                executor.spawn(add()).detach();
            } else {
                let add = add();
                handle.spawn_pinned(round % 2, || add).detach();
            }
            executor.drain();
            assert_eq!(count.load(Ordering::SeqCst), 2, "round {round}");
        }
    });
}

#[test]
fn what_waits_is_dropped() {
    watchdog::guard("drain and drop", || {
        for workers in [1, 2] {
            let executor = executor(workers);
            let drops = Drops::of(20);
            let tasks: Vec<_> = (0..20)
                .map(|number| {
                    let item = drops.item(number);
                    executor.spawn(async move {
                        let _item = item;
                        if number % 2 == 0 {
                            pending::<()>().await;
                        }
                        number
                    })
                })
                .collect();
            let handle = executor.handle();
            executor.drain();
            drops.assert_each_once();
            assert!(handle.is_shut_down());
            for (number, task) in tasks.into_iter().enumerate() {
                let output = handle.block_on(task.fallible());
                assert_eq!(output, (number % 2 == 1).then_some(number));
            }
        }
    });
}

/// A worker in the middle of a poll is not idle, even if it sleeps there: what comes after
/// belongs to what is due.
#[test]
fn a_poll_that_waits_is_waited_for() {
    watchdog::guard("drain and block_on", || {
        for workers in [1, 2] {
            for _ in 0..100 {
                let executor = executor(workers);
                let handle = executor.handle();
                let (sender, receiver) = futures::channel::oneshot::channel();
                let count = Arc::new(AtomicUsize::new(0));
                let outer = {
                    let count = Arc::clone(&count);
                    executor.spawn(async move {
                        let handle = Handle::current();
                        let one = handle.block_on(handle.spawn(async { 1_usize }));
                        let two = handle.block_on(receiver).unwrap();
                        let follows = async move { count.fetch_add(one + two, Ordering::SeqCst) };
                        handle.spawn(follows).detach();
                    })
                };
                let waking = thread::spawn(move || {
                    until(|| handle.metrics().parked_workers() == workers || handle.is_shut_down());
                    // The drain has begun, most of the time.
                    for _ in 0..100 {
                        thread::yield_now();
                    }
                    assert!(!handle.is_shut_down(), "a task is in its poll");
                    sender.send(2).unwrap();
                });
                executor.drain();
                waking.join().unwrap();
                assert!(outer.is_finished());
                assert_eq!(count.load(Ordering::SeqCst), 3);
            }
        }
    });
}

#[test]
fn blocked_workers_are_waited_for() {
    watchdog::guard("drain, blocked", || {
        let executor = executor(2);
        let handle = executor.handle();
        let count = Arc::new(AtomicUsize::new(0));
        let held = hold(&executor);
        for _ in 0..100 {
            let count = Arc::clone(&count);
            executor
                .spawn(async move { count.fetch_add(1, Ordering::SeqCst) })
                .detach();
        }
        let release = thread::spawn(move || {
            for _ in 0..100 {
                assert!(!handle.is_shut_down(), "there is work");
                thread::yield_now();
            }
            drop(held);
        });
        executor.drain();
        release.join().unwrap();
        assert_eq!(count.load(Ordering::SeqCst), 100);
    });
}

/// Threads that go on spawning do not keep it from ending for ever, nor lose anything.
#[test]
fn foreign_spawns_end_too() {
    const TASKS: usize = 500;

    watchdog::guard("drain and spawns", || {
        for _ in 0..20 {
            let executor = executor(2);
            let drops = Drops::of(4 * TASKS);
            let ran = Arc::new(AtomicUsize::new(0));
            let kept = AtomicUsize::new(0);
            thread::scope(|threads| {
                for thread in 0..4 {
                    let (handle, drops) = (executor.handle(), &drops);
                    let (ran, kept) = (Arc::clone(&ran), &kept);
                    threads.spawn(move || {
                        for number in thread * TASKS..(thread + 1) * TASKS {
                            let (item, ran) = (drops.item(number), Arc::clone(&ran));
                            let task = handle.spawn(async move {
                                ran.fetch_add(1, Ordering::SeqCst);
                                drop(item);
                            });
                            let output = handle.block_on(task.fallible());
                            kept.fetch_add(output.iter().count(), Ordering::SeqCst);
                        }
                    });
                }
                executor.drain();
            });
            drops.assert_each_once();
            assert_eq!(ran.load(Ordering::SeqCst), kept.load(Ordering::SeqCst));
        }
    });
}

#[test]
fn hosted_workers_drain() {
    watchdog::guard("drain, hosted", || {
        for _ in 0..50 {
            let builder = Executor::builder().spares(0).workers(2);
            let executor = builder.host(futures::executor::block_on).build().unwrap();
            let count = Arc::new(AtomicUsize::new(0));
            executor.spawn(tree(Arc::clone(&count), 5)).detach();
            executor.drain();
            assert_eq!(count.load(Ordering::SeqCst), (1 << 6) - 1);
        }
    });
}
