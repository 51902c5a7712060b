//! How much of a worker's stack is used.
//!
//! While a nested `block_on` waits, other tasks run on top of it. This decides whether
//! there is room for that: as long as less than half of the stack is used, so that a task
//! on top has at least the other half.

use ws_core::sync::stack_pointer;

use crate::tuning::MAX_NESTING;

/// What the standard library gives a thread if nothing else is said, and the variable
/// that says something else.
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
    /// The calling thread's, which begins about here.
    pub(crate) fn begins_here(size: usize) -> Self {
        Self {
            base: stack_pointer(),
            size,
        }
    }

    /// Whether a task may run on top of this call, which is number `nesting` of those that
    /// are one inside the other.
    pub(crate) fn has_room(&self, nesting: u32) -> bool {
        match self.used() {
            Some(used) => used < self.size / 2,
            None => nesting <= MAX_NESTING,
        }
    }

    /// How much is used, unless the calling code runs on some other stack.
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
