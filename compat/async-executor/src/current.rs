//! The `run` that is being polled on a thread.
//!
//! While a `run` is polled, its ring is kept here, so that what is spawned and woken on
//! the thread goes there. It is put back when the poll ends, however it ends: between
//! polls the ring is part of the future, which may move to another thread, or be dropped.
//!
//! Executors may be nested in each other, and in themselves: the inner poll takes the
//! place of the outer one until it ends. The ring takes tasks of its own executor only.

use std::cell::RefCell;

use async_task::Runnable;
use ws_core::ring;
use ws_core::sync::thread_local;

use crate::injector::Injector;

thread_local! {
    static CURRENT: RefCell<Option<Current>> = const { RefCell::new(None) };
}

/// What is known of the `run` that is being polled.
pub(crate) struct Current {
    /// The address of its executor's state: only to compare with.
    pub(crate) state: usize,
    pub(crate) ring: ring::Owner<Runnable>,
}

/// Where a task went.
pub(crate) enum Pushed {
    /// Into the ring, which was empty.
    Alone,
    /// Into the ring, or from there to the injector.
    BehindOthers,
    /// Nowhere: no `run` of that executor is polled here.
    NotHere(Runnable),
}

/// Pushes a task into the ring of the `run` that is polled on this thread, if that is of the
/// same executor: the one whose state is at this address. Overflow goes to its `injector`.
pub(crate) fn push(state: usize, injector: &Injector, runnable: Runnable) -> Pushed {
    let mut runnable = Some(runnable);
    // A thread that is ending has no current `run`.
    let alone = CURRENT.try_with(|current| {
        // Borrowed for changing only where no code of others runs.
        let current = current.borrow();
        let ring = &current.as_ref().filter(|it| it.state == state)?.ring;
        let alone = ring.is_empty();
        if let Err(overflow) = ring.push_or_overflow(runnable.take()?) {
            injector.push_batch(overflow);
        }
        Some(alone)
    });
    match (runnable, alone.ok().flatten()) {
        (Some(runnable), _) => Pushed::NotHere(runnable),
        (None, Some(true)) => Pushed::Alone,
        (None, _) => Pushed::BehindOthers,
    }
}

/// Uses the ring of the current `run`, if there is one. `using` must not call code of
/// others.
pub(crate) fn with<R>(using: impl FnOnce(Option<&ring::Owner<Runnable>>) -> R) -> R {
    CURRENT.with(|current| using(current.borrow().as_ref().map(|current| &current.ring)))
}

/// Makes `next` current, and returns what was; `None` if the thread is ending, and then
/// `next` is left alone.
pub(crate) fn replace(next: &mut Option<Current>) -> Option<Option<Current>> {
    CURRENT
        .try_with(|current| current.replace(next.take()))
        .ok()
}

/// No `run` is current until this is dropped.
pub(crate) struct Aside(Option<Current>);

/// Puts the current `run` aside, for code that is not polled by it.
pub(crate) fn aside() -> Aside {
    Aside(replace(&mut None).flatten())
}

impl Drop for Aside {
    fn drop(&mut self) {
        if self.0.is_some() {
            replace(&mut self.0);
        }
    }
}
