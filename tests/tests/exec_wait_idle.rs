//! `wait_idle` returns when no task is left, however long they wait, and not before.

use std::future::pending;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::Waker;
use std::{panic, thread};

use futures::channel::oneshot;
use futures::executor::block_on;
use tests::census::stress_rounds;
use tests::drops::Drops;
use tests::exec::{Gate, assert_alive, executor, payload_of, until};
use tests::watchdog::guard;
use ws_core::FastRand;
use ws_executor::{Executor, Handle, HostedWorker, join, yield_now};

/// The executors under test: one worker, several, and workers that are futures of a host.
fn executors() -> [Executor; 3] {
    let host = |worker: HostedWorker| block_on(worker);
    let hosted = Executor::builder()
        .spares(0)
        .workers(2)
        .host(host)
        .build()
        .unwrap();
    [executor(1), executor(3), hosted]
}

#[test]
fn without_tasks_it_returns() {
    guard("nothing", || {
        for executor in executors() {
            for _ in 0..50 {
                executor.wait_idle();
                executor.block_on(executor.spawn(async {}));
            }
            executor.handle().wait_idle();
        }
    });
}

/// Tasks of every kind, each of which spawns and yields.
#[test]
fn it_waits_for_all_that_is_due_and_what_follows() {
    guard("due", || {
        for executor in executors() {
            let handle = executor.handle();
            for round in 1..=20 {
                let ends = Arc::new(AtomicU64::new(0));
                let end = || {
                    let ends = Arc::clone(&ends);
                    move || ends.fetch_add(1, Ordering::Relaxed)
                };
                for _ in 0..round {
                    let (end_self, end_child) = (end(), end());
                    let parent = async move {
                        yield_now().await;
                        let child = async move {
                            yield_now().await;
                            end_child();
                        };
                        Handle::current().spawn(child).detach();
                        end_self();
                    };
                    handle.spawn(parent).detach();
                }
                let (a, b) = (end(), end());
                handle
                    .compute(move || {
                        join(a, b);
                    })
                    .detach();
                let pinned = end();
                let pinned = || async move {
                    yield_now().await;
                    pinned();
                };
                handle.spawn_pinned(0, pinned).detach();
                let many = (0..5).map(|_| {
                    let end = end();
                    async move { end() }
                });
                handle
                    .spawn_many(many)
                    .into_iter()
                    .for_each(ws_executor::Task::detach);
                executor.wait_idle();
                assert_eq!(ends.load(Ordering::Relaxed), 2 * round + 2 + 1 + 5);
            }
        }
    });
}

/// A drain would drop this one.
#[test]
fn it_waits_for_tasks_that_wait() {
    guard("waiting", || {
        for executor in executors() {
            let (sender, receiver) = oneshot::channel::<()>();
            let ended = Arc::new(AtomicBool::new(false));
            let ends = Arc::clone(&ended);
            executor
                .spawn(async move {
                    let _ = receiver.await;
                    ends.store(true, Ordering::Relaxed);
                })
                .detach();
            // The workers sleep, or soon do: that is not enough.
            executor.block_on(executor.spawn(async {}));
            thread::scope(|threads| {
                let waiter = threads.spawn(|| {
                    executor.wait_idle();
                    assert!(ended.load(Ordering::Relaxed), "the wait was over too early");
                });
                executor.block_on(executor.spawn(async {}));
                assert!(!waiter.is_finished());
                sender.send(()).unwrap();
            });
        }
    });
}

/// Cancelled tasks are gone when it returns, those with a drop that panics, too.
#[test]
fn it_waits_for_the_drop_of_cancelled_tasks() {
    guard("cancelled", || {
        for executor in executors() {
            for _ in 0..20 {
                let drops = Drops::of(4);
                let tasks: Vec<_> = (0..4)
                    .map(|number| {
                        let item = if number % 2 == 0 {
                            drops.item(number)
                        } else {
                            drops.panicking(number)
                        };
                        executor.spawn(async move {
                            let _item = item;
                            pending::<()>().await;
                        })
                    })
                    .collect();
                drop(tasks);
                executor.wait_idle();
                drops.assert_each_once();
            }
        }
    });
}

/// A waker that is kept does not keep its task.
#[test]
fn wakers_of_ended_tasks_are_nothing_to_wait_for() {
    guard("wakers", || {
        let executor = executor(2);
        let kept: Arc<Mutex<Vec<Waker>>> = Arc::default();
        let keeps = Arc::clone(&kept);
        executor
            .spawn(std::future::poll_fn(move |cx| {
                keeps.lock().unwrap().push(cx.waker().clone());
                std::task::Poll::Ready(())
            }))
            .detach();
        executor.wait_idle();
        assert_eq!(kept.lock().unwrap().len(), 1);
    });
}

/// A poll that blocks, or waits in a nested `block_on`, is not over.
#[test]
fn it_waits_for_polls() {
    guard("polls", || {
        for executor in executors() {
            let (gate, begun) = (Gate::new(), mpsc::channel());
            let ended = Arc::new(AtomicU64::new(0));
            let (sender, receiver) = oneshot::channel::<()>();
            let (ends, opened) = (Arc::clone(&ended), gate.clone());
            let sends = begun.0;
            let handle = executor.handle();
            executor
                .spawn(async move {
                    sends.send(()).unwrap();
                    opened.wait();
                    let _ = handle.block_on(receiver);
                    ends.fetch_add(1, Ordering::Relaxed);
                })
                .detach();
            begun.1.recv().unwrap();
            thread::scope(|threads| {
                let waiter = threads.spawn(|| {
                    executor.wait_idle();
                    assert_eq!(ended.load(Ordering::Relaxed), 1);
                });
                gate.open();
                thread::yield_now();
                assert!(!waiter.is_finished());
                sender.send(()).unwrap();
            });
        }
    });
}

/// Each thread's own tasks have ended when its wait is over, whatever the others do.
#[test]
fn what_a_thread_has_spawned_has_ended() {
    guard("own", || {
        for executor in executors() {
            let over = AtomicBool::new(false);
            thread::scope(|threads| {
                // Others wake the workers, and wait, all the time. They pause, or there might
                // never be a moment without a task.
                let noise = threads.spawn(|| {
                    while !over.load(Ordering::Relaxed) {
                        executor.spawn(async {}).detach();
                        executor.wait_idle();
                    }
                });
                let own = |seed| {
                    let executor = &executor;
                    move || {
                        let mut rand = FastRand::new(seed);
                        for _ in 0..stress_rounds(300) {
                            let count = rand.below(4) as u64;
                            let ends = Arc::new(AtomicU64::new(0));
                            for _ in 0..count {
                                let ends = Arc::clone(&ends);
                                executor
                                    .spawn(async move {
                                        yield_now().await;
                                        ends.fetch_add(1, Ordering::Relaxed);
                                    })
                                    .detach();
                            }
                            executor.wait_idle();
                            assert_eq!(ends.load(Ordering::Relaxed), count, "seed {seed}");
                        }
                    }
                };
                let spawners = [1, 2].map(|seed| threads.spawn(own(seed)));
                for spawner in spawners {
                    spawner
                        .join()
                        .unwrap_or_else(|payload| panic::resume_unwind(payload));
                }
                over.store(true, Ordering::Relaxed);
                noise.join().unwrap();
            });
        }
    });
}

#[test]
fn inside_it_panics() {
    guard("inside", || {
        for executor in executors() {
            let handle = executor.handle();
            let payload =
                payload_of(|| executor.block_on(executor.spawn(async move { handle.wait_idle() })));
            let text = payload.downcast_ref::<&str>().expect("a text");
            assert!(text.contains("would never return"), "{text}");
            let handle = executor.handle();
            payload_of(|| executor.install(|| handle.wait_idle()));
            // In a task of another executor it only blocks that one's worker.
            let (other, handle) = (tests::exec::executor(1), executor.handle());
            other.block_on(other.spawn(async move { handle.wait_idle() }));
            assert_alive(&executor);
        }
    });
}

#[test]
fn a_shutdown_ends_it() {
    guard("shutdown", || {
        for _ in 0..stress_rounds(20) {
            for executor in executors() {
                executor.spawn(pending::<()>()).detach();
                let handle = executor.handle();
                let waiter = thread::spawn(move || {
                    handle.wait_idle();
                    assert!(handle.is_shut_down());
                    // And every other one.
                    handle.wait_idle();
                });
                thread::yield_now();
                executor.shutdown();
                waiter.join().unwrap();
            }
        }
    });
}

/// One that waits for ever does not keep a drain from its end.
#[test]
fn beside_a_drain() {
    guard("drain", || {
        for executor in executors() {
            executor.spawn(pending::<()>()).detach();
            let handle = executor.handle();
            let waiter = thread::spawn(move || handle.wait_idle());
            thread::yield_now();
            executor.drain();
            waiter.join().unwrap();
        }
    });
}

/// Hosts that give up: the others go on, and without any the executor is shut down.
#[test]
fn hosts_that_give_up_are_not_waited_for() {
    guard("hosts", || {
        let give_up = Gate::new();
        let gives_up = give_up.clone();
        let first = AtomicBool::new(true);
        let host = move |worker: HostedWorker| {
            if first.swap(false, Ordering::Relaxed) {
                gives_up.wait();
                drop(worker);
            } else {
                block_on(worker);
            }
        };
        let executor = Executor::builder()
            .spares(0)
            .workers(2)
            .host(host)
            .build()
            .unwrap();
        executor.block_on(executor.spawn(async {}));
        let handle = executor.handle();
        let waiter = thread::spawn(move || handle.wait_idle());
        thread::yield_now();
        give_up.open();
        waiter.join().unwrap();
        until(|| executor.block_on(executor.spawn(async { true })));
        executor.wait_idle();
    });
}
