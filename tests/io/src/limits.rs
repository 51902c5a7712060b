//! How many descriptors this process may have, and has.

use std::fs;

/// Raises the limit on open descriptors to at least `wanted`, if the system allows it.
///
/// # Panics
///
/// If it does not: a test that needs them says so instead of failing somewhere else.
pub fn need_descriptors(wanted: u64) {
    let (soft, hard) = descriptor_limits();
    if soft >= wanted {
        return;
    }
    assert!(
        hard >= wanted,
        "this test needs {wanted} open descriptors, but the hard limit is {hard}: \
         raise it (ulimit -Hn {wanted}) to run the test"
    );
    limit_descriptors(wanted);
}

/// The soft and the hard limit.
///
/// # Panics
///
/// If the system does not tell.
pub fn descriptor_limits() -> (u64, u64) {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the pointer is valid for writing an `rlimit`.
    let result = unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) };
    assert_eq!(result, 0, "the system tells its limits");
    (limit.rlim_cur, limit.rlim_max)
}

/// Sets the soft limit.
///
/// # Panics
///
/// If it is above the hard one.
pub fn limit_descriptors(soft: u64) {
    let limit = libc::rlimit {
        rlim_cur: soft,
        rlim_max: descriptor_limits().1,
    };
    // SAFETY: the pointer is valid for reading an `rlimit`.
    let result = unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) };
    assert_eq!(result, 0, "a soft limit up to the hard one may be set");
}

/// How many descriptors are open.
///
/// # Panics
///
/// If the system does not tell.
pub fn open_descriptors() -> usize {
    // One of them is that of the directory itself.
    fs::read_dir("/proc/self/fd")
        .expect("the system tells")
        .count()
        - 1
}
