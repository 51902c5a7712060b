//! `Handle::current`: which executor the calling code runs on.

use std::sync::Mutex;
use std::sync::mpsc;
use std::thread;

use tests::exec::executor;
use tests::watchdog;
use ws_executor::{Executor, Handle, LocalExecutor};

/// The executors of these tests are known by their number of workers.
fn workers() -> Option<usize> {
    Handle::try_current().map(|handle| handle.workers()).ok()
}

#[test]
fn there_is_none_outside() {
    assert_eq!(workers(), None);
    let text = Handle::try_current().unwrap_err().to_string();
    assert!(text.starts_with("no current executor"), "{text}");
    let executor = executor(2);
    assert_eq!(workers(), None, "having one is not being in one");
    executor.block_on(async { assert_eq!(workers(), Some(2)) });
    assert_eq!(workers(), None, "it ends with `block_on`");
}

#[test]
#[should_panic(expected = "no current executor")]
fn current_panics_outside() {
    let _ = Handle::current();
}

#[test]
fn it_ends_with_a_panic_of_block_on() {
    let executor = executor(2);
    let panics = std::panic::AssertUnwindSafe(|| executor.block_on(async { panic!("inside") }));
    std::panic::catch_unwind(panics).unwrap_err();
    assert_eq!(workers(), None);
}

#[test]
fn it_is_the_innermost() {
    watchdog::guard("innermost", || {
        let (two, three) = (executor(2), executor(3));
        two.block_on(async {
            assert_eq!(workers(), Some(2));
            three.block_on(async {
                assert_eq!(workers(), Some(3));
                two.handle()
                    .block_on(async { assert_eq!(workers(), Some(2)) });
                assert_eq!(workers(), Some(3));
            });
            assert_eq!(workers(), Some(2));
        });
        let other = three.handle();
        let task = two.spawn(async move {
            assert_eq!(workers(), Some(2));
            other.block_on(async { assert_eq!(workers(), Some(3)) });
            workers()
        });
        assert_eq!(two.block_on(task), Some(2));
    });
}

/// A task that runs on top of a nested `block_on` is still its executor's.
#[test]
fn a_task_on_top_of_another_executors_block_on_knows_its_own() {
    watchdog::guard("on top", || {
        let (one, two) = (executor(1), executor(2));
        let (mine, other) = (one.handle(), two.handle());
        let task = one.spawn(async move {
            // The only worker runs the child while it waits here.
            let child = mine.spawn(async { workers() });
            let seen = other.block_on(async { (child.await, workers()) });
            (seen, workers())
        });
        assert_eq!(one.block_on(task), ((Some(1), Some(2)), Some(1)));
    });
}

#[test]
fn it_is_known_wherever_the_executor_runs_code() {
    watchdog::guard("wherever", || {
        let executor = executor(3);
        assert_eq!(
            executor.block_on(executor.spawn(async { workers() })),
            Some(3)
        );
        let pinned = executor.handle().spawn_pinned(1, || async { workers() });
        assert_eq!(executor.block_on(pinned), Some(3));
        let built = executor
            .handle()
            .spawn_pinned(1, || std::future::ready(workers()));
        assert_eq!(executor.block_on(built), Some(3));
        let local = LocalExecutor::new();
        let task = local.spawn(async { workers() });
        assert_eq!(executor.block_on(async { local.block_on(task) }), Some(3));
    });
}

/// A future's drop is the last that an executor runs of it.
#[test]
fn it_is_known_in_the_drop_of_a_future_on_a_worker() {
    struct Asks(mpsc::Sender<Option<usize>>);

    impl Drop for Asks {
        fn drop(&mut self) {
            self.0.send(workers()).unwrap();
        }
    }

    watchdog::guard("drop", || {
        let executor = executor(3);
        let (sender, receiver) = mpsc::channel();
        let asks = Asks(sender);
        let task = executor.spawn(async move {
            let _asks = asks;
            std::future::pending::<()>().await;
        });
        drop(task);
        assert_eq!(receiver.recv(), Ok(Some(3)));
    });
}

/// Hooks run outside of the worker's life.
#[test]
fn there_is_none_in_hooks() {
    static SEEN: Mutex<Vec<Option<usize>>> = Mutex::new(Vec::new());
    let builder = Executor::builder()
        .spares(0)
        .workers(1)
        .on_thread_start(|_| SEEN.lock().unwrap().push(workers()))
        .on_thread_stop(|_| SEEN.lock().unwrap().push(workers()));
    builder.build().unwrap().shutdown();
    assert_eq!(*SEEN.lock().unwrap(), [None, None]);
}

#[test]
fn it_outlives_its_executor() {
    watchdog::guard("outlives", || {
        let executor = executor(2);
        let handle = executor.block_on(executor.spawn(async { Handle::current() }));
        drop(executor);
        assert!(handle.is_shut_down());
        assert_eq!(handle.workers(), 2);
        let task = thread::spawn(move || handle.block_on(handle.spawn(async {}).fallible()));
        assert_eq!(task.join().unwrap(), None);
    });
}
