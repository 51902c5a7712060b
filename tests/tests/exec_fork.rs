//! A forked process has no workers: using its parent's executor fails loudly, in debug
//! builds.

#![cfg(all(target_os = "linux", debug_assertions))]

use std::panic::{AssertUnwindSafe, catch_unwind};

use ws_executor::Executor;

#[test]
fn a_spawn_in_a_forked_process_panics() {
    let executor = Executor::builder().workers(1).build().unwrap();
    executor.block_on(executor.spawn(async {}));
    // SAFETY: the child only spawns, which allocates; this process has one thread
    // that may hold the allocator's lock, the worker, and that is idle.
    let child = unsafe { libc::fork() };
    assert_ne!(child, -1);
    if child == 0 {
        std::panic::set_hook(Box::new(|_| {}));
        let spawned = catch_unwind(AssertUnwindSafe(|| executor.spawn(async {}).detach()));
        // SAFETY: ends the process, and nothing else.
        unsafe { libc::_exit(if spawned.is_err() { 42 } else { 1 }) };
    }
    let mut status = 0;
    // SAFETY: waits for our own child, and writes its status into a live integer.
    let waited = unsafe { libc::waitpid(child, &mut status, 0) };
    assert_eq!(waited, child);
    assert!(libc::WIFEXITED(status), "status {status}");
    assert_eq!(libc::WEXITSTATUS(status), 42, "the spawn went unnoticed");
    // The parent goes on as before.
    executor.block_on(executor.spawn(async {}));
}
