//! Tasks and closures that borrow: they end before the call that started them returns.
//!
//! # Why it is sound
//!
//! A task's future may borrow what outlives the call of [`scope`](crate::scope()), and
//! is given to the executor as if it borrowed nothing. That is sound because the call does not
//! return, not even by a panic, before every such future is dropped. Each future carries a
//! [`ScopeGuard`], which is dropped after everything that may borrow, and the call waits until all
//! guards are gone. Leaking a [`ScopedTask`] changes nothing: the guard is in the future, and
//! the executor owns the future.
//!
//! An output lives in a [`Packet`] that the future and the handle share. The future releases
//! the packet before its guard, and the handle cannot leave the scope.
//!
//! A closure is a fork in a lane (`scheduler/fork/mod.rs`), with such a guard. If the calling
//! thread has no lane for it, the closure runs as a task.
//!
//! # Memory ordering
//!
//! | edge | release side | acquire side | makes visible |
//! |---|---|---|---|
//! | `scope.end` | dropping a [`ScopeGuard`] | the look that finds no guard left | all that the future or the closure did with what it borrows |

use std::fmt;
use std::future::poll_fn;
use std::marker::PhantomData;
use std::mem;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use ws_core::sync::Mutex;
use ws_core::sync::atomic::{AtomicUsize, Ordering};

use crate::api::block_on::{StackHeadroom, block_on_in};
use crate::base::panics::{Payload, contain, drop_each, drop_payload, ignore_panic};
use crate::scheduler::fork::job::BoxJob;
use crate::scheduler::fork::latch::CountLatch;
use crate::scheduler::shared::Shared;
use crate::scheduler::worker::{Worker, current};
use crate::task::is_large;

/// A scope for tasks and closures that borrow; see [`Executor::scope`].
///
/// [`Executor::scope`]: crate::Executor::scope
pub struct Scope<'scope, 'env: 'scope> {
    shared: Arc<Shared>,
    state: Arc<ScopeState>,
    /// Invariant, as in `std::thread::Scope`: neither may grow or shrink.
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// What the scope and its tasks share.
#[allow(unreachable_pub, reason = "public for the model checkers, see `model`")]
#[derive(Default)]
pub struct ScopeState {
    /// How many futures are not dropped yet, plus how many closures have not ended.
    pending: AtomicUsize,
    /// How many closures in lanes have not ended.
    forks: CountLatch,
    /// Where the scope runs, if on a worker. That worker waits for the closures in lanes.
    place: Option<CallPlace>,
    /// The waker of the call that waits until `pending` is 0.
    waiter: Mutex<Option<Waker>>,
    /// The first panic that nobody awaited.
    panic: Mutex<Option<Payload>>,
}

/// A section of a worker's stack: between two nested calls of `block_on`.
#[derive(Clone, Copy, PartialEq, Eq)]
struct CallPlace {
    worker: usize,
    nesting: u32,
}

impl CallPlace {
    fn of(worker: &Worker) -> Self {
        Self {
            worker: worker.index(),
            nesting: worker.nesting_depth(),
        }
    }
}

pub(crate) fn scope<'env, R>(
    shared: &Arc<Shared>,
    code: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R,
) -> R {
    // The wait below must not panic, which would end the call too early.
    let room = StackHeadroom::find();
    let scope = Scope {
        shared: Arc::clone(shared),
        state: Arc::new(ScopeState {
            place: current::with(shared, |worker| worker.map(CallPlace::of)),
            ..ScopeState::default()
        }),
        scope: PhantomData,
        env: PhantomData,
    };
    let result = contain(|| code(&scope));
    scope.help();
    block_on_in(room, Some(shared), scope.state.all_gone());
    let panic = scope.state.panic.lock().expect("never poisoned").take();
    match (result, panic) {
        (Ok(value), None) => value,
        (Err(payload), None) | (Ok(_), Some(payload)) => resume_unwind(payload),
        (Err(payload), Some(second)) => {
            drop_payload(second);
            resume_unwind(payload)
        }
    }
}

impl ScopeState {
    /// Waits until all guards are gone.
    #[allow(unreachable_pub, reason = "public for the model checkers, see `model`")]
    pub async fn all_gone(&self) {
        poll_fn(|cx| {
            // The waker may be a reactor's. Its panics are caught: they would end the scope.
            let mut new = None;
            ignore_panic(|| new = Some(cx.waker().clone()));
            let mut waiter = self.waiter.lock().expect("never poisoned");
            // ORDERING(scope.end): acquire side; all that the tasks did with what
            // they borrow is done.
            let is_over = self.pending.load(Ordering::Acquire) == 0;
            let kept = if is_over { None } else { new.take() };
            let old = mem::replace(&mut *waiter, kept);
            drop(waiter);
            drop_each([old, new]);
            if is_over {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
    }

    fn keep_first(&self, payload: Payload) {
        let mut first = self.panic.lock().expect("never poisoned");
        let second = match &mut *first {
            Some(_) => Some(payload),
            none => none.replace(payload),
        };
        drop(first);
        second.into_iter().for_each(drop_payload);
    }
}

impl<'scope, 'env> Scope<'scope, 'env> {
    /// Spawns a task that may borrow from outside the scope, and from the scope.
    ///
    /// Dropping the handle does not cancel the task. If the task panics and nobody awaits it,
    /// the whole scope panics with the task's panic, after all its tasks have ended.
    ///
    /// ```
    /// let text = String::from("borrowed");
    /// let length = ws_executor::scope(|s| {
    ///     let task = s.spawn(async { text.len() });
    ///     ws_executor::block_on(task)
    /// });
    /// assert_eq!(length, 8);
    /// ```
    pub fn spawn<F>(&'scope self, future: F) -> ScopedTask<'scope, F::Output>
    where
        F: Future + Send + 'scope,
        F::Output: Send + 'scope,
    {
        if is_large::<F>() {
            return self.start(Box::pin(future));
        }
        self.start(future)
    }

    /// Runs a closure on a worker that is free, maybe the calling one.
    ///
    /// The closure may borrow from outside the scope, and gets the scope, so that it can run
    /// more closures. It has no result: it writes what it computes to what it borrows. If it
    /// panics, the whole scope panics, after everything in it has ended.
    ///
    /// On a worker the closure is queued with one allocation. At the end of the scope, the
    /// worker runs the closures that no other worker has begun. Other threads send the closure
    /// to a worker as a task. For two closures, [`join`](crate::Handle::join) is cheaper.
    ///
    /// If the executor is shut down meanwhile, a closure that has not begun runs on the
    /// thread that drops the task. If each closure runs the next one, these calls are nested,
    /// and each takes stack.
    ///
    /// ```
    /// let mut squares = [1, 2, 3, 4];
    /// ws_executor::scope(|s| {
    ///     for number in &mut squares {
    ///         s.run(move |_| *number *= *number);
    ///     }
    /// });
    /// assert_eq!(squares, [1, 4, 9, 16]);
    /// ```
    pub fn run<F>(&'scope self, code: F)
    where
        F: FnOnce(&'scope Self) + Send + 'scope,
    {
        current::with(&self.shared, |worker| match worker {
            Some(worker) if self.is_lane_for(worker) => self.fork(worker, code),
            _ => self.run_as_task(code),
        });
    }

    /// Whether the worker runs what is put into its lane before it polls another task. It does
    /// so in a fork, and in the scope itself, but not in a task on top of the scope.
    fn is_lane_for(&self, worker: &Worker) -> bool {
        worker.is_in_join() || self.state.place == Some(CallPlace::of(worker))
    }

    fn run_as_task<F>(&'scope self, code: F)
    where
        F: FnOnce(&'scope Self) + Send + 'scope,
    {
        drop(self.spawn(Closure {
            code: Some(move || code(self)),
            state: Arc::clone(&self.state),
        }));
    }

    fn fork<F>(&'scope self, worker: &Worker, code: F)
    where
        F: FnOnce(&'scope Self) + Send + 'scope,
    {
        let guard = ScopeGuard::new(&self.state);
        self.state.forks.add();
        let job = move || {
            let state = &guard.0;
            if let Err(payload) = contain(|| code(self)) {
                state.keep_first(payload);
            }
            let sleeps = state.forks.remove();
            let waiter = state.place.filter(|_| sleeps);
            // From here on the closure's borrows are not used, so the scope may end.
            drop(guard);
            waiter.map(|place| place.worker)
        };
        // SAFETY: the job drops the guard, and the scope does not end before that. A lane
        // loses no forks.
        let fork = unsafe { BoxJob::fork(job) };
        worker.push_fork_of_scope(fork);
    }

    /// Runs closures of this scope, and forks of others, until its closures have ended.
    fn help(&self) {
        current::with(&self.shared, |worker| {
            if let Some(worker) = worker {
                let _entered = (!self.state.forks.is_zero()).then(|| worker.enter_join());
                worker.help(&self.state.forks);
            }
        });
    }

    /// Spawns a task whose future is small.
    fn start<F>(&'scope self, future: F) -> ScopedTask<'scope, F::Output>
    where
        F: Future + Send + 'scope,
        F::Output: Send + 'scope,
    {
        let (future, task) = self.prepare(future);
        // SAFETY: the future is dropped before `scope` returns, see the module docs,
        // so before anything that it borrows. It is `Send`.
        unsafe { self.shared.spawn(future) }.detach();
        task
    }

    /// Spawns a task that only workers run: it waits among the computations.
    pub(crate) fn start_on_worker<F>(&'scope self, future: F) -> ScopedTask<'scope, F::Output>
    where
        F: Future + Send + 'scope,
        F::Output: Send + 'scope,
    {
        let (future, task) = self.prepare(future);
        // SAFETY: as in `start`.
        unsafe { self.shared.spawn_computation(future) }.detach();
        task
    }

    /// A future that ends before the scope does, and the handle to its output.
    fn prepare<F>(&'scope self, future: F) -> (ScopedFuture<F>, ScopedTask<'scope, F::Output>)
    where
        F: Future + Send + 'scope,
        F::Output: Send + 'scope,
    {
        let packet = Arc::new(Packet {
            content: Mutex::new(PacketContent::Waiting(None)),
            state: Arc::clone(&self.state),
        });
        let future = ScopedFuture {
            future,
            packet: FillOnDrop(Arc::clone(&packet)),
            _guard: ScopeGuard::new(&self.state),
        };
        let task = ScopedTask {
            packet,
            scope: PhantomData,
        };
        (future, task)
    }
}

/// A closure as a future. If it is dropped before its poll, the drop runs the closure.
struct Closure<F: FnOnce()> {
    code: Option<F>,
    state: Arc<ScopeState>,
}

// The closure is not pinned.
impl<F: FnOnce()> Unpin for Closure<F> {}

impl<F: FnOnce()> Future for Closure<F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        self.code.take().into_iter().for_each(|code| code());
        Poll::Ready(())
    }
}

impl<F: FnOnce()> Drop for Closure<F> {
    fn drop(&mut self) {
        let result = contain(|| self.code.take().into_iter().for_each(|code| code()));
        if let Err(payload) = result {
            self.state.keep_first(payload);
        }
    }
}

/// A future of a scope; its fields are dropped from top to bottom.
struct ScopedFuture<F: Future> {
    /// Pinned.
    future: F,
    packet: FillOnDrop<F::Output>,
    _guard: ScopeGuard,
}

impl<F: Future> Future for ScopedFuture<F> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // SAFETY: `future` is the one field that is pinned, and is not moved.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: it is pinned because the whole is.
        let future = unsafe { Pin::new_unchecked(&mut this.future) };
        let result = match contain(|| future.poll(cx)) {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(output)) => Ok(output),
            Err(payload) => Err(payload),
        };
        this.packet.0.fill(PacketContent::Ended(result));
        Poll::Ready(())
    }
}

/// Counts a future that is not dropped yet, or a closure that has not ended.
#[allow(unreachable_pub, reason = "public for the model checkers, see `model`")]
pub struct ScopeGuard(Arc<ScopeState>);

#[allow(unreachable_pub, reason = "public for the model checkers, see `model`")]
impl ScopeGuard {
    /// Counts one more.
    pub fn new(state: &Arc<ScopeState>) -> Self {
        state.pending.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(state))
    }
}

impl Drop for ScopeGuard {
    fn drop(&mut self) {
        // ORDERING(scope.end): release side, for each that is counted.
        if self.0.pending.fetch_sub(1, Ordering::Release) == 1 {
            let waiter = self.0.waiter.lock().expect("never poisoned").take();
            if let Some(waiter) = waiter {
                // The waker may be a reactor's: its panic is not ours.
                ignore_panic(|| waiter.wake());
            }
        }
    }
}

/// Where a task leaves its output for its handle.
struct Packet<T> {
    content: Mutex<PacketContent<T>>,
    state: Arc<ScopeState>,
}

enum PacketContent<T> {
    Waiting(Option<Waker>),
    Ended(Result<T, Payload>),
    Cancelled,
    Taken,
}

impl<T> Packet<T> {
    /// Fills a packet that waits; leaves any other as it is.
    fn fill(&self, content: PacketContent<T>) {
        let mut now = self.content.lock().expect("never poisoned");
        let waker = match &mut *now {
            PacketContent::Waiting(waker) => {
                let waker = waker.take();
                *now = content;
                waker
            }
            _ => None,
        };
        drop(now);
        if let Some(waker) = waker {
            // A foreign waker: its panic is not ours.
            ignore_panic(|| waker.wake());
        }
    }
}

impl<T> Drop for Packet<T> {
    fn drop(&mut self) {
        let content = mem::replace(
            self.content.get_mut().expect("never poisoned"),
            PacketContent::Taken,
        );
        match content {
            PacketContent::Ended(Err(payload)) => self.state.keep_first(payload),
            PacketContent::Ended(Ok(output)) => {
                if let Err(payload) = contain(|| drop(output)) {
                    self.state.keep_first(payload);
                }
            }
            _ => {}
        }
    }
}

/// The future's half of a packet. Its drop tells the handle that the task was cancelled, if the
/// future did not end.
struct FillOnDrop<T>(Arc<Packet<T>>);

impl<T> Drop for FillOnDrop<T> {
    fn drop(&mut self) {
        self.0.fill(PacketContent::Cancelled);
    }
}

/// A task of a [`Scope`]: a future of its output. Dropping it detaches the task.
///
/// # Panics
///
/// Awaiting it re-raises the task's panic, and panics if the executor was shut down
/// before the task ended.
pub struct ScopedTask<'scope, T> {
    packet: Arc<Packet<T>>,
    scope: PhantomData<&'scope ()>,
}

impl<T> Future for ScopedTask<'_, T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let waker = cx.waker().clone();
        let mut content = self.packet.content.lock().expect("never poisoned");
        let taken = match &mut *content {
            PacketContent::Waiting(old) => {
                let old = old.replace(waker);
                drop(content);
                // The waker of an earlier poll: its panic is not ours.
                ignore_panic(|| drop(old));
                return Poll::Pending;
            }
            ended => mem::replace(ended, PacketContent::Taken),
        };
        drop(content);
        match taken {
            PacketContent::Ended(Ok(output)) => Poll::Ready(output),
            PacketContent::Ended(Err(payload)) => resume_unwind(payload),
            PacketContent::Cancelled => {
                panic!("the task was cancelled: its executor was shut down")
            }
            _ => panic!("a scoped task was polled after its end"),
        }
    }
}

impl<T> fmt::Debug for ScopedTask<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedTask").finish_non_exhaustive()
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pending = self.state.pending.load(Ordering::Relaxed);
        f.debug_struct("Scope")
            .field("pending", &pending)
            .finish_non_exhaustive()
    }
}
