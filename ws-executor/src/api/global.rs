//! The process-wide executor, and the functions that use it.
//!
//! The first call that needs the executor starts it. It is never shut down, and does not
//! keep the process from exiting. The environment variable `WS_WORKERS` sets the number of its
//! workers; the default is the number of processors that are available.

use std::env;
use std::sync::OnceLock;

use super::task::Task;
use super::{blocking, outside};
use crate::api::executor::Executor;
use crate::api::handle::Handle;
use crate::api::scope::Scope;
use crate::scheduler::context;
use crate::scheduler::fork;
use crate::scheduler::worker::current;
use crate::task;

/// The environment variable with the number of workers.
const WORKERS: &str = "WS_WORKERS";

fn handle() -> &'static Handle {
    static EXECUTOR: OnceLock<Executor> = OnceLock::new();
    EXECUTOR.get_or_init(start).handle_ref()
}

fn start() -> Executor {
    let mut builder = Executor::builder();
    if let Some(value) = env::var_os(WORKERS) {
        match value.to_str().and_then(|text| text.trim().parse().ok()) {
            Some(workers) => builder = builder.workers(workers),
            None => panic!("{WORKERS} must be a number from 1 to 4096, not {value:?}"),
        }
    }
    match builder.build() {
        Ok(executor) => executor,
        Err(error) => panic!("the process-wide executor could not be started: {error}"),
    }
}

/// Runs a future on the calling thread, until it is ready.
///
/// Inside, [`Handle::current`] is the process-wide executor. The rules of
/// [`Executor::block_on`] hold here, too.
///
/// ```
/// let answer = ws_executor::block_on(async {
///     let task = ws_executor::spawn(async { 6 * 7 });
///     task.await
/// });
/// assert_eq!(answer, 42);
/// ```
///
/// # Panics
///
/// If the process-wide executor cannot be started, and as [`Executor::block_on`].
pub fn block_on<F: Future>(future: F) -> F::Output {
    handle().block_on(future)
}

/// Spawns a task on the process-wide executor.
///
/// To spawn on the executor of the calling task instead, use [`Handle::current`].
///
/// ```
/// let task = ws_executor::spawn(async { "hello" });
/// assert_eq!(ws_executor::block_on(task), "hello");
/// ```
///
/// # Panics
///
/// If the process-wide executor cannot be started.
pub fn spawn<F>(future: F) -> Task<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    // As in `Handle::spawn`; in an unoptimised build each call is one more copy.
    if task::is_large::<F>() {
        return handle().start(Box::pin(future));
    }
    handle().start(future)
}

/// Spawns many tasks at once on the process-wide executor; see
/// [`Handle::spawn_many`].
///
/// ```
/// let tasks = ws_executor::spawn_many((0..4).map(|n| async move { n }));
/// let numbers = ws_executor::block_on(futures::future::join_all(tasks));
/// assert_eq!(numbers, [0, 1, 2, 3]);
/// ```
///
/// # Panics
///
/// If the process-wide executor cannot be started.
pub fn spawn_many<I>(futures: I) -> Vec<Task<<I::Item as Future>::Output>>
where
    I: IntoIterator,
    I::Item: Future + Send + 'static,
    <I::Item as Future>::Output: Send + 'static,
{
    handle().spawn_many(futures)
}

/// Runs code that blocks, on a thread for such code.
///
/// There is one pool of up to 512 such threads for the whole process, apart from all
/// workers. Dropping the task cancels the code if it has not begun. Code that has begun runs to
/// its end. If the pool has no thread and the system refuses to start one, the task is
/// cancelled.
///
/// ```
/// let size = ws_executor::spawn_blocking(|| std::fs::metadata("/").map(|meta| meta.len()));
/// assert!(ws_executor::block_on(size).is_ok());
/// ```
pub fn spawn_blocking<F, T>(code: F) -> Task<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    blocking::spawn(context::current(), code)
}

/// Runs tasks that borrow on the process-wide executor, and returns when all have
/// ended; see [`Executor::scope`].
///
/// ```
/// let mut sums = [0, 0];
/// ws_executor::scope(|s| {
///     let (low, high) = sums.split_at_mut(1);
///     s.spawn(async move { low[0] = (0..50).sum() });
///     s.spawn(async move { high[0] = (50..100).sum() });
/// });
/// assert_eq!(sums[0] + sums[1], 4950);
/// ```
///
/// # Panics
///
/// If the process-wide executor cannot be started; and see [`Executor::scope`].
pub fn scope<'env, R>(code: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R) -> R {
    handle().scope(code)
}

/// Runs two closures, at the same time if a worker is free; see [`Handle::join`].
///
/// On a worker of any executor, `join` uses the workers of that executor. Elsewhere it
/// uses those of the innermost `block_on`, or of the process-wide executor.
///
/// ```
/// fn fib(n: u32) -> u64 {
///     if n < 2 {
///         return n.into();
///     }
///     let (a, b) = ws_executor::join(|| fib(n - 1), || fib(n - 2));
///     a + b
/// }
///
/// assert_eq!(fib(16), 987);
/// ```
///
/// # Panics
///
/// If a closure does, or if the process-wide executor cannot be started. If `a` panics, `b`
/// may never run; see [`Handle::join`].
#[inline]
pub fn join<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    current::with_any(|worker| match worker {
        Some(worker) => fork::join(worker, a, b),
        None => with_current(|handle| outside::join_inside(handle.shared(), a, b)),
    })
}

/// Runs code that computes for long on a worker, away from the calling task; see
/// [`Handle::compute`].
///
/// It uses the executor of the calling task or `block_on`, otherwise the process-wide one.
///
/// ```
/// let total = ws_executor::block_on(async {
///     ws_executor::compute(|| ws_executor::par::par_map(0..1_000_u64, |n| n * n)).await
/// });
/// assert_eq!(total[999], 998_001);
/// ```
///
/// # Panics
///
/// If the process-wide executor cannot be started.
pub fn compute<F, R>(code: F) -> Task<R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    with_current(|handle| handle.compute(code))
}

/// Runs a closure on a worker, and returns what it returns; see [`Handle::install`].
///
/// On a worker of any executor, `install` just calls the closure. Elsewhere it uses the
/// workers of the innermost `block_on`, or of the process-wide executor.
///
/// ```
/// let sum = ws_executor::install(|| {
///     let (low, high) = ws_executor::join(|| (0..50).sum::<u32>(), || (50..100).sum::<u32>());
///     low + high
/// });
/// assert_eq!(sum, 4950);
/// ```
///
/// # Panics
///
/// If the closure does, or if the process-wide executor cannot be started.
pub fn install<R: Send>(code: impl FnOnce() -> R + Send) -> R {
    if current::with_any(|worker| worker.is_some()) {
        return code();
    }
    with_current(|handle| outside::inside(handle.shared(), code))
}

/// Calls `code` with the executor of the calling code, or the process-wide one.
fn with_current<R>(code: impl FnOnce(&Handle) -> R) -> R {
    match context::current() {
        Some(current) => code(&Handle::new(current)),
        None => code(handle()),
    }
}
