//! A check in a process of its own.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A child that runs longer does not end at all: all models together are meant to take five
/// minutes, and the schedules of one program end after as many.
const WATCHDOG: Duration = Duration::from_secs(600);

/// How often a running child is looked at.
const LOOK: Duration = Duration::from_millis(2);

/// How a child ended.
pub(crate) struct Ending {
    /// `None` if it did not end, and was killed.
    pub(crate) status: Option<ExitStatus>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) elapsed: Duration,
}

/// This program.
pub(crate) fn this() -> PathBuf {
    std::env::current_exe().expect("this program has a path")
}

/// Runs a program to its end, or to the watchdog's.
pub(crate) fn run(program: &Path, arguments: &[&str]) -> Ending {
    let start = Instant::now();
    let mut child = Command::new(program)
        .args(arguments)
        .env_remove("RUST_BACKTRACE")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a child of this program starts");
    // Both pipes are emptied while the child runs: a full one would stop it.
    let stdout = read(child.stdout.take().expect("stdout is piped"));
    let stderr = read(child.stderr.take().expect("stderr is piped"));

    let status = loop {
        let status = child.try_wait().expect("a child can be waited for");
        if status.is_some() {
            break status;
        }
        if start.elapsed() > WATCHDOG {
            child.kill().expect("a running child can be killed");
            child.wait().expect("a killed child ends");
            break None;
        }
        thread::sleep(LOOK);
    };
    Ending {
        status,
        stdout: stdout.join().expect("the reader does not panic"),
        stderr: stderr.join().expect("the reader does not panic"),
        elapsed: start.elapsed(),
    }
}

fn read(mut pipe: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What could be read before an error is still worth showing.
        let _ = pipe.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// The last lines of an output, each cut to what a terminal shows.
pub(crate) fn tail(output: &str) -> String {
    let cut = |line: &str| line.chars().take(160).collect::<String>();
    let lines: Vec<String> = output.lines().map(cut).collect();
    lines[lines.len().saturating_sub(25)..].join("\n")
}
