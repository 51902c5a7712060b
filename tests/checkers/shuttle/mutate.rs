//! Applying the mutants, one at a time, to a copy of the workspace.
//!
//! A program that cannot fail checks nothing. It first runs on the unchanged source, in this
//! very binary, where it must hold under every scheduler, and then on the mutant, where it
//! must not.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use super::copy::{Change, Copy, Target};
use super::mutants::{MUTANTS, Mutant};
use super::portfolio::PORTFOLIO;

/// Schedules of a program under each scheduler; the same as in a normal run.
const SCHEDULES: &str = "1000";

/// Runs the mutants whose names start with one of `chosen`; all, if none is.
pub(crate) fn run(seed: u64, chosen: &[String]) -> ExitCode {
    let is_chosen = |mutant: &&Mutant| {
        let named = |name: &String| mutant.name.starts_with(name.as_str());
        chosen.is_empty() || chosen.iter().any(named)
    };
    let mutants: Vec<&Mutant> = MUTANTS.iter().filter(is_chosen).collect();
    let target = Target {
        program: "schedules",
        cfg: "ws_shuttle",
    };
    let copy = match Copy::of_workspace(target) {
        Ok(copy) => copy,
        Err(problem) => {
            eprintln!("cannot copy the workspace: {problem}");
            return ExitCode::FAILURE;
        }
    };

    let start = Instant::now();
    let programs: BTreeSet<&str> = mutants.iter().map(|mutant| mutant.program).collect();
    let unchanged = std::env::current_exe().expect("this program has a path");
    let mut failed = 0;
    match programs
        .iter()
        .find(|program| !holds(&unchanged, seed, program))
    {
        None => println!("control: {} programs hold\n", programs.len()),
        Some(program) => {
            failed += 1;
            println!("control FAILED: {program} fails on the unchanged source\n");
        }
    }
    println!("{:<36} {:>8}  outcome", "mutant", "seconds");
    for mutant in &mutants {
        let start = Instant::now();
        let change = Change {
            file: mutant.file,
            find: mutant.find,
            replace: mutant.replace,
        };
        let verdict = copy.with(&change, |built| {
            if holds(built, seed, mutant.program) {
                return Err(format!("SURVIVED {}", mutant.program));
            }
            Ok(format!("killed by {}", mutant.program))
        });
        failed += usize::from(verdict.is_err());
        let (Ok(outcome) | Err(outcome)) = verdict;
        let seconds = start.elapsed().as_secs_f64();
        println!("{:<36} {seconds:>8.1}  {outcome}", mutant.name);
    }
    println!("\n{:.0} seconds", start.elapsed().as_secs_f64());
    println!("{} passed, {failed} failed", mutants.len() + 1 - failed);
    ExitCode::from(u8::from(failed > 0))
}

/// Whether the program holds under every scheduler. They are tried one after the other, up to
/// the first under which it fails.
fn holds(built: &Path, seed: u64, program: &str) -> bool {
    let mut portfolio = PORTFOLIO.iter();
    portfolio.all(|strategy| holds_under(built, seed, &format!("{program}/{}", strategy.name())))
}

fn holds_under(built: &Path, seed: u64, job: &str) -> bool {
    Command::new(built)
        .args(["--seed", &seed.to_string()])
        .args(["--schedules", SCHEDULES])
        .arg(job)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
