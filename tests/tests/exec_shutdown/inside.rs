//! An executor that ends inside one of its own tasks: nobody waits for himself.

use std::future::pending;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use tests::drops::Drops;
use tests::exec::until;
use tests::watchdog;
use ws_executor::{Executor, Handle};

use crate::counting;

/// How it ends.
type End = fn(Executor);

const ENDS: [End; 4] = [Executor::shutdown, drop, Executor::drain, |executor| {
    assert!(!executor.shutdown_timeout(Duration::MAX), "it cannot wait")
}];

/// For every way to end it, gives `scene` an executor with tasks that wait, which has to
/// be ended there; and checks that all is gone then.
fn for_each_end(scene: impl Fn(Executor, End)) {
    for workers in [1, 2] {
        for end in ENDS {
            let (executor, threads) = counting(workers);
            let drops = Drops::of(10);
            for number in 0..10 {
                let item = drops.item(number);
                let waits = async move {
                    let _item = item;
                    pending::<()>().await;
                };
                match number % 2 {
                    0 => executor.spawn(waits).detach(),
                    _ => executor.handle().spawn_pinned(0, || waits).detach(),
                }
            }
            scene(executor, end);
            until(|| threads.load(Ordering::SeqCst) == 0);
            drops.assert_each_once();
        }
    }
}

#[test]
fn in_a_task() {
    watchdog::guard("in a task", || {
        for_each_end(|executor, end| {
            let handle = executor.handle();
            let (sender, receiver) = mpsc::channel();
            handle
                .spawn(async move {
                    end(executor);
                    sender.send("went on").unwrap();
                })
                .detach();
            assert_eq!(receiver.recv(), Ok("went on"));
        });
    });
}

#[test]
fn in_a_task_that_goes_on() {
    watchdog::guard("goes on", || {
        let (executor, threads) = counting(2);
        let handle = executor.handle();
        let drops = Drops::of(1);
        let item = drops.item(0);
        let task = handle.spawn(async move {
            let _item = item;
            executor.shutdown();
            // Not any more.
            pending::<()>().await;
        });
        assert_eq!(handle.block_on(task.fallible()), None);
        drops.assert_each_once();
        until(|| threads.load(Ordering::SeqCst) == 0);
    });
}

#[test]
fn in_a_pinned_task_and_in_a_nested_block_on() {
    watchdog::guard("pinned and nested", || {
        for_each_end(|executor, end| {
            let handle = executor.handle();
            let outer = handle.clone();
            let task = handle.spawn_pinned(0, move || async move {
                outer.block_on(async {
                    let inner = outer.spawn(async { 1 });
                    let one = inner.await;
                    end(executor);
                    one
                })
            });
            assert_eq!(handle.block_on(task.fallible()), Some(1));
        });
    });
}

/// On top of another task, which waits for it in `block_on`.
#[test]
fn on_top_of_another_task() {
    watchdog::guard("on top", || {
        for_each_end(|executor, end| {
            let handle = executor.handle();
            let below = handle.spawn(async move {
                let handle = Handle::current();
                let top = handle.spawn(async move { end(executor) });
                // It ended, or was dropped before it began.
                handle.block_on(top.fallible())
            });
            assert_eq!(handle.block_on(below.fallible()), Some(Some(())));
        });
    });
}

/// The future owns the executor, and is dropped: cancelled on a worker.
#[test]
fn in_the_drop_of_a_future() {
    watchdog::guard("drop of a future", || {
        for cancel in [true, false] {
            let (executor, threads) = counting(2);
            let handle = executor.handle();
            let (reached, reaches) = mpsc::channel();
            let task = handle.spawn(async move {
                let _executor = executor;
                reached.send(()).unwrap();
                if cancel {
                    pending::<()>().await;
                }
            });
            reaches.recv().unwrap();
            drop(task);
            until(|| threads.load(Ordering::SeqCst) == 0);
        }
    });
}

/// As the output of a task, read or not.
#[test]
fn in_the_output_of_a_task() {
    watchdog::guard("output", || {
        for reads in [true, false] {
            let (executor, threads) = counting(2);
            let handle = executor.handle();
            let task = handle.spawn(async move { executor });
            if reads {
                handle.block_on(task).shutdown();
                assert_eq!(threads.load(Ordering::SeqCst), 0);
            } else {
                task.detach();
                until(|| threads.load(Ordering::SeqCst) == 0);
            }
        }
    });
}

#[test]
fn in_its_own_block_on_outside() {
    watchdog::guard("own block_on", || {
        let (executor, threads) = counting(2);
        let handle = executor.handle();
        let output = handle.block_on(async {
            let waits = executor.spawn(pending::<()>()).fallible();
            executor.shutdown();
            assert_eq!(threads.load(Ordering::SeqCst), 0);
            waits.await
        });
        assert_eq!(output, None);
    });
}

#[test]
fn on_a_thread_for_blocking() {
    watchdog::guard("blocking thread", || {
        let (executor, threads) = counting(2);
        let handle = executor.handle();
        let task = handle.spawn_blocking(move || {
            executor.shutdown();
            threads.load(Ordering::SeqCst)
        });
        assert_eq!(handle.block_on(task), 0);
    });
}

/// The last handle, after all else is gone; and the executor's state with it.
#[test]
fn the_last_handle_is_dropped_on_a_worker() {
    watchdog::guard("last handle", || {
        let (executor, threads) = counting(1);
        let handle = executor.handle();
        let task = executor.spawn({
            let handle = handle.clone();
            async move {
                until(|| handle.is_shut_down());
                drop(handle);
            }
        });
        task.detach();
        drop(handle);
        drop(executor);
        assert_eq!(threads.load(Ordering::SeqCst), 0);
    });
}

/// Two of its tasks take the executor from the same place, and both would end it.
#[test]
fn by_whoever_comes_first() {
    watchdog::guard("first come", || {
        for _ in 0..100 {
            let (executor, threads) = counting(2);
            let handle = executor.handle();
            let place = Arc::new(Mutex::new(Some(executor)));
            let ends = Arc::new(AtomicUsize::new(0));
            for _ in 0..4 {
                let (place, ends) = (Arc::clone(&place), Arc::clone(&ends));
                handle
                    .spawn(async move {
                        if let Some(executor) = place.lock().unwrap().take() {
                            executor.shutdown();
                            ends.fetch_add(1, Ordering::SeqCst);
                        }
                    })
                    .detach();
            }
            until(|| threads.load(Ordering::SeqCst) == 0);
            assert_eq!(ends.load(Ordering::SeqCst), 1);
        }
    });
}

/// Each drop waits for that of the next task, deeper than drops are nested.
#[test]
fn drops_that_wait_for_each_other() {
    struct Waits(Option<ws_executor::Task<()>>, Handle);

    impl Drop for Waits {
        fn drop(&mut self) {
            if let Some(task) = self.0.take() {
                self.1.block_on(task.cancel());
            }
        }
    }

    fn level(handle: Handle, left: usize) -> futures::future::BoxFuture<'static, ()> {
        Box::pin(async move {
            let below = (left > 0).then(|| handle.spawn(level(handle.clone(), left - 1)));
            let _waits = Waits(below, handle);
            pending::<()>().await;
        })
    }

    watchdog::guard("drops that wait", || {
        for workers in [1, 2] {
            for levels in [20, 40] {
                let executor = Executor::builder()
                    .spares(0)
                    .workers(workers)
                    .build()
                    .unwrap();
                let handle = executor.handle();
                let outermost = executor.spawn(level(executor.handle(), levels));
                until(|| handle.metrics().polls() == levels as u64 + 1);
                executor.shutdown();
                assert!(outermost.is_finished());
            }
        }
    });
}
