//! smol's I/O: async-io's reactor under the workers.
//!
//! async-io's types work on any thread, because a thread of its own, named `async-io`,
//! drives the reactor if nobody else does. That thread then has to wake a worker for
//! every event. Here a worker that runs out of tasks waits in the reactor itself, and
//! runs what the event wakes on the spot.
//!
//! # What runs where
//!
//! - Each worker is a future inside one [`async_io::block_on`], on its own thread. Where
//!   it would sleep, it is pending, and `block_on` waits in the reactor, or for a
//!   notification if another thread is in there. A call of `block_on` for each wait would
//!   be simpler and slow: every return from it wakes the `async-io` thread, which then
//!   takes the reactor.
//! - A task that is woken by an event runs on the thread that saw the event. No other
//!   thread is woken, unless there is more than one such task.
//! - Timers are async-io's, and fire in the same place.
//! - A thread in [`Executor::block_on`] is in an `async_io::block_on`, too: what its future
//!   waits for itself it sees there, if no worker is in the reactor.
//! - When the worker that was in the reactor is kept by a poll for a millisecond or two, the
//!   executor's monitor has an idle worker take the reactor.
//!
//! # What it does not do
//!
//! If all workers are kept, events wait for the `async-io` thread, which looks every 10 ms or
//! so; a [spare thread](ws_executor::Builder::spares) polls what they wake. Code that computes
//! for long belongs into [`ws_executor::spawn_blocking`], into tasks that yield, or into
//! [`ws_executor::compute`]: that takes a worker which has no task to poll, and leaves tasks to
//! the others.

use ws_core::driver::Visitor;
use ws_executor::{BuildError, Builder, Executor, HostedWorker};

/// Builds an executor whose idle workers wait in async-io's reactor.
///
/// Everything else is as the builder says. A host that it has is replaced; with a driver it
/// cannot be built.
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
