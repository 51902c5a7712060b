//! How many workers wait aside: inside a poll, without running tasks meanwhile.
//!
//! One worker must go on running tasks, so the last one that could is refused. A task that
//! is pinned to a worker which waits aside is run by nobody; that worker must notice it,
//! and panics. So a push to pinned tasks looks whether someone waits aside, and then unparks
//! the worker; and the worker looks at its pinned tasks after it was counted.
//!
//! # Memory ordering
//!
//! | edge | release side | acquire side | makes visible |
//! |---|---|---|---|
//! | `sleep.fence` | fence of `take_this`, after the push | fence after the count | the pinned task, or the count; both ways |

use ws_core::sync::atomic::{AtomicUsize, Ordering, fence};

/// The count.
#[derive(Default)]
pub struct AsideCount(AtomicUsize);

impl AsideCount {
    /// Counts the calling worker, one of `running` workers, until the guard is dropped.
    /// Returns `None` if every other worker already waits aside. After this the worker must
    /// look at its pinned tasks.
    #[must_use = "the worker is counted until this is dropped"]
    pub fn enter(&self, running: usize) -> Option<WaitsAside<'_>> {
        let one_more = |aside| (aside + 1 < running).then_some(aside + 1);
        // Nothing but the count is read by others, and each sees the last one.
        let order = Ordering::Relaxed;
        let entered = self.0.fetch_update(order, order, one_more);
        // ORDERING(sleep.fence): between the count and the worker's look at its pinned
        // tasks; the other one is in `take_this`.
        fence(Ordering::SeqCst);
        entered.ok().map(|_| WaitsAside(self))
    }

    /// Whether a worker may wait aside. To be asked after a push to its pinned tasks and a
    /// fence: either this sees the worker, or the worker the task.
    pub fn is_any(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }
}

/// A worker that waits aside, until this is dropped.
pub struct WaitsAside<'a>(&'a AsideCount);

impl Drop for WaitsAside<'_> {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}
