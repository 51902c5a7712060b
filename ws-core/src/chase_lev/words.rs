//! Items as machine words, so that a thief may read a slot while its owner
//! overwrites it.
//!
//! A thief reads the oldest slot *before* it knows whether it may have it: only
//! the compare-and-swap on `top` decides, and by then the owner may have filled
//! the slot anew. What the thief has read is thrown away in that case, but the
//! reading itself must not be a data race. Plain memory would be one, for any
//! `T`; so a slot is a row of atomic words, read and written one by one. A torn
//! item is never looked at: it is `MaybeUninit` until the swap has succeeded.
//!
//! The words are pointers, not integers, so that a pointer inside an item keeps
//! its provenance.
//!
//! Bytes that `T` leaves undefined (padding) must become *some* value before
//! they can be stored in an atomic; [`settle`] does that with an empty piece of
//! assembly, which costs no instruction. Where Rust has no inline assembly (and
//! under Miri) `boxed.rs` stands in.

use core::arch::asm;
use core::mem::MaybeUninit;
use core::ptr;

use crate::sync::atomic::{AtomicPtr, Ordering};

/// One atomic word of a slot.
pub(super) type Word = AtomicPtr<()>;

const WORD: usize = size_of::<*mut ()>();

/// How many words an item takes; none at all for a zero-sized one.
pub(super) const fn per_item<T>() -> usize {
    size_of::<T>().div_ceil(WORD)
}

/// An item's bits, which may be torn or another's: not yet an item.
pub(super) struct Bits<T>(MaybeUninit<T>);

impl<T> Bits<T> {
    /// Makes the bits an item.
    ///
    /// # Safety
    ///
    /// The bits were loaded from a slot that held an item for the whole time,
    /// and no one else takes that item.
    #[inline(always)]
    pub(super) unsafe fn into_item(self) -> T {
        // SAFETY: the caller promises that these are an item's bits.
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
        // SAFETY: `offset` is below the item's size.
        let source = unsafe { bytes.add(offset) };
        // SAFETY: both sides have that many bytes: the item ends at its size,
        // and a word is as long as a word.
        unsafe { ptr::copy_nonoverlapping(source, bits.as_mut_ptr().cast(), length::<T>(offset)) };
        // ORDERING: relaxed; `bottom` publishes the slot.
        word.store(settle(bits), Ordering::Relaxed);
    }
}

/// Copies a slot's words, whoever they belong to.
#[inline(always)]
pub(super) fn load<T>(slot: &[Word]) -> Bits<T> {
    let mut item = MaybeUninit::<T>::uninit();
    let bytes = item.as_mut_ptr().cast::<u8>();
    for (index, word) in slot.iter().enumerate() {
        // ORDERING: relaxed; `bottom` made the slot visible.
        let bits = word.load(Ordering::Relaxed);
        let offset = index * WORD;
        // SAFETY: `offset` is below the item's size.
        let target = unsafe { bytes.add(offset) };
        // SAFETY: as in `store`.
        unsafe { ptr::copy_nonoverlapping((&raw const bits).cast(), target, length::<T>(offset)) };
    }
    Bits(item)
}

/// The bytes of an item in the word at `offset`.
#[inline(always)]
const fn length<T>(offset: usize) -> usize {
    let rest = size_of::<T>() - offset;
    if rest < WORD { rest } else { WORD }
}

/// Gives undefined bits some value, whatever is in the register.
#[inline(always)]
fn settle(mut bits: MaybeUninit<*mut ()>) -> *mut () {
    // SAFETY: the assembly is empty.
    unsafe { asm!("/* {0} */", inout(reg) bits, options(pure, nomem, nostack, preserves_flags)) };
    // SAFETY: the compiler has to assume that the assembly wrote its operand.
    unsafe { bits.assume_init() }
}
