//! What the mutants of the source mean to the models.

use std::path::Path;
use std::process::ExitCode;

use super::copy::Change;
use super::mutants::MUTANTS;
use super::mutation::{self, Mutation};
use super::process;
use super::record::Record;
use super::registry;
use super::supervise;
use super::tally;

/// Runs the mutants whose names start with one of `chosen`; all, if none is.
///
/// # Errors
///
/// Says what is wrong with `chosen`.
pub(crate) fn run(chosen: &[String]) -> Result<ExitCode, String> {
    let mutations = MUTANTS.iter().map(|mutant| {
        let flaws: Vec<String> = mutant.flaws.iter().map(u8::to_string).collect();
        Mutation {
            name: mutant.name,
            label: format!("{:<40} {}", mutant.name, flaws.join(", ")),
            change: Change {
                file: mutant.file,
                find: mutant.find,
                replace: mutant.replace,
            },
            checks: mutant.models,
        }
    });
    mutation::run("ws_loom", mutations, chosen, control, kill)
}

/// Requires that every named model holds in this program. What is known to hold in it
/// (`record.rs`) is not explored again.
fn control(names: &[&str]) -> Result<(), String> {
    let entries = registry::chosen(names).map_err(|problem| format!("TABLE: {problem}"))?;
    let record = Record::load();
    let holds = tally::in_parallel(supervise::AT_ONCE, &entries, |entry| {
        record.knows(&entry.name) || supervise::spawn(&process::this(), &entry.name).held()
    });
    if let Some(failed) = holds.iter().position(|holds| !holds) {
        let name = &entries[failed].name;
        return Err(format!("{name} fails on the unchanged source"));
    }
    record.add(entries.iter().map(|entry| &*entry.name));
    Ok(())
}

/// Requires that a model fails, in one assignment of roles at least.
fn kill(program: &Path, name: &str) -> Result<String, String> {
    let mut killer = Err(format!("SURVIVED {name}"));
    for entry in registry::chosen(&[name]).map_err(|problem| format!("TABLE: {problem}"))? {
        let ending = supervise::spawn(program, &entry.name);
        if let Some(text) = ending.failure() {
            return Ok(format!("{}: {text}", entry.name));
        }
        if !ending.held() {
            killer = Err(format!("TABLE: {} ended without a panic", entry.name));
        }
    }
    killer
}
