//! One program under one scheduler, in a process of its own.
//!
//! A schedule that fails leaves threads behind that never end, and a second panic
//! would end the process: neither must meet the next program.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use super::portfolio::Strategy;
use super::scenario::Scenario;

/// The lines by which a child says how it ended.
const HELD: &str = "held ";
const FAILED: &str = "failed ";

/// What to run.
#[derive(Clone, Copy)]
pub(crate) struct Job {
    pub(crate) scenario: &'static Scenario,
    pub(crate) strategy: Strategy,
    pub(crate) schedules: usize,
    pub(crate) seed: u64,
}

/// What came of it.
pub(crate) struct Report {
    /// How many schedules were run, the one that failed included.
    pub(crate) schedules: usize,
    pub(crate) elapsed: Duration,
    /// What failed, if something did.
    pub(crate) failure: Option<String>,
    /// What the child had to say: the failing schedule is in it.
    pub(crate) stderr: String,
}

/// A child that runs longer loops where shuttle cannot see it.
const WATCHDOG: Duration = Duration::from_secs(300);

/// Counted outside of what shuttle sees.
static SCHEDULES: AtomicUsize = AtomicUsize::new(0);

impl Job {
    /// How the command line names it.
    pub(crate) fn name(&self) -> String {
        format!("{}/{}", self.scenario.name, self.strategy.name())
    }

    /// A number of its own for each job, drawn from the run's seed.
    fn own_seed(&self) -> u64 {
        // FNV-1a (Fowler, Noll, Vo), from the seed on.
        let basis = self.seed ^ 0xcbf2_9ce4_8422_2325;
        self.name().bytes().fold(basis, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    }

    /// The child's side: runs the schedules here, and reports.
    pub(crate) fn run_here(&self) -> ExitCode {
        watch();
        let body = self.scenario.body;
        let ended = catch_unwind(AssertUnwindSafe(|| {
            self.strategy.run(self.own_seed(), self.schedules, move || {
                // Every second schedule shares nothing of its own accord: then the rescue of
                // what is queued is the monitor's.
                let number = SCHEDULES.fetch_add(1, Relaxed);
                ws_executor::model::set_short_polls(number % 2 == 1);
                body();
            });
        }));
        let schedules = SCHEDULES.load(Relaxed);
        match ended {
            Ok(()) => println!("{HELD}{schedules}"),
            Err(panic) => println!("{FAILED}{schedules} {}", message(&*panic)),
        }
        ExitCode::SUCCESS
    }

    /// The parent's side: runs the schedules in a child.
    pub(crate) fn run(&self) -> Report {
        let start = Instant::now();
        let program = std::env::current_exe().expect("this program has a path");
        let output = Command::new(program)
            .args(["--job", &self.name()])
            .args(["--seed", &self.seed.to_string()])
            .args(["--schedules", &self.schedules.to_string()])
            .env_remove("RUST_BACKTRACE")
            .stdin(Stdio::null())
            .output()
            .expect("a child of this program starts");
        let stdout = String::from_utf8_lossy(&output.stdout);
        let (schedules, failure) = judged(&stdout);
        Report {
            schedules,
            elapsed: start.elapsed(),
            failure,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// Reads the child's last line.
fn judged(stdout: &str) -> (usize, Option<String>) {
    let line = stdout.lines().find_map(|line| {
        let held = line.strip_prefix(HELD).map(|rest| (true, rest));
        held.or_else(|| line.strip_prefix(FAILED).map(|rest| (false, rest)))
    });
    let Some((held, rest)) = line else {
        return (0, Some("the process ended without a word".to_owned()));
    };
    let (schedules, message) = rest.split_once(' ').unwrap_or((rest, ""));
    let failure = (!held).then(|| message.to_owned());
    (schedules.parse().unwrap_or(0), failure)
}

/// Ends this process if it takes too long.
fn watch() {
    std::thread::spawn(|| {
        std::thread::sleep(WATCHDOG);
        let schedules = SCHEDULES.load(Relaxed);
        println!("{FAILED}{schedules} did not end");
        std::process::exit(0);
    });
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    // One line: the others are in what the panic hook has printed.
    text.unwrap_or("no message").replace('\n', " ")
}
