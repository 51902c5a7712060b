//! The command line, and the tables.

use std::env;
use std::process::ExitCode;
use std::sync::Mutex;
use std::thread;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use super::job::{Job, Report};
use super::mutate;
use super::portfolio::PORTFOLIO;
use super::scenario::{CANARIES, SCENARIOS, Scenario};

const USAGE: &str = "\
usage: schedules [--seed N] [--schedules N] [NAME]...
    --seed N        where schedules are drawn from; by default the clock
    --schedules N   schedules of each program under each scheduler; by default 1000
    NAME            a program, a canary, the first part of its name, or one scheduler
                    of it: `drain.children`, `drain`, `drain.children/pct3`
       schedules --list
       schedules --mutants [--seed N] [PREFIX]...   change the source; programs must notice
       schedules --job NAME/SCHEDULER --seed N --schedules N   in this process";

/// Schedules of each program under each scheduler: 3 * 10^5 and more in all.
const SCHEDULES: usize = 1_000;

/// Schedules after which a scheduler gives a canary up.
const CANARY_SCHEDULES: usize = 2_000;

/// Lines of a child's output shown when it fails.
const TAIL: usize = 12;

#[derive(Default)]
struct Arguments {
    seed: u64,
    schedules: Option<usize>,
    list: bool,
    mutants: bool,
    job: Option<String>,
    names: Vec<String>,
}

/// Runs the command line.
pub(crate) fn main() -> ExitCode {
    match parse(env::args().skip(1)) {
        Ok(arguments) => arguments.run(),
        Err(problem) => usage(&problem),
    }
}

fn usage(problem: &str) -> ExitCode {
    eprintln!("{problem}\n{USAGE}");
    ExitCode::from(2)
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH);
    let mut arguments = Arguments {
        seed: since_epoch.map_or(0, |time| time.as_micros() as u64),
        ..Arguments::default()
    };
    while let Some(word) = words.next() {
        let mut value = || {
            words
                .next()
                .ok_or_else(|| format!("`{word}` needs a value"))
        };
        let number = |value: String| {
            let number = value.parse::<u64>();
            number.map_err(|_| format!("`{value}` is not a number"))
        };
        match word.as_str() {
            "--seed" => arguments.seed = number(value()?)?,
            "--schedules" => arguments.schedules = Some(number(value()?)? as usize),
            "--list" => arguments.list = true,
            "--mutants" => arguments.mutants = true,
            "--job" => arguments.job = Some(value()?),
            option if option.starts_with('-') => return Err(format!("unknown option `{option}`")),
            _ => arguments.names.push(word),
        }
    }
    Ok(arguments)
}

impl Arguments {
    fn run(&self) -> ExitCode {
        let programs = self.jobs(SCENARIOS, SCHEDULES);
        let canaries = self.jobs(CANARIES, CANARY_SCHEDULES);
        if self.list {
            return list();
        }
        if self.mutants {
            return mutate::run(self.seed, &self.names);
        }
        if let Some(name) = &self.job {
            let mut all = programs.iter().chain(&canaries);
            return match all.find(|job| job.name() == *name) {
                Some(job) => job.run_here(),
                None => usage(&format!("no job is called `{name}`")),
            };
        }
        if programs.is_empty() && canaries.is_empty() {
            return usage(&format!("{:?} choose nothing", self.names));
        }

        let start = Instant::now();
        println!("seed {}", self.seed);
        let mut tally = Tally::default();
        check_programs(&programs, &mut tally);
        check_canaries(&canaries, &mut tally);
        println!(
            "\n{} schedules, {:.0} seconds",
            tally.schedules,
            start.elapsed().as_secs_f64()
        );
        if tally.failed > 0 {
            println!("the same again: .ci/schedules --seed {} NAME...", self.seed);
        }
        println!("{} passed, {} failed", tally.passed, tally.failed);
        ExitCode::from(u8::from(tally.failed > 0))
    }

    /// The jobs that the names choose, all when there are none.
    fn jobs(&self, scenarios: &'static [&'static [Scenario]], schedules: usize) -> Vec<Job> {
        let scenarios = scenarios.iter().copied().flatten();
        let all = scenarios.flat_map(|scenario| {
            PORTFOLIO.iter().map(move |&strategy| Job {
                scenario,
                strategy,
                schedules: self.schedules.unwrap_or(schedules),
                seed: self.seed,
            })
        });
        let is_chosen = |job: &Job| {
            let named = |name: &String| chooses(name, &job.name());
            self.names.is_empty() || self.names.iter().any(named)
        };
        all.filter(is_chosen).collect()
    }
}

/// Whether `chosen` means the job called `name`: it is the name, or as much of it as
/// ends where one of its parts ends.
fn chooses(chosen: &str, name: &str) -> bool {
    name.strip_prefix(chosen)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '/']))
}

fn list() -> ExitCode {
    for scenario in SCENARIOS.iter().copied().flatten() {
        println!("{:<34} {}", scenario.name, scenario.about);
    }
    for canary in CANARIES.iter().copied().flatten() {
        println!("{:<34} MUST FAIL: {}", canary.name, canary.about);
    }
    ExitCode::SUCCESS
}

#[derive(Default)]
struct Tally {
    schedules: usize,
    passed: u32,
    failed: u32,
}

impl Tally {
    fn count(&mut self, passed: bool) {
        if passed {
            self.passed += 1;
        } else {
            self.failed += 1;
        }
    }
}

/// Every program must hold under every scheduler.
fn check_programs(jobs: &[Job], tally: &mut Tally) {
    if jobs.is_empty() {
        return;
    }
    let reports = in_parallel(jobs);
    println!(
        "\n{:<34} {:<12} {:>9} {:>8}  outcome",
        "program", "faults", "schedules", "seconds"
    );
    for (scenario, group) in by_scenario(jobs, &reports) {
        let schedules: usize = group.iter().map(|(_, report)| report.schedules).sum();
        let seconds: f64 = group
            .iter()
            .map(|(_, report)| report.elapsed.as_secs_f64())
            .sum();
        let failed: Vec<String> = group
            .iter()
            .filter(|(_, report)| report.failure.is_some())
            .map(|(job, report)| format!("{} after {}", job.strategy.name(), report.schedules))
            .collect();
        let outcome = match failed.as_slice() {
            [] => "holds".to_owned(),
            failed => format!("FAILED: {}", failed.join(", ")),
        };
        let faults: Vec<String> = scenario.faults.iter().map(u8::to_string).collect();
        println!(
            "{:<34} {:<12} {schedules:>9} {seconds:>8.1}  {outcome}",
            scenario.name,
            faults.join(", ")
        );
        for (_, report) in group {
            tally.schedules += report.schedules;
            tally.count(report.failure.is_none());
        }
    }
    for (job, report) in jobs.iter().zip(&reports) {
        if let Some(failure) = &report.failure {
            println!(
                "\n{} ({}) failed: {failure}",
                job.name(),
                job.scenario.about
            );
            println!("{}", tail(&report.stderr));
        }
    }
}

/// Every canary must be found by one scheduler at least.
fn check_canaries(jobs: &[Job], tally: &mut Tally) {
    if jobs.is_empty() {
        return;
    }
    let reports = in_parallel(jobs);
    println!("\nschedules until a planted flaw was found; `-` if it was not");
    let names = PORTFOLIO
        .iter()
        .map(|strategy| format!("{:>7}", strategy.name()));
    println!("{:<34} {}", "canary", names.collect::<String>());
    for (scenario, group) in by_scenario(jobs, &reports) {
        let mut row = vec!["       ".to_owned(); PORTFOLIO.len()];
        let mut found = false;
        for (job, report) in group {
            let column = PORTFOLIO
                .iter()
                .position(|&strategy| strategy == job.strategy);
            let after = match &report.failure {
                None => "-".to_owned(),
                Some(_) => report.schedules.to_string(),
            };
            row[column.expect("jobs are of the portfolio")] = format!("{after:>7}");
            found |= report.failure.is_some();
            tally.schedules += report.schedules;
        }
        tally.count(found);
        let verdict = if found { "" } else { "NOT FOUND: " };
        println!(
            "{:<34} {}  {verdict}{}",
            scenario.name,
            row.concat(),
            scenario.about
        );
    }
}

type Group<'a> = Vec<(&'a Job, &'a Report)>;

/// The reports of each program together.
fn by_scenario<'a>(
    jobs: &'a [Job],
    reports: &'a [Report],
) -> impl Iterator<Item = (&'static Scenario, Group<'a>)> {
    let mut rest = jobs.iter().zip(reports).peekable();
    std::iter::from_fn(move || {
        let scenario = rest.peek()?.0.scenario;
        let same = |(job, _): &(&Job, &Report)| job.scenario.name == scenario.name;
        let group = std::iter::from_fn(|| rest.next_if(same)).collect();
        Some((scenario, group))
    })
}

/// The last lines of a child's output, each cut to what a terminal shows.
fn tail(output: &str) -> String {
    let cut = |line: &str| line.chars().take(160).collect::<String>();
    let lines: Vec<String> = output.lines().map(cut).collect();
    lines[lines.len().saturating_sub(TAIL)..].join("\n")
}

/// Runs the jobs, as many at a time as there are cores.
fn in_parallel(jobs: &[Job]) -> Vec<Report> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let next = Mutex::new(jobs.iter().enumerate());
    let reports = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let job = next.lock().expect("no one panics with the lock").next();
                    let Some((index, job)) = job else {
                        break;
                    };
                    let report = job.run();
                    reports
                        .lock()
                        .expect("no one panics with the lock")
                        .push((index, report));
                }
            });
        }
    });
    let mut reports = reports.into_inner().expect("no one panics with the lock");
    reports.sort_by_key(|(index, _)| *index);
    reports.into_iter().map(|(_, report)| report).collect()
}
