//! A word to sleep on, by the futex of Linux.
//!
//! The kernel compares the word with the value that the sleeper expects, and puts the
//! sleeper to sleep. With regard to wakes this is one step. See futex(2), and Hubertus
//! Franke, Rusty Russell, Matthew Kirkwood, *Fuss, Futexes and Furwocks: Fast Userlevel
//! Locking in Linux* (2002).
//!
//! Results and `errno` are ignored. A wait ends because of a wake, a signal, the time,
//! or a word that differs. In each case the caller reads the word and decides. A wake
//! that finds no sleeper is not an error.

use core::ops::Deref;
use core::ptr;
use core::time::Duration;

use crate::sync::atomic::AtomicU32;

/// A word that a thread can sleep on.
pub(super) struct Futex {
    word: AtomicU32,
}

impl Futex {
    /// A word with this value.
    pub(super) const fn new(value: u32) -> Self {
        Self {
            word: AtomicU32::new(value),
        }
    }

    /// Sleeps until woken if the word is `expected`. May return without a reason.
    pub(super) fn wait(&self, expected: u32) {
        self.futex_wait(expected, ptr::null());
    }

    /// Like [`wait`](Self::wait), but not much longer than `timeout`.
    pub(super) fn wait_timeout(&self, expected: u32, timeout: Duration) {
        let timeout = libc::timespec {
            // The kernel's clock does not run that long, so the cut changes nothing.
            tv_sec: timeout.as_secs().try_into().unwrap_or(libc::time_t::MAX),
            tv_nsec: timeout.subsec_nanos().into(),
        };
        self.futex_wait(expected, &timeout);
    }

    /// Wakes the sleeper, if there is one.
    pub(super) fn wake_one(&self) {
        // SAFETY: the address is that of a live, aligned 32-bit word, and the arguments
        // are those of futex(2). A wake neither reads nor writes memory of the process.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                self.word.as_ptr(),
                libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
                1_u32,
            );
        }
    }

    /// `timeout` is null (for ever) or points to the time to wait.
    fn futex_wait(&self, expected: u32, timeout: *const libc::timespec) {
        // SAFETY: the address is that of a live, aligned 32-bit word, which the
        // kernel reads atomically. `timeout` is null or points to a `timespec`
        // that the caller, a function of this file, keeps on the stack meanwhile.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                self.word.as_ptr(),
                libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
                expected,
                timeout,
            );
        }
    }
}

impl Deref for Futex {
    type Target = AtomicU32;

    fn deref(&self) -> &AtomicU32 {
        &self.word
    }
}
