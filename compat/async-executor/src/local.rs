//! The executor of one thread.

use std::fmt;
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;

use async_task::Task;

use crate::Executor;

/// An executor for futures that are not `Send`. It stays on its thread.
///
/// ```
/// use async_executor::LocalExecutor;
/// use std::rc::Rc;
///
/// let executor = LocalExecutor::new();
/// let shared = Rc::new(5);
/// let task = executor.spawn({
///     let shared = Rc::clone(&shared);
///     async move { *shared + 1 }
/// });
/// assert_eq!(futures_lite::future::block_on(executor.run(task)), 6);
/// ```
///
/// Neither the executor nor its futures can be sent or shared:
///
/// ```compile_fail,E0277
/// fn send<T: Send>(_: T) {}
/// send(async_executor::LocalExecutor::new());
/// ```
///
/// ```compile_fail,E0277
/// fn sync<T: Sync>(_: T) {}
/// sync(async_executor::LocalExecutor::new());
/// ```
///
/// ```compile_fail,E0277
/// fn send<T: Send>(_: T) {}
/// let executor = async_executor::LocalExecutor::new();
/// send(executor.run(async {}));
/// ```
///
/// ```compile_fail,E0277
/// fn send<T: Send>(_: T) {}
/// let executor = async_executor::LocalExecutor::new();
/// send(executor.tick());
/// ```
pub struct LocalExecutor<'a> {
    inner: Executor<'a>,
    marker: PhantomData<Rc<()>>,
}

// A panic leaves all parts of an executor consistent.
impl UnwindSafe for LocalExecutor<'_> {}
impl RefUnwindSafe for LocalExecutor<'_> {}

impl<'a> LocalExecutor<'a> {
    /// Makes an executor. Nothing is allocated before its first use.
    ///
    /// ```
    /// assert!(async_executor::LocalExecutor::new().is_empty());
    /// ```
    pub const fn new() -> Self {
        Self {
            inner: Executor::new(),
            marker: PhantomData,
        }
    }

    /// Returns whether there are no unfinished tasks.
    ///
    /// ```
    /// let executor = async_executor::LocalExecutor::new();
    /// executor.spawn(async {}).detach();
    /// assert!(!executor.is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.inner.is_empty()
    }

    /// Spawns a task.
    ///
    /// ```
    /// let executor = async_executor::LocalExecutor::new();
    /// let task = executor.spawn(async { 1 + 2 });
    /// assert_eq!(futures_lite::future::block_on(executor.run(task)), 3);
    /// ```
    pub fn spawn<T: 'a>(&self, future: impl Future<Output = T> + 'a) -> Task<T> {
        // SAFETY: this executor is neither `Send` nor `Sync`, so `inner` is used on this
        // thread only.
        unsafe { self.inner.spawn_any(future) }
    }

    /// Spawns many tasks. Their handles go into `handles`.
    ///
    /// ```
    /// let executor = async_executor::LocalExecutor::new();
    /// let mut tasks = Vec::new();
    /// executor.spawn_many((0..3).map(futures_lite::future::ready), &mut tasks);
    /// assert_eq!(tasks.len(), 3);
    /// ```
    pub fn spawn_many<T: 'a, F: Future<Output = T> + 'a>(
        &self,
        futures: impl IntoIterator<Item = F>,
        handles: &mut impl Extend<Task<F::Output>>,
    ) {
        // SAFETY: this executor is neither `Send` nor `Sync`, so `inner` is used on this
        // thread only.
        unsafe { self.inner.spawn_any_many(futures, handles) };
    }

    /// Polls one task, if a task is due, and returns whether it did.
    ///
    /// ```
    /// let executor = async_executor::LocalExecutor::new();
    /// assert!(!executor.try_tick());
    /// executor.spawn(async {}).detach();
    /// assert!(executor.try_tick());
    /// ```
    pub fn try_tick(&self) -> bool {
        self.inner.try_tick()
    }

    /// Polls one task, as soon as a task is due.
    ///
    /// ```
    /// let executor = async_executor::LocalExecutor::new();
    /// let task = executor.spawn(async { 5 });
    /// futures_lite::future::block_on(executor.tick());
    /// assert!(task.is_finished());
    /// ```
    pub async fn tick(&self) {
        self.inner.tick().await;
    }

    /// Polls tasks until `future` is ready, and returns its output.
    ///
    /// ```
    /// let executor = async_executor::LocalExecutor::new();
    /// let task = executor.spawn(async { 1 + 2 });
    /// let doubled = executor.run(async { task.await * 2 });
    /// assert_eq!(futures_lite::future::block_on(doubled), 6);
    /// ```
    pub async fn run<T>(&self, future: impl Future<Output = T>) -> T {
        self.inner.run(future).await
    }

    /// Returns the executor inside, for an executor that is never dropped.
    #[cfg(feature = "static")]
    pub(crate) fn into_inner(self) -> Executor<'a> {
        self.inner
    }
}

impl Default for LocalExecutor<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for LocalExecutor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.debug("LocalExecutor", f)
    }
}
