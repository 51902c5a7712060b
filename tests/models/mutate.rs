//! Applying mutants of the source, one at a time, to a copy of the workspace.
//!
//! A model that cannot fail checks nothing. Each mutant takes one step away from
//! the source of `ws-core`, and the models it names must then fail. The same
//! models first run on the unchanged copy, where they must hold.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use super::mutants::{MUTANTS, Mutant};
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
    let copy = match Copy::of_workspace() {
        Ok(copy) => copy,
        Err(problem) => {
            eprintln!("cannot copy the workspace: {problem}");
            return ExitCode::FAILURE;
        }
    };

    let start = Instant::now();
    let mut failed = control(&copy, &mutants);
    println!("{:<40} {:<8} {:>8}  outcome", "mutant", "errata", "seconds");
    for mutant in &mutants {
        let start = Instant::now();
        let verdict = copy.with(mutant, |program| kill(program, mutant));
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

/// Runs every named model on the unchanged copy; returns 1 if one does not hold.
fn control(copy: &Copy, mutants: &[&Mutant]) -> usize {
    let start = Instant::now();
    let names: BTreeSet<&str> = mutants
        .iter()
        .flat_map(|mutant| mutant.models)
        .copied()
        .collect();
    let verdict = copy.build().and_then(|program| {
        let names: Vec<&str> = names.into_iter().collect();
        let entries = entries_of(&names)?;
        let count = entries.len();
        let broken = supervise::in_parallel(entries, |entry| {
            let held = supervise::spawn(&program, &entry.name).held();
            (!held).then_some(entry.name)
        });
        match broken.into_iter().flatten().next() {
            Some(name) => Err(format!("{name} fails on the unchanged source")),
            None => Ok(count),
        }
    });
    let seconds = start.elapsed().as_secs_f64();
    match verdict {
        Ok(count) => {
            println!("control: {count} models hold on the unchanged copy ({seconds:.1} seconds)\n");
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

/// A copy of the workspace, with a target directory of its own.
struct Copy {
    tree: PathBuf,
    target: PathBuf,
}

impl Copy {
    /// Brings the copy up to date. Files that did not change keep their times, so
    /// that nothing is built twice.
    fn of_workspace() -> Result<Self, String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        // This program is `<target>/loom/<profile>/models`.
        let base = program
            .ancestors()
            .nth(3)
            .ok_or("this program is in no target directory")?;
        let copy = Self {
            tree: base.join("mutants/tree"),
            target: base.join("mutants/build"),
        };
        for file in source_files(&root)? {
            let Ok(text) = fs::read(root.join(&file)) else {
                continue; // deleted, though git still lists it
            };
            write_if_changed(&copy.tree.join(&file), &text)?;
        }
        Ok(copy)
    }

    /// Applies `mutant`, runs `check` on the program built from it, and takes the
    /// mutant back.
    fn with(
        &self,
        mutant: &Mutant,
        check: impl FnOnce(&Path) -> Result<String, String>,
    ) -> Result<String, String> {
        let path = self.tree.join(mutant.file);
        let source = fs::read_to_string(&path)
            .map_err(|error| format!("TABLE: cannot read {}: {error}", mutant.file))?;
        let found = source.matches(mutant.find).count();
        if found != 1 {
            return Err(format!(
                "TABLE: mutant no longer applies: its text occurs {found} times in {}",
                mutant.file
            ));
        }
        let mutated = source.replacen(mutant.find, mutant.replace, 1);
        fs::write(&path, mutated).map_err(|error| error.to_string())?;
        let verdict = self.build().and_then(|program| check(&program));
        fs::write(&path, source).map_err(|error| error.to_string())?;
        verdict
    }

    /// Builds the models of the copy and returns the program.
    fn build(&self) -> Result<PathBuf, String> {
        let output = Command::new(env!("CARGO"))
            .args([
                "build",
                "--quiet",
                "--profile",
                "model",
                "-p",
                "tests",
                "--bin",
                "models",
            ])
            // Building dominates, and the models of one mutant are small: loom is
            // optimised, and built once; what changes is not.
            .args(["--config", "profile.model.package.'*'.opt-level=3"])
            .args(["--config", "profile.model.opt-level=0"])
            .args(["--config", "profile.model.incremental=true"])
            .current_dir(&self.tree)
            .env("CARGO_TARGET_DIR", &self.target)
            .env("RUSTFLAGS", "--cfg ws_loom -Awarnings")
            .output()
            .map_err(|error| format!("cargo does not start: {error}"))?;
        if output.status.success() {
            Ok(self.target.join("model/models"))
        } else {
            let stderr = String::from_utf8_lossy(&output.stderr);
            Err(format!(
                "TABLE: does not build\n{}",
                supervise::tail(&stderr)
            ))
        }
    }
}

/// What git tracks, and what it would track; sources only by that measure.
fn source_files(root: &Path) -> Result<Vec<PathBuf>, String> {
    let output = Command::new("git")
        .args([
            "ls-files",
            "--cached",
            "--others",
            "--exclude-standard",
            "-z",
        ])
        .current_dir(root)
        .output()
        .map_err(|error| format!("git does not start: {error}"))?;
    if !output.status.success() {
        return Err("git does not list the files".to_owned());
    }
    let names = String::from_utf8_lossy(&output.stdout);
    let names = names.split('\0').filter(|name| !name.is_empty());
    Ok(names.map(PathBuf::from).collect())
}

fn write_if_changed(path: &Path, text: &[u8]) -> Result<(), String> {
    if fs::read(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    let folder = path.parent().ok_or("a file lies in a folder")?;
    fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    fs::write(path, text).map_err(|error| error.to_string())
}
