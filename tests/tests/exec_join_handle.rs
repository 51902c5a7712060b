//! A `JoinHandle` gives what became of its task as a result; dropping it lets the task run.

use std::future::{Future, pending};
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::{io, thread};

use tests::drops::Drops;
use tests::exec::{Gate, assert_alive, executor, until};
use tests::watchdog::guard;
use ws_executor::{JoinError, JoinHandle, LocalExecutor, Task, block_on, yield_now};

/// How a task ended.
fn result<T>(task: Task<T>) -> Result<T, JoinError> {
    block_on(task.into_join_handle())
}

fn error<T>(task: Task<T>) -> JoinError {
    match result(task) {
        Ok(_) => panic!("an error was expected"),
        Err(error) => error,
    }
}

#[test]
fn an_output() {
    guard("output", || {
        let executor = executor(2);
        let handle = executor.handle();
        assert_eq!(result(executor.spawn(async { 1 })).unwrap(), 1);
        assert_eq!(result(handle.compute(|| 2)).unwrap(), 2);
        assert_eq!(result(handle.spawn_blocking(|| 3)).unwrap(), 3);
        assert_eq!(result(handle.spawn_pinned(1, || async { 4 })).unwrap(), 4);
        let local = LocalExecutor::new();
        let task = local.spawn(async { Rc::new(5) }).into_join_handle();
        assert_eq!(*local.block_on(task).unwrap(), 5);
    });
}

/// The payload itself, from wherever it comes.
#[test]
fn a_panic() {
    guard("panic", || {
        let executor = executor(2);
        let handle = executor.handle();
        let tasks: [Task<()>; 4] = [
            executor.spawn(async {
                yield_now().await;
                panic_any(7_u8)
            }),
            handle.compute(|| panic_any(7_u8)),
            handle.spawn_blocking(|| panic_any(7_u8)),
            handle.spawn_pinned(1, || async { panic_any(7_u8) }),
        ];
        for task in tasks {
            let error = error(task);
            assert!(error.is_panic() && !error.is_cancelled());
            assert_eq!(error.to_string(), "task panicked");
            assert_eq!(format!("{error:?}"), "JoinError::Panic(...)");
            assert_eq!(error.into_panic().downcast_ref::<u8>(), Some(&7));
        }
        assert_alive(&executor);
    });
}

#[test]
fn its_message_is_shown() {
    guard("message", || {
        let executor = executor(1);
        let fixed = error(executor.spawn(async { panic!("of one kind") }));
        assert_eq!(
            fixed.to_string(),
            "task panicked with message \"of one kind\""
        );
        let made = error(executor.spawn(async { panic!("of {} kind", "another") }));
        assert_eq!(
            format!("{made:?}"),
            "JoinError::Panic(\"of another kind\", ...)"
        );
        let boxed: Box<dyn std::error::Error + Send + Sync> = made.into();
        assert_eq!(
            boxed.to_string(),
            "task panicked with message \"of another kind\""
        );
    });
}

#[test]
fn a_cancellation() {
    guard("cancelled", || {
        let ended = executor(1);
        let waits = ended.spawn(pending::<()>()).into_join_handle();
        let handle = ended.handle();
        ended.shutdown();
        assert!(waits.is_finished());
        for task in [waits, handle.spawn(async {}).into_join_handle()] {
            let error = block_on(task).unwrap_err();
            assert!(error.is_cancelled() && !error.is_panic());
            assert_eq!(error.to_string(), "task was cancelled");
            assert_eq!(format!("{error:?}"), "JoinError::Cancelled");
            assert!(error.try_into_panic().unwrap_err().is_cancelled());
        }
    });
}

#[test]
#[should_panic(expected = "the task was cancelled, and has no panic")]
fn a_cancelled_task_has_no_panic() {
    let ended = executor(1);
    let handle = ended.handle();
    ended.shutdown();
    drop(error(handle.spawn(async {})).into_panic());
}

#[test]
fn an_io_error() {
    let executor = executor(1);
    let read = async {
        executor
            .spawn(async { panic!() })
            .into_join_handle()
            .await?;
        Ok::<(), io::Error>(())
    };
    assert_eq!(block_on(read).unwrap_err().to_string(), "task panicked");
}

/// The payload is dropped once, also if that panics.
#[test]
fn a_payload_that_nobody_takes() {
    guard("payload", || {
        let executor = executor(1);
        let drops = Drops::of(2);
        for item in [drops.item(0), drops.panicking(1)] {
            let error = error::<()>(executor.spawn(async move { panic_any(item) }));
            assert!(catch_unwind(AssertUnwindSafe(|| drop(error))).is_ok());
        }
        drops.assert_each_once();
    });
}

#[test]
fn dropping_it_lets_the_task_run() {
    guard("detached", || {
        let executor = executor(1);
        let (gate, drops) = (Gate::new(), Drops::of(2));
        let (opened, item, output) = (gate.clone(), drops.item(0), drops.item(1));
        let handle = executor
            .spawn(async move {
                opened.wait();
                yield_now().await;
                drop(item);
                output
            })
            .into_join_handle();
        assert!(!handle.is_finished());
        drop(handle);
        gate.open();
        until(|| (0..2).all(|number| drops.count(number) == 1));
    });
}

/// The result can be awaited anywhere, and once.
#[test]
fn it_is_polled_once_after_the_end() {
    guard("polled again", || {
        let executor = executor(2);
        let mut handle = executor.spawn(async { 1 }).into_join_handle();
        assert_eq!(block_on(&mut handle).unwrap(), 1);
        assert!(handle.is_finished());
        let mut cx = Context::from_waker(Waker::noop());
        let again = catch_unwind(AssertUnwindSafe(|| Pin::new(&mut handle).poll(&mut cx)));
        assert!(again.is_err());
        drop(handle);
        let handle: JoinHandle<u8> = executor.spawn(async { 2 }).into_join_handle();
        assert_eq!(
            thread::spawn(|| block_on(handle).unwrap()).join().unwrap(),
            2
        );
    });
}

/// A future that owns the handle of another one is dropped: that one runs on.
#[test]
fn a_cancelled_owner_detaches() {
    guard("owner", || {
        let executor = executor(1);
        let gate = Gate::new();
        let ran = Arc::new(());
        let (opened, runs) = (gate.clone(), Arc::clone(&ran));
        let inner = executor
            .spawn(async move {
                opened.wait();
                drop(runs);
            })
            .into_join_handle();
        drop(executor.spawn(async move {
            let _inner = inner;
            pending::<()>().await;
        }));
        gate.open();
        until(|| Arc::strong_count(&ran) == 1);
    });
}
