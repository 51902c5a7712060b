//! The asymmetric form, by `membarrier(2)` of Linux 4.14 and later.
//!
//! The first [`heavy`], or [`prepare`], asks the kernel whether it permits the call. Until then, and if
//! the kernel refuses, [`light`] is a real fence. A `heavy` that makes the call works
//! with both kinds of `light`, so it does not matter at which moment `light` changes.

use core::sync::atomic::{AtomicU8, Ordering, compiler_fence, fence};
use core::time::Duration;

const UNKNOWN: u8 = 0;
const PERMITTED: u8 = 1;
const REFUSED: u8 = 2;

/// Whether the call works. The state changes once, or twice if the permission is lost.
static STATE: AtomicU8 = AtomicU8::new(UNKNOWN);

/// `fence(SeqCst)`, cheap where that is possible.
#[inline(always)]
pub fn light() {
    // ORDERING: relaxed; an old value only costs a fence that is not needed.
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

/// Asks for permission, unless it is known already: then [`light`] costs nothing from now on.
pub fn prepare() {
    if STATE.load(Ordering::Relaxed) == UNKNOWN {
        introduce();
    }
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

/// A sandbox that was set up meanwhile forbids the call. From now on every thread executes
/// a real fence in `light`. Stores that other threads made before become visible by
/// themselves, in much less time than this function waits. This happens at most once in the
/// life of a process.
#[cold]
fn lose_permission() {
    STATE.store(REFUSED, Ordering::Relaxed);
    std::thread::sleep(Duration::from_millis(20));
}

fn membarrier(command: core::ffi::c_int) -> bool {
    // SAFETY: the arguments are those of membarrier(2). The call takes no pointers and
    // changes no memory.
    let result = unsafe { libc::syscall(libc::SYS_membarrier, command, 0_u32, 0) };
    result == 0
}
