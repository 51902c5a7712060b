//! Panics of user code, kept from doing harm.
//!
//! async-task aborts the process when a future or an output panics in its drop.
//! Here both are wrapped, so that such a panic goes to the panic hook, as every
//! panic does, and no further.

use std::any::Any;
use std::mem::{self, ManuallyDrop};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

/// What a panic carries.
pub(crate) type Payload = Box<dyn Any + Send>;

/// What a task ends with: its future's output, or its panic.
pub(crate) type TaskOutcome<T> = Contained<Result<T, Payload>>;

/// Runs foreign code; a panic in it ends here.
pub(crate) fn contain<R>(code: impl FnOnce() -> R) -> Result<R, Payload> {
    catch_unwind(AssertUnwindSafe(code))
}

/// Runs foreign code. Only the panic hook sees a panic in it.
pub(crate) fn ignore_panic(code: impl FnOnce()) {
    if let Err(payload) = contain(code) {
        drop_payload(payload);
    }
}

/// Drops a payload, which may panic as well, and so may the payload of that.
pub(crate) fn drop_payload(payload: Payload) {
    if let Err(second) = contain(|| drop(payload)) {
        mem::forget(second);
    }
}

/// Drops values one by one. Dropping them together could end the process: a panic in the second
/// drop, while the panic of the first one unwinds, aborts.
pub(crate) fn drop_each<T>(values: impl IntoIterator<Item = T>) {
    for value in values {
        ignore_panic(|| drop(value));
    }
}

/// An iterator over values. Those that are left are dropped as by [`drop_each`].
pub(crate) struct Apart<T>(std::vec::IntoIter<T>);

impl<T> Apart<T> {
    pub(crate) fn new(values: Vec<T>) -> Self {
        Self(values.into_iter())
    }
}

impl<T> Iterator for Apart<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.0.next()
    }
}

impl<T> Drop for Apart<T> {
    fn drop(&mut self) {
        drop_each(self.0.by_ref());
    }
}

/// A value whose drop does not panic.
pub(crate) struct Contained<T>(ManuallyDrop<T>);

impl<T> Contained<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(ManuallyDrop::new(value))
    }

    pub(crate) fn get(&self) -> &T {
        &self.0
    }

    pub(crate) fn into_inner(self) -> T {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: `this` is not used again, and its drop does not run.
        unsafe { ManuallyDrop::take(&mut this.0) }
    }

    fn pinned(self: Pin<&mut Self>) -> Pin<&mut T> {
        // SAFETY: the value is not moved while it is pinned: `drop` drops it in
        // place, and `into_inner` needs the wrapper by value.
        unsafe { self.map_unchecked_mut(|this| &mut *this.0) }
    }
}

impl<F: Future> Contained<F> {
    /// Polls; a panic is an outcome.
    pub(crate) fn poll_contained(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<TaskOutcome<F::Output>> {
        let future = self.pinned();
        match contain(|| future.poll(cx)) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(output)) => Poll::Ready(Contained::new(Ok(output))),
            Err(payload) => Poll::Ready(Contained::new(Err(payload))),
        }
    }
}

impl<T> Drop for Contained<T> {
    fn drop(&mut self) {
        if !mem::needs_drop::<T>() {
            return;
        }
        // SAFETY: the value is not used again.
        ignore_panic(|| unsafe { ManuallyDrop::drop(&mut self.0) });
    }
}
