//! A reference to an executor, to spawn with.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use super::metrics::Metrics;
use super::scope::{self, Scope};
use super::task::Task;
use super::{block_on, blocking, compute, outside, pinned};
use crate::scheduler::shared::{Job, Shared};
use crate::scheduler::worker::current;
use crate::scheduler::{context, fork};
use crate::task;

/// A reference to an [`Executor`](crate::Executor): spawns tasks on it, from any
/// thread.
///
/// Cloning is cheap. A handle does not keep the workers alive: after a shutdown every method
/// still works, but tasks are cancelled at once.
///
/// ```
/// use ws_executor::{Executor, Handle};
///
/// let executor = Executor::new();
/// let handle = executor.handle();
/// let sum = std::thread::spawn(move || handle.block_on(handle.spawn(async { 1 + 1 })));
/// assert_eq!(sum.join().unwrap(), 2);
/// ```
#[derive(Clone)]
pub struct Handle {
    shared: Arc<Shared>,
}

impl Handle {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Returns the executor that the calling code runs on: that of the innermost
    /// `block_on`, or of the task.
    ///
    /// ```
    /// use ws_executor::{Executor, Handle};
    ///
    /// let executor = Executor::new();
    /// let inner = executor.block_on(async { Handle::current().spawn(async { "here" }).await });
    /// assert_eq!(inner, "here");
    /// ```
    ///
    /// # Panics
    ///
    /// If there is none; see [`try_current`](Self::try_current).
    #[must_use]
    #[track_caller]
    pub fn current() -> Self {
        match Self::try_current() {
            Ok(handle) => handle,
            Err(error) => panic!("{error}"),
        }
    }

    /// Returns the executor that the calling code runs on, if any.
    ///
    /// ```
    /// assert!(ws_executor::Handle::try_current().is_err());
    /// ```
    ///
    /// # Errors
    ///
    /// If the calling code runs neither in a task, nor in a `block_on`, nor in
    /// [`spawn_blocking`](Self::spawn_blocking).
    pub fn try_current() -> Result<Self, TryCurrentError> {
        context::current().map(Self::new).ok_or(TryCurrentError(()))
    }

    /// Spawns a task.
    ///
    /// On a worker of the same executor, the task goes to a queue of that worker. Elsewhere it
    /// goes to the queue that all workers share.
    ///
    /// ```
    /// let executor = ws_executor::Executor::new();
    /// let task = executor.handle().spawn(async { "done" });
    /// assert_eq!(executor.block_on(task), "done");
    /// ```
    pub fn spawn<F>(&self, future: F) -> Task<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        if task::is_large::<F>() {
            return self.start(Box::pin(future));
        }
        self.start(future)
    }

    /// Spawns a task whose future is small.
    #[inline]
    pub(crate) fn start<F>(&self, future: F) -> Task<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        // SAFETY: the future is `Send` and borrows nothing.
        Task::new(unsafe { self.shared.spawn(future) })
    }

    /// Spawns many tasks: publishes them all at once, and notifies as many workers as can
    /// help.
    ///
    /// If the iterator panics, the tasks of the futures before the panic run, detached.
    ///
    /// ```
    /// let executor = ws_executor::Executor::new();
    /// let tasks = executor.handle().spawn_many((0..10).map(|n| async move { n * n }));
    /// let squares = executor.block_on(futures::future::join_all(tasks));
    /// assert_eq!(squares.iter().sum::<i32>(), 285);
    /// ```
    pub fn spawn_many<I>(&self, futures: I) -> Vec<Task<<I::Item as Future>::Output>>
    where
        I: IntoIterator,
        I::Item: Future + Send + 'static,
        <I::Item as Future>::Output: Send + 'static,
    {
        let futures = futures.into_iter();
        let mut batch = Batch {
            handle: self,
            jobs: Vec::with_capacity(futures.size_hint().0),
            tasks: Vec::with_capacity(futures.size_hint().0),
        };
        for future in futures {
            batch.add(future);
        }
        std::mem::take(&mut batch.tasks)
    }

    /// Spawns a task on one worker, where its future is made, polled and dropped. So the
    /// future need not be `Send`.
    ///
    /// No other worker can help out: the task waits while its worker is in a poll that blocks,
    /// in a computation or in a [`join`](Self::join). Deadlock: a closure of a join must not
    /// wait for a task that is pinned to the worker which is waiting for that closure.
    ///
    /// ```
    /// use std::rc::Rc;
    ///
    /// let executor = ws_executor::Executor::new();
    /// let task = executor.handle().spawn_pinned(0, || async {
    ///     let local = Rc::new(5);
    ///     ws_executor::yield_now().await;
    ///     *local
    /// });
    /// assert_eq!(executor.block_on(task), 5);
    /// ```
    ///
    /// # Panics
    ///
    /// If there is no worker with this number.
    pub fn spawn_pinned<B, F>(&self, worker: usize, build: B) -> Task<F::Output>
    where
        B: FnOnce() -> F + Send + 'static,
        F: Future + 'static,
        F::Output: Send + 'static,
    {
        pinned::spawn(&self.shared, worker, build)
    }

    /// Runs `code`, which may block, on a thread for blocking code; see
    /// [`spawn_blocking`](crate::spawn_blocking).
    ///
    /// ```
    /// let executor = ws_executor::Executor::new();
    /// let sum = executor.handle().spawn_blocking(|| (1..=10).sum::<u32>());
    /// assert_eq!(executor.block_on(sum), 55);
    /// ```
    pub fn spawn_blocking<F, T>(&self, code: F) -> Task<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        blocking::spawn(Some(Arc::clone(&self.shared)), code)
    }

    /// Runs a future on the calling thread, as [`Executor::block_on`].
    ///
    /// ```
    /// let executor = ws_executor::Executor::new();
    /// assert_eq!(executor.handle().block_on(async { 3 }), 3);
    /// ```
    ///
    /// [`Executor::block_on`]: crate::Executor::block_on
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        context::within(Some(Arc::clone(&self.shared)), || {
            block_on::block_on(Some(&self.shared), future)
        })
    }

    /// Runs two closures, at the same time if a worker is free, and returns both results.
    ///
    /// The closures may borrow. Another worker can steal `b` while the calling worker runs
    /// `a`. If none steals it, `b` runs after `a`, as an ordinary call. That costs a few
    /// nanoseconds, so a problem can be divided until its parts are small. On a worker nothing
    /// is allocated. A thread that is not a worker of this executor, such as one in `block_on`,
    /// sends both closures to a worker and waits.
    ///
    /// While a worker waits for `b`, it runs closures of other joins, but no tasks. Do not hold
    /// a lock across a join if its closures, or those of another join, take the same lock.
    ///
    /// ```
    /// use ws_executor::Handle;
    ///
    /// fn sum(handle: &Handle, numbers: &[u64]) -> u64 {
    ///     if numbers.len() <= 1_000 {
    ///         return numbers.iter().sum();
    ///     }
    ///     let (left, right) = numbers.split_at(numbers.len() / 2);
    ///     let (left, right) = handle.join(|| sum(handle, left), || sum(handle, right));
    ///     left + right
    /// }
    ///
    /// let executor = ws_executor::Executor::new();
    /// let numbers: Vec<u64> = (1..=100_000).collect();
    /// assert_eq!(sum(&executor.handle(), &numbers), 5_000_050_000);
    /// ```
    ///
    /// # Panics
    ///
    /// If a closure does. The workers continue.
    ///
    /// - `a` panics: `b` may never run. If no other worker has stolen `b` by then, the
    ///   calling worker takes it back and drops it without calling it. If `b` was stolen,
    ///   the panic of `a` continues after `b` has ended. Code that must run in any case does
    ///   not belong into `b`.
    /// - `b` panics: the panic continues after `a` has ended.
    /// - Both panic: the panic of `a` continues, that of `b` is dropped.
    ///
    /// Nested joins need stack, about as much as nested calls do: some hundred bytes for each
    /// join, and what the closures use. If the stack overflows, the process aborts with Rust's
    /// message about it. [`Builder::stack_size`] gives workers more stack.
    ///
    /// [`Builder::stack_size`]: crate::Builder::stack_size
    pub fn join<A, B, RA, RB>(&self, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce() -> RA + Send,
        B: FnOnce() -> RB + Send,
        RA: Send,
        RB: Send,
    {
        current::with(&self.shared, |worker| match worker {
            Some(worker) => fork::join(worker, a, b),
            None => outside::join_inside(&self.shared, a, b),
        })
    }

    /// Runs a closure on a worker, and returns what it returns.
    ///
    /// The calling thread waits for the closure, as [`block_on`](Self::block_on) waits. The
    /// closure may borrow from it. On a worker of this executor, such as inside one of its
    /// tasks, the closure is just called.
    ///
    /// Inside, [`join`](Self::join) and the loops of [`par`](crate::par) use the worker's own
    /// queue. So a thread outside that has many small joins to do sends all of them to the
    /// workers with one `install`.
    ///
    /// If the executor is shut down before a worker has begun, the calling thread runs the
    /// closure itself.
    ///
    /// ```
    /// let executor = ws_executor::Executor::new();
    /// let handle = executor.handle();
    /// let words = ["fork", "and", "join"];
    /// let (first, last) = handle.install(|| handle.join(|| words[0].len(), || words[2].len()));
    /// assert_eq!((first, last), (4, 4));
    /// ```
    ///
    /// # Panics
    ///
    /// If the closure does, with its panic. On a worker of another executor, also where
    /// [`Executor::scope`](crate::Executor::scope) does.
    pub fn install<R: Send>(&self, code: impl FnOnce() -> R + Send) -> R {
        if current::with(&self.shared, |worker| worker.is_some()) {
            return code();
        }
        outside::inside(&self.shared, code)
    }

    /// Runs code that computes for long on a worker, away from the calling task.
    ///
    /// A task that computes for milliseconds in its poll keeps its worker from polling
    /// others. `compute` gives the code to a worker that has no task to poll, as soon as there
    /// is one. If there is none, a worker begins the code after some hundred microseconds of
    /// polls. Inside, [`join`](Self::join) and the loops of [`par`](crate::par) divide the code
    /// further. At most as many computations run at the same time as there are workers. For
    /// code that waits rather than computes, use [`spawn_blocking`](Self::spawn_blocking).
    ///
    /// Dropping the task cancels the code if it has not begun. Code that has begun runs to its
    /// end. If the code panics, the panic is re-raised where the task is awaited.
    ///
    /// ```
    /// let executor = ws_executor::Executor::new();
    /// let handle = executor.handle();
    /// let digits = executor.block_on(async move {
    ///     handle.compute(|| (1..=20_u64).product::<u64>().to_string().len()).await
    /// });
    /// assert_eq!(digits, 19);
    /// ```
    pub fn compute<F, R>(&self, code: F) -> Task<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        compute::compute(&self.shared, code)
    }

    /// Runs tasks that borrow, as [`Executor::scope`].
    ///
    /// ```
    /// let executor = ws_executor::Executor::new();
    /// let mut numbers = [1, 2, 3];
    /// executor.handle().scope(|s| {
    ///     for number in &mut numbers {
    ///         s.spawn(async move { *number *= 10 });
    ///     }
    /// });
    /// assert_eq!(numbers, [10, 20, 30]);
    /// ```
    ///
    /// [`Executor::scope`]: crate::Executor::scope
    pub fn scope<'env, R>(
        &self,
        code: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R,
    ) -> R {
        scope::scope(&self.shared, code)
    }

    /// Blocks until there is no task of this executor left.
    ///
    /// On return, every task that was spawned before the call has finished, or was cancelled
    /// and its future dropped. The same holds for every task that those tasks have spawned. The
    /// call also waits for tasks that wait for something, however long that takes. ([`drain`]
    /// drops such tasks, and shuts down.) If other threads continue to spawn, the call returns
    /// at a moment when there was no task.
    ///
    /// Code on a thread for blocking code is not a task of the executor, nor is a future in
    /// [`block_on`](Self::block_on). Computations, and tasks of a [`scope`](Self::scope), are.
    ///
    /// If the executor is shut down, the call returns.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicU32, Ordering};
    /// use ws_executor::{Executor, yield_now};
    ///
    /// let executor = Executor::new();
    /// let count = Arc::new(AtomicU32::new(0));
    /// for _ in 0..10 {
    ///     let count = Arc::clone(&count);
    ///     executor.spawn(async move {
    ///         yield_now().await;
    ///         count.fetch_add(1, Ordering::Relaxed);
    ///     })
    ///     .detach();
    /// }
    /// executor.handle().wait_idle();
    /// assert_eq!(count.load(Ordering::Relaxed), 10);
    /// ```
    ///
    /// # Panics
    ///
    /// On a thread of this executor, such as inside one of its tasks: the call would wait for
    /// the calling task, too, and would never return.
    ///
    /// [`drain`]: crate::Executor::drain
    #[track_caller]
    pub fn wait_idle(&self) {
        // Also between two polls of a hosted worker: only its host, on this thread, can poll it.
        let is_worker = current::with_raw(Arc::as_ptr(&self.shared), |worker| worker.is_some());
        assert!(
            !is_worker && !self.shared.monitor.is_current(),
            "`wait_idle` on a thread of its own executor would never return: \
             call it outside of the executor's tasks"
        );
        self.shared.wait_idle();
    }

    /// Returns what the executor has done so far.
    ///
    /// ```
    /// let executor = ws_executor::Executor::new();
    /// assert_eq!(executor.handle().metrics().live_tasks(), 0);
    /// ```
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        Metrics::new(&self.shared)
    }

    /// Returns the number of workers.
    ///
    /// ```
    /// let executor = ws_executor::Executor::builder().workers(3).build()?;
    /// assert_eq!(executor.handle().workers(), 3);
    /// # Ok::<_, ws_executor::BuildError>(())
    /// ```
    #[must_use]
    pub fn workers(&self) -> usize {
        self.shared.workers()
    }

    /// Returns whether the executor was shut down, or is shutting down.
    ///
    /// ```
    /// let executor = ws_executor::Executor::new();
    /// let handle = executor.handle();
    /// executor.shutdown();
    /// assert!(handle.is_shut_down());
    /// ```
    #[must_use]
    pub fn is_shut_down(&self) -> bool {
        self.shared.is_closed()
    }
}

/// Tasks that `spawn_many` is making; published when the batch is dropped.
struct Batch<'a, T> {
    handle: &'a Handle,
    jobs: Vec<Job>,
    tasks: Vec<Task<T>>,
}

impl<T> Batch<'_, T> {
    fn add<F: Future<Output = T> + Send + 'static>(&mut self, future: F) {
        if task::is_large::<F>() {
            return self.add_small(Box::pin(future));
        }
        self.add_small(future);
    }

    fn add_small<F: Future<Output = T> + Send + 'static>(&mut self, future: F) {
        // SAFETY: the future is `Send` and borrows nothing.
        let (job, task) = unsafe { self.handle.shared.prepare(future) };
        self.jobs.extend(job);
        self.tasks.push(Task::new(task));
    }
}

impl<T> Drop for Batch<'_, T> {
    fn drop(&mut self) {
        // Tasks are left only if the iterator panicked.
        self.tasks.drain(..).for_each(Task::detach);
        let jobs = std::mem::take(&mut self.jobs);
        self.handle.shared.submit_many(jobs);
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle")
            .field("workers", &self.workers())
            .field("is_shut_down", &self.is_shut_down())
            .finish()
    }
}

/// The error of [`Handle::try_current`]: there is no current executor.
#[derive(Clone, Debug)]
pub struct TryCurrentError(());

impl fmt::Display for TryCurrentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no current executor: not called from a task or from within `block_on`")
    }
}

impl Error for TryCurrentError {}
