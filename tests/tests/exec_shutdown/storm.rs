//! A shutdown while eight threads spawn, and while tasks spawn tasks.

use std::future::pending;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use tests::drops::{Drops, Item};
use tests::exec::{executor, until};
use tests::watchdog;
use ws_executor::{Executor, Handle, yield_now};

const THREADS: usize = 8;
const TASKS: usize = 250;

/// Spawns something that owns two items, in a way that depends on their number.
fn spawn_somehow(handle: &Handle, [item, inner]: [Item; 2]) {
    let number = item.number / 2;
    match number % 6 {
        0 => handle.spawn(async move { item }).detach(),
        1 => drop(handle.spawn(waits(item))),
        2 => handle.spawn(waits(item)).detach(),
        3 => {
            let waits = waits(item);
            let worker = number % handle.workers();
            handle.spawn_pinned(worker, || waits).detach();
        }
        4 => handle
            .spawn_many([waits(item)])
            .into_iter()
            .for_each(ws_executor::Task::detach),
        _ => {
            let task = handle.spawn(async move {
                for _ in 0..10 {
                    yield_now().await;
                }
                item
            });
            drop(handle.block_on(task.fallible()));
        }
    }
    // By a task, so in the middle of its worker.
    let spawner = handle.clone();
    handle
        .spawn(async move { spawner.spawn(waits(inner)).detach() })
        .detach();
}

async fn waits(item: Item) {
    let _item = item;
    pending::<()>().await;
}

fn storm(workers: usize, end: fn(Executor)) {
    let executor = executor(workers);
    let handle = executor.handle();
    let drops = Drops::of(2 * THREADS * TASKS);
    let spawned = AtomicUsize::new(0);
    thread::scope(|threads| {
        for thread in 0..THREADS {
            let (handle, drops, spawned) = (&handle, &drops, &spawned);
            threads.spawn(move || {
                for number in thread * TASKS..(thread + 1) * TASKS {
                    let items = [0, 1].map(|second| drops.item(2 * number + second));
                    spawn_somehow(handle, items);
                    spawned.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        // In the middle of it.
        until(|| spawned.load(Ordering::SeqCst) >= THREADS * TASKS / 3);
        end(executor);
    });
    drops.assert_each_once();
    until(|| handle.metrics().live_tasks() == 0);
}

#[test]
fn every_future_is_dropped_once() {
    watchdog::guard("spawn storm", || {
        for workers in [1, 2, 4] {
            for _ in 0..5 {
                storm(workers, Executor::shutdown);
                storm(workers, |executor| {
                    assert!(executor.shutdown_timeout(Duration::MAX))
                });
            }
        }
    });
}

#[test]
fn every_future_is_dropped_once_by_a_drain() {
    watchdog::guard("drain storm", || {
        for workers in [1, 2, 4] {
            for _ in 0..5 {
                storm(workers, Executor::drain);
            }
        }
    });
}

/// Inside of it, so that the threads go on spawning while the workers end by themselves.
#[test]
fn every_future_is_dropped_once_by_a_task_that_ends_it() {
    watchdog::guard("storm from inside", || {
        for workers in [1, 2] {
            for _ in 0..5 {
                storm(workers, |executor| {
                    let handle = executor.handle();
                    let ended = handle.spawn(async move { executor.shutdown() });
                    handle.block_on(ended);
                    // Nobody waits for the workers but this.
                    until(|| handle.metrics().live_tasks() == 0);
                });
            }
        }
    });
}
