//! A test in a process of its own: for what would end the process, and for what
//! must not.
//!
//! The child is the test binary itself, told to run the same test again.

use std::env;
use std::process::{Command, ExitStatus, Stdio};

use crate::watchdog;

/// Tells a child which test it is to run.
const SCENE: &str = "WS_TEST_SCENE";

/// What a child prints first: a test of that name was found.
const BEGINS: &str = "child: the scene begins";

/// How a child ended.
#[derive(Debug)]
pub struct Ending {
    /// Its exit code; none if a signal ended it.
    pub code: Option<i32>,
    /// Whether a signal ended it that is not that of an abort, where there are signals.
    pub crashed: bool,
    /// What it printed on the standard error, including the panics of the scene.
    pub stderr: String,
}

/// Runs `scene` in a child process and tells how that ended.
///
/// To be called first in the test called `test`, with its path inside the binary. In
/// the child itself it runs the scene and returns `None`, and the test should return.
///
/// # Panics
///
/// If there is no such test, or if the child hangs.
pub fn run(test: &str, scene: impl FnOnce()) -> Option<Ending> {
    stage(test, scene, |_| {})
}

/// As [`run`], for a scene that leaks memory because it has to.
///
/// # Panics
///
/// As [`run`].
pub fn run_leaking(test: &str, scene: impl FnOnce()) -> Option<Ending> {
    stage(test, scene, |child| {
        // Read by the leak checker, where the tests run under one.
        child.env("ASAN_OPTIONS", "detect_leaks=0");
    })
}

/// As [`run`], with environment variables set for the child.
///
/// # Panics
///
/// As [`run`].
pub fn run_with(test: &str, variables: &[(&str, &str)], scene: impl FnOnce()) -> Option<Ending> {
    stage(test, scene, |child| {
        child.envs(variables.iter().copied());
    })
}

fn stage(test: &str, scene: impl FnOnce(), prepare: impl FnOnce(&mut Command)) -> Option<Ending> {
    if env::var(SCENE).as_deref() == Ok(test) {
        eprintln!("{BEGINS}");
        watchdog::guard(test, scene);
        return None;
    }
    let program = env::current_exe().expect("this program has a path");
    let mut child = Command::new(program);
    child
        .args([test, "--exact", "--include-ignored", "--nocapture"])
        .env(SCENE, test)
        .env_remove("RUST_BACKTRACE")
        .stdin(Stdio::null());
    prepare(&mut child);
    let output = child.output().expect("a child of this program starts");
    let ending = Ending {
        code: output.status.code(),
        crashed: crashed(output.status),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    };
    assert!(
        ending.stderr.contains(BEGINS),
        "no test is called `{test}`: {ending:?}"
    );
    assert!(!ending.stderr.contains("watchdog: `"), "{}", ending.stderr);
    Some(ending)
}

#[cfg(unix)]
fn crashed(status: ExitStatus) -> bool {
    /// As on every such system.
    const SIGABRT: i32 = 6;
    std::os::unix::process::ExitStatusExt::signal(&status).is_some_and(|signal| signal != SIGABRT)
}

#[cfg(not(unix))]
fn crashed(_: ExitStatus) -> bool {
    false
}

impl Ending {
    /// Checks that the scene came to its end.
    ///
    /// # Panics
    ///
    /// If it did not.
    pub fn assert_success(&self) {
        self.assert_code(0);
    }

    /// Checks the exit code.
    ///
    /// # Panics
    ///
    /// If it is another, or if a signal ended the child.
    pub fn assert_code(&self, code: i32) {
        assert_eq!(self.code, Some(code), "the child says:\n{}", self.stderr);
    }

    /// Checks that the child aborted, saying `words`.
    ///
    /// # Panics
    ///
    /// If it ended otherwise.
    pub fn assert_aborted(&self, words: &str) {
        assert_eq!(self.code, None, "the child says:\n{}", self.stderr);
        assert!(!self.crashed, "the child crashed: {}", self.stderr);
        assert!(
            self.stderr.contains(words),
            "the child does not say `{words}`, but:\n{}",
            self.stderr
        );
    }
}

/// Runs `scene` in a child process, where it has to come to its end: an abort there
/// is a failure of this test alone.
///
/// # Panics
///
/// If the child does not succeed, and as [`run`].
pub fn survives(test: &str, scene: impl FnOnce()) {
    if let Some(ending) = run(test, scene) {
        ending.assert_success();
    }
}
