//! A word to sleep on, by the futex of Linux.
//!
//! The kernel compares the word with what the sleeper expects and puts it to sleep
//! as one step with regard to wakes; see futex(2), and Hubertus Franke, Rusty
//! Russell, Matthew Kirkwood, *Fuss, Futexes and Furwocks: Fast Userlevel Locking
//! in Linux* (2002).
//!
//! Results and `errno` are not looked at. A wait ends because of a wake, a signal,
//! the time, or a word that differs, and after each of these the caller reads the
//! word and decides. A wake that finds no sleeper is no error.

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

    /// Sleeps until woken if the word is `expected`; may return for no reason.
    pub(super) fn wait(&self, expected: u32) {
        self.futex_wait(expected, ptr::null());
    }

    /// Like [`wait`](Self::wait), but not much longer than `timeout`.
    pub(super) fn wait_timeout(&self, expected: u32, timeout: Duration) {
        let timeout = libc::timespec {
            // Longer than the kernel's clock runs: cutting it off changes nothing.
            tv_sec: timeout.as_secs().try_into().unwrap_or(libc::time_t::MAX),
            tv_nsec: timeout.subsec_nanos().into(),
        };
        self.futex_wait(expected, &timeout);
    }

    /// Wakes the sleeper, if there is one.
    pub(super) fn wake_one(&self) {
        // SAFETY: the address is that of a live, aligned 32-bit word. Waking reads
        // no memory and leaves nothing behind.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                self.word.as_ptr(),
                libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
                1_u32,
            );
        }
    }

    /// `timeout` is null, for ever, or points to how long to wait.
    fn futex_wait(&self, expected: u32, timeout: *const libc::timespec) {
        // SAFETY: the address is that of a live, aligned 32-bit word, which the
        // kernel reads atomically; `timeout` is null or points to a `timespec`
        // that its only caller keeps on the stack during this call.
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
