//! Workers that are known by the names of their threads.

use std::thread;

use ws_executor::{Builder, Executor};

/// A builder for an executor whose tasks can ask for their [`worker`]: no spare thread polls
/// them.
pub(crate) fn builder(workers: usize) -> Builder {
    Executor::builder()
        .workers(workers)
        .spares(0)
        .thread_name(|worker| format!("w-{worker}"))
}

/// The number of the worker that the calling code runs on.
pub(crate) fn worker() -> usize {
    let thread = thread::current();
    let number = thread.name().and_then(|name| name.strip_prefix("w-"));
    let number = number.expect("runs on a worker of `builder`");
    number.parse().expect("a worker's number")
}
