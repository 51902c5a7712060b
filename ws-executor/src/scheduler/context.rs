//! The executor that the calling code runs on: what `Handle::current` returns.

use std::cell::RefCell;
use std::mem;
use std::sync::Arc;

use ws_core::sync::thread_local;

use super::shared::Shared;
use super::worker::current;

thread_local! {
    static CONTEXT: RefCell<Context> = const { RefCell::new(Context::NONE) };
}

/// What the calls of `block_on` on this thread have set.
struct Context {
    /// The executor of the innermost one.
    current: Option<Arc<Shared>>,
    /// The innermost executor that polls futures of other threads in its own way.
    visiting: Option<Arc<Shared>>,
}

impl Context {
    const NONE: Self = Self {
        current: None,
        visiting: None,
    };

    fn inside(&self, current: Option<Arc<Shared>>) -> Self {
        let visiting = match &current {
            // Code that a worker runs is not inside the `block_on` calls below it on the stack.
            None => None,
            Some(shared) if shared.hosts_visitors() => Some(Arc::clone(shared)),
            Some(_) => self.visiting.clone(),
        };
        Self { current, visiting }
    }
}

/// The executor of the innermost `block_on` on this thread, or of its worker.
pub(crate) fn current() -> Option<Arc<Shared>> {
    let context = CONTEXT.try_with(|context| context.borrow().current.clone());
    context
        .ok()
        .flatten()
        .or_else(|| current::with_any(|worker| worker.map(|worker| Arc::clone(worker.shared()))))
}

/// The innermost executor among those of the calls of `block_on` on this thread that polls
/// their futures in its own way, by a driver or a host.
pub(crate) fn visiting() -> Option<Arc<Shared>> {
    let context = CONTEXT.try_with(|context| context.borrow().visiting.clone());
    context.ok().flatten()
}

/// Runs `code` in the context of an executor, or of the thread's worker if there is none.
pub(crate) fn within<R>(shared: Option<Arc<Shared>>, code: impl FnOnce() -> R) -> R {
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
        let inner = context.borrow().inside(shared);
        context.replace(inner)
    });
    let _restore = Restore(outer.unwrap_or(Context::NONE));
    code()
}
