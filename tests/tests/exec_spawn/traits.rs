//! The spawning traits: code that knows only these runs unchanged.

use std::cell::Cell;
use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use futures::channel::{mpsc, oneshot};
use futures::future::{Either, RemoteHandle, select};
use futures::stream::FuturesUnordered;
use futures::task::{LocalSpawn, LocalSpawnExt, Spawn, SpawnExt};
use futures::{FutureExt, SinkExt, StreamExt};
use tests::drops::Drops;
use tests::exec::{executor, until};
use tests::watchdog;
use ws_core::DynSpawn;
use ws_executor::LocalExecutor;

/// Futures code as it is written for any executor.
async fn sum_of_squares(spawner: &(impl Spawn + ?Sized), count: u64) -> u64 {
    let (sender, receiver) = mpsc::channel(4);
    for number in 0..count {
        let mut sender = sender.clone();
        let send = async move { sender.send(number * number).await.unwrap() };
        spawner.spawn(send).unwrap();
    }
    drop(sender);
    receiver
        .fold(0, |sum, square| async move { sum + square })
        .await
}

#[test]
fn executor_handle_and_reference_are_spawners_of_futures() {
    watchdog::guard("futures spawn", || {
        let executor = executor(2);
        let handle = executor.handle();
        for spawner in [&executor as &dyn Spawn, &handle, &&handle] {
            assert_eq!(spawner.status().map_err(drop), Ok(()));
            assert_eq!(executor.block_on(sum_of_squares(spawner, 100)), 328_350);
        }
    });
}

#[test]
fn a_remote_handle_is_awaited_dropped_and_forgotten() {
    watchdog::guard("remote handle", || {
        let executor = executor(2);
        let spawner = &executor.handle();
        let output: RemoteHandle<i32> = spawner.spawn_with_handle(async { 5 }).unwrap();
        assert_eq!(executor.block_on(output), 5);

        let drops = Drops::of(2);
        for number in 0..2 {
            let item = drops.item(number);
            let waits = async move {
                let _item = item;
                pending::<()>().await;
            };
            let remote = spawner.spawn_with_handle(waits).unwrap();
            match number {
                0 => drop(remote),
                _ => remote.forget(),
            }
        }
        until(|| drops.count(0) == 1);
        assert_eq!(drops.count(1), 0, "a forgotten one goes on");
        drop(executor);
        drops.assert_each_once();
    });
}

#[test]
fn a_panic_reaches_the_remote_handle() {
    watchdog::guard("remote panic", || {
        let executor = executor(1);
        let remote = executor
            .spawn_with_handle(async { panic!("remote") })
            .unwrap();
        let payload = catch_unwind(AssertUnwindSafe(|| executor.block_on(remote))).unwrap_err();
        assert_eq!(payload.downcast_ref::<&str>(), Some(&"remote"));
        assert_eq!(
            executor.block_on(executor.spawn_with_handle(async { 1 }).unwrap()),
            1
        );
    });
}

#[test]
fn a_shut_down_executor_says_so() {
    let executor = executor(1);
    let handle = executor.handle();
    executor.shutdown();
    let drops = Drops::of(1);
    let item = drops.item(0);
    assert!(handle.status().unwrap_err().is_shutdown());
    let refused = SpawnExt::spawn(&handle, async move { drop(item) });
    assert!(refused.unwrap_err().is_shutdown());
    drops.assert_each_once();
}

/// `select`, `Shared`, `FuturesUnordered` and channels between tasks.
#[test]
fn combinators_work_across_tasks() {
    watchdog::guard("combinators", || {
        let executor = executor(2);
        let spawner = executor.handle();
        let (sender, receiver) = oneshot::channel::<u32>();
        let shared = receiver.map(Result::unwrap).shared();
        let readers: FuturesUnordered<_> = (0..10)
            .map(|number| {
                let shared = shared.clone();
                let add = async move { shared.await + number };
                spawner.spawn_with_handle(add).unwrap()
            })
            .collect();
        let never = spawner.spawn_with_handle(pending::<()>()).unwrap();
        let sum = executor.block_on(async move {
            sender.send(100).unwrap();
            let total = readers.fold(0, |sum, number| async move { sum + number });
            match select(never, Box::pin(total)).await {
                Either::Left(((), _)) => unreachable!("it never ends"),
                Either::Right((total, _)) => total,
            }
        });
        assert_eq!(sum, 1045);
    });
}

#[test]
fn a_local_executor_is_a_local_spawner() {
    watchdog::guard("local spawn", || {
        let executor = LocalExecutor::new();
        let count = Rc::new(Cell::new(0));
        let add = |number: u32| {
            let count = Rc::clone(&count);
            async move {
                count.set(count.get() + number);
                number
            }
        };
        assert_eq!(executor.status_local().map_err(drop), Ok(()));
        executor.spawn_local(add(1).map(drop)).unwrap();
        let remote = executor.spawn_local_with_handle(add(2)).unwrap();
        assert_eq!(executor.block_on(remote), 2);
        assert_eq!(count.get(), 3);
    });
}

#[test]
fn a_handle_is_a_spawner_of_ours() {
    fn spawn(spawner: &impl ws_core::Spawn, sender: std::sync::mpsc::Sender<usize>) {
        let parallelism = spawner.parallelism();
        spawner.spawn(async move { sender.send(parallelism).unwrap() });
    }

    watchdog::guard("our spawn", || {
        let executor = executor(3);
        let (sender, receiver) = std::sync::mpsc::channel();
        spawn(&executor.handle(), sender.clone());
        spawn(&executor, sender.clone());
        let object: &dyn DynSpawn = &executor.handle();
        object.spawn_boxed(Box::pin(async move { sender.send(3).unwrap() }));
        assert_eq!(receiver.iter().collect::<Vec<_>>(), [3, 3, 3]);
    });
}
