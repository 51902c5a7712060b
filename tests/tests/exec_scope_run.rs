//! The closures of a scope run once each, wherever they are given to it, and all of them
//! have ended, and are gone, when the scope returns.

#[path = "exec_scope_run/ends.rs"]
mod ends;
#[path = "exec_scope_run/panics.rs"]
mod panics;

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use tests::drops::Drops;
use tests::exec::{Gate, executor, on_worker, until};
use tests::watchdog;
use ws_executor::{Executor, Handle, Scope, join};

/// Runs `code` on a worker and on a thread that is none, with several numbers of workers.
fn everywhere(name: &str, code: impl Fn(&Executor) + Sync) {
    watchdog::guard(name, || {
        for workers in [1, 2, 8, 65] {
            let executor = executor(workers);
            code(&executor);
            on_worker(&executor, || code(&executor));
        }
    });
}

#[test]
fn closures_borrow_and_are_done_at_the_end() {
    everywhere("borrow", |executor| {
        let mut numbers = [0_u64; 100];
        let result = executor.scope(|s| {
            for (number, n) in numbers.iter_mut().zip(1..) {
                s.run(move |_| *number = n * n);
            }
            "of the body"
        });
        assert_eq!(result, "of the body");
        assert!(numbers.iter().zip(1..).all(|(&number, n)| number == n * n));
    });
}

/// A tree of closures, each of which runs two more.
fn grow<'scope>(s: &'scope Scope<'scope, '_>, count: &'scope AtomicU64, depth: u32) {
    count.fetch_add(1, Ordering::Relaxed);
    if depth > 0 {
        s.run(move |s| grow(s, count, depth - 1));
        s.run(move |s| grow(s, count, depth - 1));
    }
}

#[test]
fn closures_run_more_closures() {
    everywhere("more closures", |executor| {
        let count = AtomicU64::new(0);
        executor.scope(|s| grow(s, &count, 8));
        assert_eq!(count.into_inner(), 511);
    });
}

/// A long chain needs no stack: each closure has returned before the next one begins.
#[test]
fn a_chain_of_closures_has_no_depth() {
    fn chain<'scope>(s: &'scope Scope<'scope, '_>, count: &'scope AtomicU64, left: u64) {
        count.fetch_add(1, Ordering::Relaxed);
        if left > 0 {
            s.run(move |s| chain(s, count, left - 1));
        }
    }

    watchdog::guard("chain", || {
        for workers in [1, 2] {
            let executor = executor(workers);
            let count = AtomicU64::new(0);
            on_worker(&executor, || {
                executor.scope(|s| chain(s, &count, 50_000));
            });
            assert_eq!(count.into_inner(), 50_001);
        }
    });
}

/// All that can hold the scope gives it closures: its body, closures here and on thieves,
/// tasks, arms of joins, a nested `block_on`, and threads outside.
#[test]
fn from_everywhere() {
    everywhere("from everywhere", |executor| {
        for _ in 0..20 {
            let count = AtomicU64::new(0);
            let one = |_: &Scope<'_, '_>| {
                count.fetch_add(1, Ordering::Relaxed);
            };
            let one = &one;
            executor.scope(|s| {
                s.run(move |s| {
                    s.run(one);
                    join(|| s.run(one), || s.run(move |s| s.run(one)));
                    s.run(one);
                });
                s.spawn(async move {
                    s.run(one);
                    ws_executor::yield_now().await;
                    join(|| s.run(one), || s.run(one));
                    s.run(one);
                });
                let handle = Handle::try_current();
                let inside = async move {
                    s.run(one);
                    join(|| s.run(one), || ());
                };
                match handle {
                    Ok(handle) => handle.block_on(inside),
                    Err(_) => ws_executor::block_on(inside),
                }
                thread::scope(|threads| {
                    threads.spawn(|| s.run(one));
                    threads.spawn(|| s.run(move |s| s.run(one)));
                });
                s.run(one);
            });
            assert_eq!(count.into_inner(), 4 + 4 + 2 + 2 + 1);
        }
    });
}

/// A closure that a join leaves behind for a scope that outlives it is run, and does not
/// get into the way of the join.
#[test]
fn closures_outlive_the_join_that_gave_them() {
    watchdog::guard("outlive a join", || {
        for workers in [1, 2, 4] {
            let executor = executor(workers);
            let (count, sum) = (AtomicU64::new(0), AtomicU64::new(0));
            fn tree<'scope>(s: &'scope Scope<'scope, '_>, count: &'scope AtomicU64, n: u32) -> u64 {
                if n == 0 {
                    s.run(|_| {
                        count.fetch_add(1, Ordering::Relaxed);
                    });
                    return 1;
                }
                let (a, b) = join(|| tree(s, count, n - 1), || tree(s, count, n - 1));
                // Also after the second half, where nothing but the scope waits for it.
                s.run(|_| {
                    count.fetch_add(1, Ordering::Relaxed);
                });
                a + b
            }
            on_worker(&executor, || {
                executor.scope(|s| sum.store(tree(s, &count, 8), Ordering::Relaxed));
            });
            assert_eq!((sum.into_inner(), count.into_inner()), (256, 256 + 255));
        }
    });
}

/// In a task that is polled on top of a join, whose lane is the one below.
#[test]
fn closures_given_on_top_of_a_join_run() {
    watchdog::guard("on top", || {
        for workers in [1, 2] {
            // With spare threads: one must poll while the worker is in the join.
            let executor = Executor::builder().workers(workers).build().unwrap();
            let handle = &executor.handle();
            let count = &AtomicU64::new(0);
            let add = |_: &Scope<'_, '_>| {
                count.fetch_add(1, Ordering::Relaxed);
            };
            let add = &add;
            // The scope belongs to a thread outside, which only waits.
            executor.scope(|s| {
                let below = s.spawn(async move {
                    join(
                        || {
                            let on_top = s.spawn(async move {
                                join(|| (), || s.run(add));
                                s.run(add);
                            });
                            handle.block_on(on_top);
                            handle.block_on(async { until(|| count.load(Ordering::Relaxed) > 0) });
                        },
                        || s.run(add),
                    );
                });
                drop(below);
            });
            assert_eq!(count.load(Ordering::Relaxed), 3);
        }
    });
}

#[test]
fn on_a_worker_of_another_executor() {
    watchdog::guard("another executor", || {
        let (other, executor) = (executor(1), executor(2));
        let workers = Mutex::new(Vec::new());
        let note = |_: &Scope<'_, '_>| {
            workers.lock().unwrap().push(Handle::current().workers());
        };
        let note = &note;
        on_worker(&other, || {
            executor.scope(|s| {
                s.run(note);
                join(|| s.run(note), || s.run(move |s| s.run(note)));
            });
        });
        assert_eq!(workers.into_inner().unwrap(), [2, 2, 2]);
    });
}

/// All workers take part, as soon as there is something to take.
#[test]
fn idle_workers_help() {
    watchdog::guard("help", || {
        for workers in [2, 4] {
            let executor = executor(workers);
            for on_worker_first in [true, false] {
                for _ in 0..20 {
                    let here = AtomicUsize::new(0);
                    let body = || {
                        executor.scope(|s| {
                            for _ in 0..workers {
                                s.run(|_| {
                                    here.fetch_add(1, Ordering::SeqCst);
                                    until(|| here.load(Ordering::SeqCst) == workers);
                                });
                            }
                        });
                    };
                    if on_worker_first {
                        on_worker(&executor, body);
                    } else {
                        body();
                    }
                    assert_eq!(here.into_inner(), workers);
                }
            }
        }
    });
}

/// What a closure owns is dropped before the scope returns, and when it has run.
#[test]
fn what_closures_own_is_dropped_in_time() {
    everywhere("drops", |executor| {
        let drops = Drops::of(50);
        executor.scope(|s| {
            for number in 0..50 {
                let item = drops.item(number);
                s.run(move |s| {
                    if number % 2 == 0 {
                        s.run(move |_| drop(item));
                    } else {
                        assert_eq!(item.number, number);
                    }
                });
            }
        });
        drops.assert_each_once();
    });
}

/// A scope in a closure of a scope, and scopes in both arms of joins.
#[test]
fn scopes_nest() {
    everywhere("nest", |executor| {
        let count = AtomicU64::new(0);
        let add = |_: &Scope<'_, '_>| {
            count.fetch_add(1, Ordering::Relaxed);
        };
        let add = &add;
        executor.scope(|outer| {
            for _ in 0..10 {
                outer.run(move |outer| {
                    let inner = || {
                        executor.scope(|s| {
                            s.run(add);
                            outer.run(add);
                            s.run(add);
                        });
                    };
                    join(inner, inner);
                });
            }
        });
        assert_eq!(count.into_inner(), 60);
    });
}

/// The body waits for a closure in a `block_on`: there the closure is run, by the same
/// worker if there is no other.
#[test]
fn the_body_may_await_what_a_closure_sends() {
    everywhere("await a closure", |executor| {
        let (sends, receives) = futures::channel::oneshot::channel();
        let found = executor.scope(|s| {
            s.run(move |_| sends.send(7).unwrap());
            executor.block_on(receives)
        });
        assert_eq!(found, Ok(7));
    });
}

/// Tasks that are always due do not keep a worker from the closure that its body waits
/// for, even if there is no other worker.
#[test]
fn endless_tasks_do_not_keep_a_closure_waiting() {
    watchdog::guard("endless tasks", || {
        for workers in [1, 2] {
            let executor = executor(workers);
            let stop = Arc::new(AtomicBool::new(false));
            let endless = |_| {
                let stop = Arc::clone(&stop);
                executor.spawn(async move {
                    while !stop.load(Ordering::Relaxed) {
                        ws_executor::yield_now().await;
                    }
                })
            };
            let tasks: Vec<_> = (0..3 * workers).map(endless).collect();
            for _ in 0..10 {
                let found = on_worker(&executor, || {
                    let (sends, receives) = futures::channel::oneshot::channel();
                    executor.scope(|s| {
                        s.run(move |_| sends.send(7).unwrap());
                        executor.block_on(receives)
                    })
                });
                assert_eq!(found, Ok(7));
                // The same for a closure of a join.
                let (sends, receives) = futures::channel::oneshot::channel();
                let waits = || executor.block_on(receives);
                let sends = move || sends.send(8).unwrap();
                let (found, ()) = on_worker(&executor, || join(waits, sends));
                assert_eq!(found, Ok(8));
            }
            stop.store(true, Ordering::Relaxed);
            tasks.into_iter().for_each(|task| executor.block_on(task));
        }
    });
}

/// A leaked handle of a task, and a body that does not wait, change nothing.
#[test]
fn a_scope_cannot_be_left_early() {
    watchdog::guard("left early", || {
        let executor = executor(2);
        let (gate, ended) = (Gate::new(), AtomicU64::new(0));
        let opens = gate.clone();
        thread::scope(|threads| {
            threads.spawn(|| {
                on_worker(&executor, || {
                    let local = AtomicU64::new(0);
                    executor.scope(|s| {
                        s.run(|_| {
                            gate.wait();
                            local.store(1, Ordering::SeqCst);
                        });
                    });
                    assert_eq!(local.into_inner(), 1);
                    ended.store(1, Ordering::SeqCst);
                });
            });
            for _ in 0..100 {
                thread::yield_now();
                assert_eq!(ended.load(Ordering::SeqCst), 0);
            }
            opens.open();
        });
        assert_eq!(ended.into_inner(), 1);
    });
}
