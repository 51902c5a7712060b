//! Applying mutants of the source, one at a time, to a copy of the workspace.
//!
//! A model that cannot fail checks nothing. Each mutant takes one step away from
//! the source of `ws-core` or `ws-executor`, and the models it names must then fail.
//! The same models must hold on the unchanged source, from which this very program is built:
//! they run here first, unless they are known to hold in it (`record.rs`).

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use super::copy::{Change, Copy, Target};
use super::mutants::{MUTANTS, Mutant};
use super::record::Record;
use super::registry::{self, Entry};
use super::supervise;

/// Runs the mutants whose names start with one of `chosen`; all, if none is.
pub(crate) fn run(chosen: &[&str]) -> ExitCode {
    let wanted = |mutant: &&Mutant| {
        chosen.is_empty() || chosen.iter().any(|name| mutant.name.starts_with(name))
    };
    let unknown = |name: &&&str| !MUTANTS.iter().any(|mutant| mutant.name.starts_with(**name));
    if let Some(name) = chosen.iter().find(unknown) {
        eprintln!("no mutant is called `{name}`");
        return ExitCode::from(2);
    }
    let mutants: Vec<&Mutant> = MUTANTS.iter().filter(wanted).collect();
    let target = Target {
        program: "models",
        cfg: "ws_loom",
    };
    let copy = match Copy::of_workspace(target) {
        Ok(copy) => copy,
        Err(problem) => {
            eprintln!("cannot copy the workspace: {problem}");
            return ExitCode::FAILURE;
        }
    };

    let start = Instant::now();
    let mut failed = control(&mutants);
    println!("{:<40} {:<8} {:>8}  outcome", "mutant", "errata", "seconds");
    for mutant in &mutants {
        let start = Instant::now();
        let change = Change {
            file: mutant.file,
            find: mutant.find,
            replace: mutant.replace,
        };
        let verdict = copy.with(&change, |program| kill(program, mutant));
        failed += usize::from(verdict.is_err());
        let errata: Vec<String> = mutant.errata.iter().map(u8::to_string).collect();
        let (Ok(outcome) | Err(outcome)) = verdict;
        println!(
            "{:<40} {:<8} {:>8.1}  {outcome}",
            mutant.name,
            errata.join(", "),
            start.elapsed().as_secs_f64()
        );
    }
    println!("\n{:.0} seconds", start.elapsed().as_secs_f64());
    supervise::summary(mutants.len() + 1 - failed, failed)
}

/// Runs every named model on the unchanged source; returns 1 if one does not hold.
fn control(mutants: &[&Mutant]) -> usize {
    let start = Instant::now();
    let names: BTreeSet<&str> = mutants
        .iter()
        .flat_map(|mutant| mutant.models)
        .copied()
        .collect();
    let names: Vec<&str> = names.into_iter().collect();
    let program = std::env::current_exe().expect("this program has a path");
    let record = Record::load();
    let verdict = entries_of(&names).and_then(|entries| {
        let count = entries.len();
        let outcomes = supervise::in_parallel(entries, |entry| {
            let holds = record.knows(&entry.name) || supervise::spawn(&program, &entry.name).held();
            (entry.name, holds)
        });
        if let Some((name, _)) = outcomes.iter().find(|(_, holds)| !holds) {
            return Err(format!("{name} fails on the unchanged source"));
        }
        record.add(outcomes.iter().map(|(name, _)| &**name));
        Ok(count)
    });
    let seconds = start.elapsed().as_secs_f64();
    match verdict {
        Ok(count) => {
            println!(
                "control: {count} models hold on the unchanged source ({seconds:.1} seconds)\n"
            );
            0
        }
        Err(problem) => {
            println!("control FAILED: {problem} ({seconds:.1} seconds)\n");
            1
        }
    }
}

/// Requires that each named model fails, in one assignment of roles at least.
fn kill(program: &Path, mutant: &Mutant) -> Result<String, String> {
    let mut killers = Vec::new();
    for name in mutant.models {
        let mut killer = Err(format!("SURVIVED {name}"));
        for entry in entries_of(&[name])? {
            let ending = supervise::spawn(program, &entry.name);
            if let Some(text) = ending.failure() {
                killer = Ok(format!("{}: {text}", entry.name));
                break;
            }
            if !ending.held() {
                killer = Err(format!("TABLE: {} ended without a panic", entry.name));
            }
        }
        killers.push(killer?);
    }
    Ok(format!("killed by {}", killers.join("; ")))
}

fn entries_of(names: &[&str]) -> Result<Vec<Entry>, String> {
    registry::chosen(names).map_err(|name| format!("TABLE: no model is called `{name}`"))
}
