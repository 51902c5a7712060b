//! Cores and CPU time on Linux, through libc.

use std::mem::{self, MaybeUninit};
use std::time::Duration;

use crate::usage::Usage;

/// How long the calling thread has been running on a core.
pub(crate) fn thread_cpu_time() -> Option<Duration> {
    time_of(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// How long all threads of the process have been running on a core.
pub(crate) fn process_cpu_time() -> Option<Duration> {
    time_of(libc::CLOCK_PROCESS_CPUTIME_ID)
}

fn time_of(clock: libc::clockid_t) -> Option<Duration> {
    let mut time = MaybeUninit::uninit();
    // SAFETY: the pointer is valid for a write of a `timespec`.
    let failed = unsafe { libc::clock_gettime(clock, time.as_mut_ptr()) };
    if failed != 0 {
        return None;
    }
    // SAFETY: the call succeeded and has written the time.
    let time: libc::timespec = unsafe { time.assume_init() };
    Some(Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
}

/// What all threads of the process have used.
pub(crate) fn process_usage() -> Option<Usage> {
    usage_of(libc::RUSAGE_SELF)
}

/// What the calling thread has used.
pub(crate) fn thread_usage() -> Option<Usage> {
    usage_of(libc::RUSAGE_THREAD)
}

fn usage_of(who: libc::c_int) -> Option<Usage> {
    let mut usage = MaybeUninit::uninit();
    // SAFETY: the pointer is valid for a write of an `rusage`.
    let failed = unsafe { libc::getrusage(who, usage.as_mut_ptr()) };
    if failed != 0 {
        return None;
    }
    // SAFETY: the call succeeded and has written the usage.
    let usage: libc::rusage = unsafe { usage.assume_init() };
    let span = |time: libc::timeval| Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1_000);
    Some(Usage {
        cpu: span(usage.ru_utime) + span(usage.ru_stime),
        voluntary: usage.ru_nvcsw as u64,
        involuntary: usage.ru_nivcsw as u64,
    })
}

/// The cores that the calling thread may use.
pub(crate) fn cores() -> Vec<usize> {
    let mut set = no_cores();
    // SAFETY: the pointer is valid for a write of that many bytes.
    let failed = unsafe { libc::sched_getaffinity(0, size_of_val(&set), &mut set) };
    if failed != 0 {
        return Vec::new();
    }
    // SAFETY: the numbers are below the size of the set.
    let allowed = |core: &usize| unsafe { libc::CPU_ISSET(*core, &set) };
    (0..libc::CPU_SETSIZE as usize).filter(allowed).collect()
}

/// Ties the calling thread to `core`; says whether that worked.
pub(crate) fn pin(core: usize) -> bool {
    if core >= libc::CPU_SETSIZE as usize {
        return false;
    }
    let mut set = no_cores();
    // SAFETY: the number is below the size of the set.
    unsafe { libc::CPU_SET(core, &mut set) };
    // SAFETY: the pointer is valid for a read of that many bytes.
    unsafe { libc::sched_setaffinity(0, size_of_val(&set), &set) == 0 }
}

fn no_cores() -> libc::cpu_set_t {
    // SAFETY: the set is an array of integers, for which zero is valid.
    unsafe { mem::zeroed() }
}
