//! tokio's I/O: a tokio runtime under the workers.
//!
//! tokio's types look for their runtime in the thread that uses them. An executor of
//! [`executor`] has a runtime of its own. Every worker lives in the context of that runtime,
//! and a worker that runs out of tasks waits in its reactor. `tokio::{net, time, fs, process,
//! signal, sync}`, `select!`, `JoinSet`, `spawn_blocking`, and the libraries on top of them,
//! work unchanged in tasks that our workers poll.
//!
//! # What runs where
//!
//! - The runtime is a current-thread one. Its only own threads are those of `spawn_blocking`.
//!   It runs when a worker is idle: the worker calls `block_on` for the time of its sleep. Busy
//!   workers look at it now and then. (The whole loop of a worker inside one `block_on` would
//!   save a fraction of a microsecond. But then `tokio::spawn` would starve, and
//!   `block_in_place` and `Handle::block_on` would panic.)
//! - A task that is woken by an event runs on the thread that saw the event. No other
//!   thread is woken, unless there is more than one such task.
//! - **`tokio::spawn` puts a task on that runtime**. The worker that is in the reactor runs it:
//!   one worker at a time, and only while that worker has nothing else to do. That is good enough
//!   for tasks that libraries spawn in the background. A task of [`spawn`] runs on any worker.
//! - Every poll of a task has tokio's cooperative budget, as in a tokio task, so that a task with
//!   ready channels or sockets lets others run. So has every poll of the future of a
//!   [`block_on`](ws_executor::Executor::block_on), on every thread: a timeout around a loop
//!   over ready channels ends the loop.
//!
//!   The budget also holds for code that blocks inside a poll, in `block_in_place` and in the
//!   closures of `join` and `compute`. A `block_on` there that is neither tokio's nor
//!   `ws_executor`'s polls for ever when the budget is used up. Wrap its future in
//!   `tokio::task::unconstrained`.
//! - `block_in_place`, and `Handle::block_on` of tokio's, block the worker that calls them.
//!   The other workers drive the runtime. On an executor with a single worker, these calls must
//!   not wait for anything that needs the reactor.
//!
//!   [`ws_executor::Handle::block_on`] has no such limit: its worker continues to poll tasks
//!   while it waits, also inside tokio's `Handle::block_on`. The tasks that the worker polls there
//!   must not call tokio's `Handle::block_on` again. `ws_executor::Handle::block_on` must not be
//!   called inside the `block_on` of *another* runtime that a task has made: the code that it
//!   runs would find a runtime that waits for it.
//! - A task of `tokio::spawn` runs while its worker counts as asleep. Such a task should not
//!   block or compute for long. The other workers continue, but until its poll ends, the
//!   reactor is not polled. Tasks that the reactor has woken may wait. Tasks of a worker that is
//!   stuck in a poll may wait, too, if no other worker can run them. In such a task,
//!   [`ws_executor::block_on`] and [`ws_executor::scope`] panic, and [`ws_executor::join`] works.
//!
//! With [`attach`] the runtime is the program's own, with threads of its own. These threads
//! drive the reactor, and wake the workers of `ws_executor`.
//!
//! # Differences from tokio's own runtime
//!
//! - **`tokio::task::yield_now` does not turn the reactor.** tokio wakes a task that yielded
//!   after the next look at the reactor. Here the task is queued at once. So
//!   `tokio::time::advance`, which yields once, may return before the timers have fired that
//!   are due at the new time. Await `tokio::time::sleep(Duration::ZERO)` after it: that waits
//!   for the reactor, and so for the timers before it.
//! - **A paused clock moves when the reactor has nothing to do.** A worker that sleeps in the
//!   reactor moves the clock to the next timer, although other workers, or a thread in
//!   `block_on`, are running. Tests that depend on when a paused clock moves belong on a runtime
//!   of tokio's.
//! - **A poll has a budget of 127 operations**, not of 128. There is no stable way to give 128
//!   in a few nanoseconds.
//! - **Only tokio's resources use that budget up.** Those of `ws_executor`, such as
//!   [`coop::consume`](ws_executor::coop::consume), use `ws_executor`'s own budget, which is
//!   unlimited in `block_on`. So a timeout around a loop over them ends the loop in a task, but
//!   not in `block_on`. [`yield_now`](ws_executor::yield_now) in the loop ends it in both.
//! - **`blocking_recv`, `blocking_send`, `blocking_lock`, `Semaphore::blocking_acquire` and
//!   their like block the worker.** In tasks of tokio's they panic, and so they do here in tasks
//!   of `tokio::spawn`. Await the call instead, or move it to `spawn_blocking`. Or wait with
//!   [`ws_executor::Handle::block_on`], whose worker continues to poll tasks.
//! - **`block_in_place` panics in a task of `tokio::spawn`**, because the runtime is a
//!   current-thread one. In our tasks it works. With [`attach`] and a multi-thread runtime it
//!   works in both.
//! - **[`Executor::block_on`] does not panic in a task or a `block_on` of another runtime**, where
//!   tokio's own does. It blocks the thread of that runtime. The future that it waits for must
//!   not need that thread. A `tokio::task::yield_now` in the future does need the thread, unless
//!   the `block_on` is called in `block_in_place`.
//!
//! # The end
//!
//! A shutdown of the executor first drops its tasks, then the runtime and the tasks that were
//! spawned on the runtime. It does not wait for code in `spawn_blocking`. If an attached runtime
//! ends first, I/O in our tasks gives errors, as the program's own I/O would. Timers panic. That
//! ends the task that awaits the timer, and nothing else.

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
/// All other settings are the builder's. A driver of the builder is replaced.
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
/// The runtime's threads continue to drive its reactor, so the runtime must run: as a
/// multi-thread runtime, or inside its `block_on`.
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
    // The executor need not look after the driver: the runtime's threads do.
    builder
        .driver(Attached::new(runtime))
        .driver_handoff(DriverHandoff::Off)
        .build()
}

/// Spawns a task on the current executor: the one whose task or `block_on` calls this.
///
/// `tokio::spawn` would put the task on the runtime instead, which only one worker drives at
/// a time.
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
