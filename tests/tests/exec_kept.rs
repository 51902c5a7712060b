//! While every worker is kept by a poll that blocks, spare threads poll the other tasks; and a
//! poll that takes long is reported.

#[path = "exec_support/gate.rs"]
mod gate;

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use tests::exec::{Gate, assert_alive, until};
use tests::watchdog::guard;
use ws_executor::{Executor, Handle, yield_now};

const SPARE: &str = "ws-spare";

fn thread_name() -> String {
    thread::current().name().unwrap_or_default().to_owned()
}

fn executor(workers: usize) -> Executor {
    Executor::builder().workers(workers).build().unwrap()
}

/// Blocks all workers of `executor`.
fn block_all(executor: &Executor) -> Vec<gate::Gate> {
    let handle = executor.handle();
    let block = |worker| gate::block(&handle, worker);
    (0..executor.workers()).map(block).collect()
}

#[test]
fn a_task_from_outside_is_polled() {
    guard("outside", || {
        for workers in [1, 2, 4] {
            let executor = executor(workers);
            let gates = block_all(&executor);
            for _ in 0..3 {
                let begun = Instant::now();
                let name = executor.block_on(executor.spawn(async {
                    yield_now().await;
                    thread_name()
                }));
                println!("{workers} workers: after {:?}", begun.elapsed());
                assert_eq!(name, SPARE);
            }
            assert!(executor.metrics().spare_polls() >= 6);
            drop(gates);
            assert_alive(&executor);
        }
    });
}

/// In the slot and in the ring of a worker that waits for them.
#[test]
fn tasks_of_a_kept_worker_are_polled() {
    guard("queued", || {
        for workers in [1, 2] {
            let executor = executor(workers);
            let others: Vec<_> = (1..workers)
                .map(|worker| gate::block(&executor.handle(), worker))
                .collect();
            let ran = executor.spawn(async {
                let handle = Handle::current();
                let (runs, ran) = mpsc::channel();
                for _ in 0..10 {
                    let runs = runs.clone();
                    handle
                        .spawn(async move { runs.send(thread_name()) })
                        .detach();
                }
                ran.iter().take(10).filter(|name| name == SPARE).count()
            });
            assert_eq!(executor.block_on(ran), 10);
            drop(others);
            assert_alive(&executor);
        }
    });
}

/// What is woken from elsewhere while nobody is there.
#[test]
fn a_task_that_is_woken_is_polled() {
    guard("woken", || {
        let executor = executor(2);
        let (send, receive) = futures::channel::oneshot::channel();
        let waits = executor.spawn(receive);
        until(|| executor.metrics().polls() == 1);
        let gates = block_all(&executor);
        send.send(7).unwrap();
        assert_eq!(executor.block_on(waits), Ok(7));
        drop(gates);
        assert_alive(&executor);
    });
}

/// A spare thread that is kept itself is followed by another one, up to the limit.
#[test]
fn there_are_as_many_as_the_builder_says() {
    guard("limit", || {
        const SPARES: usize = 3;
        let builder = Executor::builder().workers(2).spares(SPARES);
        let executor = builder.build().unwrap();
        let gates = block_all(&executor);
        let gate = Gate::new();
        let (begins, begun) = mpsc::channel();
        let tasks = executor.spawn_many((0..SPARES + 1).map(|_| {
            let (begins, gate) = (begins.clone(), gate.clone());
            async move {
                begins.send(thread_name()).unwrap();
                gate.wait();
            }
        }));
        for _ in 0..SPARES {
            assert_eq!(begun.recv().unwrap(), SPARE);
        }
        // The last one waits for any of the others.
        thread::sleep(Duration::from_millis(50));
        assert!(begun.try_recv().is_err());
        gate.open();
        for task in tasks {
            executor.block_on(task);
        }
        assert_eq!(begun.try_iter().count(), 1);
        drop(gates);
        assert_alive(&executor);
    });
}

#[test]
fn without_any_tasks_wait_for_a_worker() {
    guard("none", || {
        let executor = Executor::builder().workers(1).spares(0).build().unwrap();
        let gates = block_all(&executor);
        let task = executor.spawn(async { thread_name() });
        thread::sleep(Duration::from_millis(50));
        assert!(!task.is_finished());
        drop(gates);
        assert_eq!(executor.block_on(task), "ws-worker-0");
        assert_eq!(executor.metrics().spare_polls(), 0);
    });
}

#[test]
fn pinned_tasks_wait_for_their_worker() {
    guard("pinned", || {
        let executor = executor(1);
        let gates = block_all(&executor);
        let pinned = executor
            .handle()
            .spawn_pinned(0, || async { thread_name() });
        assert_eq!(
            executor.block_on(executor.spawn(async { thread_name() })),
            SPARE
        );
        assert!(!pinned.is_finished());
        drop(gates);
        assert_eq!(executor.block_on(pinned), "ws-worker-0");
    });
}

/// A task waits on a spare thread for another task: a second spare thread polls that.
#[test]
fn a_spare_thread_may_wait_in_block_on() {
    guard("block_on", || {
        let executor = executor(1);
        let gates = block_all(&executor);
        let task = executor.spawn(async {
            let handle = Handle::current();
            let inner = handle.spawn(async { thread_name() });
            (thread_name(), handle.block_on(inner))
        });
        let (outer, inner) = executor.block_on(task);
        assert_eq!((&*outer, &*inner), (SPARE, SPARE));
        drop(gates);
        assert_alive(&executor);
    });
}

#[test]
fn a_panic_on_a_spare_thread_ends_in_its_task() {
    guard("panic", || {
        let executor = executor(1);
        let gates = block_all(&executor);
        for _ in 0..3 {
            let panics = executor.spawn(async {
                if true {
                    panic!("on a spare thread")
                }
            });
            assert!(tests::exec::payload_of(|| executor.block_on(panics)).is::<&str>());
        }
        assert_eq!(
            executor.block_on(executor.spawn(async { thread_name() })),
            SPARE
        );
        drop(gates);
        assert_alive(&executor);
    });
}

/// A drain waits for the poll on the spare thread, and for what that spawns.
#[test]
fn a_drain_waits_for_the_poll_of_a_spare_thread() {
    guard("drain", || {
        for _ in 0..20 {
            let executor = executor(1);
            let gates = block_all(&executor);
            let gate = Gate::new();
            let (tells, told) = mpsc::channel();
            executor
                .spawn({
                    let gate = gate.clone();
                    async move {
                        tells.send("begun").unwrap();
                        gate.wait();
                        Handle::current()
                            .spawn(async move { tells.send("the child has run").unwrap() })
                            .detach();
                    }
                })
                .detach();
            assert_eq!(told.recv(), Ok("begun"));
            drop(gates);
            let handle = executor.handle();
            let drains = thread::spawn(move || executor.drain());
            until(|| handle.metrics().parked_workers() == 1 || drains.is_finished());
            assert!(!drains.is_finished(), "a poll is under way");
            gate.open();
            drains.join().unwrap();
            assert_eq!(told.recv(), Ok("the child has run"));
        }
    });
}

#[test]
fn wait_idle_waits_for_the_poll_of_a_spare_thread() {
    guard("wait_idle", || {
        let executor = executor(1);
        let gates = block_all(&executor);
        let gate = Gate::new();
        let (begins, begun) = mpsc::channel();
        let task = executor.spawn({
            let gate = gate.clone();
            async move {
                begins.send(()).unwrap();
                gate.wait();
            }
        });
        begun.recv().unwrap();
        drop(gates);
        let handle = executor.handle();
        let waits = thread::spawn(move || handle.wait_idle());
        until(|| executor.metrics().parked_workers() == 1 || waits.is_finished());
        assert!(!waits.is_finished(), "a poll is under way");
        gate.open();
        waits.join().unwrap();
        assert!(task.is_finished());
    });
}

#[test]
fn a_shutdown_waits_for_the_poll_of_a_spare_thread() {
    guard("shutdown", || {
        let executor = executor(1);
        let gates = block_all(&executor);
        let gate = Gate::new();
        let (begins, begun) = mpsc::channel();
        let task = executor.spawn({
            let gate = gate.clone();
            async move {
                begins.send(()).unwrap();
                gate.wait();
                std::future::pending::<()>().await;
            }
        });
        begun.recv().unwrap();
        drop(gates);
        assert!(!executor.shutdown_timeout(Duration::from_millis(20)));
        gate.open();
        // The future is dropped after its poll, by the spare thread.
        assert_eq!(ws_executor::block_on(task.fallible()), None);
    });
}

#[test]
fn a_stall_is_reported_once() {
    guard("stall", || {
        let (tells, told) = mpsc::channel();
        let executor = Executor::builder()
            .workers(2)
            .on_stall(move |stall| tells.send(stall.clone()).unwrap())
            .build()
            .unwrap();
        let gate = gate::block(&executor.handle(), 1);
        let stall = told.recv().unwrap();
        assert_eq!(stall.worker(), 1);
        assert!(stall.lasted() >= Duration::from_millis(100), "{stall:?}");
        thread::sleep(Duration::from_millis(300));
        drop(gate);
        assert_alive(&executor);
        assert_eq!(executor.metrics().stalls(), 1);
        assert!(told.try_recv().is_err(), "one report for one poll");
    });
}

#[test]
fn a_computation_is_no_stall() {
    guard("computation", || {
        let (tells, told) = mpsc::channel();
        let executor = Executor::builder()
            .workers(2)
            .on_stall(move |stall| tells.send(stall.clone()).unwrap())
            .build()
            .unwrap();
        let computes = executor
            .handle()
            .compute(|| thread::sleep(Duration::from_millis(300)));
        executor.block_on(computes);
        drop(executor);
        assert!(told.recv().is_err(), "the hook is gone, and was not called");
    });
}

#[test]
fn a_panic_of_the_hook_ends_there() {
    guard("hook", || {
        let executor = Executor::builder()
            .workers(1)
            .on_stall(|_| panic!("a hook that panics"))
            .build()
            .unwrap();
        for stalls in 1..=2 {
            let gates = block_all(&executor);
            until(|| executor.metrics().stalls() == stalls);
            // The monitor goes on.
            assert_eq!(
                executor.block_on(executor.spawn(async { thread_name() })),
                SPARE
            );
            drop(gates);
        }
        assert_alive(&executor);
    });
}
