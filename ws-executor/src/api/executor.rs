//! The executor: the owner of the worker threads.

use std::fmt;
use std::time::Duration;

use super::handle::Handle;
use super::metrics::Metrics;
use super::scope::Scope;
use super::task::Task;
use crate::scheduler::threads::Threads;
use crate::task;

/// A work-stealing executor, and the owner of its workers.
///
/// Dropping it shuts it down.
///
/// ```
/// use ws_executor::Executor;
///
/// let executor = Executor::builder().workers(2).build()?;
/// let task = executor.spawn(async { 40 + 2 });
/// assert_eq!(executor.block_on(task), 42);
/// # Ok::<_, ws_executor::BuildError>(())
/// ```
pub struct Executor {
    handle: Handle,
    threads: Option<Threads>,
}

impl Executor {
    pub(crate) fn from_parts(handle: Handle, threads: Threads) -> Self {
        Self {
            handle,
            threads: Some(threads),
        }
    }

    /// Starts an executor with a worker for each processor that is available.
    ///
    /// ```
    /// let executor = ws_executor::Executor::new();
    /// assert!(executor.workers() >= 1);
    /// ```
    ///
    /// # Panics
    ///
    /// If the threads cannot be started; [`Builder::build`](crate::Builder::build) gives an error instead.
    #[must_use]
    pub fn new() -> Self {
        match Self::builder().build() {
            Ok(executor) => executor,
            Err(error) => panic!("{error}"),
        }
    }

    /// Returns a handle, which spawns tasks from any thread.
    ///
    /// ```
    /// let executor = ws_executor::Executor::new();
    /// let handle = executor.handle();
    /// assert_eq!(executor.block_on(handle.spawn(async { 1 })), 1);
    /// ```
    #[must_use]
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    pub(crate) fn handle_ref(&self) -> &Handle {
        &self.handle
    }

    /// Spawns a task; see [`Handle::spawn`].
    ///
    /// ```
    /// let executor = ws_executor::Executor::new();
    /// assert_eq!(executor.block_on(executor.spawn(async { 1 })), 1);
    /// ```
    pub fn spawn<F>(&self, future: F) -> Task<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        // As in `Handle::spawn`, but repeated: in an unoptimised build a call copies the future.
        if task::is_large::<F>() {
            return self.handle.start(Box::pin(future));
        }
        self.handle.start(future)
    }

    /// Spawns many tasks at once; see [`Handle::spawn_many`].
    ///
    /// ```
    /// let executor = ws_executor::Executor::new();
    /// let tasks = executor.spawn_many((0..3).map(|n| async move { n }));
    /// assert_eq!(executor.block_on(futures::future::join_all(tasks)), [0, 1, 2]);
    /// ```
    pub fn spawn_many<I>(&self, futures: I) -> Vec<Task<<I::Item as Future>::Output>>
    where
        I: IntoIterator,
        I::Item: Future + Send + 'static,
        <I::Item as Future>::Output: Send + 'static,
    {
        self.handle.spawn_many(futures)
    }

    /// Runs a future on the calling thread, until it is ready.
    ///
    /// The future need not be `Send`, and may borrow. Tasks that it spawns run on the workers.
    ///
    /// The call is allowed anywhere, also inside another `block_on`, and inside a task. On a
    /// worker of any executor, the worker polls other tasks while the call waits. So the
    /// call may wait for a task of the same worker. In a task, `await` is better, because these
    /// polls are nested inside the call, and that has two limits:
    /// - The call returns only after the nested poll has returned. Deadlock: a task that is
    ///   polled inside the call must not itself block on something that only the outer task
    ///   would do.
    /// - The stack limits the nesting to some hundred calls, one inside the other;
    ///   [`Builder::stack_size`](crate::Builder::stack_size) changes that.
    ///
    /// # Panics
    ///
    /// If the future panics. Also if the future is not ready at once, and the caller is a worker
    /// that has used half of its stack, or code that a driver runs on a worker.
    ///
    /// ```
    /// let executor = ws_executor::Executor::new();
    /// let local = std::rc::Rc::new(7);
    /// let borrowed = &local;
    /// assert_eq!(executor.block_on(async { **borrowed }), 7);
    /// ```
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.handle.block_on(future)
    }

    /// Runs two closures, at the same time if a worker is free; see [`Handle::join`].
    ///
    /// ```
    /// let executor = ws_executor::Executor::new();
    /// let text = String::from("fork and join");
    /// let (first, last) = executor.join(|| text.find(' '), || text.rfind(' '));
    /// assert_eq!((first, last), (Some(4), Some(8)));
    /// ```
    ///
    /// # Panics
    ///
    /// If a closure does. If `a` panics, `b` may never run; see [`Handle::join`].
    pub fn join<A, B, RA, RB>(&self, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce() -> RA + Send,
        B: FnOnce() -> RB + Send,
        RA: Send,
        RB: Send,
    {
        self.handle.join(a, b)
    }

    /// Runs a closure on a worker, and returns what it returns; see [`Handle::install`].
    ///
    /// ```
    /// let executor = ws_executor::Executor::new();
    /// let caller = std::thread::current().id();
    /// let worker = executor.install(|| std::thread::current().id());
    /// assert_ne!(caller, worker);
    /// ```
    ///
    /// # Panics
    ///
    /// If the closure does; see [`Handle::install`].
    pub fn install<R: Send>(&self, code: impl FnOnce() -> R + Send) -> R {
        self.handle.install(code)
    }

    /// Runs tasks that borrow from the caller, and returns when all have ended.
    ///
    /// This is `std::thread::scope` for futures. The call waits as
    /// [`block_on`](Self::block_on) does.
    ///
    /// # Panics
    ///
    /// - After all tasks have ended: if `code` panics, or if a task panics and nobody awaits it.
    /// - Before `code` is called: on a worker that has used half of its stack, and in code that a
    ///   driver runs on a worker.
    ///
    /// ```
    /// let executor = ws_executor::Executor::new();
    /// let words = ["one", "two", "three"];
    /// let mut lengths = [0; 3];
    /// executor.scope(|s| {
    ///     for (word, length) in words.iter().zip(&mut lengths) {
    ///         s.spawn(async move { *length = word.len() });
    ///     }
    /// });
    /// assert_eq!(lengths, [3, 3, 5]);
    /// ```
    pub fn scope<'env, R>(
        &self,
        code: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R,
    ) -> R {
        self.handle.scope(code)
    }

    /// Returns what the executor has done so far.
    ///
    /// ```
    /// let executor = ws_executor::Executor::new();
    /// executor.block_on(executor.spawn(async {}));
    /// assert_eq!(executor.metrics().total().polls, 1);
    /// ```
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        self.handle.metrics()
    }

    /// Returns the number of workers.
    ///
    /// ```
    /// let executor = ws_executor::Executor::builder().workers(2).build()?;
    /// assert_eq!(executor.workers(), 2);
    /// # Ok::<_, ws_executor::BuildError>(())
    /// ```
    #[must_use]
    pub fn workers(&self) -> usize {
        self.handle.workers()
    }

    /// Shuts down: drops every task, and waits for the threads to end.
    ///
    /// A task that is being polled is dropped after that poll, so the call waits for the poll.
    /// On a thread of this executor, such as inside one of its tasks, the call cannot wait: the
    /// threads end later, by themselves.
    ///
    /// ```
    /// let executor = ws_executor::Executor::new();
    /// let task = executor.spawn(std::future::pending::<()>());
    /// executor.shutdown();
    /// assert!(task.is_finished());
    /// ```
    pub fn shutdown(self) {
        drop(self);
    }

    /// As [`shutdown`](Self::shutdown), but waits no longer than `timeout` for polls that do
    /// not end. Returns whether all threads have ended; the others end after their polls.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let executor = ws_executor::Executor::new();
    /// assert!(executor.shutdown_timeout(Duration::from_secs(10)));
    /// ```
    pub fn shutdown_timeout(mut self, timeout: Duration) -> bool {
        let Some(threads) = self.threads.take() else {
            return true;
        };
        self.handle.shared().close();
        self.handle.shared().wait_for_end(threads, Some(timeout))
    }

    /// Blocks until the executor has no task; see [`Handle::wait_idle`].
    ///
    /// ```
    /// let executor = ws_executor::Executor::new();
    /// let task = executor.spawn(async {});
    /// executor.wait_idle();
    /// assert!(task.is_finished());
    /// ```
    ///
    /// # Panics
    ///
    /// On a thread of this executor; see [`Handle::wait_idle`].
    pub fn wait_idle(&self) {
        self.handle.wait_idle();
    }

    /// Runs the tasks that are due, and those that they wake or spawn, then shuts down.
    ///
    /// The shutdown begins when every queue is empty and every worker is idle. Until then new
    /// tasks are accepted. Tasks that wait for something else at that moment are dropped;
    /// [`wait_idle`](Self::wait_idle) waits for them. On a thread of this executor the call does
    /// not wait, as [`shutdown`](Self::shutdown).
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicU32, Ordering};
    ///
    /// let count = Arc::new(AtomicU32::new(0));
    /// let executor = ws_executor::Executor::new();
    /// for _ in 0..100 {
    ///     let count = Arc::clone(&count);
    ///     executor.spawn(async move { count.fetch_add(1, Ordering::Relaxed) }).detach();
    /// }
    /// executor.drain();
    /// assert_eq!(count.load(Ordering::Relaxed), 100);
    /// ```
    pub fn drain(mut self) {
        if let Some(threads) = self.threads.take() {
            self.handle.shared().drain();
            self.handle.shared().wait_for_end(threads, None);
        }
    }
}

impl Default for Executor {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Executor {
    fn drop(&mut self) {
        if let Some(threads) = self.threads.take() {
            self.handle.shared().close();
            self.handle.shared().wait_for_end(threads, None);
        }
    }
}

impl fmt::Debug for Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Executor")
            .field("workers", &self.workers())
            .finish()
    }
}
