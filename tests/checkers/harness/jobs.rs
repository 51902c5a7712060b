//! Every subject under every one of shuttle's schedulers.

use std::process::ExitCode;
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use super::command_line::{Arguments, chooses};
use super::portfolio::{PORTFOLIO, Strategy};
use super::tally::{self, Tally};

/// What runs under the schedulers.
pub(crate) trait Subject: Sync + 'static {
    fn name(&self) -> &'static str;
    /// What is special about it, in one line.
    fn about(&self) -> &'static str;
}

/// One subject under one scheduler.
pub(crate) struct Job<S: 'static> {
    pub(crate) subject: &'static S,
    pub(crate) strategy: Strategy,
    /// How many schedules, or histories.
    pub(crate) runs: usize,
    pub(crate) seed: u64,
}

impl<S: Subject> Job<S> {
    /// How the command line names it.
    pub(crate) fn name(&self) -> String {
        format!("{}/{}", self.subject.name(), self.strategy.name())
    }
}

/// The seed of the command line, by default one of the clock.
///
/// # Errors
///
/// Says that it is no number.
pub(crate) fn seed(arguments: &Arguments) -> Result<u64, String> {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH);
    let by_clock = since_epoch.map_or(0, |time| time.as_micros() as u64);
    Ok(number(arguments, "--seed")?.unwrap_or(by_clock))
}

/// The number that follows an option.
///
/// # Errors
///
/// Says that it is no number.
pub(crate) fn number(arguments: &Arguments, option: &str) -> Result<Option<u64>, String> {
    let parse = |value: &str| {
        value
            .parse()
            .map_err(|_| format!("`{value}` is not a number"))
    };
    arguments.value(option).map(parse).transpose()
}

/// Tells which jobs the names of the command line choose, all when there are none. A name may
/// end at one of the `marks`.
pub(crate) fn chosen(arguments: &Arguments, marks: &[char]) -> impl Fn(&str) -> bool {
    let names = &arguments.names;
    move |job| names.is_empty() || names.iter().any(|name| chooses(name, job, marks))
}

/// Each of the subjects under each scheduler, if it `is_chosen` by its name.
pub(crate) fn all<S: Subject>(
    subjects: &'static [&'static [S]],
    runs: usize,
    seed: u64,
    is_chosen: impl Fn(&str) -> bool,
) -> Vec<Job<S>> {
    let subjects = subjects.iter().copied().flatten();
    let jobs = subjects.flat_map(|subject| {
        PORTFOLIO.iter().map(move |&strategy| Job {
            subject,
            strategy,
            runs,
            seed,
        })
    });
    jobs.filter(|job| is_chosen(&job.name())).collect()
}

/// Runs the jobs, as many at a time as there are cores.
pub(crate) fn run<S: Subject, R: Send>(
    jobs: &[Job<S>],
    run: impl Fn(&Job<S>) -> R + Sync,
) -> Vec<R> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    tally::in_parallel(cores, jobs, run)
}

/// The jobs of each subject together, with their reports.
pub(crate) fn by_subject<'a, S: Subject, R>(
    jobs: &'a [Job<S>],
    reports: &'a [R],
) -> impl Iterator<Item = (&'static S, &'a [Job<S>], &'a [R])> {
    let mut rest = reports;
    let groups = jobs.chunk_by(|one, next| one.subject.name() == next.subject.name());
    groups.map(move |group| {
        let (reports, after) = rest.split_at(group.len());
        rest = after;
        (group[0].subject, group, reports)
    })
}

/// Prints a table of canaries; each must be found by one scheduler at least. `cell` is what
/// one of them says, and whether that means that the canary is found.
pub(crate) fn check_canaries<S: Subject, R>(
    jobs: &[Job<S>],
    reports: &[R],
    tally: &mut Tally,
    cell: impl Fn(&R) -> (String, bool),
) {
    let heads = PORTFOLIO.iter().map(|it| format!("{:>7}", it.name()));
    println!("{:<34} {}", "canary", heads.collect::<String>());
    for (subject, jobs, reports) in by_subject(jobs, reports) {
        let mut row = String::new();
        let mut is_found = false;
        for strategy in PORTFOLIO {
            let job = jobs.iter().position(|job| job.strategy == *strategy);
            let (text, found) = job.map(|job| cell(&reports[job])).unwrap_or_default();
            row += &format!("{text:>7}");
            is_found |= found;
        }
        tally.count(is_found);
        let verdict = if is_found { "" } else { "NOT FOUND: " };
        println!("{:<34} {row}  {verdict}{}", subject.name(), subject.about());
    }
}

/// Prints the closing lines.
pub(crate) fn close(tally: &Tally, runs: &str, seed: u64) -> ExitCode {
    if tally.failed > 0 {
        let name = env!("CARGO_BIN_NAME");
        println!("\nthe same again: .ci/{name} --seed {seed} NAME...");
    }
    tally.close(&format!("{} {runs}", tally.runs))
}
