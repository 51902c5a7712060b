//! Items behind one pointer each: the replacement for `words.rs` where Rust has no
//! inline assembly. It is sound everywhere and costs one allocation per push.

use alloc::boxed::Box;
use core::marker::PhantomData;

use crate::sync::atomic::{AtomicPtr, Ordering};

/// One atomic word of a slot.
pub(super) type Word = AtomicPtr<()>;

/// How many words an item takes.
pub(super) const fn per_item<T>() -> usize {
    1
}

/// A pointer to an item that may belong to another thread.
pub(super) struct Bits<T>(*mut (), PhantomData<T>);

impl<T> Bits<T> {
    /// Makes the bits an item.
    ///
    /// # Safety
    ///
    /// The bits must be loaded from a slot that held one item for the whole time,
    /// and nothing else may take that item.
    #[inline]
    pub(super) unsafe fn into_item(self) -> T {
        // SAFETY: `store` made the pointer from a box of this type, and the
        // caller promises that nothing else takes the item.
        *unsafe { Box::from_raw(self.0.cast::<T>()) }
    }
}

/// Moves `item` into a slot.
#[inline]
pub(super) fn store<T>(slot: &[Word], item: T) {
    // ORDERING: relaxed; `bottom` publishes the slot and the box.
    slot[0].store(Box::into_raw(Box::new(item)).cast(), Ordering::Relaxed);
}

/// Copies a slot's word, also if the item belongs to another thread.
#[inline]
pub(super) fn load<T>(slot: &[Word]) -> Bits<T> {
    // ORDERING: relaxed; `bottom` made the slot visible.
    Bits(slot[0].load(Ordering::Relaxed), PhantomData)
}
