//! The asymmetric form, by `membarrier(2)` of Linux 4.14 and later.
//!
//! Whether the kernel lets us is found out by the first [`heavy`]. Until then, and
//! if it does not, [`light`] is a real fence. A `heavy` that makes the call is good
//! against both kinds of `light`, so the moment of the change needs no care.

use core::sync::atomic::{AtomicU8, Ordering, compiler_fence, fence};
use core::time::Duration;

const UNKNOWN: u8 = 0;
const PERMITTED: u8 = 1;
const REFUSED: u8 = 2;

/// Whether the call works. It changes once, or twice if it is taken from us.
static STATE: AtomicU8 = AtomicU8::new(UNKNOWN);

/// `fence(SeqCst)`, cheap where that is possible.
#[inline(always)]
pub fn light() {
    // ORDERING: relaxed; an old value makes us pay for nothing, no more.
    if STATE.load(Ordering::Relaxed) == PERMITTED {
        compiler_fence(Ordering::SeqCst);
    } else {
        fence(Ordering::SeqCst);
    }
}

/// `fence(SeqCst)`, also against [`light`].
pub fn heavy() {
    fence(Ordering::SeqCst);
    match STATE.load(Ordering::Relaxed) {
        PERMITTED => fence_everywhere(),
        UNKNOWN => introduce(),
        _ => {}
    }
    fence(Ordering::SeqCst);
}

/// The first call: asks for permission.
#[cold]
fn introduce() {
    let permitted = membarrier(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED)
        && membarrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED);
    let state = if permitted { PERMITTED } else { REFUSED };
    STATE.store(state, Ordering::Relaxed);
}

#[inline]
fn fence_everywhere() {
    if !membarrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED) {
        lose_permission();
    }
}

/// A sandbox that was set up meanwhile forbids the call. From now on everyone
/// fences; what others have stored before gets out by itself, in much less than
/// the time waited here. It happens once in the life of a process, if ever.
#[cold]
fn lose_permission() {
    STATE.store(REFUSED, Ordering::Relaxed);
    std::thread::sleep(Duration::from_millis(20));
}

fn membarrier(command: core::ffi::c_int) -> bool {
    // SAFETY: the call takes no pointers and changes no memory.
    let result = unsafe { libc::syscall(libc::SYS_membarrier, command, 0_u32, 0) };
    result == 0
}
