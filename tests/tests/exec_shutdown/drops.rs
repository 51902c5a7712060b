//! The drop of a future may block, in a manner that the executor does not know: what it waits
//! for is dropped by another thread.

use std::future::pending;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use futures::channel::oneshot;
use tests::drops::Drops;
use tests::exec::{Gate, executor, until};
use tests::watchdog::guard;
use ws_executor::{Executor, Handle, Task};

/// Calls a function in its drop.
struct Guard<F: FnMut()>(F);

impl<F: FnMut()> Drop for Guard<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Waits as any other crate would.
fn cancel(task: Task<()>) {
    futures::executor::block_on(task.cancel());
}

/// Wakes the task, and lets a thread of its own wait for it.
fn cancel_elsewhere(task: Task<()>) {
    let (cancelled, cancels) = mpsc::channel();
    let waiter = thread::spawn(move || {
        let mut cancel = Box::pin(task.cancel());
        // The first poll cancels.
        let polled = futures::executor::block_on(futures::future::poll_fn(|cx| {
            std::task::Poll::Ready(cancel.as_mut().poll(cx).is_ready())
        }));
        cancelled.send(()).unwrap();
        if !polled {
            futures::executor::block_on(cancel);
        }
    });
    cancels.recv().unwrap();
    waiter.join().unwrap();
}

/// Waits for a task that nobody cancels.
fn join(task: Task<()>) {
    futures::executor::block_on(task.fallible());
}

const WAITS: [fn(Task<()>); 2] = [cancel, cancel_elsewhere];

type End = fn(Executor);

const ENDS: [End; 4] = [
    Executor::shutdown,
    drop,
    |executor| assert!(executor.shutdown_timeout(Duration::MAX)),
    Executor::drain,
];

/// A task that waits, and waits in its drop for the one that it is sent.
fn parent(handle: &Handle, wait: fn(Task<()>)) -> oneshot::Sender<Task<()>> {
    let (sender, receiver) = oneshot::channel::<Task<()>>();
    let waits = async move {
        let mut child = receiver.await.ok();
        let _guard = Guard(move || child.take().into_iter().for_each(wait));
        pending::<()>().await;
    };
    handle.spawn(waits).detach();
    sender
}

fn waiting(drops: &Drops) -> impl Future<Output = ()> + Send + 'static {
    let item = drops.item(0);
    async move {
        let _item = item;
        pending::<()>().await;
    }
}

/// Runs what is due on the only worker.
fn settle(executor: &Executor) {
    executor.block_on(executor.spawn(async {}));
}

/// Both wait. The thread that closes the executor comes to the parent first.
#[test]
fn a_drop_waits_for_a_task_that_waits() {
    guard("both wait", || {
        let waits = WAITS.iter().flat_map(|wait| ENDS.map(|end| (*wait, end)));
        // A drain is ended by the only worker, and nobody else wakes a task that waits.
        let joins = [0, 1, 2].map(|end| (join as fn(Task<()>), ENDS[end]));
        for (wait, end) in waits.chain(joins) {
            let (executor, drops) = (executor(1), Drops::of(1));
            let sender = parent(&executor.handle(), wait);
            settle(&executor);
            let child = executor.spawn(waiting(&drops));
            settle(&executor);
            sender.send(child).unwrap();
            settle(&executor);
            end(executor);
            drops.assert_each_once();
        }
    });
}

/// Both are queued at their only worker, which is in another poll: it is the one to drop them.
#[test]
fn a_drop_waits_for_a_task_of_the_same_queue() {
    guard("same queue", || {
        // A drain would wait for that poll.
        for (wait, end) in WAITS
            .iter()
            .flat_map(|wait| [0, 1, 2].map(|end| (wait, ENDS[end])))
        {
            let (executor, drops) = (executor(1), Drops::of(1));
            let (child, wait) = (waiting(&drops), *wait);
            let (queued, queues) = mpsc::channel();
            executor
                .spawn(async move {
                    let handle = Handle::current();
                    let (sender, children) = mpsc::channel();
                    let guard = Guard(move || wait(children.recv().unwrap()));
                    let parent = async move {
                        let _guard = guard;
                        pending::<()>().await;
                    };
                    // Each moves the one before from the LIFO slot to the ring.
                    handle.spawn(parent).detach();
                    sender.send(handle.spawn(child)).unwrap();
                    handle.spawn(async {}).detach();
                    queued.send(()).unwrap();
                    until(|| handle.is_shut_down());
                })
                .detach();
            queues.recv().unwrap();
            end(executor);
            drops.assert_each_once();
        }
    });
}

/// The only worker waits inside a poll, for the end of the parent.
#[test]
fn a_drop_waits_while_the_worker_waits_for_it() {
    guard("worker waits", || {
        for wait in WAITS {
            let (executor, drops) = (executor(1), Drops::of(1));
            let handle = executor.handle();
            let (sender, receiver) = oneshot::channel::<Task<()>>();
            let parent = executor.spawn(async move {
                let mut child = receiver.await.ok();
                let _guard = Guard(move || child.take().into_iter().for_each(wait));
                pending::<()>().await;
            });
            settle(&executor);
            let child = executor.spawn(waiting(&drops));
            settle(&executor);
            sender.send(child).unwrap();
            settle(&executor);
            let inner = handle.clone();
            let (begun, begins) = mpsc::channel();
            let outer = executor.spawn(async move {
                begun.send(()).unwrap();
                inner.block_on(parent.fallible())
            });
            begins.recv().unwrap();
            until(|| handle.metrics().parked_workers() == 1);
            executor.shutdown();
            assert_eq!(handle.block_on(outer.fallible()), Some(None));
            drops.assert_each_once();
        }
    });
}

/// What waits is dropped by another executor, which ends inside of a drop of the first.
#[test]
fn a_drop_of_another_executor_waits() {
    guard("another executor", || {
        for wait in WAITS {
            let (first, second) = (executor(1), executor(1));
            let drops = Drops::of(1);
            let (sender, receiver) = oneshot::channel::<(Task<()>, Executor)>();
            first
                .spawn(async move {
                    let mut both = receiver.await.ok();
                    let _guard = Guard(move || {
                        let (child, second) = both.take().unwrap();
                        let inner = parent(&second.handle(), wait);
                        settle(&second);
                        inner.send(child).unwrap();
                        settle(&second);
                        drop(second);
                    });
                    pending::<()>().await;
                })
                .detach();
            settle(&first);
            let child = first.spawn(waiting(&drops));
            settle(&first);
            assert!(sender.send((child, second)).is_ok());
            settle(&first);
            first.shutdown();
            drops.assert_each_once();
        }
    });
}

/// The task that is waited for is of another executor, which is just being closed.
#[test]
fn a_drop_waits_for_a_task_of_another_closed_executor() {
    guard("another closed", || {
        for wait in WAITS {
            let (first, second) = (executor(1), executor(1));
            let drops = Drops::of(1);
            let gate = Gate::new();
            let (begun, begins) = mpsc::channel();
            let opened = gate.clone();
            let guard = Guard(move || {
                begun.send(()).unwrap();
                opened.wait();
            });
            second
                .spawn(async move {
                    let _guard = guard;
                    pending::<()>().await;
                })
                .detach();
            settle(&second);
            let child = second.spawn(waiting(&drops));
            settle(&second);
            let sender = parent(&first.handle(), wait);
            settle(&first);
            sender.send(child).unwrap();
            settle(&first);
            // It does not get any further than to the first task.
            let ends = thread::spawn(move || second.shutdown());
            begins.recv().unwrap();
            first.shutdown();
            drops.assert_each_once();
            gate.open();
            ends.join().unwrap();
        }
    });
}

/// A thread in `wait_idle` is told of the end before any future is dropped.
#[test]
fn a_drop_waits_for_a_thread_that_waits_for_the_tasks() {
    guard("wait_idle", || {
        for end in ENDS {
            for _ in 0..20 {
                let executor = executor(1);
                let handle = executor.handle();
                let (begun, begins) = mpsc::channel();
                let mut waiter = Some(thread::spawn(move || {
                    begun.send(()).unwrap();
                    handle.wait_idle();
                }));
                let guard =
                    Guard(move || waiter.take().into_iter().for_each(|it| it.join().unwrap()));
                executor
                    .spawn(async move {
                        let _guard = guard;
                        pending::<()>().await;
                    })
                    .detach();
                begins.recv().unwrap();
                settle(&executor);
                thread::sleep(Duration::from_millis(1));
                end(executor);
            }
        }
    });
}
