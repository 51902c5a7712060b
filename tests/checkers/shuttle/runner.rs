//! The command line, and the tables.

use std::process::ExitCode;
use std::time::Duration;

use super::command_line::{self, Arguments};
use super::jobs::{self, Job};
use super::mutate;
use super::process;
use super::scenario::{CANARIES, SCENARIOS, Scenario};
use super::tally::Tally;

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

/// Runs the command line.
pub(crate) fn main() -> ExitCode {
    let flags = ["--list", "--mutants"];
    let options = ["--seed", "--schedules", "--job"];
    command_line::run(USAGE, &flags, &options, run)
}

fn run(arguments: &Arguments) -> Result<ExitCode, String> {
    let seed = jobs::seed(arguments)?;
    let schedules = jobs::number(arguments, "--schedules")?.map(|number| number as usize);
    let of = |scenarios, by_default, is_chosen: &dyn Fn(&str) -> bool| {
        jobs::all(scenarios, schedules.unwrap_or(by_default), seed, is_chosen)
    };
    if arguments.value("--list").is_some() {
        return Ok(list());
    }
    if arguments.value("--mutants").is_some() {
        return mutate::run(seed, &arguments.names);
    }
    if let Some(name) = arguments.value("--job") {
        let mut all = of(SCENARIOS, SCHEDULES, &|job| job == name);
        all.extend(of(CANARIES, CANARY_SCHEDULES, &|job| job == name));
        let job = all.first();
        let job = job.ok_or_else(|| format!("no job is called `{name}`"))?;
        return Ok(job.run_here());
    }
    let is_chosen = jobs::chosen(arguments, &['.', '/']);
    let programs = of(SCENARIOS, SCHEDULES, &is_chosen);
    let canaries = of(CANARIES, CANARY_SCHEDULES, &is_chosen);
    if programs.is_empty() && canaries.is_empty() {
        return Err(format!("{:?} choose nothing", arguments.names));
    }

    println!("seed {seed}");
    let mut tally = Tally::new();
    if !programs.is_empty() {
        check_programs(&programs, &mut tally);
    }
    if !canaries.is_empty() {
        check_canaries(&canaries, &mut tally);
    }
    Ok(jobs::close(&tally, "schedules", seed))
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

/// Every program must hold under every scheduler.
fn check_programs(jobs: &[Job<Scenario>], tally: &mut Tally) {
    let reports = jobs::run(jobs, |job| job.run(&process::this()));
    println!(
        "\n{:<34} {:<12} {:>9} {:>8}  outcome",
        "program", "faults", "schedules", "seconds"
    );
    for (scenario, jobs, reports) in jobs::by_subject(jobs, &reports) {
        let schedules: u64 = reports.iter().map(|report| report.schedules).sum();
        let elapsed: Duration = reports.iter().map(|report| report.elapsed).sum();
        let failed: Vec<String> = jobs
            .iter()
            .zip(reports)
            .filter(|(_, report)| report.failure.is_some())
            .map(|(job, report)| format!("{} after {}", job.strategy.name(), report.schedules))
            .collect();
        let outcome = match failed.as_slice() {
            [] => "holds".to_owned(),
            failed => format!("FAILED: {}", failed.join(", ")),
        };
        let faults: Vec<String> = scenario.faults.iter().map(u8::to_string).collect();
        println!(
            "{:<34} {:<12} {schedules:>9} {:>8.1}  {outcome}",
            scenario.name,
            faults.join(", "),
            elapsed.as_secs_f64()
        );
        for report in reports {
            tally.runs += report.schedules;
            tally.count(report.failure.is_none());
        }
    }
    for (job, report) in jobs.iter().zip(&reports) {
        if let Some(failure) = &report.failure {
            let about = job.subject.about;
            println!("\n{} ({about}) failed: {failure}", job.name());
            println!("{}", process::tail(&report.stderr));
        }
    }
}

/// Every canary must be found by one scheduler at least.
fn check_canaries(jobs: &[Job<Scenario>], tally: &mut Tally) {
    let reports = jobs::run(jobs, |job| job.run(&process::this()));
    tally.runs += reports.iter().map(|report| report.schedules).sum::<u64>();
    println!("\nschedules until a planted flaw was found; `-` if it was not");
    jobs::check_canaries(jobs, &reports, tally, |report| match report.failure {
        None => ("-".to_owned(), false),
        Some(_) => (report.schedules.to_string(), true),
    });
}
