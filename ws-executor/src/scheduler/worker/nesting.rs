//! How many calls of `block_on` run a worker, one inside the other.

use std::cell::Cell;

use super::forks::Forks;
use crate::base::stack::Stack;

/// The depth of the nested calls, and the stack that they use.
pub(super) struct Nesting {
    depth: Cell<u32>,
    stack: Stack,
}

impl Nesting {
    /// Must be called at the beginning of the worker's thread.
    pub(super) fn new(stack_size: usize) -> Self {
        Self {
            depth: Cell::new(0),
            stack: Stack::begins_here(stack_size),
        }
    }

    pub(super) fn depth(&self) -> u32 {
        self.depth.get()
    }

    /// Whether the stack has room for tasks that run inside a `block_on` that waits.
    pub(super) fn has_room(&self) -> bool {
        self.stack.has_room(self.depth.get())
    }

    /// Enters one more call, until the guard is dropped. A task that runs inside it is not in a
    /// join, even if the call is.
    pub(super) fn enter<'a>(&'a self, forks: &'a Forks) -> Nested<'a> {
        self.depth.set(self.depth.get() + 1);
        Nested {
            nesting: self,
            forks,
            in_join: forks.set_in_join(false),
        }
    }
}

/// A worker inside a nested call.
pub(crate) struct Nested<'a> {
    nesting: &'a Nesting,
    forks: &'a Forks,
    /// Whether the call is in a join.
    in_join: bool,
}

impl Nested<'_> {
    /// Whether the stack has room for tasks that run inside this call.
    pub(crate) fn has_room(&self) -> bool {
        self.nesting.has_room()
    }
}

impl Drop for Nested<'_> {
    fn drop(&mut self) {
        self.nesting.depth.set(self.nesting.depth.get() - 1);
        self.forks.set_in_join(self.in_join);
    }
}
