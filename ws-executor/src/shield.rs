//! Foreign wakers, kept from doing harm.
//!
//! Whoever awaits a task leaves a waker with it, and async-task aborts the process
//! if that waker panics. A waker of ours does not; any other is wrapped, so that its
//! panic goes to the panic hook and no further. Ours is the common case, and
//! recognised by its address: the task, or the `block_on`, that is being polled on
//! this thread.

use std::cell::Cell;
use std::ptr;
use std::sync::Arc;
use std::task::{Wake, Waker};

use ws_core::sync::thread_local;

use crate::task::contain::{Contained, ignore_panic};

thread_local! {
    /// The data pointer of the waker that this thread polls with.
    static TRUSTED: Cell<*const ()> = const { Cell::new(ptr::null()) };
}

/// From now on this waker is known to be ours; none if it is null.
#[inline(always)]
pub(crate) fn trust(data: *const ()) {
    let _ = TRUSTED.try_with(|trusted| trusted.set(data));
}

/// Runs `code`, during which this waker is known to be ours.
#[inline]
pub(crate) fn trusting<R>(data: *const (), code: impl FnOnce() -> R) -> R {
    /// Restores also when `code` panics.
    struct Restore(*const ());

    impl Drop for Restore {
        #[inline]
        fn drop(&mut self) {
            let _ = TRUSTED.try_with(|trusted| trusted.set(self.0));
        }
    }

    let outer = TRUSTED.try_with(|trusted| trusted.replace(data));
    let _restore = Restore(outer.unwrap_or(ptr::null()));
    code()
}

/// Calls `code` with `waker`, or with one in front of it that does not panic.
#[inline]
pub(crate) fn shielded<R>(waker: &Waker, code: impl FnOnce(&Waker) -> R) -> R {
    let trusted = TRUSTED.try_with(Cell::get).unwrap_or(ptr::null());
    if ptr::eq(waker.data(), trusted) {
        return code(waker);
    }
    code(&Waker::from(Arc::new(Shield(Contained::new(
        waker.clone(),
    )))))
}

/// A waker whose wake and drop do not panic.
struct Shield(Contained<Waker>);

impl Wake for Shield {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        ignore_panic(|| self.0.get().wake_by_ref());
    }
}
