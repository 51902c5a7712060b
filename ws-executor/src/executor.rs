//! The executor: the owner of the worker threads.

use std::fmt;
use std::time::Duration;

use crate::builder::Builder;
use crate::handle::Handle;
use crate::metrics::Metrics;
use crate::refused;
use crate::scope::Scope;
use crate::task::{self, Task};
use crate::threads::Threads;
use crate::worker::current;

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
    /// If the threads cannot be started; [`Builder::build`] gives an error instead.
    #[must_use]
    pub fn new() -> Self {
        match Self::builder().build() {
            Ok(executor) => executor,
            Err(error) => panic!("{error}"),
        }
    }

    /// Returns a builder, to choose the number of workers and other things.
    ///
    /// ```
    /// let executor = ws_executor::Executor::builder().workers(1).build()?;
    /// assert_eq!(executor.workers(), 1);
    /// # Ok::<_, ws_executor::BuildError>(())
    /// ```
    pub fn builder() -> Builder {
        Builder::new()
    }

    /// Returns a handle, with which tasks can be spawned from anywhere.
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
        // As in `Handle::spawn`; in an unoptimised build each call is one more copy.
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
    /// The future need neither be `Send` nor live long. Tasks that it spawns run on the
    /// workers.
    ///
    /// It can be called anywhere, also inside another `block_on`, and inside a task. On
    /// a worker, of whichever executor, other tasks of that worker run on top of the
    /// waiting one meanwhile, so that waiting for them does not block for ever. Mind
    /// what that means: the wait ends only after the task on top has returned from its
    /// poll, and if that task waits in the same manner for something that only the one
    /// below it would do, both wait for ever. In a task, `await` is better.
    ///
    /// The stack sets the limit to that: some hundred calls, one inside the other, unless
    /// [`Builder::stack_size`] says otherwise.
    ///
    /// # Panics
    ///
    /// If the future panics. On a worker of which half the stack is used also if the future
    /// is not ready at once.
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
    /// If one of them does. If `a` panics, `b` may never run; see [`Handle::join`].
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
    /// As `std::thread::scope`, for futures. It waits in the manner of
    /// [`block_on`](Self::block_on). If a task panics that nobody awaits, or `code`
    /// does, the panic goes on when all tasks have ended.
    ///
    /// # Panics
    ///
    /// Besides, before anything else, on a worker of which half the stack is used.
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

    /// Stops: drops every task, and waits for the threads to end.
    ///
    /// A task that is being polled is dropped after that poll, so this waits for it. On
    /// a worker of this executor, that is inside one of its tasks, it cannot wait, and
    /// the threads end later, by themselves.
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

    /// As [`shutdown`](Self::shutdown), but waits no longer than this for polls that do
    /// not end. Returns whether all threads have ended; those that have not will do so
    /// after their poll.
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
        self.wait_for(threads, Some(timeout))
    }

    /// Blocks until there is no task; see [`Handle::wait_idle`].
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

    /// Runs what is due, and all that follows from it, then shuts down.
    ///
    /// That is: until every queue is empty and every worker idle. Tasks that wait for
    /// something else at that moment are dropped; [`wait_idle`](Self::wait_idle) waits for
    /// them. New tasks are taken until then. On a worker of this executor it does not wait,
    /// as [`shutdown`](Self::shutdown).
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
            self.wait_for(threads, None);
        }
    }

    /// Whether the calling thread is one of the executor's own.
    fn is_inside(&self) -> bool {
        let shared = self.handle.shared();
        current::with(shared, |worker| worker.is_some()) || shared.monitor.is_current()
    }

    /// Steps 12 and 13 of [`refused`]: waits for the end of all threads, not much longer than
    /// the `limit`. Returns whether they have ended; on one of them it does not wait.
    fn wait_for(&self, threads: Threads, limit: Option<Duration>) -> bool {
        // This may be inside the drop of a future.
        refused::drop_line();
        if self.is_inside() || threads.is_current() {
            return false;
        }
        let shared = self.handle.shared();
        let have_ended = || threads.have_ended() && shared.monitor.has_ended();
        if !shared.drop_until(limit, have_ended) {
            return false;
        }
        threads.join();
        shared.monitor.join();
        true
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
            self.wait_for(threads, None);
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
