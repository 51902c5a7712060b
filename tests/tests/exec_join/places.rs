//! Where `join` may be called, and which executor's workers it then uses.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, ThreadId};

use tests::exec::{Gate, executor, on_worker};
use tests::watchdog;
use ws_executor::{Executor, Handle, coop, join};

use super::{fib, join_stolen};

/// Which executor the calling code is on, by its number of workers.
fn here() -> Option<usize> {
    Handle::try_current().ok().map(|handle| handle.workers())
}

#[test]
fn in_a_task_closures_are_on_its_executor() {
    watchdog::guard("in a task", || {
        let executor = executor(3);
        let found = on_worker(&executor, || {
            let stolen = join_stolen(here, || (here(), fib(5)));
            (stolen, join(here, here))
        });
        assert_eq!(found, ((Some(3), (Some(3), 5)), (Some(3), Some(3))));
    });
}

/// A fork is no task: whatever budget the last task on a worker had, it has no end.
#[test]
fn a_fork_is_not_bound_by_a_budget() {
    watchdog::guard("budget", || {
        let executor = executor(2);
        let handle = executor.handle();
        // Returns from its poll with nothing left.
        let spender = || async {
            while coop::has_budget() {
                coop::consume().await;
            }
        };
        for _ in 0..20 {
            executor.block_on(handle.spawn_pinned(1, spender));
            let joins = || async { join_stolen(|| (), coop::has_budget).1 };
            assert!(executor.block_on(handle.spawn_pinned(0, joins)));
        }
    });
}

/// A thread in `block_on` is no worker: it sends both closures to one.
#[test]
fn in_block_on_closures_run_on_the_workers() {
    watchdog::guard("in block_on", || {
        let executor = executor(2);
        let me = thread::current().id();
        let ids = |(a, b): (ThreadId, ThreadId)| {
            assert!(a != me && b != me);
        };
        let id = || thread::current().id();
        executor.block_on(async {
            ids(join(id, id));
            ids(executor.join(id, id));
            ids(Handle::current().join(id, id));
            assert_eq!(fib(10), 55);
        });
        ids(executor.join(id, id));
        ids(executor.handle().join(id, id));
    });
}

#[test]
fn a_free_join_outside_uses_the_process_wide_executor() {
    watchdog::guard("process-wide", || {
        let me = thread::current().id();
        let (a, b) = join(|| thread::current().id(), || fib(10));
        assert_ne!(a, me);
        assert_eq!(b, 55);
    });
}

#[test]
fn many_threads_outside_join_at_once() {
    watchdog::guard("outside", || {
        for workers in [1, 2, 8, 65] {
            let executor = executor(workers);
            let sums = AtomicUsize::new(0);
            thread::scope(|threads| {
                for thread in 0..8_usize {
                    let (executor, sums) = (&executor, &sums);
                    threads.spawn(move || {
                        for number in 0..50 {
                            let text = format!("{thread} {number}");
                            let (a, b) = executor.join(|| text.len(), || text.clone());
                            assert_eq!((a, b.as_str()), (text.len(), text.as_str()));
                            sums.fetch_add(a, Ordering::Relaxed);
                        }
                    });
                }
            });
            assert_eq!(sums.into_inner(), 8 * (10 * 3 + 40 * 4));
        }
    });
}

/// Below and on top of a `block_on` on a worker, where other tasks are polled in
/// between.
#[test]
fn around_a_nested_block_on() {
    watchdog::guard("nested block_on", || {
        for workers in [1, 2, 4] {
            let executor = executor(workers);
            let handle = executor.handle();
            let result = on_worker(&executor, || {
                let nested = |n: u32| {
                    let tasks: Vec<_> = (0..10)
                        .map(|_| handle.spawn(async move { fib(n) }))
                        .collect();
                    let below = fib(n);
                    let above: u64 = handle.block_on(async {
                        let mut sum = fib(n);
                        for task in tasks {
                            sum += task.await;
                        }
                        sum
                    });
                    (above, below)
                };
                join(|| nested(10), || join(|| nested(8), || nested(9)))
            });
            let of = |fib: u64| (11 * fib, fib);
            assert_eq!(result, (of(55), (of(21), of(34))), "{workers} workers");
        }
    });
}

/// The second closure of a join below is still there to be taken while its worker is in
/// a `block_on`; if there is nobody else, by that worker.
#[test]
fn a_nested_block_on_runs_the_fork_that_it_waits_for() {
    watchdog::guard("own fork", || {
        for workers in [1, 2] {
            let executor = executor(workers);
            let handle = executor.handle();
            let (sends, receives) = futures::channel::oneshot::channel();
            let (a, ()) = on_worker(&executor, || {
                join(
                    || handle.block_on(receives).unwrap(),
                    || sends.send("from the second").unwrap(),
                )
            });
            assert_eq!(a, "from the second");
        }
    });
}

#[test]
fn on_a_worker_of_another_executor() {
    watchdog::guard("another executor", || {
        for (theirs, ours) in [(1, 2), (2, 1), (2, 3)] {
            let (other, executor) = (executor(theirs), executor(ours));
            let handle = executor.handle();
            on_worker(&other, || {
                // A handle's join goes to its own workers, a free one to those below.
                assert_eq!(handle.join(here, here), (Some(ours), Some(ours)));
                assert_eq!(join(here, here), (Some(theirs), Some(theirs)));
                // There and back again, in both closures.
                let other = Handle::current();
                let round_trip = || handle.join(|| other.join(here, || fib(8)), || fib(9));
                let expected = ((Some(theirs), 21), 34);
                assert_eq!(join(round_trip, round_trip), (expected, expected));
            });
        }
    });
}

#[test]
fn on_an_executor_that_is_shut_down() {
    watchdog::guard("shut down", || {
        let executor = executor(2);
        let handle = executor.handle();
        executor.shutdown();
        let me = thread::current().id();
        let id = || thread::current().id();
        // Nobody else is left.
        assert_eq!(handle.join(id, id), (me, me));
        assert_eq!(
            handle.block_on(async { handle.join(|| 1, || fib(5)) }),
            (1, 5)
        );
    });
}

#[test]
fn with_hosted_workers() {
    watchdog::guard("hosted", || {
        for workers in [1, 2, 3] {
            let builder = Executor::builder().workers(workers);
            let executor = builder.host(futures::executor::block_on).build().unwrap();
            assert_eq!(on_worker(&executor, || fib(15)), 610);
            assert_eq!(executor.join(|| fib(10), || fib(11)), (55, 89));
            if workers > 1 {
                for _ in 0..10 {
                    let found = on_worker(&executor, || join_stolen(here, || fib(6)));
                    assert_eq!(found, (Some(workers), 8));
                }
            }
        }
    });
}

/// In the drop of a future, which may be anywhere.
#[test]
fn in_a_drop() {
    struct Joins(Gate, Handle);

    impl Drop for Joins {
        fn drop(&mut self) {
            assert_eq!(self.1.join(|| fib(5), || fib(6)), (5, 8));
            self.0.open();
        }
    }

    watchdog::guard("in a drop", || {
        let executor = executor(2);
        let (on_cancel, on_shutdown) = (Gate::new(), Gate::new());
        let task = |gate: &Gate| {
            let joins = Joins(gate.clone(), executor.handle());
            executor.spawn(async move {
                let _joins = joins;
                std::future::pending::<()>().await;
            })
        };
        executor.block_on(task(&on_cancel).cancel());
        on_cancel.wait();
        task(&on_shutdown).detach();
        executor.shutdown();
        on_shutdown.wait();
    });
}
