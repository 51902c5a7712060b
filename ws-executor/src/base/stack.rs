//! How much of a worker's stack is used.
//!
//! While a nested `block_on` waits, its worker runs other tasks inside that call, on the same
//! stack. This decides whether there is room for that: less than half of the stack must be
//! used, so that such a task has at least the other half.

use ws_core::sync::stack_pointer;

use crate::base::tuning::MAX_NESTING;

/// The size of a stack that the standard library gives a thread by default, and the environment
/// variable that changes it.
const DEFAULT_SIZE: usize = 2 << 20;
const VARIABLE: &str = "RUST_MIN_STACK";

/// The size of a worker's stack, if the builder was not told another.
pub(crate) fn default_size() -> usize {
    let text = std::env::var(VARIABLE).ok();
    text.and_then(|text| text.parse().ok())
        .unwrap_or(DEFAULT_SIZE)
}

/// The stack of one thread.
pub(crate) struct Stack {
    base: usize,
    size: usize,
}

impl Stack {
    /// The calling thread's stack, which begins about here.
    pub(crate) fn begins_here(size: usize) -> Self {
        Self {
            base: stack_pointer(),
            size,
        }
    }

    /// Whether the stack has room to run tasks inside this `block_on`, which is nested
    /// `nesting` levels deep.
    pub(crate) fn has_room(&self, nesting: u32) -> bool {
        match self.used() {
            Some(used) => used < self.size / 2,
            None => nesting <= MAX_NESTING,
        }
    }

    /// How much is used; `None` if the calling code runs on some other stack.
    fn used(&self) -> Option<usize> {
        let used = self.base.checked_sub(stack_pointer())?;
        (used < self.size).then_some(used)
    }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::Stack;

    #[inline(never)]
    fn with_a_frame_of<const N: usize, R>(code: impl FnOnce() -> R) -> R {
        let frame = [0_u8; N];
        black_box(&frame);
        let result = code();
        black_box(&frame);
        result
    }

    #[test]
    fn room_is_half_of_it() {
        let stack = Stack::begins_here(200_000);
        assert!(stack.has_room(1_000));
        assert!(with_a_frame_of::<20_000, _>(|| stack.has_room(1_000)));
        assert!(!with_a_frame_of::<120_000, _>(|| stack.has_room(1)));
    }

    /// Whatever the addresses are, calls are counted then.
    #[test]
    fn on_another_stack_calls_are_counted() {
        for base in [0, usize::MAX] {
            let stack = Stack { base, size: 1_000 };
            assert_eq!(stack.used(), None);
            assert!(stack.has_room(32));
            assert!(!stack.has_room(33));
        }
    }
}
