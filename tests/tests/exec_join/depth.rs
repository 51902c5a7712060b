//! Joins inside joins take stack, as calls do: with enough of it there is no bound to
//! the depth, and without, the process ends with Rust's message, not silently.

use tests::child;
use ws_executor::{Executor, join};

const DEPTH: u32 = 100_000;

/// As deep as `depth` on the left, and on the right.
fn deep(depth: u32) -> u64 {
    if depth == 0 {
        return 0;
    }
    let (a, b) = join(|| deep(depth - 1), || 1);
    a + b
}

fn deep_right(depth: u32) -> u64 {
    if depth == 0 {
        return 0;
    }
    let (a, b) = join(|| 1, || deep_right(depth - 1));
    a + b
}

fn run_with(stack: usize, workers: usize, code: fn(u32) -> u64) -> u64 {
    let builder = Executor::builder().workers(workers).stack_size(stack);
    let executor = builder.build().unwrap();
    executor.block_on(executor.spawn(async move { code(DEPTH) }))
}

#[test]
fn a_deep_join_needs_a_large_stack() {
    child::survives("depth::a_deep_join_needs_a_large_stack", || {
        // Address space, of which only what is used becomes memory.
        let stack = 1 << 30;
        for workers in [1, 2] {
            assert_eq!(run_with(stack, workers, deep), u64::from(DEPTH));
            assert_eq!(run_with(stack, workers, deep_right), u64::from(DEPTH));
        }
    });
}

#[test]
fn a_stack_that_is_too_small_ends_the_process_with_a_message() {
    let test = "depth::a_stack_that_is_too_small_ends_the_process_with_a_message";
    let ending = child::run_leaking(test, || {
        run_with(256 << 10, 1, deep);
    });
    if let Some(ending) = ending {
        ending.assert_aborted("has overflowed its stack");
    }
}
