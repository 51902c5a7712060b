//! The command line, and the tables.

use std::collections::BTreeMap;
use std::process::ExitCode;

use super::command_line::{self, Arguments};
use super::job::Verdict;
use super::jobs::{self, Job};
use super::subject::Subject;
use super::tally::Tally;
use super::{deque_canaries, ring_canaries, slot_canaries, structures};

const USAGE: &str = "\
usage: linearizability [--seed N] [--histories N] [NAME]...
    --seed N        where programs and schedules are drawn from; by default the clock
    --histories N   histories of each structure under each scheduler; by default 100000
    NAME            a structure, a canary, or one scheduler of it: `ring`, `ring/pct3`";

/// Histories of each structure under each scheduler: all in all half a minute on
/// two cores.
const HISTORIES: usize = 100_000;

/// Histories after which a scheduler gives a canary up. Together the portfolio
/// needs some hundred at most.
const CANARY_HISTORIES: usize = 5_000;

const CANARIES: &[&[Subject]] = &[
    ring_canaries::CANARIES,
    deque_canaries::CANARIES,
    slot_canaries::CANARIES,
];

/// Runs the command line.
pub(crate) fn main() -> ExitCode {
    command_line::run(USAGE, &[], &["--seed", "--histories"], run)
}

fn run(arguments: &Arguments) -> Result<ExitCode, String> {
    let seed = jobs::seed(arguments)?;
    let histories = jobs::number(arguments, "--histories")?;
    let histories = histories.map_or(HISTORIES, |number| number as usize);
    let is_chosen = jobs::chosen(arguments, &['/']);
    let structures = jobs::all(&[structures::SUBJECTS], histories, seed, &is_chosen);
    let canaries = jobs::all(CANARIES, CANARY_HISTORIES, seed, &is_chosen);
    if structures.is_empty() && canaries.is_empty() {
        return Err(format!("{:?} choose nothing", arguments.names));
    }

    println!("seed {seed}");
    let mut tally = Tally::new();
    check_structures(&structures, &mut tally);
    check_canaries(&canaries, &mut tally);
    Ok(jobs::close(&tally, "histories", seed))
}

/// Every structure must hold under every scheduler, and show what it can do.
fn check_structures(jobs: &[Job<Subject>], tally: &mut Tally) {
    println!(
        "\n{:<12} {:<9} {:>9} {:>8}  outcome",
        "structure", "scheduler", "histories", "seconds"
    );
    let reports = jobs::run(jobs, |job| {
        let report = job.run();
        println!(
            "{:<12} {:<9} {:>9} {:>8.1}  {}",
            job.subject.name,
            job.strategy.name(),
            report.histories,
            report.elapsed.as_secs_f64(),
            match report.verdict {
                Verdict::Holds => "holds",
                Verdict::Rejected(_) => "REJECTED",
                Verdict::Panicked(_) => "PANICKED",
            }
        );
        report
    });

    let mut seen: BTreeMap<&str, BTreeMap<String, u64>> = BTreeMap::new();
    for (job, report) in jobs.iter().zip(&reports) {
        tally.runs += report.histories as u64;
        tally.count(matches!(report.verdict, Verdict::Holds));
        if let Verdict::Rejected(why) | Verdict::Panicked(why) = &report.verdict {
            println!(
                "\n{} failed in history {}:\n{why}",
                job.name(),
                report.histories
            );
        }
        let seen = seen.entry(job.subject.name).or_default();
        for (label, count) in &report.seen {
            *seen.entry(label.clone()).or_default() += count;
        }
    }
    for subject in structures::SUBJECTS {
        let Some(seen) = seen.get(subject.name) else {
            continue;
        };
        let list: Vec<String> = seen
            .iter()
            .map(|(label, count)| format!("{label} {count}"))
            .collect();
        println!(
            "\n{} ({}):\n  {}",
            subject.name,
            subject.about,
            list.join(", ")
        );
        let missing: Vec<&&str> = subject
            .must_see
            .iter()
            .filter(|&&label| !seen.contains_key(label))
            .collect();
        tally.count(missing.is_empty());
        if !missing.is_empty() {
            println!("  never seen, so never checked: {missing:?}");
        }
    }
}

/// Every canary must be rejected under one scheduler at least.
fn check_canaries(jobs: &[Job<Subject>], tally: &mut Tally) {
    let reports = jobs::run(jobs, Job::<Subject>::run);
    let histories: usize = reports.iter().map(|report| report.histories).sum();
    tally.runs += histories as u64;
    println!("\nhistories until a canary was rejected; `-` after {CANARY_HISTORIES} that were not");
    jobs::check_canaries(jobs, &reports, tally, |report| match report.verdict {
        Verdict::Holds => ("-".to_owned(), false),
        Verdict::Rejected(_) => (report.histories.to_string(), true),
        Verdict::Panicked(_) => ("panic".to_owned(), false),
    });
}
