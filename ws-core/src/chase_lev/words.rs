//! Items as machine words, so that a thief may read a slot while the owner
//! overwrites it.
//!
//! A thief reads the oldest slot *before* it knows whether it may take the item. Only
//! the compare-and-swap on `top` decides, and by then the owner may have written
//! another item into the slot. In that case the thief discards what it has read. But
//! the read itself must not be a data race, and a read of plain memory would be one,
//! for any `T`. So a slot is a row of atomic words, which are read and written one by
//! one. A torn item is never used: the bits are `MaybeUninit` until the swap has
//! succeeded.
//!
//! The words are pointers, not integers, so that a pointer inside an item keeps
//! its provenance.
//!
//! Bytes that `T` leaves undefined (padding) must become *some* value before they can
//! be stored in an atomic. [`settle`] does that with an empty piece of assembly, which
//! costs no instruction. Where Rust has no inline assembly, and under Miri, `boxed.rs`
//! replaces this file.

use core::arch::asm;
use core::mem::MaybeUninit;
use core::ptr;

use crate::sync::atomic::{AtomicPtr, Ordering};

/// One atomic word of a slot.
pub(super) type Word = AtomicPtr<()>;

const WORD: usize = size_of::<*mut ()>();

/// How many words an item takes; none for a zero-sized item.
pub(super) const fn per_item<T>() -> usize {
    size_of::<T>().div_ceil(WORD)
}

/// The bits of an item. They may be torn, or the item may belong to another thread.
pub(super) struct Bits<T>(MaybeUninit<T>);

impl<T> Bits<T> {
    /// Makes the bits an item.
    ///
    /// # Safety
    ///
    /// The bits must be loaded from a slot that held one item for the whole time,
    /// and nothing else may take that item.
    #[inline(always)]
    pub(super) unsafe fn into_item(self) -> T {
        // SAFETY: the caller promises that these are all bits of one item, and that
        // nothing else takes that item.
        unsafe { self.0.assume_init() }
    }
}

/// Moves `item` into a slot.
#[inline(always)]
pub(super) fn store<T>(slot: &[Word], item: T) {
    let item = MaybeUninit::new(item);
    let bytes = item.as_ptr().cast::<u8>();
    for (index, word) in slot.iter().enumerate() {
        let mut bits = MaybeUninit::<*mut ()>::uninit();
        let offset = index * WORD;
        // SAFETY: a slot has `per_item` words, so `offset` is below the item's size.
        let source = unsafe { bytes.add(offset) };
        // SAFETY: `length` is at most what is left of the item, and at most one word,
        // so both sides have that many bytes. They are two variables and do not overlap.
        unsafe { ptr::copy_nonoverlapping(source, bits.as_mut_ptr().cast(), length::<T>(offset)) };
        // ORDERING: relaxed; `bottom` publishes the slot.
        word.store(settle(bits), Ordering::Relaxed);
    }
}

/// Copies a slot's words, also if the item belongs to another thread.
#[inline(always)]
pub(super) fn load<T>(slot: &[Word]) -> Bits<T> {
    let mut item = MaybeUninit::<T>::uninit();
    let bytes = item.as_mut_ptr().cast::<u8>();
    for (index, word) in slot.iter().enumerate() {
        // ORDERING: relaxed; `bottom` made the slot visible.
        let bits = word.load(Ordering::Relaxed);
        let offset = index * WORD;
        // SAFETY: a slot has `per_item` words, so `offset` is below the item's size.
        let target = unsafe { bytes.add(offset) };
        // SAFETY: as in `store`: both sides have `length` bytes and do not overlap.
        unsafe { ptr::copy_nonoverlapping((&raw const bits).cast(), target, length::<T>(offset)) };
    }
    Bits(item)
}

/// How many bytes of an item are in the word at `offset`.
#[inline(always)]
const fn length<T>(offset: usize) -> usize {
    let rest = size_of::<T>() - offset;
    if rest < WORD { rest } else { WORD }
}

/// Gives undefined bits some value, whatever is in the register.
#[inline(always)]
fn settle(mut bits: MaybeUninit<*mut ()>) -> *mut () {
    // SAFETY: the assembly is empty, so it keeps all that its options promise.
    unsafe { asm!("/* {0} */", inout(reg) bits, options(pure, nomem, nostack, preserves_flags)) };
    // SAFETY: the compiler must assume that the assembly wrote its operand.
    unsafe { bits.assume_init() }
}
