//! What every handle to a task is made of: a reference that can be awaited.

use std::future::poll_fn;
use std::panic::{RefUnwindSafe, UnwindSafe, resume_unwind};
use std::pin::{Pin, pin};
use std::ptr::NonNull;
use std::task::{Context, Poll, ready};

use crate::base::coop;
use crate::base::panics::{Payload, TaskOutcome};
use crate::base::waker_guard::guarded;
use crate::scheduler::shared::Shared;
use crate::task::RawTask;
use crate::task::abort::{AbortHandle, Aborted};
use crate::task::metadata::Metadata;

/// A handle's reference to its task. Dropping it cancels the task.
pub(super) struct TaskRef<T> {
    task: async_task::FallibleTask<TaskOutcome<T>, Metadata<Shared>>,
    metadata: MetadataRef,
}

/// The metadata of the task, which `async_task::FallibleTask` does not give out.
struct MetadataRef(NonNull<Metadata<Shared>>);

// SAFETY: it is used as a `&Metadata`, and `Metadata` is `Sync`.
unsafe impl Send for MetadataRef {}
// SAFETY: as above.
unsafe impl Sync for MetadataRef {}

// A panic leaves whole values behind there: numbers, and a lock without user code.
impl UnwindSafe for MetadataRef {}
impl RefUnwindSafe for MetadataRef {}

/// How a task has ended.
#[must_use = "an output or a panic is for the one who awaits the task"]
pub(super) enum End<T> {
    Output(T),
    Panic(Payload),
    /// Its executor was shut down, or could not run it.
    Cancelled,
    Aborted,
}

impl<T> TaskRef<T> {
    pub(super) fn new(task: RawTask<T, Shared>) -> Self {
        let metadata = MetadataRef(NonNull::from(task.metadata()));
        let task = task.fallible();
        Self { task, metadata }
    }

    /// Lets the task run without a handle.
    pub(super) fn detach(self) {
        self.task.detach();
    }

    /// Whether the task has ended, or was cancelled.
    pub(super) fn is_finished(&self) -> bool {
        self.task.is_finished()
    }

    /// A handle that aborts the task.
    pub(super) fn abort_handle(&self) -> AbortHandle {
        // SAFETY: the metadata is where it was made, and lives until the last reference to
        // the task is gone; `task` is one.
        unsafe { self.metadata.0.as_ref() }.abort_handle()
    }

    /// Aborts the task, unless it has ended.
    pub(super) fn abort(&self) {
        if !self.is_finished() {
            self.abort_handle().abort();
        }
    }

    /// Waits for the end of the task. Costs the awaiting task one unit of budget.
    ///
    /// The waker that is left cannot harm the thread that wakes it.
    pub(super) fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<End<T>> {
        let proceed = ready!(coop::poll_proceed(cx));
        let outcome = ready!(guarded(cx.waker(), |waker| {
            Pin::new(&mut self.task).poll(&mut Context::from_waker(waker))
        }));
        proceed.made_progress();
        Poll::Ready(End::of(outcome))
    }

    /// Cancels the task, and waits until its future is gone.
    ///
    /// The waker that is left cannot harm the thread that wakes it.
    pub(super) async fn cancel(self) -> End<T> {
        let mut cancelled = pin!(self.task.cancel());
        let outcome = poll_fn(|cx| {
            guarded(cx.waker(), |waker| {
                cancelled.as_mut().poll(&mut Context::from_waker(waker))
            })
        });
        End::of(outcome.await)
    }
}

impl<T> End<T> {
    fn of(outcome: Option<TaskOutcome<T>>) -> Self {
        match outcome.map(TaskOutcome::into_inner) {
            Some(Ok(output)) => Self::Output(output),
            Some(Err(payload)) if payload.is::<Aborted>() => Self::Aborted,
            Some(Err(payload)) => Self::Panic(payload),
            None => Self::Cancelled,
        }
    }

    /// The output, if there is one.
    ///
    /// # Panics
    ///
    /// If the task has panicked, with its panic.
    pub(super) fn output(self) -> Option<T> {
        match self {
            Self::Output(output) => Some(output),
            Self::Panic(payload) => resume_unwind(payload),
            Self::Cancelled | Self::Aborted => None,
        }
    }
}
