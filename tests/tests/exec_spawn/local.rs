//! `LocalExecutor`: tasks of one thread, which need not be `Send`.

use std::cell::{Cell, RefCell};
use std::future::{pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::mpsc;
use std::task::{Poll, Waker};
use std::thread;

use futures::channel::oneshot;
use futures::future::join_all;
use tests::drops::Drops;
use tests::exec::executor;
use tests::{child, watchdog};
use ws_executor::{Executor, LocalExecutor, yield_now};

#[test]
fn tasks_share_what_is_not_send() {
    watchdog::guard("local", || {
        let executor = LocalExecutor::new();
        let log = Rc::new(RefCell::new(Vec::new()));
        let task = |number: usize| {
            let log = Rc::clone(&log);
            executor.spawn(async move {
                for step in 0..3 {
                    log.borrow_mut().push((step, number));
                    yield_now().await;
                }
                number
            })
        };
        let tasks: Vec<_> = (0..3).map(task).collect();
        assert_eq!(executor.block_on(join_all(tasks)), [0, 1, 2]);
        // In turns, first in, first out.
        let turns = (0..3).flat_map(|step| (0..3).map(move |number| (step, number)));
        assert!(log.borrow().iter().copied().eq(turns));
        assert!(executor.is_empty());
    });
}

#[test]
fn ticks_poll_one_task_each() {
    let executor = LocalExecutor::new();
    let count = Rc::new(Cell::new(0));
    for _ in 0..3 {
        let count = Rc::clone(&count);
        executor
            .spawn(async move { count.set(count.get() + 1) })
            .detach();
    }
    assert!(!executor.is_empty());
    for ran in 1..=3 {
        assert!(executor.try_tick());
        assert_eq!(count.get(), ran);
    }
    assert!(!executor.try_tick());
    assert!(executor.is_empty());
}

#[test]
fn foreign_threads_wake_it() {
    watchdog::guard("local, foreign wakes", || {
        let executor = LocalExecutor::new();
        let (wakers, woken) = mpsc::channel::<Waker>();
        let waking = thread::spawn(move || woken.iter().for_each(Waker::wake));
        let task = {
            let mut polls = 0;
            let local = Rc::new(());
            executor.spawn(poll_fn(move |cx| {
                let _local = &local;
                polls += 1;
                if polls == 1_000 {
                    return Poll::Ready(polls);
                }
                wakers.send(cx.waker().clone()).unwrap();
                Poll::Pending
            }))
        };
        assert_eq!(executor.block_on(task), 1_000);
        waking.join().unwrap();
    });
}

/// The future of `block_on` itself is woken by a foreign thread, with tasks and
/// without.
#[test]
fn foreign_threads_wake_what_blocks() {
    watchdog::guard("local block_on", || {
        let executor = LocalExecutor::new();
        executor.spawn(pending::<()>()).detach();
        for round in 0..200 {
            let (sender, receiver) = oneshot::channel();
            let waking = thread::spawn(move || sender.send(round).unwrap());
            assert_eq!(executor.block_on(receiver), Ok(round));
            waking.join().unwrap();
        }
    });
}

/// The outer call must be woken again after the inner one has ended.
#[test]
fn it_nests_in_itself() {
    watchdog::guard("local nested", || {
        let executor = Rc::new(LocalExecutor::new());
        let (sender, receiver) = oneshot::channel();
        let (reached, reaches) = mpsc::channel();
        let task = {
            let inner = Rc::clone(&executor);
            executor.spawn(async move {
                let one = inner.block_on(async { 1 });
                reached.send(()).unwrap();
                one + receiver.await.unwrap_or(0)
            })
        };
        let waking = thread::spawn(move || {
            reaches.recv().unwrap();
            // So that the outer call is about to sleep, or asleep.
            for _ in 0..1_000 {
                thread::yield_now();
            }
            sender.send(2).unwrap();
        });
        assert_eq!(executor.block_on(task), 3);
        waking.join().unwrap();
    });
}

/// What the outer call waits for happens during the inner one.
#[test]
fn an_inner_call_does_not_swallow_what_wakes_the_outer_one() {
    watchdog::guard("local nested signal", || {
        let executor = Rc::new(LocalExecutor::new());
        let (sender, receiver) = oneshot::channel();
        let inner = Rc::clone(&executor);
        executor
            .spawn(async move {
                inner.block_on(async { sender.send(5).unwrap() });
                drop(inner);
                pending::<()>().await;
            })
            .detach();
        assert_eq!(executor.block_on(receiver), Ok(5));
    });
}

#[test]
fn it_runs_inside_a_task_and_waits_for_tasks() {
    watchdog::guard("local in a task", || {
        let outer = executor(1);
        let handle = outer.handle();
        let task = outer.spawn(async move {
            let local = LocalExecutor::new();
            let task = local.spawn(async move {
                let own = Rc::new(2);
                *own + handle.spawn(async { 3 }).await
            });
            local.block_on(task)
        });
        assert_eq!(outer.block_on(task), 5);
    });
}

#[test]
fn its_panics_are_the_awaiters() {
    watchdog::guard("local panics", || {
        let executor = LocalExecutor::new();
        executor.spawn(async { panic!("detached") }).detach();
        assert!(executor.try_tick());
        let task = executor.spawn(async { panic!("awaited") });
        let payload = catch_unwind(AssertUnwindSafe(|| executor.block_on(task))).unwrap_err();
        assert_eq!(payload.downcast_ref::<&str>(), Some(&"awaited"));
        assert_eq!(executor.block_on(executor.spawn(async { 1 })), 1);
        assert!(executor.is_empty());
    });
}

#[test]
fn its_end_drops_every_task_once() {
    watchdog::guard("local drop", || {
        let drops = Drops::of(6);
        let executor = LocalExecutor::new();
        let mut tasks = Vec::new();
        for number in 0..6 {
            let item = drops.item(number);
            let task = executor.spawn(async move {
                let _item = item;
                pending::<()>().await;
            });
            // Two wait, two are queued, of each one is detached; two are cancelled.
            if number < 3 {
                assert!(executor.try_tick());
            }
            match number % 3 {
                0 => tasks.push(task),
                1 => task.detach(),
                _ => drop(task),
            }
        }
        assert_eq!(
            drops.count(2),
            0,
            "a cancelled one is dropped by a tick, or by the end"
        );
        drop(executor);
        drops.assert_each_once();
        for task in tasks {
            assert_eq!(ws_executor::block_on(task.fallible()), None);
        }
    });
}

#[test]
fn panics_in_drops_are_contained() {
    child::survives("local::panics_in_drops_are_contained", || {
        let drops = Drops::of(3);
        let executor = LocalExecutor::new();
        for number in 0..2 {
            let item = drops.panicking(number);
            let waits = async move {
                let _item = item;
                pending::<()>().await;
            };
            executor.spawn(waits).detach();
        }
        let item = drops.panicking(2);
        executor.spawn(async move { item }).detach();
        assert!(executor.try_tick());
        drop(executor);
        drops.assert_each_once();
    });
}

/// A handle of a `Send` output may go anywhere; the future may not.
#[test]
fn handles_are_dropped_elsewhere() {
    struct Stays(
        thread::ThreadId,
        mpsc::Sender<bool>,
        #[allow(dead_code)] Rc<()>,
    );

    impl Drop for Stays {
        fn drop(&mut self) {
            self.1.send(thread::current().id() == self.0).unwrap();
        }
    }

    watchdog::guard("local handles", || {
        for round in 0..200 {
            let executor = LocalExecutor::new();
            let (sender, dropped) = mpsc::channel();
            let stays = Stays(thread::current().id(), sender, Rc::new(()));
            let task = executor.spawn(async move {
                let _stays = stays;
                pending::<()>().await;
            });
            if round % 2 == 0 {
                executor.try_tick();
            }
            let dropping = thread::spawn(move || drop(task));
            // The end races with that.
            drop(executor);
            assert_eq!(dropped.recv(), Ok(true));
            dropping.join().unwrap();
        }
    });
}

/// Foreign wakes race with the end, and come after it.
#[test]
fn wakes_race_with_its_end() {
    watchdog::guard("local race", || {
        let drops = Drops::of(500);
        for round in 0..500 {
            let executor = LocalExecutor::new();
            let (sender, wakers) = mpsc::channel();
            let item = drops.item(round);
            executor
                .spawn(poll_fn(move |cx| {
                    let _item = &item;
                    let _ = sender.send(cx.waker().clone());
                    Poll::<()>::Pending
                }))
                .detach();
            executor.try_tick();
            let waker = wakers.recv().unwrap();
            let waking = thread::spawn(move || (0..20).for_each(|_| waker.wake_by_ref()));
            drop(executor);
            assert_eq!(drops.count(round), 1);
            waking.join().unwrap();
        }
    });
}

thread_local! {
    static LOCAL: LocalExecutor = LocalExecutor::new();
}

/// A task on top of a `block_on` that waits calls the same executor's: the one below is
/// woken all the same.
#[test]
fn a_call_on_top_of_another() {
    watchdog::guard("local on top", || {
        let executor = Executor::builder().spares(0).workers(1).build().unwrap();
        let handle = executor.handle();
        let (sender, receiver) = oneshot::channel();
        let (inside, is_inside) = mpsc::channel();
        let below = handle.spawn_pinned(0, move || async move {
            LOCAL.with(|local| {
                local.block_on(async {
                    inside.send(()).unwrap();
                    receiver.await
                })
            })
        });
        is_inside.recv().unwrap();
        let on_top = handle.spawn_pinned(0, || async {
            LOCAL.with(|local| local.block_on(async { 2 }))
        });
        assert_eq!(executor.block_on(on_top), 2);
        sender.send(1).unwrap();
        assert_eq!(executor.block_on(below), Ok(1));
    });
}
