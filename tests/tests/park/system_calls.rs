//! [`ThreadParker`] makes no system call when it need not.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

use ws_core::{Park, ThreadParker, Unpark};

const PAIRS: u32 = 100_000;

/// Gives and takes tokens on one thread, by every call that may find one.
fn give_and_take(parker: &ThreadParker, unparker: &impl Unpark) {
    for _ in 0..PAIRS {
        unparker.unpark();
        unparker.unpark();
        parker.park();
        unparker.unpark();
        parker.park_timeout(Duration::MAX);
        unparker.unpark();
        parker.park_timeout(Duration::ZERO);
        parker.park_timeout(Duration::ZERO);
    }
}

#[test]
fn tokens_do_not_switch_threads() {
    let switches = thread::spawn(|| {
        let parker = ThreadParker::new();
        let before = voluntary_switches();
        give_and_take(&parker, &parker.unparker());
        voluntary_switches() - before
    });
    // Reading the file, and page faults, may take some.
    assert!(switches.join().unwrap() < u64::from(PAIRS) / 1_000);
}

/// How often this thread has given up the processor.
fn voluntary_switches() -> u64 {
    let status = fs::read_to_string("/proc/thread-self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    line.unwrap().trim().parse().unwrap()
}

/// What became of a thread that may only read and write.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Finished,
    /// It made another system call, and the kernel ended it.
    Killed,
    /// The kernel offers no strict mode here, as in many containers.
    Unavailable,
}

/// Runs `work` on a thread in the strict mode of seccomp(2).
///
/// The thread reports by a byte, as it may write, and then reads for ever, as it
/// may do nothing else: ending a thread takes other system calls.
fn run_without_system_calls(
    mut work: impl FnMut() + Send + 'static,
    patience: Duration,
) -> Outcome {
    let (mut here, there) = UnixStream::pair().unwrap();
    here.set_read_timeout(Some(patience)).unwrap();
    // As a file, because a socket is written to by send(2).
    let mut there = File::from(OwnedFd::from(there));
    thread::spawn(move || {
        // SAFETY: this restricts the calling thread and touches no memory.
        let failed = unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_STRICT) };
        if failed == 0 {
            work();
        }
        let report = if failed == 0 { b'f' } else { b'u' };
        let _ = there.write(&[report]);
        let _ = there.read(&mut [0]);
    });
    let mut report = [0];
    let outcome = match here.read_exact(&mut report) {
        Ok(()) if report == [b'f'] => Outcome::Finished,
        Ok(()) => Outcome::Unavailable,
        Err(_) => Outcome::Killed,
    };
    // Closing it would end the read, and the thread would go on.
    std::mem::forget(here);
    outcome
}

#[test]
fn tokens_make_no_system_call() {
    // First that the judge works: yielding is a system call.
    let judge = run_without_system_calls(thread::yield_now, Duration::from_millis(300));
    if judge == Outcome::Unavailable {
        eprintln!("skipped: no strict mode of seccomp here");
        return;
    }
    assert_eq!(judge, Outcome::Killed);
    // Made before, as an allocation may take a system call.
    let parker = ThreadParker::new();
    let unparker = parker.unparker();
    let work = move || give_and_take(&parker, &unparker);
    let outcome = run_without_system_calls(work, Duration::from_secs(30));
    // Where there is no strict mode, the first thread may have been too late to say so.
    assert_ne!(outcome, Outcome::Killed);
}
