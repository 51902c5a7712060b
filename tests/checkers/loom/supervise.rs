//! Exploring models in children, and judging how they ended.

use std::path::Path;
use std::time::Duration;

use super::child::EXPLORED;
use super::model::Expect;
use super::process::{self, Ending};
use super::registry::Entry;

/// Models explored at the same time. Each is one thread of computation; two fit
/// the smallest machine these run on.
pub(crate) const AT_ONCE: usize = 2;

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
    let ending = spawn(&process::this(), &entry.name);
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

/// Explores the model called `name` in a child.
pub(crate) fn spawn(program: &Path, name: &str) -> Ending {
    process::run(program, &["--model", name])
}

impl Ending {
    fn hung(&self) -> bool {
        self.status.is_none()
    }

    fn succeeded(&self) -> bool {
        self.status.is_some_and(|status| status.success())
    }

    /// Whether the child explored its whole space without a failure.
    pub(crate) fn held(&self) -> bool {
        self.succeeded() && self.explored().is_some()
    }

    /// The first line that says what failed, when loom or an assertion said so.
    pub(crate) fn failure(&self) -> Option<&str> {
        if self.hung() || self.succeeded() {
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
            _ if self.hung() => Err("FAILED: did not end".to_owned()),
            Some(_) if self.succeeded() && replay => Ok("holds from the checkpoint on".to_owned()),
            Some(explored) if self.succeeded() && explored < floor => {
                Err(format!("FAILED: fewer interleavings than {floor}"))
            }
            Some(_) if self.succeeded() => Ok("holds".to_owned()),
            _ => Err(format!(
                "FAILED: {}",
                self.failure().unwrap_or("ended without a panic")
            )),
        }
    }

    fn judge_failing(&self, fragment: &str) -> Result<String, String> {
        if self.hung() {
            return Err("FAILED: did not end".to_owned());
        }
        if self.succeeded() {
            return Err(format!("FAILED: holds, but must fail with `{fragment}`"));
        }
        if !self.stderr.contains(fragment) {
            return Err(format!("FAILED: fails, but not with `{fragment}`"));
        }
        Ok(format!("fails as it must: {fragment}"))
    }
}
