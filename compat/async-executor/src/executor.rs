//! The executor of many threads.

use std::fmt;
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::{Arc, OnceLock};

use async_task::{Runnable, Task};

use crate::state::State;
use crate::task::new_task;

/// An executor. Its tasks run on the threads that call [`run`](Self::run) or
/// [`tick`](Self::tick).
///
/// Tasks may borrow what outlives the executor. Dropping the executor drops their futures.
///
/// ```
/// use async_executor::Executor;
/// use futures_lite::future;
/// use std::thread;
///
/// let executor = Executor::new();
/// let sum = thread::scope(|scope| {
///     let tasks: Vec<_> = (0..4).map(|n| executor.spawn(async move { n })).collect();
///     // Each of these threads runs tasks until its own one is done.
///     let runs = tasks.into_iter().map(|task| {
///         let executor = &executor;
///         scope.spawn(move || future::block_on(executor.run(task)))
///     });
///     let runs: Vec<_> = runs.collect();
///     runs.into_iter().map(|run| run.join().unwrap()).sum::<i32>()
/// });
/// assert_eq!(sum, 6);
/// ```
///
/// What a task borrows must outlive the executor:
///
/// ```compile_fail,E0597
/// let executor = async_executor::Executor::new();
/// let text = String::from("dropped first");
/// executor.spawn(async { text.len() }).detach();
/// ```
pub struct Executor<'a> {
    state: OnceLock<Arc<State>>,
    /// Tasks may live for `'a`. The type must be invariant: `'a` can be neither lengthened
    /// nor shortened.
    marker: PhantomData<fn(&'a ()) -> &'a ()>,
}

// A panic leaves all parts of an executor consistent.
impl UnwindSafe for Executor<'_> {}
impl RefUnwindSafe for Executor<'_> {}

impl<'a> Executor<'a> {
    /// Makes an executor. Nothing is allocated before its first use.
    ///
    /// ```
    /// use async_executor::Executor;
    /// static EXECUTOR: Executor<'static> = Executor::new();
    /// assert!(EXECUTOR.is_empty());
    /// ```
    pub const fn new() -> Self {
        Self {
            state: OnceLock::new(),
            marker: PhantomData,
        }
    }

    /// Returns whether there are no unfinished tasks.
    ///
    /// ```
    /// let executor = async_executor::Executor::new();
    /// let task = executor.spawn(async {});
    /// assert!(!executor.is_empty());
    /// assert!(executor.try_tick());
    /// assert!(executor.is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.state
            .get()
            .is_none_or(|state| state.registry.is_empty())
    }

    /// Spawns a task.
    ///
    /// ```
    /// let executor = async_executor::Executor::new();
    /// let task = executor.spawn(async { 1 + 2 });
    /// assert_eq!(futures_lite::future::block_on(executor.run(task)), 3);
    /// ```
    pub fn spawn<T: Send + 'a>(&self, future: impl Future<Output = T> + Send + 'a) -> Task<T> {
        // SAFETY: the future is `Send`.
        unsafe { self.spawn_any(future) }
    }

    /// Spawns many tasks. Their handles go into `handles`.
    ///
    /// ```
    /// use futures_lite::future;
    ///
    /// let executor = async_executor::Executor::new();
    /// let mut tasks = Vec::new();
    /// executor.spawn_many((0..3).map(future::ready), &mut tasks);
    /// let sum = executor.run(async {
    ///     let mut sum = 0;
    ///     for task in tasks {
    ///         sum += task.await;
    ///     }
    ///     sum
    /// });
    /// assert_eq!(future::block_on(sum), 3);
    /// ```
    pub fn spawn_many<T: Send + 'a, F: Future<Output = T> + Send + 'a>(
        &self,
        futures: impl IntoIterator<Item = F>,
        handles: &mut impl Extend<Task<F::Output>>,
    ) {
        // SAFETY: the futures are `Send`.
        unsafe { self.spawn_any_many(futures, handles) };
    }

    /// Polls one task, if a task is due, and returns whether it did.
    ///
    /// ```
    /// let executor = async_executor::Executor::new();
    /// assert!(!executor.try_tick());
    /// executor.spawn(async {}).detach();
    /// assert!(executor.try_tick());
    /// ```
    pub fn try_tick(&self) -> bool {
        self.state.get().is_some_and(|state| state.try_tick())
    }

    /// Polls one task, as soon as a task is due.
    ///
    /// ```
    /// let executor = async_executor::Executor::new();
    /// let task = executor.spawn(async { 5 });
    /// futures_lite::future::block_on(executor.tick());
    /// assert!(task.is_finished());
    /// ```
    pub async fn tick(&self) {
        self.state().tick().await;
    }

    /// Polls tasks until `future` is ready, and returns its output.
    ///
    /// Any number of `run`s may be polled, on any threads. A `run` may be dropped at any
    /// time.
    ///
    /// ```
    /// let executor = async_executor::Executor::new();
    /// let task = executor.spawn(async { 1 + 2 });
    /// let doubled = executor.run(async { task.await * 2 });
    /// assert_eq!(futures_lite::future::block_on(doubled), 6);
    /// ```
    pub async fn run<T>(&self, future: impl Future<Output = T>) -> T {
        self.state().run(future).await
    }

    /// The state, which is made at the first use.
    pub(crate) fn state(&self) -> &Arc<State> {
        self.state.get_or_init(Arc::default)
    }

    /// # Safety
    ///
    /// If the future is not `Send`, this executor must be used on one thread only.
    pub(crate) unsafe fn spawn_any<F: Future + 'a>(&self, future: F) -> Task<F::Output> {
        // SAFETY: what the future borrows is there for all of `'a`, and `'a` outlives
        // `self`, whose drop calls `drop_tasks`. If `self` is leaked, its futures are
        // neither polled nor dropped any more (see `task.rs`). The caller promises that
        // only this thread empties the queues if the future is not `Send`.
        let (runnable, task) = unsafe { new_task(self.state(), future) };
        runnable.schedule();
        task
    }

    /// # Safety
    ///
    /// As for [`spawn_any`](Self::spawn_any).
    pub(crate) unsafe fn spawn_any_many<F: Future + 'a>(
        &self,
        futures: impl IntoIterator<Item = F>,
        handles: &mut impl Extend<Task<F::Output>>,
    ) {
        let mut batch = Batch::new(self.state());
        handles.extend(futures.into_iter().map(|future| {
            // SAFETY: as in `spawn_any`.
            let (runnable, task) = unsafe { new_task(batch.state, future) };
            batch.push(runnable);
            task
        }));
    }

    pub(crate) fn debug(&self, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.state.get() {
            Some(state) => state.debug(name, f),
            None => f.debug_struct(name).finish(),
        }
    }
}

impl Drop for Executor<'_> {
    fn drop(&mut self) {
        if let Some(state) = self.state.get() {
            state.drop_tasks();
        }
    }
}

impl Default for Executor<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Executor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.debug("Executor", f)
    }
}

/// Tasks that are scheduled together. The drop of the batch schedules the last tasks, also
/// if the iterator that makes them panics.
struct Batch<'s> {
    state: &'s Arc<State>,
    runnables: Vec<Runnable>,
}

impl<'s> Batch<'s> {
    /// How many tasks are scheduled together. Not measured.
    const SIZE: usize = 64;

    fn new(state: &'s Arc<State>) -> Self {
        Self {
            state,
            runnables: Vec::new(),
        }
    }

    fn push(&mut self, runnable: Runnable) {
        self.runnables.push(runnable);
        if self.runnables.len() == Self::SIZE {
            self.schedule();
        }
    }

    fn schedule(&mut self) {
        self.state
            .schedule_batch(std::mem::take(&mut self.runnables));
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        self.schedule();
    }
}
