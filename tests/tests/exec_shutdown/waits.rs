//! Drops that wait in `block_on`, for other threads or for the driver.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use futures::channel::oneshot;
use futures::future::BoxFuture;
use tests::exec::{assert_alive, until};
use tests::timers::Timers;
use tests::watchdog::guard;
use ws_executor::{Executor, Handle};

/// How an executor ends.
const ENDS: [fn(Executor); 3] = [drop, Executor::drain, |executor| {
    assert!(executor.shutdown_timeout(Duration::MAX));
}];

/// Waits in its drop, and counts that.
struct Waits {
    handle: Handle,
    wait: Option<BoxFuture<'static, ()>>,
    done: Arc<AtomicUsize>,
}

impl Drop for Waits {
    fn drop(&mut self) {
        self.handle.block_on(self.wait.take().unwrap());
        self.done.fetch_add(1, Ordering::SeqCst);
    }
}

fn waits(
    handle: &Handle,
    done: &Arc<AtomicUsize>,
    wait: impl Future<Output = ()> + Send + 'static,
) -> Waits {
    Waits {
        handle: handle.clone(),
        wait: Some(Box::pin(wait)),
        done: Arc::clone(done),
    }
}

/// Ready when another thread says so, some time after the first poll.
async fn by_another_thread() {
    let (send, receive) = oneshot::channel();
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(5));
        send.send(())
    });
    let _ = receive.await;
}

/// Spawns a task that waits for ever and owns `value`, and waits until it was polled.
fn spawn_waiting(executor: &Executor, value: Waits) {
    let polls = executor.metrics().polls();
    let task = executor.spawn(async move {
        let _value = value;
        pending::<()>().await;
    });
    task.detach();
    until(|| executor.metrics().polls() > polls);
}

fn all_parked(executor: &Executor) -> bool {
    executor.metrics().parked_workers() == executor.workers()
}

#[test]
fn for_another_thread() {
    guard("another thread", || {
        for round in 0..30 {
            for workers in [1, 2, 4] {
                for end in ENDS {
                    let executor = Executor::builder().workers(workers).build().unwrap();
                    let (handle, done) = (executor.handle(), Arc::default());
                    for _ in 0..=round % 3 {
                        spawn_waiting(&executor, waits(&handle, &done, by_another_thread()));
                    }
                    until(|| all_parked(&executor));
                    end(executor);
                    assert_eq!(done.load(Ordering::SeqCst), round % 3 + 1);
                }
            }
        }
    });
}

#[test]
fn for_an_event_of_the_driver() {
    guard("the driver", || {
        for round in 0..15 {
            for workers in [1, 2] {
                for end in ENDS {
                    let timers = Timers::default();
                    let builder = Executor::builder().workers(workers);
                    let executor = builder.driver(timers.clone()).build().unwrap();
                    let (handle, done) = (executor.handle(), Arc::default());
                    for _ in 0..=round % 3 {
                        let timers = timers.clone();
                        let sleep = async move { timers.sleep(Duration::from_millis(5)).await };
                        spawn_waiting(&executor, waits(&handle, &done, sleep));
                    }
                    until(|| all_parked(&executor));
                    end(executor);
                    assert_eq!(done.load(Ordering::SeqCst), round % 3 + 1);
                }
            }
        }
    });
}

/// Tasks that were never polled have no entry in the registry.
#[test]
fn for_an_event_of_the_driver_in_tasks_that_were_never_polled() {
    guard("never polled", || {
        for _ in 0..15 {
            let timers = Timers::default();
            let builder = Executor::builder().workers(1).spares(0);
            let executor = builder.driver(timers.clone()).build().unwrap();
            let (handle, done) = (executor.handle(), Arc::default());
            let (begin, begun) = mpsc::channel();
            let counted = Arc::clone(&done);
            let keeps = executor.spawn(async move {
                for millis in [25, 2, 25, 2, 25] {
                    let timers = timers.clone();
                    let sleep = async move {
                        // Meanwhile the other thread takes the next one. One of the two threads
                        // is done before the other.
                        thread::sleep(Duration::from_millis(3));
                        timers.sleep(Duration::from_millis(millis)).await;
                    };
                    let value = waits(&handle, &counted, sleep);
                    let task = handle.spawn(async move { drop(value) });
                    task.detach();
                }
                begin.send(()).unwrap();
                while !handle.is_shut_down() {
                    thread::yield_now();
                }
                thread::sleep(Duration::from_millis(2));
            });
            keeps.detach();
            begun.recv().unwrap();
            drop(executor);
            assert_eq!(done.load(Ordering::SeqCst), 5);
        }
    });
}

/// Each drop could be called inside the one before it.
#[test]
fn for_another_thread_in_many_tasks() {
    const TASKS: usize = 4_000;
    guard("many tasks", || {
        let executor = Executor::builder().workers(1).spares(0).build().unwrap();
        let (handle, done) = (executor.handle(), Arc::default());
        let (begin, begun) = mpsc::channel();
        let keeps = handle.clone();
        let keeps = executor.spawn(async move {
            begin.send(()).unwrap();
            while !keeps.is_shut_down() {
                thread::yield_now();
            }
        });
        keeps.detach();
        begun.recv().unwrap();
        for _ in 0..TASKS {
            let own = handle.clone();
            let wait = async move { own.spawn_blocking(thread::yield_now).await };
            let value = waits(&handle, &done, wait);
            executor.spawn(async move { drop(value) }).detach();
        }
        drop(executor);
        assert_eq!(done.load(Ordering::SeqCst), TASKS);
    });
}

#[test]
fn while_the_executor_goes_on() {
    guard("goes on", || {
        let executor = Executor::builder().workers(2).build().unwrap();
        let (handle, done) = (executor.handle(), Arc::default());
        for _ in 0..10 {
            let value = waits(&handle, &done, by_another_thread());
            let task = executor.spawn(async move {
                let _value = value;
                pending::<()>().await;
            });
            executor.block_on(task.cancel());
        }
        assert_eq!(done.load(Ordering::SeqCst), 10);
        assert_alive(&executor);
    });
}
