//! The part of a worker that is about the tasks that are pinned to it.

use std::cell::Cell;
use std::rc::Rc;

/// Whose turn it is, and how many pinned futures live on this thread.
#[derive(Default)]
pub(super) struct PinnedTasks {
    /// Whether the last job was a pinned one.
    had_turn: Cell<bool>,
    futures: Rc<Cell<usize>>,
}

impl PinnedTasks {
    /// Whether the pinned tasks go first: unless the last job was a pinned one.
    #[inline]
    pub(super) fn are_in_turn(&self) -> bool {
        !self.had_turn.take()
    }

    /// A pinned job had its turn.
    #[inline]
    pub(super) fn had_turn(&self) {
        self.had_turn.set(true);
    }

    /// Counts a future that lives on this thread, until the guard is dropped.
    pub(super) fn count(&self) -> PinnedFuture {
        self.futures.set(self.futures.get() + 1);
        PinnedFuture(Rc::clone(&self.futures))
    }

    /// Whether no pinned future lives on this thread.
    pub(super) fn are_gone(&self) -> bool {
        self.futures.get() == 0
    }
}

/// A future that lives on this thread.
pub(crate) struct PinnedFuture(Rc<Cell<usize>>);

impl Drop for PinnedFuture {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}
