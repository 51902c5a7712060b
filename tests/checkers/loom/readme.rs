//! Checks that the tables in `README.md` name what exists.

use std::fs;
use std::io;
use std::path::Path;

use super::mutants::MUTANTS;
use super::registry;

/// The last row of the table of flaws.
const ROWS: usize = 26;

/// Where the edges begin, whose names are neither models nor mutants.
const EDGES: &str = "| edge |";

/// Looks at every name in the tables, and that no row of the table of flaws is missing.
///
/// # Errors
///
/// Says which row is missing, or which name means nothing.
pub(crate) fn check() -> Result<(), String> {
    let text = include_str!("README.md");
    for row in 1..=ROWS {
        let start = format!("| {row} ");
        if !text.lines().any(|line| line.starts_with(&start)) {
            return Err(format!("README.md has no row {row}"));
        }
    }
    let programs = programs().map_err(|error| format!("cannot read the programs: {error}"))?;
    let mut is_edge = false;
    for line in text.lines() {
        is_edge = line.starts_with('|') && (is_edge || line.starts_with(EDGES));
        if is_edge || !line.starts_with('|') {
            continue;
        }
        let unknown = |name: &str| format!("README.md: nothing is called `{name}` in\n{line}");
        for name in between(line, '`') {
            let is_mutant = MUTANTS.iter().any(|mutant| mutant.name == name);
            if !is_mutant && registry::chosen(&[name]).is_err() {
                return Err(unknown(name));
            }
        }
        for name in between(line, '*') {
            if !programs.contains(&format!("name: \"{name}\"")) {
                return Err(unknown(name));
            }
        }
    }
    Ok(())
}

/// The names between two marks. All names that are checked have a dot; other tests have none.
fn between(line: &str, mark: char) -> impl Iterator<Item = &str> {
    let names = line.split(mark).skip(1).step_by(2);
    names.filter(|name| name.contains('.'))
}

/// The source of the programs, and of their mutants: they are not part of this build.
fn programs() -> io::Result<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("checkers/shuttle");
    fs::read_dir(folder)?
        .map(|file| fs::read_to_string(file?.path()))
        .collect()
}
