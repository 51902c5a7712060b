//! Which models are known to hold in this very program.
//!
//! An exploration is the same each time: what held in a program holds in it again. `.ci/models`
//! notes what held, beside the program, together with a hash of the program itself; the control
//! of the mutants then need not explore it once more. A program that was built from another
//! source has another hash, and nothing is known of it.

use std::collections::BTreeSet;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;

use super::process;

/// What is known; lost if it cannot be read or written, which costs time and nothing else.
pub(crate) struct Record {
    file: PathBuf,
    identity: String,
    held: BTreeSet<String>,
}

impl Record {
    /// What is known of this program.
    pub(crate) fn load() -> Self {
        let program = process::this();
        let mut hasher = DefaultHasher::new();
        fs::read(&program).unwrap_or_default().hash(&mut hasher);
        let identity = format!("{:016x}", hasher.finish());
        let file = program.with_extension("held");
        let text = fs::read_to_string(&file).unwrap_or_default();
        let held = match text.split_once('\n') {
            Some((first, names)) if first == identity => names.lines().map(str::to_owned).collect(),
            _ => BTreeSet::new(),
        };
        Self {
            file,
            identity,
            held,
        }
    }

    /// Whether the model is known to hold.
    pub(crate) fn knows(&self, name: &str) -> bool {
        self.held.contains(name)
    }

    /// Notes models that were explored to the end, and held.
    pub(crate) fn add<'a>(mut self, names: impl IntoIterator<Item = &'a str>) {
        self.held.extend(names.into_iter().map(str::to_owned));
        let names: Vec<&str> = self.held.iter().map(String::as_str).collect();
        let text = format!("{}\n{}", self.identity, names.join("\n"));
        if let Err(error) = fs::write(&self.file, text) {
            eprintln!("what held is not noted: {error}");
        }
    }
}
