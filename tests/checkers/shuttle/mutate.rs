//! What the mutants of the source mean to the programs.

use std::path::Path;
use std::process::ExitCode;
use std::slice;

use super::copy::Change;
use super::jobs;
use super::mutants::MUTANTS;
use super::mutation::{self, Mutation};
use super::process;
use super::scenario::SCENARIOS;

/// Schedules of a program under each scheduler; the same as in a normal run.
const SCHEDULES: usize = 1_000;

/// Runs the mutants whose names start with one of `chosen`; all, if none is.
///
/// # Errors
///
/// Says what is wrong with `chosen`.
pub(crate) fn run(seed: u64, chosen: &[String]) -> Result<ExitCode, String> {
    let mutations = MUTANTS.iter().map(|mutant| Mutation {
        name: mutant.name,
        label: mutant.name.to_owned(),
        change: Change {
            file: mutant.file,
            find: mutant.find,
            replace: mutant.replace,
        },
        checks: slice::from_ref(&mutant.program),
    });
    let control = |names: &[&str]| {
        for name in names {
            if let Some(failure) = failure(&process::this(), seed, name)? {
                return Err(format!("on the unchanged source {failure}"));
            }
        }
        Ok(())
    };
    let kill = |program: &Path, name: &str| {
        failure(program, seed, name)?.ok_or_else(|| format!("SURVIVED {name}"))
    };
    mutation::run("ws_shuttle", mutations, chosen, control, kill)
}

/// With what a program fails. The schedulers are tried one after the other, up to the first
/// under which it does.
fn failure(built: &Path, seed: u64, name: &str) -> Result<Option<String>, String> {
    let is_its = |job: &str| {
        job.split_once('/')
            .is_some_and(|(program, _)| program == name)
    };
    let jobs = jobs::all(SCENARIOS, SCHEDULES, seed, is_its);
    if jobs.is_empty() {
        return Err(format!("TABLE: no program is called `{name}`"));
    }
    Ok(jobs.iter().find_map(|job| {
        let failure = job.run(built).failure?;
        Some(format!("{}: {failure}", job.name()))
    }))
}
