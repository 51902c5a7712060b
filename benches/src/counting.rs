//! What work allocates: the system's allocator with a counter that is off.
//!
//! A counter that every allocation of every thread writes would slow down what
//! is timed, and most of all whoever allocates on many threads at once. So it
//! counts only while [`counted`] runs; elsewhere it costs one load of a value
//! that nobody writes.
//!
//! It counts the bytes asked for, not what the system's allocator makes of them.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The system's allocator, which [`counted`] can look at. A program that wants
/// to count makes it its `#[global_allocator]`.
#[derive(Debug)]
pub struct Counting;

static ON: AtomicBool = AtomicBool::new(false);
static BYTES: AtomicU64 = AtomicU64::new(0);
static BLOCKS: AtomicU64 = AtomicU64::new(0);

/// What was allocated; what was freed meanwhile is not subtracted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocated {
    /// The bytes asked for; of a block that grew, those that it grew by.
    pub bytes: u64,
    /// The calls, those that let a block grow included.
    pub blocks: u64,
}

/// Runs `work` and returns what all threads allocated meanwhile; nothing, unless
/// [`Counting`] is the global allocator.
///
/// ```
/// use benches::counting::{Counting, counted};
/// #[global_allocator]
/// static ALLOCATOR: Counting = Counting;
///
/// let (word, allocated) = counted(|| Box::new([0_u8; 100]));
/// assert_eq!((allocated.bytes, allocated.blocks), (100, 1));
/// drop(word);
/// ```
pub fn counted<R>(work: impl FnOnce() -> R) -> (R, Allocated) {
    let now = || (BYTES.load(Ordering::SeqCst), BLOCKS.load(Ordering::SeqCst));
    let (bytes, blocks) = now();
    ON.store(true, Ordering::SeqCst);
    let result = work();
    ON.store(false, Ordering::SeqCst);
    let (bytes_now, blocks_now) = now();
    let allocated = Allocated {
        bytes: bytes_now - bytes,
        blocks: blocks_now - blocks,
    };
    (result, allocated)
}

#[inline]
fn note(bytes: usize) {
    if ON.load(Ordering::Relaxed) {
        BYTES.fetch_add(bytes as u64, Ordering::Relaxed);
        BLOCKS.fetch_add(1, Ordering::Relaxed);
    }
}

// SAFETY: every call goes to the system's allocator, unchanged.
unsafe impl GlobalAlloc for Counting {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller's promise is the one asked for here.
        unsafe { System.alloc(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller's promise is the one asked for here.
        unsafe { System.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size.saturating_sub(layout.size()));
        // SAFETY: the caller's promise is the one asked for here; the block came
        // from the system's allocator.
        unsafe { System.realloc(block, layout, size) }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is the one asked for here; the block came
        // from the system's allocator.
        unsafe { System.dealloc(block, layout) }
    }
}
