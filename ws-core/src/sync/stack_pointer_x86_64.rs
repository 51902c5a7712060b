//! The stack pointer of the calling thread, read from its register.
//!
//! The address of a local variable would be enough, but a sanitizer may put local
//! variables elsewhere.

use core::arch::asm;

/// Returns about the address up to which the calling thread's stack is in use.
#[inline]
#[must_use]
pub fn stack_pointer() -> usize {
    let address: usize;
    // SAFETY: the code copies one register into `address` and changes nothing else.
    unsafe { asm!("mov {}, rsp", out(reg) address, options(nomem, nostack, preserves_flags)) };
    address
}
