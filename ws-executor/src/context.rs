//! Which executor the calling code runs on: what `Handle::current` answers.

use std::cell::RefCell;

use ws_core::sync::thread_local;

use crate::handle::Handle;
use crate::worker::current;

thread_local! {
    /// The executor whose `block_on` runs on this thread, innermost.
    static CONTEXT: RefCell<Option<Handle>> = const { RefCell::new(None) };
}

/// The executor of the innermost `block_on` on this thread, or of its worker.
pub(crate) fn current() -> Option<Handle> {
    let context = CONTEXT.try_with(|context| context.borrow().clone());
    context.ok().flatten().or_else(|| {
        current::with_any(|worker| worker.map(|worker| Handle::new(worker.shared().clone())))
    })
}

/// Runs `code` in the context of `handle`, or of the thread's worker if there is none.
pub(crate) fn within<R>(handle: Option<Handle>, code: impl FnOnce() -> R) -> R {
    /// Restores also when `code` panics.
    struct Restore(Option<Handle>);

    impl Drop for Restore {
        fn drop(&mut self) {
            let outer = self.0.take();
            let inner = CONTEXT.try_with(|context| context.replace(outer));
            drop(inner);
        }
    }

    let outer = CONTEXT.try_with(|context| context.replace(handle));
    let _restore = Restore(outer.ok().flatten());
    code()
}
