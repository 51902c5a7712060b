//! Where the calling thread's stack is at, asked of the processor.
//!
//! The address of a local variable would do, but a sanitizer may put that elsewhere.

use core::arch::asm;

/// Returns the address up to which the calling thread's stack is in use, about.
#[inline]
#[must_use]
pub fn stack_pointer() -> usize {
    let address: usize;
    // SAFETY: copies one register, and changes nothing else.
    unsafe { asm!("mov {}, sp", out(reg) address, options(nomem, nostack, preserves_flags)) };
    address
}
