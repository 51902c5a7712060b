//! Mutants: changes of the source, applied one at a time to a copy of the workspace.
//!
//! A check that cannot fail checks nothing. Each mutant takes one step away from the source,
//! and the checks that it names must then fail. They must hold on the unchanged source, from
//! which this very program is built: that is the control, and comes first.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use super::copy::{Change, Copy};
use super::tally::Tally;

/// One change of the source, and the checks that must notice it.
pub(crate) struct Mutation {
    pub(crate) name: &'static str,
    /// What its row of the table begins with.
    pub(crate) label: String,
    pub(crate) change: Change,
    pub(crate) checks: &'static [&'static str],
}

/// Runs the mutants whose names start with one of `chosen`; all, if none is. The program is
/// built from the copy with `--cfg cfg`.
///
/// `control` says which check does not hold in this program. `kill` runs one check in another
/// program, and says with what it fails, or that it does not.
///
/// # Errors
///
/// Says what is wrong with `chosen`.
pub(crate) fn run(
    cfg: &'static str,
    mutants: impl Iterator<Item = Mutation>,
    chosen: &[String],
    control: impl FnOnce(&[&str]) -> Result<(), String>,
    kill: impl Fn(&Path, &str) -> Result<String, String>,
) -> Result<ExitCode, String> {
    let mut mutants: Vec<Mutation> = mutants.collect();
    for prefix in chosen {
        if !mutants.iter().any(|it| it.name.starts_with(prefix)) {
            return Err(format!("no mutant is called `{prefix}`"));
        }
    }
    let named = |it: &Mutation| chosen.iter().any(|prefix| it.name.starts_with(prefix));
    mutants.retain(|it| chosen.is_empty() || named(it));
    let copy = match Copy::of_workspace(cfg) {
        Ok(copy) => copy,
        Err(problem) => {
            eprintln!("cannot copy the workspace: {problem}");
            return Ok(ExitCode::FAILURE);
        }
    };

    let mut tally = Tally::new();
    let checks: BTreeSet<&str> = mutants.iter().flat_map(|it| it.checks).copied().collect();
    let checks: Vec<&str> = checks.into_iter().collect();
    let start = Instant::now();
    let verdict = control(&checks);
    let seconds = start.elapsed().as_secs_f64();
    tally.count(verdict.is_ok());
    match verdict {
        Ok(()) => println!(
            "control: {} checks hold on the unchanged source ({seconds:.1} seconds)\n",
            checks.len()
        ),
        Err(problem) => println!("control FAILED: {problem} ({seconds:.1} seconds)\n"),
    }

    println!("{:<48} {:>8}  outcome", "mutant", "seconds");
    for mutant in &mutants {
        let start = Instant::now();
        let verdict = copy.with(&mutant.change, |program| {
            let killers = mutant.checks.iter().map(|check| kill(program, check));
            let killers: Vec<String> = killers.collect::<Result<_, _>>()?;
            Ok(format!("killed by {}", killers.join("; ")))
        });
        tally.count(verdict.is_ok());
        let seconds = start.elapsed().as_secs_f64();
        let (Ok(outcome) | Err(outcome)) = verdict;
        println!("{:<48} {seconds:>8.1}  {outcome}", mutant.label);
    }
    Ok(tally.close(&format!("{} mutants", mutants.len())))
}
