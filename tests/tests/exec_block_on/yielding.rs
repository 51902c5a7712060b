//! A future that yields on the only worker, until another job or the driver has done something:
//! the worker has to see to that, although the future is always due.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use tests::exec::executor;
use tests::watchdog;
use ws_core::Driver;
use ws_executor::{Executor, Handle, yield_now};

#[derive(Clone, Default)]
struct Flag(Arc<AtomicBool>);

impl Flag {
    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    async fn yield_until_set(&self) {
        while !self.0.load(Ordering::Relaxed) {
            yield_now().await;
        }
    }
}

/// `begin` has the flag set by something that only the worker can do. It is called in a task.
fn waits_for(executor: &Executor, begin: impl Fn(&Handle, Flag) + Send + 'static) {
    let handle = executor.handle();
    let task = executor.spawn(async move {
        for _ in 0..10 {
            let flag = Flag::default();
            begin(&handle, flag.clone());
            handle.block_on(flag.yield_until_set());
        }
    });
    executor.block_on(task);
}

#[test]
fn tasks_run() {
    watchdog::guard("tasks", || {
        let executor = executor(1);
        waits_for(&executor, |handle, flag| {
            handle.spawn(async move { flag.set() }).detach();
        });
        waits_for(&executor, |handle, flag| {
            let others = (0..5).map(|_| async { yield_now().await });
            handle
                .spawn_many(others)
                .into_iter()
                .for_each(|task| task.detach());
            handle.spawn(async move { flag.set() }).detach();
        });
        waits_for(&executor, |handle, flag| {
            handle
                .spawn_pinned(0, || async move { flag.set() })
                .detach();
        });
        waits_for(&executor, |handle, flag| {
            let handle = handle.clone();
            let outside = thread::spawn(move || handle.spawn(async move { flag.set() }).detach());
            outside.join().unwrap();
        });
    });
}

#[test]
fn computations_run() {
    watchdog::guard("computations", || {
        waits_for(&executor(1), |handle, flag| {
            handle.compute(move || flag.set()).detach();
        });
    });
}

#[test]
fn forks_run() {
    watchdog::guard("forks", || {
        let executor = executor(1);
        let handle = executor.handle();
        let task = executor.spawn(async move {
            let flag = Flag::default();
            handle.join(|| handle.block_on(flag.yield_until_set()), || flag.set());
        });
        executor.block_on(task);
    });
}

/// A driver that sets the flag when it is turned for the tenth time.
struct Counts {
    turns: AtomicUsize,
    flag: Flag,
}

impl Driver for Counts {
    fn turn(&self, _: Option<Duration>) {
        if self.turns.fetch_add(1, Ordering::Relaxed) == 10 {
            self.flag.set();
        }
    }

    fn wake(&self) {}
}

#[test]
fn the_driver_is_turned() {
    watchdog::guard("driver", || {
        for closes in [false, true] {
            let flag = Flag::default();
            let driver = Counts {
                turns: AtomicUsize::new(0),
                flag: flag.clone(),
            };
            let executor = Executor::builder()
                .spares(0)
                .workers(1)
                .driver(driver)
                .build();
            let executor = executor.unwrap();
            let handle = executor.handle();
            let (end, ended) = std::sync::mpsc::channel();
            executor
                .handle()
                .spawn(async move {
                    if closes {
                        executor.shutdown();
                    }
                    handle.block_on(flag.yield_until_set());
                    end.send(()).unwrap();
                })
                .detach();
            ended.recv().unwrap();
        }
    });
}

/// At a shutdown, what is queued on the worker is dropped by the worker.
#[test]
fn queued_futures_are_dropped() {
    struct SetsOnDrop(Flag);

    impl Drop for SetsOnDrop {
        fn drop(&mut self) {
            self.0.set();
        }
    }

    watchdog::guard("shutdown", || {
        let executor = executor(1);
        let handle = executor.handle();
        let (end, ended) = std::sync::mpsc::channel();
        executor
            .handle()
            .spawn(async move {
                let flag = Flag::default();
                let sets = SetsOnDrop(flag.clone());
                let queued = handle.spawn(async move {
                    let _sets = sets;
                    pending::<()>().await;
                });
                executor.shutdown();
                handle.block_on(flag.yield_until_set());
                drop(queued);
                end.send(()).unwrap();
            })
            .detach();
        ended.recv().unwrap();
    });
}
