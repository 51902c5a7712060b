//! Checks that the tables in `README.md` name what exists.

use super::mutants::MUTANTS;
use super::registry;

/// The last row of the errata.
const ROWS: usize = 26;

/// Looks at every name in the tables, and that no row of the errata is missing.
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
    for line in text.lines().filter(|line| line.starts_with('|')) {
        // Models and mutants have a dot in their names, other tests have none.
        let names = line.split('`').skip(1).step_by(2);
        for name in names.filter(|name| name.contains('.')) {
            let is_mutant = MUTANTS.iter().any(|mutant| mutant.name == name);
            if !is_mutant && registry::chosen(&[name]).is_err() {
                return Err(format!("README.md: nothing is called `{name}` in\n{line}"));
            }
        }
    }
    Ok(())
}
