//! The end of the process, with workers that run: the exit code is kept, and nothing
//! hangs or crashes.

use std::future::pending;
use std::process;
use std::sync::OnceLock;
use std::thread;

use tests::child;
use tests::exec::{Gate, executor, hold, until};
use ws_executor::{Executor, Handle, yield_now};

/// Workers that poll, one that is blocked for ever, and tasks that wait.
fn make_busy(handle: &Handle) {
    for _ in 0..4 {
        handle
            .spawn(async {
                loop {
                    yield_now().await;
                }
            })
            .detach();
        handle.spawn(pending::<()>()).detach();
        handle.spawn_pinned(0, pending::<()>).detach();
    }
    let (never, inside) = (Gate::new(), Gate::new());
    let blocks = {
        let inside = inside.clone();
        async move {
            inside.open();
            never.wait();
        }
    };
    handle.spawn(blocks).detach();
    inside.wait();
    let polls = handle.metrics().polls();
    until(|| handle.metrics().polls() > polls + 1_000);
}

#[test]
fn a_leaked_executor() {
    let ending = child::run_leaking("process::a_leaked_executor", || {
        let executor = executor(2);
        make_busy(&executor.handle());
        std::mem::forget(executor);
        let idle = tests::exec::executor(2);
        idle.block_on(idle.spawn(async {}));
        std::mem::forget(idle);
    });
    if let Some(ending) = ending {
        ending.assert_success();
    }
}

#[test]
fn a_static_executor() {
    static EXECUTOR: OnceLock<Executor> = OnceLock::new();

    let ending = child::run_leaking("process::a_static_executor", || {
        make_busy(&EXECUTOR.get_or_init(|| executor(2)).handle());
        // And the one of the process.
        ws_executor::spawn(async {
            loop {
                yield_now().await;
            }
        })
        .detach();
        ws_executor::spawn(pending::<()>()).detach();
        ws_executor::spawn_blocking(|| Gate::new().wait()).detach();
        ws_executor::block_on(ws_executor::spawn(async {}));
    });
    if let Some(ending) = ending {
        ending.assert_success();
    }
}

#[test]
fn exit_beside_running_workers() {
    let ending = child::run_leaking("process::exit_beside_running_workers", || {
        let executor = executor(2);
        make_busy(&executor.handle());
        process::exit(7);
    });
    if let Some(ending) = ending {
        ending.assert_code(7);
    }
}

#[test]
fn exit_in_a_task() {
    let ending = child::run_leaking("process::exit_in_a_task", || {
        let executor = executor(2);
        make_busy(&executor.handle());
        executor.spawn(async { process::exit(8) }).detach();
        executor.block_on(pending::<()>());
    });
    if let Some(ending) = ending {
        ending.assert_code(8);
    }
}

#[test]
fn exit_during_the_shutdown() {
    let ending = child::run_leaking("process::exit_during_the_shutdown", || {
        let executor = executor(2);
        let handle = executor.handle();
        let held = hold(&executor);
        thread::spawn(move || {
            until(|| handle.is_shut_down());
            process::exit(9);
        });
        // Waits for the workers, which never come.
        executor.shutdown();
        drop(held);
    });
    if let Some(ending) = ending {
        ending.assert_code(9);
    }
}

/// By a worker's panic hook, which is user code as well.
#[test]
fn exit_in_the_panic_hook() {
    let ending = child::run_leaking("process::exit_in_the_panic_hook", || {
        std::panic::set_hook(Box::new(|_| process::exit(10)));
        let executor = executor(2);
        executor.spawn(async { panic!("the hook exits") }).detach();
        executor.block_on(pending::<()>());
    });
    if let Some(ending) = ending {
        ending.assert_code(10);
    }
}
