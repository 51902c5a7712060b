//! One program under one scheduler, in a process of its own.
//!
//! A schedule that fails leaves threads behind that never end, and a second panic
//! would end the process: neither must meet the next program.

use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use super::jobs::Job;
use super::process::{self, Ending};
use super::scenario::Scenario;

/// The lines by which a child says how it ended.
const HELD: &str = "held ";
const FAILED: &str = "failed ";

/// What came of it.
pub(crate) struct Report {
    /// How many schedules were run, the one that failed included.
    pub(crate) schedules: u64,
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

impl Job<Scenario> {
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
        let body = self.subject.body;
        let ended = self.strategy.run(self.own_seed(), self.runs, move || {
            // Every second schedule shares nothing of its own accord: then the rescue of
            // what is queued is the monitor's.
            let number = SCHEDULES.fetch_add(1, Relaxed);
            ws_executor::model::set_short_polls(number % 2 == 1);
            body();
        });
        let schedules = SCHEDULES.load(Relaxed);
        match ended {
            Ok(()) => println!("{HELD}{schedules}"),
            // One line: the others are in what the panic hook has printed.
            Err(message) => println!("{FAILED}{schedules} {}", message.replace('\n', " ")),
        }
        ExitCode::SUCCESS
    }

    /// The parent's side: runs the schedules in a child, which is this program or a mutant.
    pub(crate) fn run(&self, program: &Path) -> Report {
        let (name, seed, runs) = (self.name(), self.seed.to_string(), self.runs.to_string());
        let arguments = ["--job", &name, "--seed", &seed, "--schedules", &runs];
        let ending = process::run(program, &arguments);
        let (schedules, failure) = judged(&ending);
        Report {
            schedules,
            elapsed: ending.elapsed,
            failure,
            stderr: ending.stderr,
        }
    }
}

/// Reads the child's last line.
fn judged(ending: &Ending) -> (u64, Option<String>) {
    let line = ending.stdout.lines().find_map(|line| {
        let held = line.strip_prefix(HELD).map(|rest| (true, rest));
        held.or_else(|| line.strip_prefix(FAILED).map(|rest| (false, rest)))
    });
    let Some((held, rest)) = line else {
        let how = match ending.status {
            Some(status) => format!("the process ended without a word: {status}"),
            None => "the process did not end".to_owned(),
        };
        return (0, Some(how));
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
