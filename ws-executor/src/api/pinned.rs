//! Tasks that stay on one worker, so that they need not be `Send`.
//!
//! The future is made on the worker, polled there and dropped there. Its task has a schedule
//! function that knows the worker, and puts the task into the worker's own queue. No other
//! thread takes from that queue. At a shutdown the worker drops its pinned futures before it
//! ends. Its queue is closed only when none is left, so no other thread ever drops one. The
//! jobs in the queue at that moment have futures that were never built; they are refused
//! (`scheduler/shutdown.rs`).

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use async_task::{Builder, Runnable};

use super::task::Task;
use crate::scheduler::shared::{Job, Shared};
use crate::scheduler::worker::pinned_tasks::PinnedFuture;
use crate::scheduler::worker::{Worker, current};
use crate::task::future::TaskFuture;
use crate::task::metadata::Metadata;

/// Spawns a future that `build` makes on worker number `worker`.
pub(crate) fn spawn<B, F>(shared: &Arc<Shared>, worker: usize, build: B) -> Task<F::Output>
where
    B: FnOnce() -> F + Send + 'static,
    F: Future + 'static,
    F::Output: Send + 'static,
{
    let workers = shared.workers();
    assert!(
        worker < workers,
        "worker {worker} does not exist: this executor has workers 0 to {}",
        workers - 1
    );
    let future = Pinned {
        build: Some(build),
        future: None,
        _lives: None,
    };
    let metadata = current::with(shared, |worker| {
        Metadata::new(shared, worker.map(Worker::index))
    });
    let Some(metadata) = metadata else {
        return Task::new(crate::task::cancelled(future));
    };
    let schedule = move |runnable: Runnable<Metadata<Shared>>| {
        let job = Job::new(runnable);
        let keep = job.waker();
        if let Some(shared) = job.metadata().scheduler() {
            let shared: *const Shared = shared;
            // SAFETY: `keep` keeps the task, its metadata, and thereby the state alive.
            let shared = unsafe { &*shared };
            if let Err(refused) = shared.push_pinned(worker, job) {
                shared.refuse([refused]);
            }
        }
        drop(keep);
    };
    let builder = Builder::new().metadata(metadata);
    // SAFETY: the future borrows nothing. It is polled and dropped on the worker's
    // thread once it is built; before, it is `Send`. The schedule function is `Send`
    // and `Sync`, and the metadata outlives the future in the same allocation.
    let (runnable, task) =
        unsafe { builder.spawn_unchecked(|metadata| TaskFuture::new(metadata, future), schedule) };
    if let Err(refused) = shared.push_pinned(worker, Job::new(runnable)) {
        drop(refused);
    }
    Task::new(task)
}

/// A future that is made where it is first polled.
struct Pinned<B, F> {
    build: Option<B>,
    /// Pinned.
    future: Option<F>,
    /// Counts the future for its worker; dropped after the future.
    _lives: Option<PinnedFuture>,
}

impl<B: FnOnce() -> F, F: Future> Future for Pinned<B, F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: `future` is the one field that is pinned, and is not moved.
        let this = unsafe { self.get_unchecked_mut() };
        if let Some(build) = this.build.take() {
            let future = build();
            this._lives = current::with_any(|worker| worker.map(Worker::count_pinned));
            this.future = Some(future);
        }
        let future = this
            .future
            .as_mut()
            .expect("not polled again after a panic of `build`");
        // SAFETY: it is pinned because the whole is.
        unsafe { Pin::new_unchecked(future) }.poll(cx)
    }
}
