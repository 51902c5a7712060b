//! Where a locked instruction is a full barrier.

use crate::sync::atomic::{AtomicI64, Ordering, compiler_fence};

/// `target.store(value, Release)`, then `fence(SeqCst)`.
///
/// Loads that must stay behind it must be SeqCst, too: then the language's order of
/// SeqCst operations guarantees what the processor does.
#[inline(always)]
pub fn store_and_fence(target: &AtomicI64, value: i64) {
    target.swap(value, Ordering::SeqCst);
}

/// `fence(SeqCst)`, right after a SeqCst read-modify-write that succeeded.
#[inline(always)]
pub fn fence_after_swap() {
    compiler_fence(Ordering::SeqCst);
}
