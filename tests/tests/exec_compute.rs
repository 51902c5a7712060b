//! `compute` runs a closure once, on a worker that has no task due, without keeping the
//! others from theirs; and not at all if its task is dropped before it begins.

use std::panic::panic_any;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

use futures::future::join_all;
use tests::drops::Drops;
use tests::exec::{Gate, assert_alive, executor, hold, on_worker, payload_of, until};
use tests::watchdog;
use ws_executor::{Executor, Handle, compute, par, yield_now};

#[test]
fn the_result_comes_back_from_a_worker() {
    watchdog::guard("result", || {
        for workers in [1, 2, 8, 65] {
            let executor = executor(workers);
            let handle = executor.handle();
            let id = || (thread::current().id(), Handle::current().workers());
            // From outside, and from a task.
            let (outside, found) = executor.block_on(handle.compute(id));
            assert_ne!(outside, thread::current().id());
            assert_eq!(found, workers);
            let task = executor.spawn(async move { compute(id).await.1 });
            assert_eq!(executor.block_on(task), workers);
            // In `block_on`, the free function is that of the executor, too.
            assert_eq!(executor.block_on(async { compute(id).await.1 }), workers);
            // Large closures, large results.
            let large = [7_u8; 10_000];
            assert_eq!(executor.block_on(handle.compute(move || large)), large);
        }
    });
}

#[test]
fn many_at_once_run_each_once() {
    watchdog::guard("many", || {
        for workers in [1, 2, 4] {
            let executor = executor(workers);
            let handle = executor.handle();
            let count = Arc::new(AtomicUsize::new(0));
            let add = |number: usize| {
                let count = Arc::clone(&count);
                move || {
                    count.fetch_add(1, Ordering::SeqCst);
                    number
                }
            };
            let tasks: Vec<_> = (0..1_000).map(|n| handle.compute(add(n))).collect();
            let sum: usize = executor.block_on(join_all(tasks)).into_iter().sum();
            assert_eq!(sum, 999 * 500);
            let inside = executor.spawn(async move {
                let tasks = (0..1_000).map(|n| compute(move || n));
                join_all(tasks).await.into_iter().sum::<usize>()
            });
            assert_eq!(executor.block_on(inside), 999 * 500);
            assert_eq!(count.load(Ordering::SeqCst), 1_000);
        }
    });
}

/// As many as there are workers, at the same time.
#[test]
fn all_workers_compute() {
    watchdog::guard("all compute", || {
        for workers in [1, 2, 4] {
            let executor = executor(workers);
            let here = Arc::new(AtomicUsize::new(0));
            let meets = |_| {
                let here = Arc::clone(&here);
                executor.handle().compute(move || {
                    here.fetch_add(1, Ordering::SeqCst);
                    until(|| here.load(Ordering::SeqCst) == workers);
                })
            };
            let tasks: Vec<_> = (0..workers).map(meets).collect();
            executor.block_on(join_all(tasks));
        }
    });
}

#[test]
fn dropped_before_it_begins_it_does_not_run() {
    watchdog::guard("cancel", || {
        for workers in [1, 2] {
            let executor = executor(workers);
            let drops = Drops::of(20);
            let ran = Arc::new(AtomicUsize::new(0));
            let held = hold(&executor);
            let tasks: Vec<_> = (0..20)
                .map(|number| {
                    let (item, ran) = (drops.item(number), Arc::clone(&ran));
                    executor.handle().compute(move || {
                        let _item = item;
                        ran.fetch_add(1, Ordering::SeqCst);
                    })
                })
                .collect();
            assert_eq!(executor.metrics().computations_waiting(), 20);
            for (number, task) in tasks.into_iter().enumerate() {
                // Every other one is detached, and runs.
                if number % 2 == 0 {
                    drop(task);
                } else {
                    task.detach();
                }
            }
            drop(held);
            until(|| executor.metrics().live_tasks() == 0);
            assert_eq!(ran.load(Ordering::SeqCst), 10);
            drops.assert_each_once();
            assert_eq!(executor.metrics().computations_waiting(), 0);
        }
    });
}

#[test]
fn dropped_after_it_began_it_runs_to_its_end() {
    watchdog::guard("drop after the start", || {
        let executor = executor(2);
        let (gate, ended) = (Gate::new(), Arc::new(AtomicBool::new(false)));
        let (begins, begun) = mpsc::channel();
        let (waits, ends) = (gate.clone(), Arc::clone(&ended));
        let drops = Drops::of(1);
        let item = drops.item(0);
        let task = executor.handle().compute(move || {
            begins.send(()).unwrap();
            waits.wait();
            ends.store(true, Ordering::SeqCst);
            item
        });
        begun.recv().unwrap();
        drop(task);
        gate.open();
        until(|| ended.load(Ordering::SeqCst));
        // Nobody gets the result.
        until(|| drops.count(0) == 1);
        assert_alive(&executor);
        drops.assert_each_once();
    });
}

#[test]
fn a_panic_is_raised_where_it_is_awaited() {
    watchdog::guard("panic", || {
        for workers in [1, 2] {
            let executor = executor(workers);
            let handle = executor.handle();
            for number in 0..2 * workers {
                let task = handle.compute(move || panic_any(number));
                let payload = payload_of(|| executor.block_on(task));
                assert_eq!(payload.downcast_ref(), Some(&number));
            }
            // In a loop, on whichever worker; and of nobody's interest.
            let task =
                handle.compute(|| par::par_for_each(0..1_000, |n| assert_ne!(n, 500, "bad")));
            assert!(payload_of(|| executor.block_on(task)).is::<String>());
            handle.compute(|| panic_any("nobody awaits this")).detach();
            until(|| executor.metrics().live_tasks() == 0);
            assert_alive(&executor);
        }
    });
}

/// Beside tasks that are always due, closures have their turns, and beside closures that
/// are always due, tasks have theirs.
#[test]
fn tasks_and_closures_share_the_workers() {
    watchdog::guard("fair", || {
        for workers in [1, 2] {
            let executor = executor(workers);
            let handle = executor.handle();
            let stop = Arc::new(AtomicBool::new(false));
            let endless = |_| {
                let stop = Arc::clone(&stop);
                executor.spawn(async move {
                    while !stop.load(Ordering::Relaxed) {
                        yield_now().await;
                    }
                })
            };
            let tasks: Vec<_> = (0..4 * workers).map(endless).collect();
            for number in 0..50 {
                assert_eq!(executor.block_on(handle.compute(move || number)), number);
            }
            stop.store(true, Ordering::Relaxed);
            executor.block_on(join_all(tasks));

            // Each closure has a successor, and the queue is never empty.
            let stop = Arc::new(AtomicBool::new(false));
            fn chain(handle: &Handle, stop: &Arc<AtomicBool>) {
                if !stop.load(Ordering::Relaxed) {
                    let (next, stop) = (handle.clone(), Arc::clone(stop));
                    handle.compute(move || chain(&next, &stop)).detach();
                }
            }
            (0..4 * workers).for_each(|_| chain(&handle, &stop));
            for number in 0..50 {
                let task = executor.spawn(async move {
                    yield_now().await;
                    number
                });
                assert_eq!(executor.block_on(task), number);
            }
            stop.store(true, Ordering::Relaxed);
            until(|| executor.metrics().live_tasks() == 0);
        }
    });
}

/// A `block_on` on a worker, inside a closure and inside a task, runs what it waits for.
#[test]
fn awaited_on_a_worker() {
    fn nested(handle: &Handle, depth: u32) -> u32 {
        if depth == 0 {
            return 0;
        }
        let inner = handle.clone();
        1 + handle.block_on(handle.compute(move || nested(&inner, depth - 1)))
    }

    watchdog::guard("on a worker", || {
        for workers in [1, 2] {
            let executor = executor(workers);
            let handle = executor.handle();
            assert_eq!(on_worker(&executor, || nested(&handle, 10)), 10);
            let sums = on_worker(&executor, || {
                handle.block_on(async {
                    let of =
                        |n: u64| compute(move || par::par_map(0..n, |n| n).iter().sum::<u64>());
                    (of(10).await, of(100).await)
                })
            });
            assert_eq!(sums, (45, 4_950));
        }
    });
}

/// Those that wait are dropped by a shutdown, and those that have begun end first.
#[test]
fn a_shutdown_drops_those_that_wait() {
    watchdog::guard("shutdown", || {
        for workers in [1, 2] {
            let executor = executor(workers);
            let handle = executor.handle();
            let drops = Drops::of(workers + 50);
            let ended = Arc::new(AtomicUsize::new(0));
            let (begins, begun) = mpsc::channel();
            for number in 0..workers {
                let (item, ended, begins) =
                    (drops.item(number), Arc::clone(&ended), begins.clone());
                let closed = handle.clone();
                let code = move || {
                    let _item = item;
                    begins.send(()).unwrap();
                    until(|| closed.is_shut_down());
                    ended.fetch_add(1, Ordering::SeqCst);
                };
                handle.compute(code).detach();
                begun.recv().unwrap();
            }
            for number in 0..50 {
                let (item, ended) = (drops.item(workers + number), Arc::clone(&ended));
                let code = move || {
                    let _item = item;
                    ended.fetch_add(1_000, Ordering::SeqCst);
                };
                handle.compute(code).detach();
            }
            executor.shutdown();
            drops.assert_each_once();
            assert_eq!(ended.load(Ordering::SeqCst), workers);
            // And afterwards it is dropped at once.
            let late = Drops::of(1);
            let item = late.item(0);
            let task = handle.compute(move || drop(item));
            late.assert_each_once();
            assert!(task.is_finished());
        }
    });
}

#[test]
fn a_drain_runs_those_that_wait() {
    watchdog::guard("drain", || {
        for workers in [1, 2] {
            let executor = executor(workers);
            let handle = executor.handle();
            let count = Arc::new(AtomicUsize::new(0));
            let held = hold(&executor);
            for _ in 0..50 {
                let (count, handle) = (Arc::clone(&count), executor.handle());
                let code = move || {
                    let follows = Arc::clone(&count);
                    let code = move || {
                        follows.fetch_add(1, Ordering::SeqCst);
                    };
                    handle.compute(code).detach();
                    count.fetch_add(1, Ordering::SeqCst);
                };
                executor.handle().compute(code).detach();
            }
            drop(held);
            executor.drain();
            assert!(handle.is_shut_down());
            assert_eq!(count.load(Ordering::SeqCst), 100);
        }
    });
}

#[test]
fn with_hosted_workers() {
    watchdog::guard("hosted", || {
        let builder = Executor::builder().workers(2);
        let executor = builder.host(futures::executor::block_on).build().unwrap();
        let handle = executor.handle();
        let tasks: Vec<_> = (0..100)
            .map(|n| handle.compute(move || par::par_map(0..n, |n| n).len()))
            .collect();
        let found = executor.block_on(join_all(tasks));
        assert_eq!(found, (0..100).collect::<Vec<_>>());
    });
}

/// What waits is counted, what runs is not, and each closure is a poll.
#[test]
fn the_metrics_count_closures() {
    watchdog::guard("metrics", || {
        let executor = executor(1);
        let handle = executor.handle();
        let held = hold(&executor);
        let before = executor.metrics();
        let tasks: Vec<_> = (0..5).map(|n| handle.compute(move || n)).collect();
        let waiting = executor.metrics();
        assert_eq!(waiting.computations_waiting(), 5);
        assert_eq!(waiting.injector_depth(), before.injector_depth());
        assert_eq!(waiting.live_tasks(), before.live_tasks() + 5);
        drop(held);
        executor.block_on(join_all(tasks));
        let after = executor.metrics();
        assert_eq!(after.computations_waiting(), 0);
        assert_eq!(after.polls(), before.polls() + 5);
        until(|| executor.metrics().live_tasks() == 0);
    });
}

/// Code that computes cannot yield: what it awaits takes no end of units.
#[test]
fn a_foreign_block_on_has_no_budget() {
    watchdog::guard("foreign block_on", || {
        let executor = executor(2);
        let handle = executor.handle();
        let awaits = executor.handle().compute(move || {
            futures::executor::block_on(async {
                for _ in 0..200 {
                    handle.spawn(async {}).await;
                }
            });
        });
        executor.block_on(awaits);
    });
}
