//! `spawn_blocking`: code that blocks, on threads that are there for that.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Barrier, mpsc};
use std::thread;

use tests::drops::Drops;
use tests::exec::{Gate, executor};
use tests::{child, watchdog};
use ws_executor::{Handle, spawn_blocking};

/// The most threads the pool has, by its documentation.
const MAX_THREADS: usize = 512;

#[test]
fn it_runs_apart_from_the_workers() {
    watchdog::guard("spawn_blocking", || {
        let executor = executor(1);
        let gate = Gate::new();
        let blocked = {
            let gate = gate.clone();
            executor.handle().spawn_blocking(move || {
                gate.wait();
                thread::current().id()
            })
        };
        // The only worker is free.
        let worker = executor.block_on(executor.spawn(async { thread::current().id() }));
        gate.open();
        assert_ne!(executor.block_on(blocked), worker);
    });
}

#[test]
fn many_block_at_once() {
    watchdog::guard("many block", || {
        let meeting = Arc::new(Barrier::new(50));
        let tasks: Vec<_> = (0..50)
            .map(|_| {
                let meeting = Arc::clone(&meeting);
                spawn_blocking(move || meeting.wait().is_leader())
            })
            .collect();
        let leaders = tasks.into_iter().map(ws_executor::block_on);
        assert_eq!(leaders.filter(|&leader| leader).count(), 1);
    });
}

#[test]
fn a_panic_reaches_the_awaiter_and_harms_no_thread() {
    watchdog::guard("blocking panics", || {
        for _ in 0..20 {
            let task = spawn_blocking(|| panic!("blocked"));
            let payload = catch_unwind(AssertUnwindSafe(|| ws_executor::block_on(task)));
            assert_eq!(
                payload.unwrap_err().downcast_ref::<&str>(),
                Some(&"blocked")
            );
        }
        assert_eq!(ws_executor::block_on(spawn_blocking(|| 1)), 1);
    });
}

#[test]
fn the_executor_inside_is_the_one_it_was_spawned_from() {
    watchdog::guard("blocking and current", || {
        let executor = executor(3);
        let workers = || Handle::try_current().map(|handle| handle.workers()).ok();
        assert_eq!(
            executor.block_on(executor.handle().spawn_blocking(workers)),
            Some(3)
        );
        let inside = executor.spawn(async move { spawn_blocking(workers).await });
        assert_eq!(executor.block_on(inside), Some(3));
        let nowhere = spawn_blocking(workers);
        assert_eq!(executor.block_on(nowhere), None);
        // And it can be waited for there.
        let waits = executor.handle().spawn_blocking(|| {
            let handle = Handle::current();
            handle.block_on(handle.spawn(async { 1 }))
        });
        assert_eq!(executor.block_on(waits), 1);
    });
}

/// The pool is the process's, so what has begun goes on.
#[test]
fn a_shutdown_does_not_end_what_has_begun() {
    watchdog::guard("blocking and shutdown", || {
        let executor = executor(1);
        let gate = Gate::new();
        let (sender, receiver) = mpsc::channel();
        let task = {
            let gate = gate.clone();
            executor.handle().spawn_blocking(move || {
                sender.send(()).unwrap();
                gate.wait();
                Handle::current().is_shut_down()
            })
        };
        receiver.recv().unwrap();
        executor.shutdown();
        gate.open();
        assert!(ws_executor::block_on(task));
    });
}

#[test]
fn what_has_begun_runs_to_its_end_without_a_handle() {
    watchdog::guard("blocking, dropped", || {
        let gate = Gate::new();
        let (begun, begins) = mpsc::channel();
        let (sender, receiver) = mpsc::channel();
        let task = {
            let gate = gate.clone();
            spawn_blocking(move || {
                begun.send(()).unwrap();
                gate.wait();
                sender.send("ended").unwrap();
            })
        };
        begins.recv().unwrap();
        drop(task);
        gate.open();
        assert_eq!(receiver.recv(), Ok("ended"));
    });
}

/// In a process of its own, because it takes all threads of the pool.
#[test]
fn beyond_the_limit_work_waits_and_can_be_cancelled() {
    child::survives(
        "blocking::beyond_the_limit_work_waits_and_can_be_cancelled",
        || {
            let gate = Gate::new();
            let inside = Arc::new(Barrier::new(MAX_THREADS + 1));
            let blocked: Vec<_> = (0..MAX_THREADS)
                .map(|_| {
                    let (gate, inside) = (gate.clone(), Arc::clone(&inside));
                    spawn_blocking(move || {
                        inside.wait();
                        gate.wait();
                    })
                })
                .collect();
            inside.wait();

            let drops = Drops::of(3);
            let (sender, receiver) = mpsc::channel();
            let [first, second, third] = [0, 1, 2].map(|number| {
                let (item, sender) = (drops.item(number), sender.clone());
                spawn_blocking(move || sender.send(item.number).unwrap())
            });
            drop(second);
            assert!(
                receiver.try_recv().is_err(),
                "nothing runs beyond the limit"
            );

            gate.open();
            blocked.into_iter().for_each(ws_executor::block_on);
            ws_executor::block_on(first);
            ws_executor::block_on(third);
            drop(sender);
            let mut ran: Vec<usize> = receiver.iter().collect();
            ran.sort_unstable();
            assert_eq!(ran, [0, 2]);
            tests::exec::until(|| (0..3).all(|number| drops.count(number) == 1));
        },
    );
}
