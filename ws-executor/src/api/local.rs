//! An executor for one thread, whose tasks need not be `Send`.
//!
//! The futures are polled and dropped on the thread that made the executor, but their wakers
//! may be on any thread. So the queue is shared and locked, and everything else is not. The drop
//! of the executor wakes all its tasks, takes them out of the queue and drops them, until none
//! is left. It also waits for a task that another thread is about to queue.
//!
//! # Memory ordering
//!
//! | edge | release side | acquire side | makes visible |
//! |---|---|---|---|
//! | `local.signal` | the wake of the future of `block_on` | the look at the flag before its next poll | what happened before the wake |
//! | (the lock) | the push of a runnable | the pop | what happened before the wake of a task |

use std::cell::Cell;
use std::collections::VecDeque;
use std::fmt;
use std::marker::PhantomData;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker, ready};

use async_task::{Builder, Runnable};
use ws_core::sync::atomic::{AtomicBool, Ordering};
use ws_core::sync::{Mutex, thread};

use super::block_on::block_on;
use super::task::Task;
use crate::base::coop;
use crate::base::panics::{Contained, TaskOutcome, ignore_panic};
use crate::scheduler::shared::Shared;
use crate::task::future::Life;
use crate::task::is_large;
use crate::task::metadata::Metadata;
use crate::task::registry::{Registry, RegistryKey};

/// How many tasks are polled in a row before the thread does something else. Not measured.
const TICKS: u32 = 64;

/// An executor for one thread, whose tasks need not be `Send`.
///
/// It has no thread of its own: tasks run while [`block_on`](Self::block_on) or
/// [`try_tick`](Self::try_tick) is called.
///
/// ```
/// use std::cell::Cell;
/// use std::rc::Rc;
/// use ws_executor::LocalExecutor;
///
/// let executor = LocalExecutor::new();
/// let count = Rc::new(Cell::new(0));
/// let task = executor.spawn({
///     let count = Rc::clone(&count);
///     async move { count.set(count.get() + 1) }
/// });
/// executor.block_on(task);
/// assert_eq!(count.get(), 1);
/// ```
pub struct LocalExecutor {
    queue: Arc<Queue>,
    tasks: Rc<Tasks>,
    /// Neither `Send` nor `Sync`.
    _local: PhantomData<*const ()>,
}

/// The tasks that are due to run, and the waker to call when one is added.
#[derive(Default)]
struct Queue {
    state: Mutex<QueueState>,
}

#[derive(Default)]
struct QueueState {
    runnables: VecDeque<Runnable<Metadata<Shared>>>,
    waker: Option<Waker>,
}

/// The futures that live on this thread.
struct Tasks {
    count: Cell<usize>,
    waiting: Registry,
}

impl LocalExecutor {
    /// Makes an executor without tasks.
    #[must_use]
    pub fn new() -> Self {
        Self {
            queue: Arc::default(),
            tasks: Rc::new(Tasks {
                count: Cell::new(0),
                waiting: Registry::new(1),
            }),
            _local: PhantomData,
        }
    }

    /// Spawns a task.
    ///
    /// ```
    /// let executor = ws_executor::LocalExecutor::new();
    /// let task = executor.spawn(async { 1 });
    /// assert_eq!(executor.block_on(task), 1);
    /// ```
    pub fn spawn<F>(&self, future: F) -> Task<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        if is_large::<F>() {
            return self.start(Box::pin(future));
        }
        self.start(future)
    }

    /// Spawns a task whose future is small.
    fn start<F>(&self, future: F) -> Task<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        let counted = Counted::new(&self.tasks);
        let future = |metadata| LocalFuture {
            future: Contained::new(future),
            life: Life::new(metadata),
            key: None,
            _counted: counted,
        };
        let queue = Arc::clone(&self.queue);
        let schedule = move |runnable| queue.push(runnable);
        let builder = Builder::new().metadata(Metadata::detached());
        // SAFETY: the future borrows nothing. It is polled on this thread alone, and
        // dropped there: by a poll, by `drop` below, or never. The schedule function
        // is `Send` and `Sync`.
        let (runnable, task) = unsafe { builder.spawn_unchecked(future, schedule) };
        runnable.schedule();
        Task::new(task)
    }

    /// Runs a future on this thread, and runs the tasks while the future waits.
    ///
    /// ```
    /// let executor = ws_executor::LocalExecutor::new();
    /// assert_eq!(executor.block_on(async { 2 }), 2);
    /// ```
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        let mut future = pin!(future);
        let signal = Arc::new(LocalSignal {
            set: AtomicBool::new(true),
            queue: Arc::clone(&self.queue),
        });
        let waker = Waker::from(Arc::clone(&signal));
        // A call around this one, on the same executor, must put its waker there again.
        let _outer = Outer(self.queue.take_waker());
        let run = std::future::poll_fn(move |cx| {
            self.queue.set_waker(cx.waker());
            // ORDERING(local.signal): acquire side.
            if signal.set.swap(false, Ordering::Acquire) {
                if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker))
                {
                    return Poll::Ready(output);
                }
            }
            let more = (0..TICKS).all(|_| self.try_tick());
            // A `block_on` inside one of the tasks has put its own waker there.
            self.queue.set_waker(cx.waker());
            if more || signal.set.load(Ordering::Relaxed) || !self.queue.is_empty() {
                cx.waker().wake_by_ref();
            }
            Poll::Pending
        });
        block_on(None, run)
    }

    /// Polls one task that is due; returns whether there was one.
    ///
    /// ```
    /// let executor = ws_executor::LocalExecutor::new();
    /// executor.spawn(async {}).detach();
    /// assert!(executor.try_tick());
    /// assert!(!executor.try_tick());
    /// ```
    pub fn try_tick(&self) -> bool {
        let Some(runnable) = self.queue.pop() else {
            return false;
        };
        coop::limited(|| {
            // The task's panics are contained already; those of foreign wakers end here.
            ignore_panic(|| {
                runnable.run();
            });
        });
        true
    }

    /// Returns whether there are no tasks.
    ///
    /// ```
    /// let executor = ws_executor::LocalExecutor::new();
    /// assert!(executor.is_empty());
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tasks.count.get() == 0
    }
}

impl Default for LocalExecutor {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for LocalExecutor {
    fn drop(&mut self) {
        self.tasks.waiting.close_all(Waker::wake);
        loop {
            while let Some(runnable) = self.queue.pop() {
                drop(runnable);
            }
            if self.is_empty() {
                return;
            }
            // Another thread is about to queue a future that must be dropped here.
            thread::yield_now();
        }
    }
}

impl fmt::Debug for LocalExecutor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalExecutor")
            .field("tasks", &self.tasks.count.get())
            .finish()
    }
}

impl Queue {
    fn push(&self, runnable: Runnable<Metadata<Shared>>) {
        let mut state = self.state.lock().expect("never poisoned");
        state.runnables.push_back(runnable);
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn pop(&self) -> Option<Runnable<Metadata<Shared>>> {
        self.state
            .lock()
            .expect("never poisoned")
            .runnables
            .pop_front()
    }

    fn is_empty(&self) -> bool {
        self.state
            .lock()
            .expect("never poisoned")
            .runnables
            .is_empty()
    }

    fn set_waker(&self, waker: &Waker) {
        let new = waker.clone();
        let old = self
            .state
            .lock()
            .expect("never poisoned")
            .waker
            .replace(new);
        drop(old);
    }

    fn take_waker(&self) -> Option<Waker> {
        self.state.lock().expect("never poisoned").waker.take()
    }

    fn wake(&self) {
        let waker = self.state.lock().expect("never poisoned").waker.take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// Wakes the outer call of `block_on` at the end of the inner one.
struct Outer(Option<Waker>);

impl Drop for Outer {
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(Waker::wake);
    }
}

/// The waker of the future that `block_on` was given.
struct LocalSignal {
    set: AtomicBool,
    queue: Arc<Queue>,
}

impl Wake for LocalSignal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // ORDERING(local.signal): release side.
        if !self.set.swap(true, Ordering::AcqRel) {
            self.queue.wake();
        }
    }
}

/// A future of this executor; its fields are dropped from top to bottom.
struct LocalFuture<'a, F> {
    /// Pinned.
    future: Contained<F>,
    life: Life<'a, Shared>,
    key: Option<LocalEntry>,
    _counted: Counted,
}

impl<F: Future> Future for LocalFuture<'_, F> {
    type Output = TaskOutcome<F::Output>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: `future` is the one field that is pinned, and is not moved.
        let this = unsafe { self.get_unchecked_mut() };
        if let Some(aborted) = this.life.aborted() {
            return Poll::Ready(aborted);
        }
        // SAFETY: it is pinned because the whole is.
        let future = unsafe { Pin::new_unchecked(&mut this.future) };
        let outcome = future.poll_contained(cx);
        if outcome.is_pending() && this.key.is_none() {
            this.life.wait_unregistered(cx.waker());
            let tasks = Rc::clone(&this._counted.0);
            this.key = tasks.waiting.enter(0, cx.waker()).map(|key| LocalEntry {
                tasks,
                key: Some(key),
            });
        }
        Poll::Ready(ready!(outcome))
    }
}

struct LocalEntry {
    tasks: Rc<Tasks>,
    key: Option<RegistryKey>,
}

impl Drop for LocalEntry {
    fn drop(&mut self) {
        if let Some(key) = self.key.take() {
            self.tasks.waiting.leave(key);
        }
    }
}

/// Counts a future that lives on this thread.
struct Counted(Rc<Tasks>);

impl Counted {
    fn new(tasks: &Rc<Tasks>) -> Self {
        tasks.count.set(tasks.count.get() + 1);
        Self(Rc::clone(tasks))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.count.set(self.0.count.get() - 1);
    }
}
