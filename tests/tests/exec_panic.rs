//! A panic of the user's code ends where it belongs, wherever that code runs; it ends
//! no worker, and not the process.
//!
//! What would abort the process if it went wrong runs in a process of its own.

#[path = "exec_panic/drops.rs"]
mod drops;
#[path = "exec_panic/hooks.rs"]
mod hooks;
#[path = "exec_panic/payloads.rs"]
mod payloads;
#[path = "exec_panic/wakers.rs"]
mod wakers;

use std::future::{Future, ready};
use std::panic::{AssertUnwindSafe, panic_any, resume_unwind};

use futures::FutureExt;
use futures::future::join_all;
use tests::exec::{assert_alive, executor, payload_of};
use tests::{child, watchdog};
use ws_executor::{Executor, Handle, yield_now};

/// What the panic of awaiting `future` says.
fn text_of(executor: &Executor, future: impl Future) -> String {
    let payload = payload_of(|| executor.block_on(future));
    match payload.downcast::<&str>() {
        Ok(text) => (*text).to_owned(),
        Err(payload) => *payload.downcast::<String>().expect("a text"),
    }
}

#[test]
fn more_panics_than_workers() {
    watchdog::guard("more panics than workers", || {
        for workers in [1, 2, 4] {
            let executor = executor(workers);
            let before = executor.metrics().polls();
            // One after the other.
            for number in 0..=workers {
                let task = executor.spawn(async move { panic!("number {number}") });
                assert_eq!(text_of(&executor, task), format!("number {number}"));
            }
            assert_alive(&executor);
            // All at once, in their first poll and in a later one.
            let panics = |number: usize| async move {
                for _ in 0..number % 3 {
                    yield_now().await;
                }
                panic!("number {number}");
            };
            let tasks = executor.spawn_many((0..100).map(panics));
            for (number, task) in tasks.into_iter().enumerate() {
                assert_eq!(text_of(&executor, task), format!("number {number}"));
            }
            assert_alive(&executor);
            assert_eq!(executor.workers(), workers);
            // A poll that panics is a poll: 100 first ones, and every third task has one
            // more, every third two.
            let polls = executor.metrics().polls() - before;
            assert_eq!(polls, (workers + 1 + 100 + 99 + 2 * workers) as u64);
            tests::exec::until(|| executor.metrics().live_tasks() == 0);
        }
    });
}

#[test]
fn the_awaiter_gets_the_payload_itself() {
    #[derive(Debug, PartialEq)]
    struct Special(u32);

    watchdog::guard("payloads", || {
        let executor = executor(2);
        let task = executor.spawn(async { panic_any(Special(7)) });
        let payload = payload_of(|| executor.block_on(task));
        assert_eq!(payload.downcast_ref(), Some(&Special(7)));
        let task = executor.spawn(async { resume_unwind(Box::new(Special(8))) });
        let payload = payload_of(|| executor.block_on(task.fallible()));
        assert_eq!(payload.downcast_ref(), Some(&Special(8)));
    });
}

/// It goes up a tree of tasks, from whoever awaits to whoever awaits that.
#[test]
fn a_panic_goes_from_awaiter_to_awaiter() {
    watchdog::guard("awaiters", || {
        let executor = executor(2);
        let handle = executor.handle();
        let leaf = executor.spawn(async {
            yield_now().await;
            panic!("leaf");
        });
        let root = (0..10).fold(leaf, |task, _| handle.spawn(task));
        assert_eq!(text_of(&executor, root), "leaf");
        // Or to one that catches it.
        let leaf = executor.spawn(async { panic!("leaf") });
        let catches = executor.spawn(AssertUnwindSafe(leaf).catch_unwind());
        assert!(executor.block_on(catches).is_err());
        assert_alive(&executor);
    });
}

#[test]
fn nobody_need_await() {
    watchdog::guard("detached panics", || {
        let executor = executor(2);
        for _ in 0..10 {
            executor.spawn(async { panic!("detached") }).detach();
            executor
                .spawn(async { panic!("detached") })
                .fallible()
                .detach();
            executor
                .handle()
                .spawn_pinned(1, || async { panic!("detached") })
                .detach();
            executor
                .handle()
                .spawn_blocking(|| panic!("detached"))
                .detach();
        }
        assert_alive(&executor);
    });
}

/// A panic of what `block_on` polls is the caller's, also on a worker, where it
/// unwinds through the worker's loop.
#[test]
fn a_panic_leaves_block_on_as_it_was() {
    watchdog::guard("block_on panics", || {
        for workers in [1, 2] {
            let executor = executor(workers);
            assert_eq!(text_of(&executor, async { panic!("outside") }), "outside");
            // More often than such calls may be nested.
            let task = executor.spawn(async {
                let handle = Handle::current();
                for number in 0..100 {
                    let panics = async {
                        yield_now().await;
                        Handle::current().spawn(yield_now()).await;
                        panic!("number {number}");
                    };
                    drop(payload_of(|| handle.block_on(panics)));
                }
                handle.block_on(handle.spawn(async { 5 }))
            });
            assert_eq!(executor.block_on(task), 5);
            assert_alive(&executor);
            // Nobody is taken to wait inside any more.
            executor.drain();
        }
    });
}

/// The task on top of a nested `block_on` panics, and that below does not notice.
#[test]
fn a_panic_on_top_of_block_on_stays_there() {
    watchdog::guard("panic on top", || {
        let executor = executor(1);
        let task = executor.spawn(async {
            let handle = Handle::current();
            let panics = (0..10).map(|_| handle.spawn(async { panic!("on top") }).detach());
            panics.for_each(drop);
            handle.block_on(handle.spawn(async { "below" }))
        });
        assert_eq!(executor.block_on(task), "below");
        assert_alive(&executor);
    });
}

/// While others run, and wake each other.
#[test]
fn panics_do_not_disturb_the_others() {
    watchdog::guard("panics among others", || {
        let executor = executor(2);
        let tasks = executor.spawn_many((0..1_000_u32).map(|number| async move {
            yield_now().await;
            assert!(number % 7 != 0, "every seventh");
            let inner = Handle::current().spawn(async move { number });
            inner.await
        }));
        let tasks = tasks
            .into_iter()
            .map(|task| AssertUnwindSafe(task).catch_unwind());
        let outputs = executor.block_on(join_all(tasks));
        for (number, output) in (0..).zip(outputs) {
            assert_eq!(output.ok(), (number % 7 != 0).then_some(number));
        }
        assert_alive(&executor);
    });
}

/// That a second panic during the unwinding of a first aborts is Rust's rule.
#[test]
fn a_panic_while_unwinding_aborts() {
    struct Panics;

    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("while unwinding");
        }
    }

    let ending = child::run("a_panic_while_unwinding_aborts", || {
        let executor = executor(1);
        let task = executor.spawn(async {
            let _panics = Panics;
            panic!("in poll");
        });
        executor.block_on(task);
    });
    if let Some(ending) = ending {
        ending.assert_aborted("panic in a destructor during cleanup");
    }
}

/// An executor that is dropped because its owner panics.
#[test]
fn an_executor_is_dropped_by_unwinding() {
    child::survives("an_executor_is_dropped_by_unwinding", || {
        let drops = tests::drops::Drops::of(10);
        let payload = payload_of(|| {
            let executor = executor(2);
            for number in 0..10 {
                // Panics in drops, except while its own thread is panicking.
                let item = drops.panicking(number);
                executor
                    .spawn(async move {
                        let _item = item;
                        std::future::pending::<()>().await;
                    })
                    .detach();
            }
            executor.block_on(executor.spawn(ready(())));
            panic!("the owner");
        });
        assert_eq!(payload.downcast_ref::<&str>(), Some(&"the owner"));
        drops.assert_each_once();
    });
}
