//! `block_on` on a worker whose executor is shut down: it ends, because what it waits for
//! is cancelled.

use std::future::pending;
use std::sync::mpsc;
use std::thread;

use tests::drops::Drops;
use tests::exec::{executor, until};
use tests::watchdog;
use ws_executor::{Executor, Handle};

/// Runs `code` in a task, which tells when it may be shut down, and shuts down then;
/// `code` gets a function that returns when the executor is closed.
fn shut_down_during(workers: usize, code: impl FnOnce(&Handle, &dyn Fn()) + Send + 'static) {
    let executor = executor(workers);
    let (reached, reaches) = mpsc::channel();
    let (ended, ends) = mpsc::channel();
    executor
        .handle()
        .spawn_pinned(0, move || async move {
            let handle = Handle::current();
            let closed = || {
                reached.send(()).unwrap();
                until(|| handle.is_shut_down());
            };
            code(&handle, &closed);
            ended.send(()).unwrap();
        })
        .detach();
    reaches.recv().unwrap();
    executor.shutdown();
    assert_eq!(ends.recv(), Ok(()), "it came to its end");
}

/// The task that is waited for is in the waiting worker's own slot or ring.
#[test]
fn for_a_task_of_its_own_queues() {
    watchdog::guard("own queues", || {
        for workers in [1, 2] {
            shut_down_during(workers, |handle, closed| {
                let tasks = [0, 1, 2].map(|_| handle.spawn(pending::<()>()).fallible());
                closed();
                for task in tasks {
                    assert_eq!(handle.block_on(task), None);
                }
            });
        }
    });
}

#[test]
fn for_a_task_that_is_pinned_to_it() {
    watchdog::guard("pinned to itself", || {
        shut_down_during(1, |handle, closed| {
            let task = handle.spawn_pinned(0, pending::<()>).fallible();
            closed();
            assert_eq!(handle.block_on(task), None);
        });
    });
}

/// The tasks wait already; closing wakes them.
#[test]
fn for_a_task_that_waits() {
    watchdog::guard("waiting task", || {
        for workers in [1, 2] {
            shut_down_during(workers, |handle, closed| {
                let tasks = [0, 1].map(|_| handle.spawn(pending::<()>()));
                let pinned = handle.spawn_pinned(0, pending::<()>).fallible();
                handle.block_on(handle.spawn(async {}));
                closed();
                for task in tasks {
                    assert_eq!(handle.block_on(task.fallible()), None);
                }
                assert_eq!(handle.block_on(pinned), None);
            });
        }
    });
}

#[test]
fn for_a_cancellation() {
    watchdog::guard("cancellation", || {
        for workers in [1, 2] {
            shut_down_during(workers, |handle, closed| {
                let queued = handle.spawn(pending::<()>());
                let pinned = handle.spawn_pinned(0, pending::<()>);
                closed();
                assert_eq!(handle.block_on(queued.cancel()), None);
                assert_eq!(handle.block_on(pinned.cancel()), None);
            });
        }
    });
}

#[test]
fn for_a_scope() {
    watchdog::guard("scope", || {
        for workers in [1, 2] {
            shut_down_during(workers, |handle, closed| {
                let drops = Drops::of(3);
                handle.scope(|scope| {
                    for number in 0..3 {
                        let item = drops.item(number);
                        scope.spawn(async move {
                            let _item = item;
                            pending::<()>().await;
                        });
                    }
                    closed();
                });
                drops.assert_each_once();
            });
        }
    });
}

/// The call is under way when the shutdown comes, not yet to come.
#[test]
fn while_it_sleeps() {
    watchdog::guard("asleep", || {
        for workers in [1, 2] {
            let executor = executor(workers);
            let handle = executor.handle();
            let outer = executor.spawn(async {
                let handle = Handle::current();
                let task = handle.spawn(pending::<()>()).fallible();
                handle.block_on(task)
            });
            // The outer one, and the one that it waits for.
            until(|| handle.metrics().polls() == 2);
            until(|| handle.metrics().parked_workers() == workers);
            executor.shutdown();
            // It came to its end during the shutdown.
            assert_eq!(handle.block_on(outer.fallible()), Some(None));
        }
    });
}

/// One worker in `block_on` for another's task, that one for a foreign thread's.
#[test]
fn while_a_foreign_thread_is_waited_for() {
    watchdog::guard("foreign", || {
        let executor = executor(2);
        let handle = executor.handle();
        let (sender, receiver) = futures::channel::oneshot::channel();
        let outer = executor.spawn(async move { Handle::current().block_on(receiver) });
        until(|| handle.metrics().polls() == 1);
        until(|| handle.metrics().parked_workers() == 2);
        let waking = thread::spawn({
            let handle = handle.clone();
            move || {
                until(|| handle.is_shut_down());
                sender.send("late").unwrap();
            }
        });
        executor.shutdown();
        waking.join().unwrap();
        assert_eq!(handle.block_on(outer.fallible()), Some(Ok("late")));
    });
}

/// What a future's drop waits for.
struct Guard<F: FnMut()>(F);

impl<F: FnMut()> Drop for Guard<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// The drop of one task's future cancels another and waits for that, as a poor man's
/// asynchronous drop; where that drop runs depends on where the future is.
#[test]
fn in_the_drop_of_a_future() {
    watchdog::guard("in drops", || {
        type BlockOn = fn(ws_executor::Task<()>);
        let ours: BlockOn = |child| assert_eq!(ws_executor::block_on(child.cancel()), None);
        let theirs: BlockOn = |child| assert_eq!(futures::executor::block_on(child.cancel()), None);
        for block_on in [ours, theirs] {
            for workers in [1, 2] {
                // Waiting: dropped by the thread that closes.
                let executor = executor(workers);
                let drops = Drops::of(1);
                spawn_guarded(&executor, &drops, block_on);
                executor.block_on(executor.spawn(async {}));
                until(|| executor.metrics().parked_workers() == workers);
                executor.shutdown();
                drops.assert_each_once();

                // Closed by the worker itself: dropped there.
                let executor = tests::exec::executor(workers);
                let drops = Drops::of(1);
                let handle = executor.handle();
                spawn_guarded(&executor, &drops, block_on);
                let (stopped, stops) = mpsc::channel::<()>();
                handle
                    .spawn(async move {
                        let _stopped = stopped;
                        executor.shutdown();
                    })
                    .detach();
                assert!(stops.recv().is_err());
                until(|| drops.count(0) == 1);
            }
        }
    });
}

/// A task that owns the handle of another, and waits for the end of that in its drop.
fn spawn_guarded(executor: &Executor, drops: &Drops, mut block_on: fn(ws_executor::Task<()>)) {
    let item = drops.item(0);
    let mut child = Some(executor.spawn(async move {
        let _item = item;
        pending::<()>().await;
    }));
    let guard = Guard(move || child.take().into_iter().for_each(&mut block_on));
    executor
        .spawn(async move {
            let _guard = guard;
            pending::<()>().await;
        })
        .detach();
}
