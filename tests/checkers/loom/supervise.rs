//! Running children and judging how they ended.

use std::collections::VecDeque;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use super::child::EXPLORED;
use super::model::Expect;
use super::registry::Entry;

/// Models explored at the same time. Each is one thread of computation; two fit
/// the smallest machine these run on.
const AT_ONCE: usize = 2;

/// A child that runs longer does not end at all: the whole suite is meant to
/// take five minutes.
const WATCHDOG: Duration = Duration::from_secs(600);

/// How often a running child is looked at.
const LOOK: Duration = Duration::from_millis(2);

/// Lines of a child's output shown when it fails unexpectedly.
const TAIL: usize = 25;

/// Set by the user to replay one failure; see `README.md`.
pub(crate) const CHECKPOINT: &str = "LOOM_CHECKPOINT_FILE";

/// How one exploration ended.
pub(crate) struct Report {
    /// What to print as the outcome, or what is wrong.
    pub(crate) verdict: Result<String, String>,
    /// Interleavings explored; `None` when the exploration did not end.
    pub(crate) explored: Option<u64>,
    pub(crate) elapsed: Duration,
    pub(crate) stderr: String,
}

/// Explores `entry` in a child of this program and judges it by the entry's
/// expectation.
pub(crate) fn explore(entry: &Entry) -> Report {
    let program = std::env::current_exe().expect("this program has a path");
    let ending = spawn(&program, &entry.name);
    let explored = ending.explored();
    let verdict = match entry.model.expect {
        Expect::Holds => ending.judge_holding(explored, entry.floor),
        Expect::Fails(fragment) => ending.judge_failing(fragment),
    };
    Report {
        verdict,
        explored,
        elapsed: ending.elapsed,
        stderr: ending.stderr,
    }
}

/// How a child ended.
pub(crate) struct Ending {
    succeeded: bool,
    hung: bool,
    stdout: String,
    pub(crate) stderr: String,
    pub(crate) elapsed: Duration,
}

/// Runs `program --model name` to its end, or to the watchdog's.
pub(crate) fn spawn(program: &Path, name: &str) -> Ending {
    let start = Instant::now();
    let mut child = Command::new(program)
        .args(["--model", name])
        .env_remove("RUST_BACKTRACE")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a child of this program starts");
    // Both pipes are emptied while the child runs: a full one would stop it.
    let stdout = read(child.stdout.take().expect("stdout is piped"));
    let stderr = read(child.stderr.take().expect("stderr is piped"));

    let mut hung = false;
    let status = loop {
        match child.try_wait().expect("a child can be waited for") {
            Some(status) => break status,
            None if start.elapsed() > WATCHDOG => {
                hung = true;
                child.kill().expect("a running child can be killed");
                break child.wait().expect("a killed child ends");
            }
            None => thread::sleep(LOOK),
        }
    };
    Ending {
        succeeded: status.success(),
        hung,
        stdout: stdout.join().expect("the reader does not panic"),
        stderr: stderr.join().expect("the reader does not panic"),
        elapsed: start.elapsed(),
    }
}

fn read(mut pipe: impl std::io::Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What could be read before an error is still worth showing.
        let _ = pipe.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

impl Ending {
    /// Whether the child explored its whole space without a failure.
    pub(crate) fn held(&self) -> bool {
        self.succeeded && self.explored().is_some()
    }

    /// The first line that says what failed, when loom or an assertion said so.
    pub(crate) fn failure(&self) -> Option<&str> {
        if self.hung || self.succeeded {
            return None;
        }
        let mut lines = self.stderr.lines();
        lines.find(|line| line.contains("panicked at"))?;
        lines.map(str::trim).find(|line| !line.is_empty())
    }

    fn explored(&self) -> Option<u64> {
        let line = self
            .stdout
            .lines()
            .find_map(|line| line.strip_prefix(EXPLORED))?;
        line.parse().ok()
    }

    fn judge_holding(&self, explored: Option<u64>, floor: u64) -> Result<String, String> {
        let replay = std::env::var_os(CHECKPOINT).is_some();
        match explored {
            _ if self.hung => Err("FAILED: did not end".to_owned()),
            Some(_) if self.succeeded && replay => Ok("holds from the checkpoint on".to_owned()),
            Some(explored) if self.succeeded && explored < floor => {
                Err(format!("FAILED: fewer interleavings than {floor}"))
            }
            Some(_) if self.succeeded => Ok("holds".to_owned()),
            _ => Err(format!(
                "FAILED: {}",
                self.failure().unwrap_or("ended without a panic")
            )),
        }
    }

    fn judge_failing(&self, fragment: &str) -> Result<String, String> {
        if self.hung {
            return Err("FAILED: did not end".to_owned());
        }
        if self.succeeded {
            return Err(format!("FAILED: holds, but must fail with `{fragment}`"));
        }
        if !self.stderr.contains(fragment) {
            return Err(format!("FAILED: fails, but not with `{fragment}`"));
        }
        Ok(format!("fails as it must: {fragment}"))
    }
}

/// Maps `inputs`, two at a time, and returns the results as they came.
pub(crate) fn in_parallel<I: Send, O: Send>(inputs: Vec<I>, map: impl Fn(I) -> O + Sync) -> Vec<O> {
    let inputs = Mutex::new(VecDeque::from(inputs));
    let outputs = Mutex::new(Vec::new());
    let next = || inputs.lock().expect("no worker panics").pop_front();
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(input) = next() {
                    let output = map(input);
                    outputs.lock().expect("no worker panics").push(output);
                }
            });
        }
    });
    outputs.into_inner().expect("no worker panics")
}

/// The last lines of a child's output.
pub(crate) fn tail(output: &str) -> String {
    let lines: Vec<&str> = output.lines().collect();
    lines[lines.len().saturating_sub(TAIL)..].join("\n")
}

/// Prints the line that scripts look for, and fails when anything failed.
pub(crate) fn summary(passed: usize, failed: usize) -> ExitCode {
    println!("{passed} passed, {failed} failed");
    if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
