//! Which cores a thread may run on, on Linux; elsewhere nothing is pinned.

use libc::{CPU_ISSET, CPU_SET, CPU_SETSIZE, CPU_ZERO, cpu_set_t};

/// The cores that the calling thread may run on.
pub(crate) fn cores() -> Vec<usize> {
    let mut set = empty();
    let size = size_of::<cpu_set_t>();
    // SAFETY: `set` is a valid set of `size` bytes; 0 is the calling thread.
    let failed = unsafe { libc::sched_getaffinity(0, size, &mut set) };
    assert_eq!(failed, 0, "sched_getaffinity");
    let may_use = |core: &usize| {
        // SAFETY: the core is below the size of the set.
        unsafe { CPU_ISSET(*core, &set) }
    };
    (0..CPU_SETSIZE as usize).filter(may_use).collect()
}

/// Pins the calling thread to one core.
pub(crate) fn pin_to(core: usize) {
    let mut set = empty();
    // SAFETY: the core came from `cores`, so it is below the size of the set.
    unsafe { CPU_SET(core, &mut set) };
    let size = size_of::<cpu_set_t>();
    // SAFETY: `set` is a valid set of `size` bytes; 0 is the calling thread.
    let failed = unsafe { libc::sched_setaffinity(0, size, &set) };
    assert_eq!(failed, 0, "sched_setaffinity");
}

fn empty() -> cpu_set_t {
    // SAFETY: a set is an array of bits, for which zeros are valid.
    let mut set: cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: it is a valid set.
    unsafe { CPU_ZERO(&mut set) };
    set
}
