//! tokio's I/O: a tokio runtime under the workers.
//!
//! tokio's types look for their runtime in the thread that uses them. An executor of
//! [`executor`] has a runtime of its own, every worker lives in its context, and a worker
//! that runs out of tasks waits in its reactor. `tokio::{net, time, fs, process, signal,
//! sync}`, `select!`, `JoinSet`, `spawn_blocking`, and the libraries on top of them, work
//! unchanged in tasks that our workers poll.
//!
//! # What runs where
//!
//! - The runtime is a current-thread one, without threads of its own but those of
//!   `spawn_blocking`. It runs when a worker is idle: the worker calls `block_on` for the
//!   time of its sleep. Busy workers look at it now and then. (The whole loop of a worker
//!   inside one `block_on` would save a fraction of a microsecond, but `tokio::spawn`
//!   would starve, and `block_in_place` and `Handle::block_on` panic.)
//! - A task that is woken by an event runs on the thread that saw the event. No other
//!   thread is woken, unless there is more than one such task.
//! - **`tokio::spawn` puts a task on that runtime**, where whichever worker is in the
//!   reactor runs it: one at a time, and only while that worker has nothing else to do.
//!   That is good enough for what libraries spawn in the background. [`spawn`] puts a
//!   task on all workers.
//! - Every poll of a task has tokio's cooperative budget, as in a tokio task, so that one with
//!   ready channels or sockets lets others run. So has every poll of the future of a
//!   [`block_on`](ws_executor::Executor::block_on), on every thread: a timeout around a loop
//!   over ready channels ends the loop. The budget holds for what blocks inside a poll as
//!   well, in `block_in_place` and in the closures of `join` and `compute`: there a `block_on`
//!   that is neither tokio's nor ours polls for ever when the budget is used up. Wrap its
//!   future in `tokio::task::unconstrained`.
//! - `block_in_place`, and `Handle::block_on` of tokio's, block the worker that calls them.
//!   The runtime is driven by the others: on an executor with a single worker, what they
//!   wait for must not need the reactor. [`ws_executor::Handle::block_on`] has no such
//!   limit: it goes on being a worker while it waits, also inside of tokio's
//!   `Handle::block_on`; the tasks that it polls there must not call tokio's again. Only
//!   inside the `block_on` of *another* runtime that a task has made it must not be called:
//!   what it runs would find a runtime that waits for it.
//! - What was put on the runtime by `tokio::spawn` runs while its worker counts as asleep. It
//!   should not block or compute for long. The other workers go on, but until it is over
//!   nobody sees to the reactor; tasks that it has woken may wait, and so may those of a
//!   worker that is stuck in a poll, if this one was to watch it.
//!   [`ws_executor::block_on`] and [`ws_executor::scope`] panic there, and
//!   [`ws_executor::join`] works.
//!
//! In [`attach`] the runtime is the program's own, with its own threads. They run its
//! reactor, and wake our workers.
//!
//! # Differences from tokio's own runtime
//!
//! - **`tokio::task::yield_now` does not turn the reactor.** tokio wakes a task that yielded
//!   after the next look at the reactor; here it is queued at once. So `tokio::time::advance`,
//!   which yields once, may return before the timers have fired that it has moved the clock
//!   past. Await `tokio::time::sleep(Duration::ZERO)` after it: that one waits for the reactor,
//!   and so for the timers before it.
//! - **A paused clock moves when the reactor has nothing to do.** A worker that sleeps in the
//!   reactor moves it to the next timer, although other workers, or a thread in `block_on`, are
//!   running. Tests that depend on when a paused clock moves belong on a runtime of tokio's.
//! - **A poll has a budget of 127 operations**, not of 128. There is no stable way to give 128
//!   in a few nanoseconds.
//! - **Only tokio's resources use that budget up.** Those of `ws_executor`, such as
//!   [`coop::consume`](ws_executor::coop::consume), use the budget of their own, which has no
//!   end in `block_on`: a timeout around a loop over them ends the loop in a task, and does not
//!   in `block_on`. [`yield_now`](ws_executor::yield_now) in the loop ends it in both.
//! - **`blocking_recv`, `blocking_send`, `blocking_lock`, `Semaphore::blocking_acquire` and
//!   their like block the worker.** In tasks of tokio's they panic. Await the call instead, or
//!   move it to `spawn_blocking`; or wait with [`ws_executor::Handle::block_on`], which goes on
//!   being a worker. In what was put on the runtime by `tokio::spawn` they panic, as ever.
//! - **`block_in_place` panics in what was put on the runtime by `tokio::spawn`**, because the
//!   runtime is a current-thread one. In our tasks it works. With [`attach`] and a multi-thread
//!   runtime it works in both.
//! - **[`Executor::block_on`] does not panic in a task or a `block_on` of another runtime**, where
//!   tokio's own does. It blocks the thread of that runtime. What it waits for must not need
//!   that thread: a `tokio::task::yield_now` inside does, unless it is called in
//!   `block_in_place`.
//!
//! # The end
//!
//! A shutdown of the executor drops its tasks first, then the runtime and what was spawned
//! on that, and does not wait for code in `spawn_blocking`. If an attached runtime ends
//! first, I/O in our tasks gives errors, as the program's own would; timers panic, which
//! ends the task that awaits one, and nothing else.

mod budget;
mod context;
mod error;
mod runtime;
mod signal;

use ::tokio::runtime::Handle as RuntimeHandle;
use ws_executor::{BuildError, Builder, DriverHandoff, Executor, Handle, Task};

pub use self::error::Error;

/// Conversions between the I/O traits of tokio and of futures.
pub use tokio_util::compat;

use self::context::Attached;
use self::runtime::Parked;

/// Builds an executor with a tokio runtime of its own, in which idle workers wait.
///
/// Everything else is as the builder says. A driver that it has is replaced.
///
/// ```
/// use std::time::Duration;
/// use ws_executor::Executor;
///
/// let executor = ws_io_adapters::tokio::executor(Executor::builder().workers(2))?;
/// let late = executor.spawn(async {
///     let slow = tokio::time::sleep(Duration::from_secs(3600));
///     tokio::time::timeout(Duration::from_millis(5), slow).await
/// });
/// assert!(executor.block_on(late).is_err());
/// # Ok::<_, ws_io_adapters::tokio::Error>(())
/// ```
///
/// # Errors
///
/// If the system refuses the reactor, or as [`Builder::build`].
pub fn executor(builder: Builder) -> Result<Executor, Error> {
    let driver = Parked::new().map_err(Error::reactor)?;
    builder.driver(driver).build().map_err(Error::build)
}

/// Builds an executor in the context of a runtime that is there already.
///
/// The runtime's threads go on driving its reactor, so it has to run: as a multi-thread
/// one, or inside its `block_on`.
///
/// ```
/// use ws_executor::Executor;
///
/// let runtime = tokio::runtime::Builder::new_multi_thread()
///     .worker_threads(1)
///     .enable_all()
///     .build()?;
/// let handle = runtime.handle().clone();
/// let executor = ws_io_adapters::tokio::attach(Executor::builder().workers(1), handle)?;
/// let answer = executor.spawn(async {
///     tokio::spawn(async { 42 }).await // on the runtime's thread
/// });
/// assert_eq!(executor.block_on(answer)?, 42);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// As [`Builder::build`].
pub fn attach(builder: Builder, runtime: RuntimeHandle) -> Result<Executor, BuildError> {
    // Nobody needs to look after the driver: the runtime's threads do.
    builder
        .driver(Attached::new(runtime))
        .driver_handoff(DriverHandoff::Off)
        .build()
}

/// Spawns a task on the current executor: the one whose task or `block_on` calls this.
///
/// `tokio::spawn` in the same place would put it on the runtime, which is driven by one
/// worker at a time.
///
/// ```
/// use ws_executor::Executor;
///
/// let executor = ws_io_adapters::tokio::executor(Executor::builder().workers(2))?;
/// let sum = executor.block_on(async {
///     let parts = [ws_io_adapters::tokio::spawn(async { 1 }), ws_io_adapters::tokio::spawn(async { 2 })];
///     let mut sum = 0;
///     for part in parts {
///         sum += part.await;
///     }
///     sum
/// });
/// assert_eq!(sum, 3);
/// # Ok::<_, ws_io_adapters::tokio::Error>(())
/// ```
///
/// # Panics
///
/// Outside of an executor, as [`Handle::current`].
pub fn spawn<F>(future: F) -> Task<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    Handle::current().spawn(future)
}
