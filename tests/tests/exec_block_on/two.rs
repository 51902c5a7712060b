//! Two executors that meet on one thread.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::task::Poll;
use std::thread;

use futures::StreamExt;
use futures::channel::{mpsc as async_mpsc, oneshot};
use tests::exec::{assert_alive, executor};
use tests::watchdog;
use ws_executor::{Executor, Handle, LocalExecutor};

fn named(name: &'static str, workers: usize) -> Executor {
    Executor::builder()
        .spares(0)
        .workers(workers)
        .thread_name(move |_| name.to_owned())
        .build()
        .unwrap()
}

fn thread_name() -> Option<String> {
    thread::current().name().map(str::to_owned)
}

/// A task of one wakes a task of the other, again and again, and each stays at home.
#[test]
fn tasks_wake_tasks_of_the_other() {
    watchdog::guard("ping pong", || {
        for workers in [1, 2] {
            let (left, right) = (named("left", workers), named("right", workers));
            let (to_right, mut from_left) = async_mpsc::unbounded();
            let (to_left, mut from_right) = async_mpsc::unbounded();
            let ping = left.spawn(async move {
                for number in 0..1_000 {
                    assert_eq!(thread_name().as_deref(), Some("left"));
                    to_right.unbounded_send(number).unwrap();
                    assert_eq!(from_right.next().await, Some(number));
                }
            });
            let pong = right.spawn(async move {
                while let Some(number) = from_left.next().await {
                    assert_eq!(thread_name().as_deref(), Some("right"));
                    to_left.unbounded_send(number).unwrap();
                }
            });
            left.block_on(ping);
            left.block_on(pong);
            assert_alive(&left);
            assert_alive(&right);
        }
    });
}

/// Spawned on the other from a task, and awaited there.
#[test]
fn tasks_spawn_on_the_other() {
    watchdog::guard("spawn on the other", || {
        let (left, right) = (named("left", 1), named("right", 1));
        let (to_left, to_right) = (left.handle(), right.handle());
        let names = left.spawn(async move {
            let there = to_right.spawn(async move {
                let back = to_left.spawn(async { thread_name() });
                (thread_name(), back.await)
            });
            (thread_name(), there.await)
        });
        let name = |name: &str| Some(name.to_owned());
        assert_eq!(
            left.block_on(names),
            (name("left"), (name("right"), name("left")))
        );
    });
}

/// On a worker of one, in `block_on` of the other: tasks of both are waited for, and
/// neither runs the other's.
#[test]
fn one_blocks_on_the_other() {
    watchdog::guard("block on the other", || {
        let (left, right) = (named("left", 1), named("right", 1));
        let (mine, other) = (left.handle(), right.handle());
        let task = left.spawn(async move {
            let on_top = mine.spawn(async { thread_name() });
            let there = other.spawn(async { thread_name() });
            other.block_on(async { (on_top.await, there.await) })
        });
        let names = left.block_on(task);
        assert_eq!(names, (Some("left".to_owned()), Some("right".to_owned())));
    });
}

/// Both workers, of two executors, are in `block_on` for a task of the other one.
#[test]
fn both_block_on_each_other() {
    watchdog::guard("crosswise", || {
        let (left, right) = (named("left", 1), named("right", 1));
        for _ in 0..100 {
            let cross = |from: &Executor, to: Handle| {
                from.spawn(async move { to.block_on(to.spawn(async { thread_name() })) })
            };
            let (a, b) = (cross(&left, right.handle()), cross(&right, left.handle()));
            assert_eq!(left.block_on(a).as_deref(), Some("right"));
            assert_eq!(left.block_on(b).as_deref(), Some("left"));
        }
    });
}

/// One is built, used and shut down inside a task of the other.
#[test]
fn one_lives_in_a_task_of_the_other() {
    watchdog::guard("inside the other", || {
        let outer = executor(1);
        let task = outer.spawn(async {
            let inner = executor(2);
            let sum = inner.block_on(inner.spawn(async { 1 })) + inner.spawn(async { 2 }).await;
            let waits = inner.spawn(std::future::pending::<()>());
            inner.shutdown();
            assert!(waits.is_finished());
            sum
        });
        assert_eq!(outer.block_on(task), 3);
        assert_alive(&outer);
    });
}

/// The one that is dropped with a task of the other: at that one's shutdown, and by a
/// cancellation.
#[test]
fn one_is_owned_by_a_task_of_the_other() {
    watchdog::guard("owned by the other", || {
        for cancel in [true, false] {
            let (outer, inner) = (executor(1), executor(2));
            let handle = inner.handle();
            let waits = inner.spawn(std::future::pending::<()>());
            let (reached, reaches) = mpsc::channel();
            let owner = outer.spawn(async move {
                let _inner = inner;
                reached.send(()).unwrap();
                std::future::pending::<()>().await;
            });
            reaches.recv().unwrap();
            if cancel {
                assert_eq!(outer.block_on(owner.cancel()), None);
            } else {
                outer.shutdown();
            }
            assert!(handle.is_shut_down());
            assert_eq!(handle.block_on(waits.fallible()), None);
        }
    });
}

/// A waker of one is woken in the middle of a poll of the other, on that one's thread:
/// it must go to its own executor's queue, although the thread is a worker.
#[test]
fn a_wake_on_the_others_worker_goes_home() {
    watchdog::guard("goes home", || {
        let (left, right) = (named("left", 1), named("right", 1));
        let (wakers, woken) = mpsc::channel();
        let polled = Arc::new(AtomicBool::new(false));
        let waits = {
            let polled = Arc::clone(&polled);
            left.spawn(std::future::poll_fn(move |cx| {
                if polled.swap(true, Ordering::SeqCst) {
                    return Poll::Ready(thread_name());
                }
                wakers.send(cx.waker().clone()).unwrap();
                Poll::Pending
            }))
        };
        let waker: std::task::Waker = woken.recv().unwrap();
        let wakes = right.spawn(async move {
            waker.wake();
            // It runs although the poll that woke it does not end.
            left.block_on(waits)
        });
        assert_eq!(right.block_on(wakes).as_deref(), Some("left"));
    });
}

#[test]
fn a_local_one_and_a_shared_one() {
    watchdog::guard("local and shared", || {
        let (shared, local) = (executor(2), LocalExecutor::new());
        let (to_local, from_shared) = oneshot::channel();
        let (to_shared, from_local) = oneshot::channel();
        let there = shared.spawn(async move {
            to_local.send(1).unwrap();
            from_local.await.unwrap()
        });
        let here = local.spawn(async move {
            let one = from_shared.await.unwrap();
            to_shared.send(one + 1).unwrap();
            there.await
        });
        assert_eq!(shared.block_on(async { local.block_on(here) }), 2);
    });
}
