//! An allocator that overwrites freed memory, so that a use after free shows.
//!
//! loom watches atomics and cells but not the memory they lie in. Both hold an
//! index into loom's tables; poisoned, that index is out of range, and the first
//! stale access panics instead of quietly reading what was there before.

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator, with poison on every free.
pub(crate) struct Poison;

/// As an index this is out of range everywhere.
const PATTERN: u8 = 0xA5;

// SAFETY: every call is handed to the system's allocator; the only addition
// writes to a block that its owner gave up and the allocator does not have yet.
unsafe impl GlobalAlloc for Poison {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the block has this layout and belongs to the caller until the
        // call below.
        unsafe { block.write_bytes(PATTERN, layout.size()) };
        // Stores to memory that is about to be freed may be removed as dead.
        let block = std::hint::black_box(block);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(block, layout) }
    }
}
