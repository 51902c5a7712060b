//! The system calls of a server, counted by strace. Where that is not installed, or not
//! allowed, nobody knows.
//!
//! A server that is traced is several times slower, so this is a pass of its own. With many
//! connections it falls behind, and sleeps less often than it would.

use std::io::{self, BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

/// Counts the system calls of a process while `load` runs; `None` if that is impossible.
pub(crate) fn during<T>(
    process: u32,
    load: impl FnOnce() -> io::Result<T>,
) -> io::Result<Option<(u64, T)>> {
    let Some(mut strace) = attach(process) else {
        return Ok(None);
    };
    let loaded = load();
    let calls = detach(&mut strace);
    // It has ended, or does when its process does.
    let _ = strace.wait();
    let loaded = loaded?;
    Ok(calls.map(|calls| (calls, loaded)))
}

/// Starts strace, and waits until it has the process.
fn attach(process: u32) -> Option<Child> {
    let mut strace = Command::new("strace")
        .args(["-f", "-c", "-U", "calls,name", "-p", &process.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    let mut said = String::new();
    let mut stderr = BufReader::new(strace.stderr.take()?);
    stderr.read_line(&mut said).ok()?;
    strace.stderr = Some(stderr.into_inner());
    if said.contains("attached") {
        return Some(strace);
    }
    let _ = strace.wait();
    None
}

/// Ends strace, and reads its table.
fn detach(strace: &mut Child) -> Option<u64> {
    let interrupt = Command::new("kill")
        .args(["-INT", &strace.id().to_string()])
        .status();
    if !interrupt.is_ok_and(|status| status.success()) {
        return None;
    }
    let mut table = String::new();
    strace.stderr.take()?.read_to_string(&mut table).ok()?;
    let total = table.lines().rev().find(|line| line.ends_with("total"))?;
    total.split_whitespace().next()?.parse().ok()
}
