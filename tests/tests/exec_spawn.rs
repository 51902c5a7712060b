//! Whatever is spawned runs, in every way there is to spawn.

#[path = "exec_spawn/blocking.rs"]
mod blocking;
#[path = "exec_spawn/current.rs"]
mod current;
#[path = "exec_spawn/local.rs"]
mod local;
#[path = "exec_spawn/many.rs"]
mod many;
#[path = "exec_spawn/pinned.rs"]
mod pinned;
#[path = "exec_spawn/scope.rs"]
mod scope;
#[path = "exec_spawn/traits.rs"]
mod traits;

use std::future::{Future, pending, ready};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

use futures::future::join_all;
use tests::exec::executor;
use tests::{child, watchdog};
use ws_executor::{Handle, yield_now};

#[test]
fn a_task_gives_its_output_wherever_it_was_spawned() {
    watchdog::guard("spawn", || {
        for workers in [1, 2, 4] {
            let executor = executor(workers);
            let handle = executor.handle();
            assert_eq!(executor.block_on(executor.spawn(async { 1 })), 1);
            assert_eq!(handle.block_on(handle.spawn(async { 2 })), 2);
            let inside = executor.spawn(async { Handle::current().spawn(async { 3 }).await });
            assert_eq!(executor.block_on(inside), 3);
            let elsewhere = thread::spawn(move || handle.spawn(async { 4 }));
            assert_eq!(executor.block_on(elsewhere.join().unwrap()), 4);
        }
    });
}

/// A tree of tasks, in which each one waits for two others.
fn tree(handle: Handle, depth: u32) -> Pin<Box<dyn Future<Output = u64> + Send>> {
    Box::pin(async move {
        if depth == 0 {
            return 1;
        }
        let [left, right] = [1, 2].map(|_| handle.spawn(tree(handle.clone(), depth - 1)));
        left.await + right.await
    })
}

#[test]
fn tasks_spawn_tasks_that_spawn_tasks() {
    watchdog::guard("tree", || {
        for workers in [1, 2, 4] {
            let executor = executor(workers);
            let leaves = executor.spawn(tree(executor.handle(), 12));
            assert_eq!(executor.block_on(leaves), 1 << 12);
        }
    });
}

/// From eight threads outside and from tasks at the same time.
#[test]
fn every_task_runs_once() {
    const THREADS: usize = 8;
    const TASKS: usize = 1_000;

    watchdog::guard("many threads", || {
        let executor = executor(2);
        let runs: Arc<Vec<AtomicUsize>> = Arc::new(
            (0..2 * THREADS * TASKS)
                .map(|_| AtomicUsize::new(0))
                .collect(),
        );
        thread::scope(|threads| {
            for thread in 0..THREADS {
                let (handle, runs) = (executor.handle(), Arc::clone(&runs));
                threads.spawn(move || {
                    let tasks = (0..TASKS).map(|task| {
                        let number = 2 * (thread * TASKS + task);
                        let (spawner, runs) = (handle.clone(), Arc::clone(&runs));
                        handle.spawn(async move {
                            runs[number].fetch_add(1, Ordering::Relaxed);
                            let inner =
                                async move { runs[number + 1].fetch_add(1, Ordering::Relaxed) };
                            spawner.spawn(inner).await
                        })
                    });
                    let tasks: Vec<_> = tasks.collect();
                    assert_eq!(handle.block_on(join_all(tasks)), vec![0; TASKS]);
                });
            }
        });
        for (number, runs) in runs.iter().enumerate() {
            assert_eq!(runs.load(Ordering::Relaxed), 1, "runs of task {number}");
        }
    });
}

#[test]
fn the_functions_of_the_crate_use_one_executor() {
    watchdog::guard("process-wide", || {
        let mut borrowed = 0;
        let sum = ws_executor::block_on(async {
            let one = ws_executor::spawn(async { Handle::current().spawn(async { 1 }).await });
            let two = ws_executor::spawn_blocking(|| 2);
            let three = ws_executor::spawn_many([ready(1), ready(2)]);
            yield_now().await;
            one.await + two.await + join_all(three).await.into_iter().sum::<i32>()
        });
        ws_executor::scope(|scope| {
            scope.spawn(async { borrowed = sum });
        });
        assert_eq!(borrowed, 6);
    });
}

#[test]
fn a_handle_does_not_keep_the_workers_alive() {
    watchdog::guard("handle", || {
        let (ended, end) = mpsc::channel();
        let executor = ws_executor::Executor::builder()
            .spares(0)
            .workers(2)
            .on_thread_stop(move |worker| ended.send(worker).unwrap())
            .build()
            .unwrap();
        let handle = executor.handle();
        drop(executor);
        let mut workers: Vec<usize> = end.iter().collect();
        workers.sort_unstable();
        assert_eq!(workers, [0, 1]);
        assert!(handle.is_shut_down());
    });
}

/// Counted as long as a handle or a waker is there, not only while it runs.
#[test]
fn live_tasks_are_counted() {
    watchdog::guard("live tasks", || {
        let executor = executor(2);
        let tasks: Vec<_> = (0..10).map(|_| executor.spawn(pending::<()>())).collect();
        assert_eq!(executor.metrics().live_tasks(), 10);
        for task in tasks {
            executor.block_on(task.cancel());
        }
        // What a worker lets go of comes after the end that `cancel` waits for.
        tests::exec::until(|| executor.metrics().live_tasks() == 0);
    });
}

/// A future of 1 MB is too large for the stack of a worker, if that had to move it.
#[test]
fn futures_of_every_size() {
    #[repr(align(128))]
    struct Aligned([u8; 128]);

    fn spawn_them() {
        let executor = executor(1);
        let nothing = executor.spawn(ready(()));
        let aligned = executor.spawn(async {
            let value = Aligned([7; 128]);
            yield_now().await;
            assert_eq!(&raw const value as usize % 128, 0);
            value.0[127]
        });
        let large = executor.spawn(async {
            let bytes = [1_u8; 1 << 20];
            yield_now().await;
            bytes.iter().map(|&byte| u32::from(byte)).sum::<u32>()
        });
        executor.block_on(nothing);
        assert_eq!(executor.block_on(aligned), 7);
        assert_eq!(executor.block_on(large), 1 << 20);
    }

    child::survives("futures_of_every_size", || {
        // As large as that of the main thread: unoptimised code moves an argument at
        // every call.
        let caller = thread::Builder::new().stack_size(8 << 20);
        caller.spawn(spawn_them).unwrap().join().unwrap();
    });
}
