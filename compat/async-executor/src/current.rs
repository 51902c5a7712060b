//! The `run` that is being polled on a thread.
//!
//! While a `run` is polled, its ring is kept here, so that tasks which are spawned and woken
//! on the thread go into the ring. The ring is put back when the poll ends, also if the poll
//! panics: between polls the ring is part of the future, which may move to another thread, or
//! be dropped.
//!
//! Executors may be nested in each other, and in themselves: the inner `run` replaces the
//! outer `run` here until the inner poll ends. A ring takes tasks of its own executor only.

use std::cell::RefCell;

use async_task::Runnable;
use ws_core::ring;
use ws_core::sync::thread_local;

use crate::injector::Injector;

thread_local! {
    static CURRENT: RefCell<Option<Current>> = const { RefCell::new(None) };
}

/// The executor and the ring of the `run` that is being polled.
pub(crate) struct Current {
    /// The address of its executor's state, which is only compared.
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

/// Pushes a task into the ring of the `run` that is polled on this thread, if that `run`
/// belongs to the same executor: the executor whose state is at the address `state`. An
/// overflow goes to the `injector` of that executor.
pub(crate) fn push(state: usize, injector: &Injector, runnable: Runnable) -> Pushed {
    let mut runnable = Some(runnable);
    // A thread that is ending has no current `run`.
    let alone = CURRENT.try_with(|current| {
        // This cannot panic: the cell is mutably borrowed only where no other code runs.
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

/// Uses the ring of the current `run`, if there is one. `using` must not call code of the
/// user's.
pub(crate) fn with<R>(using: impl FnOnce(Option<&ring::Owner<Runnable>>) -> R) -> R {
    CURRENT.with(|current| using(current.borrow().as_ref().map(|current| &current.ring)))
}

/// Makes `next` current, and returns what was current before. If the thread is ending,
/// returns `None` and does not change `next`.
pub(crate) fn replace(next: &mut Option<Current>) -> Option<Option<Current>> {
    CURRENT
        .try_with(|current| current.replace(next.take()))
        .ok()
}

/// No `run` is current on this thread until this value is dropped.
pub(crate) struct Aside(Option<Current>);

/// Hides the current `run` from code that this `run` does not poll.
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
