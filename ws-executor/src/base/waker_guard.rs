//! Foreign wakers, kept from doing harm.
//!
//! The awaiting side leaves a waker with a task, and async-task aborts the process if that
//! waker panics. A waker of ours does not panic. Any other is wrapped, so that its panic goes
//! to the panic hook and no further. Our own waker is the common case, and is recognised: a
//! task, or a `block_on`, is being polled with it on this thread.

use std::cell::Cell;
use std::ptr;
use std::sync::Arc;
use std::task::{RawWakerVTable, Wake, Waker};

use ws_core::sync::thread_local;

use crate::base::panics::{Contained, ignore_panic};

thread_local! {
    /// The data and the vtable of the waker that this thread polls with.
    static TRUSTED: Cell<Identity> = const { Cell::new(NOBODY) };
}

type Identity = (*const (), *const RawWakerVTable);

const NOBODY: Identity = (ptr::null(), ptr::null());

fn identity(waker: &Waker) -> Identity {
    (waker.data(), waker.vtable())
}

/// From now on this waker is known to be ours.
#[inline(always)]
pub(crate) fn set_own_waker(waker: &Waker) {
    let _ = TRUSTED.try_with(|trusted| trusted.set(identity(waker)));
}

/// From now on no waker is known to be ours.
#[inline(always)]
pub(crate) fn clear_own_waker() {
    let _ = TRUSTED.try_with(|trusted| trusted.set(NOBODY));
}

/// Runs `code`, during which this waker is known to be ours.
#[inline]
pub(crate) fn with_own_waker<R>(waker: &Waker, code: impl FnOnce() -> R) -> R {
    /// Restores also when `code` panics.
    struct Restore(Identity);

    impl Drop for Restore {
        fn drop(&mut self) {
            let _ = TRUSTED.try_with(|trusted| trusted.set(self.0));
        }
    }

    let outer = TRUSTED.try_with(|trusted| trusted.replace(identity(waker)));
    let _restore = Restore(outer.unwrap_or(NOBODY));
    code()
}

/// Calls `code` with `waker`, or with a wrapper of it that does not panic.
#[inline]
pub(crate) fn guarded<R>(waker: &Waker, code: impl FnOnce(&Waker) -> R) -> R {
    let trusted = TRUSTED.try_with(Cell::get).unwrap_or(NOBODY);
    if identity(waker) == trusted {
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
