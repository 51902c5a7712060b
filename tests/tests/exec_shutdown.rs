//! After a shutdown every future is dropped, once, and every thread has ended; whenever
//! and wherever it comes.

#[path = "exec_shutdown/drain.rs"]
mod drain;
#[path = "exec_shutdown/drops.rs"]
mod drops;
#[path = "exec_shutdown/inside.rs"]
mod inside;
#[path = "exec_shutdown/process.rs"]
mod process;
#[path = "exec_shutdown/race.rs"]
mod race;
#[path = "exec_shutdown/storm.rs"]
mod storm;
#[path = "exec_shutdown/waits.rs"]
mod waits;
#[path = "exec_shutdown/wakes.rs"]
mod wakes;

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use futures::channel::oneshot;
use tests::drops::Drops;
use tests::exec::{Gate, executor, hold, until};
use tests::watchdog;
use ws_executor::{Executor, Handle, yield_now};

/// An executor that counts its threads.
fn counting(workers: usize) -> (Executor, Arc<AtomicIsize>) {
    let add = |threads: &AtomicIsize, more| {
        threads.fetch_add(more, Ordering::SeqCst);
    };
    let threads = Arc::new(AtomicIsize::new(0));
    let (starts, stops) = (Arc::clone(&threads), Arc::clone(&threads));
    let executor = Executor::builder()
        .spares(0)
        .workers(workers)
        .on_thread_start(move |_| add(&starts, 1))
        .on_thread_stop(move |_| add(&stops, -1))
        .build()
        .unwrap();
    assert_eq!(threads.load(Ordering::SeqCst), workers as isize);
    (executor, threads)
}

#[test]
fn tasks_in_every_state_are_dropped_and_the_threads_end() {
    watchdog::guard("every state", || {
        let ends: [fn(Executor); 3] = [Executor::shutdown, drop, |executor| {
            assert!(executor.shutdown_timeout(Duration::MAX));
        }];
        for workers in [1, 2, 4] {
            for end in ends {
                let (executor, threads) = counting(workers);
                let handle = executor.handle();
                let drops = Drops::of(60);
                let spawn = |numbers: std::ops::Range<usize>| {
                    for number in numbers {
                        let item = drops.item(number);
                        let waits = async move {
                            let _item = item;
                            pending::<()>().await;
                        };
                        match number % 3 {
                            0 => executor.spawn(waits).detach(),
                            1 => handle.spawn_pinned(number % workers, || waits).detach(),
                            _ => drop(executor.spawn_many([waits]).pop().map(|task| task.detach())),
                        }
                    }
                };
                // Twenty wait; each worker is blocked in a poll; forty are queued.
                spawn(0..20);
                until(|| executor.metrics().polls() == 20);
                let held = hold(&executor);
                spawn(20..60);
                held.until_closed(executor.handle());
                end(executor);
                drops.assert_each_once();
                assert_eq!(threads.load(Ordering::SeqCst), 0);
                assert!(handle.is_shut_down());
            }
        }
    });
}

/// Tasks that run all the time, and wake and spawn each other.
#[test]
fn busy_workers_end() {
    fn respawn(handle: Handle, drops: Drops, number: usize) {
        let item = drops.item(number);
        let next = (drops, handle.clone());
        let task = handle.spawn(async move {
            yield_now().await;
            drop(item);
            // Each item of a task is made when the one before is gone.
            respawn(next.1, next.0, number);
        });
        task.detach();
    }

    watchdog::guard("busy", || {
        for workers in [1, 2, 4] {
            let (executor, threads) = counting(workers);
            let drops = Drops::of(8);
            for number in 0..8 {
                respawn(executor.handle(), drops.clone(), number);
                executor
                    .spawn(async {
                        loop {
                            yield_now().await
                        }
                    })
                    .detach();
            }
            until(|| (0..8).all(|number| drops.count(number) > 10));
            let handle = executor.handle();
            executor.shutdown();
            assert_eq!(threads.load(Ordering::SeqCst), 0);
            until(|| handle.metrics().live_tasks() == 0);
        }
    });
}

#[test]
fn a_poll_under_way_is_waited_for() {
    watchdog::guard("poll under way", || {
        let executor = executor(1);
        let drops = Drops::of(1);
        let (item, done) = (drops.item(0), Arc::new(AtomicBool::new(false)));
        let (reached, reaches) = mpsc::channel();
        let handle = executor.handle();
        let task = executor.spawn({
            let (handle, done) = (handle.clone(), Arc::clone(&done));
            async move {
                let _item = item;
                reached.send(()).unwrap();
                until(|| handle.is_shut_down());
                // Long after everything else has ended.
                for _ in 0..1_000 {
                    thread::yield_now();
                }
                done.store(true, Ordering::SeqCst);
                pending::<()>().await;
            }
        });
        reaches.recv().unwrap();
        executor.shutdown();
        assert!(done.load(Ordering::SeqCst));
        drops.assert_each_once();
        assert_eq!(handle.block_on(task.fallible()), None);
    });
}

/// A task that ends in the poll that the shutdown waits for has an output.
#[test]
fn the_last_poll_may_be_the_end() {
    watchdog::guard("last poll", || {
        let executor = executor(1);
        let handle = executor.handle();
        let (reached, reaches) = mpsc::channel();
        let task = executor.spawn({
            let handle = handle.clone();
            async move {
                reached.send(()).unwrap();
                until(|| handle.is_shut_down());
                "done"
            }
        });
        reaches.recv().unwrap();
        executor.shutdown();
        assert_eq!(handle.block_on(task.fallible()), Some("done"));
    });
}

#[test]
fn a_timeout_ends_the_wait_for_a_poll_that_does_not_end() {
    watchdog::guard("timeout", || {
        for timeout in [Duration::ZERO, Duration::from_millis(5)] {
            let (executor, threads) = counting(2);
            let handle = executor.handle();
            let drops = Drops::of(2);
            let [running, waiting] = [0, 1].map(|number| drops.item(number));
            let (gate, inside) = (Gate::new(), Gate::new());
            executor
                .spawn(async move {
                    let _waiting = waiting;
                    pending::<()>().await;
                })
                .detach();
            executor.block_on(executor.spawn(async {}));
            let blocked = executor.spawn({
                let (gate, inside) = (gate.clone(), inside.clone());
                async move {
                    let _running = running;
                    inside.open();
                    gate.wait();
                    pending::<()>().await;
                }
            });
            inside.wait();
            assert!(!executor.shutdown_timeout(timeout));
            // The others are not left waiting for that one.
            until(|| drops.count(1) == 1 && threads.load(Ordering::SeqCst) == 1);
            assert_eq!(drops.count(0), 0);
            // It ends by itself.
            gate.open();
            until(|| threads.load(Ordering::SeqCst) == 0);
            drops.assert_each_once();
            assert_eq!(handle.block_on(blocked.fallible()), None);
        }
    });
}

#[test]
fn spawning_afterwards_drops_the_future_at_once_and_here() {
    watchdog::guard("spawn afterwards", || {
        let executor = executor(2);
        let handle = executor.handle();
        executor.shutdown();
        let drops = Drops::of(10);
        let here = thread::current().id();
        let future = |number: usize| {
            let item = drops.item(number);
            let asks = Dropped(Box::new(move || {
                assert_eq!(thread::current().id(), here);
                drop(item);
            }));
            async move {
                let _asks = asks;
                unreachable!("it never runs");
            }
        };
        let task = handle.spawn(future(0));
        assert_eq!(drops.count(0), 1);
        assert!(task.is_finished());
        assert_eq!(handle.block_on(task.fallible()), None::<()>);
        let task = handle.spawn(future(1));
        assert_eq!(handle.block_on(task.cancel()), None::<()>);
        drop(handle.spawn(future(2)));
        handle.spawn(future(3)).detach();
        let many = handle.spawn_many((4..9).map(future));
        assert_eq!(many.len(), 5);
        assert!(many.iter().all(ws_executor::Task::is_finished));
        let last = future(9);
        handle.spawn_pinned(0, || last).detach();
        drops.assert_each_once();
        assert_eq!(handle.metrics().live_tasks(), 0);
    });
}

/// Calls a function in its drop; a panic in there is seen by counting.
struct Dropped(Box<dyn FnOnce() + Send>);

impl Drop for Dropped {
    fn drop(&mut self) {
        std::mem::replace(&mut self.0, Box::new(|| {}))();
    }
}

/// On a worker, in the poll that outlasts the shutdown.
#[test]
fn spawning_in_the_last_poll() {
    watchdog::guard("spawn in the last poll", || {
        let executor = executor(1);
        let drops = Drops::of(5);
        let (reached, reaches) = mpsc::channel();
        let items = drops.clone();
        executor
            .spawn(async move {
                let handle = Handle::current();
                let waits = |number: usize| {
                    let item = items.item(number);
                    async move {
                        let _item = item;
                        pending::<()>().await;
                    }
                };
                // Before it is closed, into its own queues; and after.
                handle.spawn(waits(0)).detach();
                handle.spawn(waits(1)).detach();
                reached.send(()).unwrap();
                until(|| handle.is_shut_down());
                let refused = handle.spawn(waits(2));
                assert_eq!(items.count(2), 1);
                assert!(refused.is_finished());
                let pinned = waits(3);
                handle.spawn_pinned(0, || pinned).detach();
                drop(handle.spawn_many([waits(4)]));
            })
            .detach();
        reaches.recv().unwrap();
        executor.shutdown();
        drops.assert_each_once();
    });
}

/// Tasks that wait for each other in a circle, by handles and by channels.
#[test]
fn circles_are_no_leaks() {
    watchdog::guard("circles", || {
        let executor = executor(2);
        let drops = Drops::of(3);
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..3)
            .map(|_| oneshot::channel::<ws_executor::Task<()>>())
            .unzip();
        let tasks: Vec<_> = receivers
            .into_iter()
            .enumerate()
            .map(|(number, next)| {
                let item = drops.item(number);
                executor.spawn(async move {
                    let _item = item;
                    if let Ok(next) = next.await {
                        next.await;
                    }
                })
            })
            .collect();
        // Each gets the handle of the next one, and the last that of the first.
        for (sender, task) in senders.into_iter().rev().zip(tasks) {
            sender.send(task).unwrap();
        }
        executor.block_on(executor.spawn(async {}));
        executor.shutdown();
        drops.assert_each_once();
    });
}

/// A million tasks that are alive at once: half of them end, half are dropped by the
/// shutdown.
#[test]
fn a_million_tasks() {
    const TASKS: usize = 1_000_000;

    watchdog::guard("a million tasks", || {
        let executor = executor(2);
        let drops = Drops::of(TASKS);
        let (sender, receiver) = async_broadcast();
        let tasks = executor.spawn_many((0..TASKS).map(|number| {
            let (item, receiver) = (drops.item(number), receiver.clone());
            async move {
                let item = item;
                if item.number % 2 == 0 {
                    receiver.await;
                } else {
                    pending::<()>().await;
                }
            }
        }));
        drop(receiver);
        assert_eq!(executor.metrics().live_tasks(), TASKS);
        until(|| executor.metrics().polls() == TASKS as u64);
        drop(sender);
        let (mut waiting, mut ended) = (0, 0);
        for (number, task) in tasks.into_iter().enumerate() {
            if number % 2 == 0 {
                executor.block_on(task);
                ended += 1;
            } else {
                task.detach();
                waiting += 1;
            }
        }
        assert_eq!((waiting, ended), (TASKS / 2, TASKS / 2));
        until(|| executor.metrics().live_tasks() == TASKS / 2);
        executor.shutdown();
        drops.assert_each_once();
    });
}

/// A sender whose drop is the event, and a future of that which can be cloned.
fn async_broadcast() -> (
    oneshot::Sender<()>,
    futures::future::Shared<impl Future<Output = ()>>,
) {
    use futures::FutureExt;

    let (sender, receiver) = oneshot::channel();
    (sender, receiver.map(|_| ()).shared())
}
