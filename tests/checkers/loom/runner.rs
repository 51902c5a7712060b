//! The command line, and the table of models.

use std::cmp::Reverse;
use std::env;
use std::process::ExitCode;
use std::time::Instant;

use super::child;
use super::model::Bound;
use super::mutate;
use super::readme;
use super::record::Record;
use super::registry::{self, Entry};
use super::supervise::{self, Report};

const USAGE: &str = "\
usage: models [NAME or PREFIX]...   explore all models, or only these
       models --list                name every model, and what it shows
       models --mutants [PREFIX]... mutate the source; the models must notice
       models --model NAME          explore one model in this process";

/// Runs the command line.
pub(crate) fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["--list"] => list(),
        ["--mutants", chosen @ ..] => mutate::run(chosen),
        ["--model", name] => explore_here(name),
        [option, ..] if option.starts_with('-') => usage(&format!("unknown option `{option}`")),
        chosen => explore_all(chosen),
    }
}

fn usage(problem: &str) -> ExitCode {
    eprintln!("{problem}\n{USAGE}");
    ExitCode::from(2)
}

fn list() -> ExitCode {
    for entry in registry::entries() {
        let fails = if entry.must_fail() { "MUST FAIL: " } else { "" };
        println!("{:<46} {fails}{}", entry.name, entry.model.shows);
    }
    ExitCode::SUCCESS
}

/// The child's side: explores one model and reports how much it explored.
fn explore_here(name: &str) -> ExitCode {
    match registry::entries().iter().find(|entry| entry.name == name) {
        Some(entry) => child::run(entry),
        None => usage(&format!("no model is called `{name}`; see --list")),
    }
}

/// Explores the chosen models, all of them when none is chosen.
fn explore_all(chosen: &[&str]) -> ExitCode {
    let mut entries = match registry::chosen(chosen) {
        Ok(entries) => entries,
        Err(name) => return usage(&format!("no model is called `{name}`; see --list")),
    };
    if env::var_os(supervise::CHECKPOINT).is_some() && entries.len() != 1 {
        return usage("a checkpoint belongs to one model: name it, with its role");
    }
    // The longest first, so that none of them runs alone at the end.
    entries.sort_by_key(|entry| Reverse(entry.floor));

    let start = Instant::now();
    println!(
        "{:<46} {:<8} {:>5} {:>13} {:>8}  outcome",
        "model", "errata", "bound", "interleavings", "seconds"
    );
    let reports = supervise::in_parallel(entries, |entry| {
        let report = supervise::explore(&entry);
        println!("{}", row(&entry, &report));
        (entry, report)
    });

    // From a checkpoint on, not all is explored.
    if env::var_os(supervise::CHECKPOINT).is_none() {
        let held = reports
            .iter()
            .filter(|(entry, report)| !entry.must_fail() && report.verdict.is_ok());
        Record::load().add(held.map(|(entry, _)| &*entry.name));
    }
    let mut failed = 0;
    if let Err(problem) = readme::check() {
        failed += 1;
        println!("\n{problem}");
    }
    for (entry, report) in &reports {
        if report.verdict.is_err() {
            failed += 1;
            println!("\n{} failed; the end of its output:", entry.name);
            println!("{}", supervise::tail(&report.stderr));
        }
    }
    let must_fail = reports
        .iter()
        .filter(|(entry, _)| entry.must_fail())
        .count();
    let explored: u64 = reports
        .iter()
        .filter_map(|(_, report)| report.explored)
        .sum();
    println!(
        "\n{} models that must hold, {must_fail} that must fail, {explored} interleavings, {:.0} seconds",
        reports.len() - must_fail,
        start.elapsed().as_secs_f64()
    );
    supervise::summary(reports.len() + 1 - failed, failed)
}

fn row(entry: &Entry, report: &Report) -> String {
    let errata: Vec<String> = entry.model.errata.iter().map(u8::to_string).collect();
    let bound = match entry.model.bound {
        Bound::Preemptions(bound) => bound.to_string(),
        Bound::Exhaustive => "none".to_owned(),
    };
    let explored = report.explored.map(|count| count.to_string());
    let (Ok(outcome) | Err(outcome)) = &report.verdict;
    format!(
        "{:<46} {:<8} {:>5} {:>13} {:>8.2}  {outcome}",
        entry.name,
        errata.join(", "),
        bound,
        explored.as_deref().unwrap_or("-"),
        report.elapsed.as_secs_f64(),
    )
}
