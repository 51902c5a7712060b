//! The two kinds of executors under tokio's I/O.

use tests::watchdog::guard;
use tokio::runtime::{Builder, Runtime};
use ws_executor::Executor;
use ws_io_adapters::tokio::{attach, executor};

/// An executor with a runtime of its own.
///
/// # Panics
///
/// If the system refuses the reactor or a thread.
#[must_use]
pub fn start(workers: usize) -> Executor {
    executor(Executor::builder().workers(workers)).expect("the executor starts")
}

/// A runtime to attach executors to.
///
/// # Panics
///
/// If the system refuses the reactor or a thread.
#[must_use]
pub fn runtime() -> Runtime {
    Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("the runtime starts")
}

/// Runs `test` on executors with their own runtimes, and on those that are attached.
///
/// # Panics
///
/// As `test` does.
pub fn both(name: &str, test: impl Fn(&Executor)) {
    guard(name, || {
        for workers in [1, 2] {
            test(&start(workers));
            let runtime = runtime();
            let builder = Executor::builder().workers(workers);
            let attached = attach(builder, runtime.handle().clone());
            test(&attached.expect("the executor starts"));
        }
    });
}
