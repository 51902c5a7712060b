//! Executors that are never dropped.
//!
//! Their tasks are not registered, because there is no end that must find them. That saves
//! two locks for each task. Spawning takes `&'static self`, so an executor that can still
//! be dropped or moved has no such tasks.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};

use async_task::Task;

use crate::state::State;
use crate::task::new_unregistered;
use crate::{Executor, LocalExecutor};

impl AsRef<State> for State {
    fn as_ref(&self) -> &State {
        self
    }
}

impl Executor<'static> {
    /// Leaks the executor, which can then be run for ever.
    ///
    /// ```
    /// let executor = async_executor::Executor::new().leak();
    /// let task = executor.spawn(async { 1 + 2 });
    /// assert_eq!(futures_lite::future::block_on(executor.run(task)), 3);
    /// ```
    pub fn leak(self) -> &'static StaticExecutor {
        Box::leak(Box::new(StaticExecutor { inner: self }))
    }
}

impl LocalExecutor<'static> {
    /// Leaks the executor, which can then be run for ever, on this thread.
    ///
    /// ```
    /// let executor = async_executor::LocalExecutor::new().leak();
    /// let task = executor.spawn(async { 1 + 2 });
    /// assert_eq!(futures_lite::future::block_on(executor.run(task)), 3);
    /// ```
    pub fn leak(self) -> &'static StaticLocalExecutor {
        Box::leak(Box::new(StaticLocalExecutor {
            inner: self.into_inner(),
            marker: PhantomData,
        }))
    }
}

/// An [`Executor`] that is never dropped, for statics, or from [`Executor::leak`].
///
/// A task that is never run again is leaked.
///
/// ```
/// use async_executor::StaticExecutor;
///
/// static EXECUTOR: StaticExecutor = StaticExecutor::new();
/// let task = EXECUTOR.spawn(async { 1 + 2 });
/// assert_eq!(futures_lite::future::block_on(EXECUTOR.run(task)), 3);
/// ```
pub struct StaticExecutor {
    inner: Executor<'static>,
}

/// A [`LocalExecutor`] that is never dropped; see [`LocalExecutor::leak`].
///
/// ```
/// thread_local! {
///     static EXECUTOR: &'static async_executor::StaticLocalExecutor =
///         async_executor::LocalExecutor::new().leak();
/// }
/// let task = EXECUTOR.with(|executor| executor.spawn(async { 1 + 2 }));
/// let sum = EXECUTOR.with(|executor| futures_lite::future::block_on(executor.run(task)));
/// assert_eq!(sum, 3);
/// ```
///
/// The executor cannot be shared:
///
/// ```compile_fail,E0277
/// fn sync<T: Sync>(_: T) {}
/// sync(async_executor::StaticLocalExecutor::new());
/// ```
pub struct StaticLocalExecutor {
    inner: Executor<'static>,
    /// Not `Sync`: a `&'static` reference to the executor never leaves its thread.
    marker: PhantomData<Cell<()>>,
}

impl StaticExecutor {
    /// Makes an executor; nothing is allocated before its first use.
    ///
    /// ```
    /// static EXECUTOR: async_executor::StaticExecutor = async_executor::StaticExecutor::new();
    /// assert!(!EXECUTOR.try_tick());
    /// ```
    pub const fn new() -> Self {
        Self {
            inner: Executor::new(),
        }
    }

    /// Spawns a task.
    ///
    /// ```
    /// static EXECUTOR: async_executor::StaticExecutor = async_executor::StaticExecutor::new();
    /// let task = EXECUTOR.spawn(async { 1 + 2 });
    /// assert_eq!(futures_lite::future::block_on(EXECUTOR.run(task)), 3);
    /// ```
    pub fn spawn<T: Send + 'static>(
        &'static self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> Task<T> {
        // SAFETY: the future borrows nothing.
        unsafe { self.spawn_scoped(future) }
    }

    /// Spawns a task that borrows.
    ///
    /// # Safety
    ///
    /// The task must end, or its future must be dropped, before the end of `'a`.
    ///
    /// ```
    /// static EXECUTOR: async_executor::StaticExecutor = async_executor::StaticExecutor::new();
    /// let text = String::from("borrowed");
    /// // SAFETY: the task ends below.
    /// let task = unsafe { EXECUTOR.spawn_scoped(async { text.len() }) };
    /// assert_eq!(futures_lite::future::block_on(EXECUTOR.run(task)), 8);
    /// ```
    pub unsafe fn spawn_scoped<'a, T: Send + 'a>(
        &'static self,
        future: impl Future<Output = T> + Send + 'a,
    ) -> Task<T> {
        // SAFETY: the future is `Send`. The caller promises that what it borrows is there
        // until the task ends.
        unsafe { spawn(&self.inner, future) }
    }
}

impl StaticLocalExecutor {
    /// Makes an executor; nothing is allocated before its first use.
    ///
    /// ```
    /// let executor = async_executor::StaticLocalExecutor::new();
    /// assert!(!executor.try_tick());
    /// ```
    pub const fn new() -> Self {
        Self {
            inner: Executor::new(),
            marker: PhantomData,
        }
    }

    /// Spawns a task.
    ///
    /// ```
    /// let executor = async_executor::LocalExecutor::new().leak();
    /// let task = executor.spawn(async { 1 + 2 });
    /// assert_eq!(futures_lite::future::block_on(executor.run(task)), 3);
    /// ```
    pub fn spawn<T: 'static>(&'static self, future: impl Future<Output = T> + 'static) -> Task<T> {
        // SAFETY: the future borrows nothing.
        unsafe { self.spawn_scoped(future) }
    }

    /// Spawns a task that borrows.
    ///
    /// # Safety
    ///
    /// The task must end, or its future must be dropped, before the end of `'a`.
    ///
    /// ```
    /// let executor = async_executor::LocalExecutor::new().leak();
    /// let text = String::from("borrowed");
    /// // SAFETY: the task ends below.
    /// let task = unsafe { executor.spawn_scoped(async { text.len() }) };
    /// assert_eq!(futures_lite::future::block_on(executor.run(task)), 8);
    /// ```
    pub unsafe fn spawn_scoped<'a, T: 'a>(
        &'static self,
        future: impl Future<Output = T> + 'a,
    ) -> Task<T> {
        // SAFETY: the executor is borrowed for ever, so it does not move, and it is not
        // `Sync`, so only this thread runs it and empties its queues. The caller promises
        // that what the future borrows is there until the task ends.
        unsafe { spawn(&self.inner, future) }
    }
}

/// # Safety
///
/// As for [`new_unregistered`].
unsafe fn spawn<F: Future>(executor: &'static Executor<'static>, future: F) -> Task<F::Output> {
    let state: &'static State = executor.state();
    // SAFETY: the caller's promises are those that `new_unregistered` needs.
    let (runnable, task) = unsafe { new_unregistered(future, state) };
    runnable.schedule();
    task
}

/// The methods that both executors have.
macro_rules! common {
    ($name:ident) => {
        // A panic leaves all parts of an executor consistent.
        impl UnwindSafe for $name {}
        impl RefUnwindSafe for $name {}

        impl $name {
            /// Polls one task, if a task is due, and returns whether it did.
            ///
            /// ```
            #[doc = concat!("let executor = async_executor::", stringify!($name), "::new();")]
            /// assert!(!executor.try_tick());
            /// ```
            pub fn try_tick(&self) -> bool {
                self.inner.try_tick()
            }

            /// Polls one task, as soon as a task is due.
            ///
            /// ```
            /// use futures_lite::future;
            #[doc = concat!("let executor = async_executor::", stringify!($name), "::new();")]
            /// // There is none.
            /// assert!(future::block_on(future::poll_once(executor.tick())).is_none());
            /// ```
            pub async fn tick(&self) {
                self.inner.tick().await;
            }

            /// Polls tasks until `future` is ready, and returns its output.
            ///
            /// ```
            #[doc = concat!("let executor = async_executor::", stringify!($name), "::new();")]
            /// let run = executor.run(async { 3 });
            /// assert_eq!(futures_lite::future::block_on(run), 3);
            /// ```
            pub async fn run<T>(&self, future: impl Future<Output = T>) -> T {
                self.inner.run(future).await
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.inner.debug(stringify!($name), f)
            }
        }
    };
}

common!(StaticExecutor);
common!(StaticLocalExecutor);
