//! The plain form, for all other processors and for the models.

use crate::sync::atomic::{AtomicI64, Ordering, fence};

/// `target.store(value, Release)`, then `fence(SeqCst)`.
#[inline(always)]
pub fn store_and_fence(target: &AtomicI64, value: i64) {
    target.store(value, Ordering::Release);
    fence(Ordering::SeqCst);
}

/// `fence(SeqCst)`, right after a SeqCst read-modify-write that succeeded.
#[inline(always)]
pub fn fence_after_swap() {
    fence(Ordering::SeqCst);
}
