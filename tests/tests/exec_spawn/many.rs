//! `spawn_many`: many tasks, published at once.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;

use futures::future::join_all;
use tests::drops::Drops;
use tests::exec::{assert_alive, executor, hold};
use tests::watchdog;
use ws_executor::{Executor, Handle};

#[test]
fn outputs_come_in_order() {
    watchdog::guard("spawn_many", || {
        // More than a ring holds.
        const TASKS: usize = 5_000;
        let numbers: Vec<usize> = (0..TASKS).collect();
        for workers in [1, 2, 4] {
            let executor = executor(workers);
            let outside = executor.spawn_many((0..TASKS).map(|number| async move { number }));
            assert_eq!(executor.block_on(join_all(outside)), numbers);
            let inside = executor.spawn(async {
                let tasks = (0..TASKS).map(|number| async move { number });
                join_all(Handle::current().spawn_many(tasks)).await
            });
            assert_eq!(executor.block_on(inside), numbers);
        }
    });
}

#[test]
fn none_is_a_number_of_tasks() {
    watchdog::guard("spawn_many of none", || {
        let executor = executor(2);
        let none = std::iter::empty::<std::future::Ready<()>>();
        assert!(executor.spawn_many(none).is_empty());
        assert_alive(&executor);
    });
}

/// The workers are busy while the tasks are made, so nothing could run before all
/// of them are published.
#[test]
fn they_are_published_at_once() {
    watchdog::guard("spawn_many at once", || {
        let executor = executor(2);
        let held = hold(&executor);
        let handle = executor.handle();
        let tasks = executor.spawn_many((0..100).map(|number| {
            assert_eq!(handle.metrics().injector_depth(), 0, "before task {number}");
            async move { number }
        }));
        assert_eq!(executor.metrics().injector_depth(), 100);
        drop(held);
        assert_eq!(
            executor.block_on(join_all(tasks)),
            (0..100).collect::<Vec<_>>()
        );
    });
}

/// Spawns five tasks from an iterator that panics at the sixth; returns what the
/// panic says.
fn spawn_from_a_bad_iterator(handle: &Handle, sender: mpsc::Sender<usize>) -> String {
    let futures = (0..10).map(|number| {
        assert!(number < 5, "the iterator panics");
        let sender = sender.clone();
        async move { sender.send(number).unwrap() }
    });
    let result = catch_unwind(AssertUnwindSafe(|| handle.spawn_many(futures)));
    let payload = result.expect_err("the panic goes on");
    payload
        .downcast_ref::<&str>()
        .map_or_else(String::new, |text| (*text).to_owned())
}

#[test]
fn a_panic_of_the_iterator_leaves_the_tasks_before_it() {
    watchdog::guard("panicking iterator", || {
        let executor = executor(2);
        for inside in [false, true] {
            let (sender, receiver) = mpsc::channel();
            let handle = executor.handle();
            let text = if inside {
                let task =
                    executor.spawn(async move { spawn_from_a_bad_iterator(&handle, sender) });
                executor.block_on(task)
            } else {
                spawn_from_a_bad_iterator(&handle, sender)
            };
            assert_eq!(text, "the iterator panics");
            // Ends when the last sender is gone, that is, when all have run.
            let mut ran: Vec<usize> = receiver.iter().collect();
            ran.sort_unstable();
            assert_eq!(ran, [0, 1, 2, 3, 4]);
            assert_alive(&executor);
        }
    });
}

#[test]
fn a_panic_of_the_iterator_while_shut_down_drops_the_futures() {
    watchdog::guard("panicking iterator, shut down", || {
        let executor = executor(1);
        let handle = executor.handle();
        executor.shutdown();
        let drops = Drops::of(5);
        let futures = (0..10).map(|number| {
            assert!(number < 5, "the iterator panics");
            let item = drops.item(number);
            async move { drop(item) }
        });
        catch_unwind(AssertUnwindSafe(|| handle.spawn_many(futures))).unwrap_err();
        drops.assert_each_once();
    });
}

/// The executor is closed while the iterator is at work.
#[test]
fn a_shutdown_in_between_drops_every_future_once() {
    watchdog::guard("spawn_many across a shutdown", || {
        let drops = Drops::of(10);
        let mut executor = Some(executor(2));
        let handle = executor.as_ref().map(Executor::handle).unwrap();
        let tasks = handle.spawn_many((0..10).map(|number| {
            if number == 5 {
                executor.take().into_iter().for_each(Executor::shutdown);
            }
            let item = drops.item(number);
            async move { drop(item) }
        }));
        drops.assert_each_once();
        for task in tasks {
            assert_eq!(handle.block_on(task.fallible()), None);
        }
    });
}
