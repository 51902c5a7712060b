//! smol's I/O: async-io's reactor under the workers.
//!
//! async-io's types work on any thread: if no other thread drives the reactor, a thread named
//! `async-io` does. But that thread must wake a worker for every event. Here a worker that runs
//! out of tasks waits in the reactor itself, and then runs the tasks that an event has woken.
//!
//! # What runs where
//!
//! - Each worker is a future inside one [`async_io::block_on`], on its own thread. When the
//!   worker would sleep, the future is pending. Then `block_on` waits in the reactor, or for a
//!   notification if another thread is in the reactor. A call of `block_on` for each wait would
//!   be simpler and slow: every return from it wakes the `async-io` thread, which then
//!   takes the reactor.
//! - A task that is woken by an event runs on the thread that saw the event. No other
//!   thread is woken, unless there is more than one such task.
//! - Timers are async-io's. They fire on the thread that is in the reactor.
//! - A thread in [`Executor::block_on`] is in an `async_io::block_on`, too. If no worker is in
//!   the reactor, that thread itself sees the events that its future waits for.
//! - When the worker that was in the reactor is kept by a poll for a millisecond or two, the
//!   executor's monitor lets an idle worker take the reactor.
//!
//! # What it does not do
//!
//! If every worker is busy in a poll, the `async-io` thread sees events, with a delay of up to
//! about 10 ms. A [spare thread](ws_executor::Builder::spares) polls the tasks that these events
//! wake. Code that computes for long belongs into [`ws_executor::spawn_blocking`], into tasks that
//! yield, or into [`ws_executor::compute`]. The last runs the code on a worker which has no task
//! to poll, and leaves tasks to the other workers.

use ws_core::driver::Visitor;
use ws_executor::{BuildError, Builder, Executor, HostedWorker};

/// Builds an executor whose idle workers wait in async-io's reactor.
///
/// All other settings are the builder's. A host of the builder is replaced. If the builder has a
/// driver, the build fails.
///
/// ```
/// use std::time::{Duration, Instant};
/// use ws_executor::Executor;
///
/// let executor = ws_io_adapters::smol::executor(Executor::builder().workers(2))?;
/// let started = Instant::now();
/// let fired = executor.block_on(executor.spawn(async {
///     async_io::Timer::after(Duration::from_millis(5)).await
/// }));
/// assert!(fired - started >= Duration::from_millis(5));
/// # Ok::<_, ws_executor::BuildError>(())
/// ```
///
/// # Errors
///
/// As [`Builder::build`].
pub fn executor(builder: Builder) -> Result<Executor, BuildError> {
    let host = |worker: HostedWorker| async_io::block_on(worker);
    let visitors = |future: Visitor<'_>| async_io::block_on(future);
    builder.host(host).host_visitors(visitors).build()
}
