//! `block_on` inside of tasks, up to the end of the stack: it works, or panics with a clear
//! text, and never hangs.

use std::future::Future;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;

use futures::channel::oneshot;
use futures::future::join_all;
use tests::exec::{Gate, assert_alive, executor};
use tests::watchdog;
use ws_executor::{Executor, Handle, yield_now};

/// The stack of a worker, and a frame that takes more than half of it.
const STACK: usize = 1 << 20;
const LARGE: usize = 600 << 10;

const LAST: &str = "every other worker waits in that manner already";
const PINNED: &str = "a task is due that only this worker may run";

fn with_stack(workers: usize, bytes: usize) -> Executor {
    let builder = Executor::builder().workers(workers).stack_size(bytes);
    builder.build().unwrap()
}

/// Calls `code` with more than half of the stack used.
#[inline(never)]
fn deep_down<R>(code: impl FnOnce() -> R) -> R {
    let frame = [0_u8; LARGE];
    black_box(&frame);
    let result = code();
    black_box(&frame);
    result
}

/// What `code` returns, or the text of its panic.
fn outcome_of<R>(code: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(code)).map_err(|payload| {
        payload
            .downcast_ref::<String>()
            .cloned()
            .unwrap_or_default()
    })
}

fn assert_too_deep<R>(outcome: Result<R, String>, why: &str) {
    let text = outcome.err().expect("it should have panicked");
    assert!(
        text.contains("nested too deeply") && text.contains(why),
        "{text}"
    );
}

/// Each task blocks on the next one, without end.
fn tower() -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async {
        let handle = Handle::current();
        handle.block_on(handle.spawn(tower()));
    })
}

#[test]
fn a_tower_without_end_panics() {
    watchdog::guard("no end", || {
        for workers in [1, 2, 4] {
            let executor = executor(workers);
            for _ in 0..2 {
                let task = executor.spawn(tower());
                assert_too_deep(outcome_of(|| executor.block_on(task)), LAST);
                assert_alive(&executor);
            }
        }
    });
}

#[test]
fn a_larger_stack_takes_a_higher_tower() {
    fn level(number: u32, heights: mpsc::Sender<u32>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            heights.send(number).unwrap();
            let handle = Handle::current();
            let above = handle.spawn(level(number + 1, heights));
            drop(outcome_of(|| handle.block_on(above)));
        })
    }

    fn reached(stack: usize) -> u32 {
        let executor = with_stack(1, stack);
        let (heights, reached) = mpsc::channel();
        executor.block_on(executor.spawn(level(0, heights)));
        reached.iter().max().unwrap()
    }

    watchdog::guard("higher", || {
        let (small, large) = (reached(STACK), reached(4 * STACK));
        println!("{small} levels on a stack of {STACK} bytes, {large} on a larger one");
        assert!(large > 3 * small, "{small} levels, then {large}");
    });
}

/// One worker has to go on; but what need not wait does not.
#[test]
fn the_last_worker_panics_instead_of_waiting() {
    watchdog::guard("last", || {
        let executor = with_stack(1, STACK);
        let task = executor.spawn(async {
            let handle = Handle::current();
            let child = handle.spawn(async { 1 });
            let outcome = deep_down(|| outcome_of(|| handle.block_on(child)));
            assert_too_deep(outcome, LAST);
            deep_down(|| handle.block_on(async { 2 }))
        });
        assert_eq!(executor.block_on(task), 2);
        assert_alive(&executor);
    });
}

/// A worker that waits aside has given its tasks away, also to one that is always busy.
#[test]
fn the_other_workers_get_the_tasks() {
    watchdog::guard("others", || {
        let executor = with_stack(2, STACK);
        let handle = executor.handle();
        let over = Arc::new(AtomicBool::new(false));
        let busy = handle.spawn_pinned(1, {
            let over = Arc::clone(&over);
            || async move {
                while !over.load(Ordering::SeqCst) {
                    yield_now().await;
                }
                thread::current().id()
            }
        });
        let waits = handle.spawn_pinned(0, || async {
            let handle = Handle::current();
            let child = |_| handle.spawn(async { thread::current().id() });
            // One in the slot, others in the ring.
            let children: Vec<_> = (0..10).map(child).collect();
            deep_down(|| handle.block_on(join_all(children)))
        });
        let ran_on = executor.block_on(waits);
        over.store(true, Ordering::SeqCst);
        assert_eq!(ran_on, [executor.block_on(busy); 10]);
        assert_alive(&executor);
    });
}

/// Two that would wait aside: one may, whichever is the first.
#[test]
fn only_all_but_one_wait_aside() {
    watchdog::guard("all but one", || {
        let executor = with_stack(2, STACK);
        let (outcomes, outcome) = mpsc::channel();
        let (mut senders, mut tasks) = (Vec::new(), Vec::new());
        for worker in 0..2 {
            let (sender, receiver) = oneshot::channel::<()>();
            let outcomes = outcomes.clone();
            senders.push(sender);
            tasks.push(executor.handle().spawn_pinned(worker, move || async move {
                let handle = Handle::current();
                let outcome = deep_down(|| outcome_of(|| handle.block_on(receiver)));
                outcomes.send(outcome).unwrap();
            }));
        }
        assert_too_deep(outcome.recv().unwrap(), LAST);
        for sender in senders {
            // The receiver of the one that panicked is gone.
            let _ = sender.send(());
        }
        assert_eq!(outcome.recv().unwrap(), Ok(Ok(())));
        executor.block_on(join_all(tasks));
        assert_alive(&executor);
    });
}

/// A scope must not end by such a panic when its tasks have begun: so it does not begin.
#[test]
fn a_scope_does_not_begin() {
    watchdog::guard("scope", || {
        for workers in [1, 2] {
            let executor = with_stack(workers, STACK);
            let task = executor.spawn(async {
                let handle = Handle::current();
                let mut begun = false;
                let outcome = deep_down(|| outcome_of(|| handle.scope(|_| begun = true)));
                assert_too_deep(outcome, "a scope has to run its tasks");
                begun
            });
            assert!(!executor.block_on(task));
            assert_alive(&executor);
        }
    });
}

/// What is pinned to a worker that waits aside would never run.
#[test]
fn pinned_tasks_are_not_waited_for() {
    watchdog::guard("pinned", || {
        let executor = with_stack(2, STACK);
        let handle = executor.handle();
        let own = handle.spawn_pinned(0, || async {
            let handle = Handle::current();
            let pinned = handle.spawn_pinned(0, || async {});
            deep_down(|| outcome_of(|| handle.block_on(pinned)))
        });
        assert_too_deep(executor.block_on(own), PINNED);

        // It comes at any time during the wait.
        for _ in 0..1_000 {
            let inside = Gate::new();
            let (sender, receiver) = oneshot::channel::<()>();
            let waits = handle.spawn_pinned(0, {
                let inside = inside.clone();
                move || async move {
                    let handle = Handle::current();
                    inside.open();
                    deep_down(|| outcome_of(|| handle.block_on(receiver)))
                }
            });
            inside.wait();
            let pinned = handle.spawn_pinned(0, move || async move {
                let _ = sender.send(());
            });
            assert_too_deep(executor.block_on(waits), PINNED);
            executor.block_on(pinned);
        }
        assert_alive(&executor);
    });
}

#[test]
fn a_shutdown_ends_a_wait_aside() {
    watchdog::guard("shutdown", || {
        let executor = with_stack(2, STACK);
        let inside = Gate::new();
        let task = executor.spawn({
            let inside = inside.clone();
            async move {
                let handle = Handle::current();
                let waits = handle.spawn(std::future::pending::<()>());
                inside.open();
                deep_down(|| handle.block_on(waits.fallible()))
            }
        });
        inside.wait();
        executor.shutdown();
        assert_eq!(ws_executor::block_on(task.fallible()), Some(None));
    });
}
