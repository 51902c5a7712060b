//! The executor that the calling code runs on: what `Handle::current` returns.

use std::cell::RefCell;
use std::mem;

use ws_core::sync::thread_local;

use crate::handle::Handle;
use crate::worker::current;

thread_local! {
    static CONTEXT: RefCell<Context> = const { RefCell::new(Context::NONE) };
}

/// What the calls of `block_on` on this thread have set.
struct Context {
    /// The executor of the innermost one.
    current: Option<Handle>,
    /// The innermost executor that polls futures of other threads in its own way.
    visiting: Option<Handle>,
}

impl Context {
    const NONE: Self = Self {
        current: None,
        visiting: None,
    };

    fn inside(&self, current: Option<Handle>) -> Self {
        let visiting = match &current {
            // Code that a worker runs is not inside the `block_on` calls below it on the stack.
            None => None,
            Some(handle) if handle.shared().hosts_visitors() => Some(handle.clone()),
            Some(_) => self.visiting.clone(),
        };
        Self { current, visiting }
    }
}

/// The executor of the innermost `block_on` on this thread, or of its worker.
pub(crate) fn current() -> Option<Handle> {
    let context = CONTEXT.try_with(|context| context.borrow().current.clone());
    context.ok().flatten().or_else(|| {
        current::with_any(|worker| worker.map(|worker| Handle::new(worker.shared().clone())))
    })
}

/// The innermost executor among those of the calls of `block_on` on this thread that polls
/// their futures in its own way, by a driver or a host.
pub(crate) fn visiting() -> Option<Handle> {
    let context = CONTEXT.try_with(|context| context.borrow().visiting.clone());
    context.ok().flatten()
}

/// Runs `code` in the context of `handle`, or of the thread's worker if there is none.
pub(crate) fn within<R>(handle: Option<Handle>, code: impl FnOnce() -> R) -> R {
    /// Restores also when `code` panics.
    struct Restore(Context);

    impl Drop for Restore {
        fn drop(&mut self) {
            let outer = mem::replace(&mut self.0, Context::NONE);
            let inner = CONTEXT.try_with(|context| context.replace(outer));
            drop(inner);
        }
    }

    let outer = CONTEXT.try_with(|context| {
        let inner = context.borrow().inside(handle);
        context.replace(inner)
    });
    let _restore = Restore(outer.unwrap_or(Context::NONE));
    code()
}
