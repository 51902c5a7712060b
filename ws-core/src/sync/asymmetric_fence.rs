//! The plain form: both sides pay.

use crate::sync::atomic::{Ordering, fence};

/// `fence(SeqCst)`, cheap where that is possible.
#[inline(always)]
pub fn light() {
    fence(Ordering::SeqCst);
}

/// `fence(SeqCst)`, also against [`light`].
#[inline(always)]
pub fn heavy() {
    fence(Ordering::SeqCst);
}

/// Nothing: a [`light`] is always the same.
#[inline(always)]
pub fn prepare() {}
