//! `block_on` inside of tasks, up to the end of the stack: it works, or panics with a clear
//! text, and never hangs.

use std::future::Future;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::mpsc;

use tests::exec::{assert_alive, executor};
use tests::watchdog;
use ws_executor::{Executor, Handle};

/// The stack of a worker, and a frame that takes more than half of it.
const STACK: usize = 1 << 20;
const LARGE: usize = 600 << 10;

const TASK: &str = "the worker must run other tasks while it waits";

fn with_stack(workers: usize, bytes: usize) -> Executor {
    let builder = Executor::builder()
        .spares(0)
        .workers(workers)
        .stack_size(bytes);
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
                assert_too_deep(outcome_of(|| executor.block_on(task)), TASK);
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

/// What need not wait does not panic, and other workers make no difference.
#[test]
fn without_room_a_call_panics_instead_of_waiting() {
    watchdog::guard("no room", || {
        for workers in [1, 2] {
            let executor = with_stack(workers, STACK);
            let task = executor.spawn(async {
                let handle = Handle::current();
                let waits = std::future::pending::<()>();
                let outcome = deep_down(|| outcome_of(|| handle.block_on(waits)));
                assert_too_deep(outcome, TASK);
                deep_down(|| handle.block_on(async { 2 }))
            });
            assert_eq!(executor.block_on(task), 2);
            assert_alive(&executor);
        }
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
                assert_too_deep(outcome, "a scope must run its tasks");
                begun
            });
            assert!(!executor.block_on(task));
            assert_alive(&executor);
        }
    });
}
