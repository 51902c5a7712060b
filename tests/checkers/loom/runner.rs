//! The command line, and the table of models.

use std::cmp::Reverse;
use std::env;
use std::process::ExitCode;

use super::child;
use super::command_line;
use super::model::Bound;
use super::mutate;
use super::process;
use super::readme;
use super::record::Record;
use super::registry::{self, Entry};
use super::supervise::{self, Report};
use super::tally::{self, Tally};

const USAGE: &str = "\
usage: models [NAME or PREFIX]...   explore all models, or only these
       models --list                name every model, and what it shows
       models --mutants [PREFIX]... mutate the source; the models must notice
       models --model NAME          explore one model in this process";

/// Runs the command line.
pub(crate) fn main() -> ExitCode {
    let flags = ["--list", "--mutants"];
    command_line::run(USAGE, &flags, &["--model"], |arguments| {
        if arguments.value("--list").is_some() {
            return Ok(list());
        }
        if arguments.value("--mutants").is_some() {
            return mutate::run(&arguments.names);
        }
        match arguments.value("--model") {
            Some(name) => explore_here(name),
            None => explore_all(&arguments.names),
        }
    })
}

fn list() -> ExitCode {
    for entry in registry::entries() {
        let fails = if entry.must_fail() { "MUST FAIL: " } else { "" };
        println!("{:<46} {fails}{}", entry.name, entry.model.shows);
    }
    ExitCode::SUCCESS
}

/// The child's side: explores one model and reports how much it explored.
fn explore_here(name: &str) -> Result<ExitCode, String> {
    let entries = registry::entries();
    let found = entries.iter().find(|entry| entry.name == name);
    let entry = found.ok_or_else(|| format!("no model is called `{name}`; see --list"))?;
    Ok(child::run(entry))
}

/// Explores the chosen models, all of them when none is chosen.
fn explore_all(chosen: &[String]) -> Result<ExitCode, String> {
    let mut entries = registry::chosen(chosen)?;
    let is_replay = env::var_os(supervise::CHECKPOINT).is_some();
    if is_replay && entries.len() != 1 {
        return Err("a checkpoint belongs to one model: name it, with its role".to_owned());
    }
    // The longest first, so that none of them runs alone at the end.
    entries.sort_by_key(|entry| Reverse(entry.floor));

    let mut tally = Tally::new();
    println!(
        "{:<46} {:<8} {:>5} {:>13} {:>8}  outcome",
        "model", "flaws", "bound", "interleavings", "seconds"
    );
    let reports = tally::in_parallel(supervise::AT_ONCE, &entries, |entry| {
        let report = supervise::explore(entry);
        println!("{}", row(entry, &report));
        report
    });
    let reports: Vec<(&Entry, Report)> = entries.iter().zip(reports).collect();

    // From a checkpoint on, not all is explored.
    if !is_replay {
        let held = reports
            .iter()
            .filter(|(entry, report)| !entry.must_fail() && report.verdict.is_ok());
        Record::load().add(held.map(|(entry, _)| &*entry.name));
    }
    let tables = readme::check();
    tally.count(tables.is_ok());
    if let Err(problem) = tables {
        println!("\n{problem}");
    }
    for (entry, report) in &reports {
        tally.runs += report.explored.unwrap_or(0);
        tally.count(report.verdict.is_ok());
        if report.verdict.is_err() {
            println!("\n{} failed; the end of its output:", entry.name);
            println!("{}", process::tail(&report.stderr));
        }
    }
    let must_fail = entries.iter().filter(|entry| entry.must_fail()).count();
    Ok(tally.close(&format!(
        "{} models that must hold, {must_fail} that must fail, {} interleavings",
        entries.len() - must_fail,
        tally.runs
    )))
}

fn row(entry: &Entry, report: &Report) -> String {
    let flaws: Vec<String> = entry.model.flaws.iter().map(u8::to_string).collect();
    let bound = match entry.model.bound {
        Bound::Preemptions(bound) => bound.to_string(),
        Bound::Exhaustive => "none".to_owned(),
    };
    let explored = report.explored.map(|count| count.to_string());
    let (Ok(outcome) | Err(outcome)) = &report.verdict;
    format!(
        "{:<46} {:<8} {:>5} {:>13} {:>8.2}  {outcome}",
        entry.name,
        flaws.join(", "),
        bound,
        explored.as_deref().unwrap_or("-"),
        report.elapsed.as_secs_f64(),
    )
}
