//! A test that waits for an event must not hang for ever when it never comes.

use std::io::{self, Write};
use std::process;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// How long a test may take: generous, because the machine may be loaded. A
/// bound on time finds hangs, it does not measure speed.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// Runs `test`; if it is not done after [`PATIENCE`], prints what every thread
/// of the process is doing and aborts.
///
/// ```
/// assert_eq!(tests::watchdog::guard("addition", || 1 + 1), 2);
/// ```
pub fn guard<R>(name: &str, test: impl FnOnce() -> R) -> R {
    let (done, ended) = mpsc::channel::<()>();
    let name = name.to_owned();
    let dog = thread::spawn(move || {
        if ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            // Not by `eprintln`: the test runner keeps that to itself until the test ends.
            let _ = writeln!(io::stderr(), "watchdog: `{name}` hangs after {PATIENCE:?}");
            print_threads();
            process::abort();
        }
    });
    let result = test();
    drop(done);
    dog.join().expect("the watchdog only waits");
    result
}

/// Prints the state and the system call of each thread, where the system tells.
fn print_threads() {
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else {
        return;
    };
    for thread in threads.flatten() {
        let read = |file: &str| std::fs::read_to_string(thread.path().join(file));
        let state = read("stat").unwrap_or_default();
        let call = read("syscall").unwrap_or_default();
        let _ = writeln!(io::stderr(), "  {} | {}", state.trim(), call.trim());
    }
}
