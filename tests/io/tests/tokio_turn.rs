//! Code that tokio runs inside the turn of a worker, and what waits for tokio at the end of an
//! executor.
#![cfg(target_os = "linux")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tests::watchdog::guard;
use tokio::runtime::Handle as RuntimeHandle;
use ws_executor::{Executor, coop, join};
use ws_io_adapters::tokio::executor;

fn start(workers: usize) -> Executor {
    executor(Executor::builder().workers(workers)).unwrap()
}

fn runtime_of(executor: &Executor) -> RuntimeHandle {
    executor.block_on(async { RuntimeHandle::current() })
}

const SOON: Duration = Duration::from_millis(50);

/// A shutdown waits for the poll that is under way, and that one for a timer.
#[test]
fn a_timer_is_waited_for_during_a_shutdown() {
    guard("timer", || {
        for workers in [1, 2] {
            let executor = start(workers);
            let handle = executor.handle();
            let (inside, is_inside) = mpsc::channel();
            let task = executor.spawn(async move {
                inside.send(()).unwrap();
                handle.block_on(tokio::time::sleep(SOON));
            });
            is_inside.recv().unwrap();
            executor.shutdown();
            assert!(task.is_finished());
        }
    });
}

#[test]
fn a_timer_is_waited_for_after_a_shutdown_inside() {
    guard("timer, inside", || {
        for workers in [1, 2] {
            let executor = start(workers);
            let handle = executor.handle();
            let (ended, end) = mpsc::channel();
            let task = executor.handle().spawn(async move {
                executor.shutdown();
                handle.block_on(tokio::time::sleep(SOON));
                ended.send(()).unwrap();
            });
            end.recv().unwrap();
            drop(task);
        }
    });
}

/// The only worker computes, so that a spare thread polls the task that waits.
#[test]
fn a_timer_is_waited_for_on_a_spare_thread() {
    guard("timer, spare thread", || {
        let executor = start(1);
        let handle = executor.handle();
        let (computes, is_computing) = mpsc::channel();
        let computation = executor.handle().compute(move || {
            computes.send(()).unwrap();
            thread::sleep(4 * SOON);
        });
        is_computing.recv().unwrap();
        let (inside, is_inside) = mpsc::channel();
        let task = executor.spawn(async move {
            inside.send(()).unwrap();
            handle.block_on(tokio::time::sleep(8 * SOON));
        });
        is_inside.recv().unwrap();
        executor.shutdown();
        drop((task, computation));
    });
}

/// What a task has used up is no matter of tokio's tasks.
#[test]
fn the_budget_of_a_task_ends_with_its_poll() {
    guard("budget", || {
        let executor = start(1);
        let runtime = runtime_of(&executor);
        let spends = executor.spawn(async {
            for _ in 0..128 {
                coop::consume().await;
            }
            7
        });
        let (sender, receiver) = mpsc::channel();
        runtime.spawn(async move { sender.send(spends.await).unwrap() });
        assert_eq!(receiver.recv(), Ok(7));
    });
}

/// The worker cannot go on being one in there: a panic, before anything is borrowed.
#[test]
fn scopes_and_block_on_are_refused() {
    guard("refused", || {
        let executor = start(2);
        let runtime = runtime_of(&executor);
        for _ in 0..5 {
            let (scoped, blocking) = (executor.handle(), executor.handle());
            let began = Arc::new(AtomicBool::new(false));
            let begins = Arc::clone(&began);
            let tasks = [
                runtime
                    .spawn(async move { scoped.scope(|_| begins.store(true, Ordering::Relaxed)) }),
                runtime.spawn(async move { blocking.block_on(tokio::task::yield_now()) }),
            ];
            for task in tasks {
                let error = futures::executor::block_on(task).unwrap_err();
                let payload = error.into_panic();
                let text = payload.downcast_ref::<String>().unwrap();
                assert!(text.contains("inside of the driver's turn"), "{text}");
            }
            assert!(!began.load(Ordering::Relaxed));
            // And the worker is unharmed.
            assert_eq!(executor.block_on(executor.spawn(async { 1 })), 1);
        }
    });
}

/// A join in there does not run the forks of others, which may do what it cannot.
#[test]
fn joins_are_strangers_to_each_other() {
    guard("joins", || {
        let executor = start(3);
        let handle = executor.handle();
        let ends = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&ends);
        let inside = runtime_of(&executor).spawn(async move {
            while !until.load(Ordering::Relaxed) {
                let nap = |millis| move || thread::sleep(Duration::from_millis(millis));
                join(nap(1), nap(5));
                tokio::task::yield_now().await;
            }
        });
        for _ in 0..50 {
            let handle = handle.clone();
            let joins = executor.spawn(async move {
                let blocking = || handle.block_on(handle.spawn_blocking(|| 2));
                handle
                    .join(|| thread::sleep(Duration::from_millis(3)), blocking)
                    .1
            });
            assert_eq!(executor.block_on(joins), 2);
        }
        ends.store(true, Ordering::Relaxed);
        futures::executor::block_on(inside).unwrap();
    });
}
