//! A copy of the workspace, to change its source and build it again.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::process;

/// This program, which is built from the copy as well.
const PROGRAM: &str = env!("CARGO_BIN_NAME");

/// One change: `find` occurs exactly once in `file`.
pub(crate) struct Change {
    /// The file, from the root of the workspace.
    pub(crate) file: &'static str,
    pub(crate) find: &'static str,
    pub(crate) replace: &'static str,
}

/// A copy of the workspace, with a target directory of its own.
pub(crate) struct Copy {
    tree: PathBuf,
    build: PathBuf,
    /// Puts a checker under the source.
    cfg: &'static str,
}

impl Copy {
    /// Brings the copy up to date. Files that did not change keep their times, so
    /// that nothing is built twice.
    ///
    /// # Errors
    ///
    /// Says what could not be read or written.
    pub(crate) fn of_workspace(cfg: &'static str) -> Result<Self, String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        // This program is `<target>/<checker>/<profile>/<name>`.
        let base = process::this();
        let base = base
            .ancestors()
            .nth(3)
            .ok_or("this program is in no target directory")?;
        let base = base.join("mutants").join(PROGRAM);
        let copy = Self {
            tree: base.join("tree"),
            build: base.join("build"),
            cfg,
        };
        let mut files = HashSet::new();
        for file in source_files(&root)? {
            let Ok(text) = fs::read(root.join(&file)) else {
                continue; // deleted, though git still lists it
            };
            let path = copy.tree.join(&file);
            write_if_changed(&path, &text)?;
            files.insert(path);
        }
        remove_others(&copy.tree, &files).map_err(|error| error.to_string())?;
        Ok(copy)
    }

    /// Applies `change`, runs `check` on the program built from it, and takes the
    /// change back.
    ///
    /// # Errors
    ///
    /// Says that the change does not apply or does not build, or what `check` says.
    pub(crate) fn with(
        &self,
        change: &Change,
        check: impl FnOnce(&Path) -> Result<String, String>,
    ) -> Result<String, String> {
        let path = self.tree.join(change.file);
        let source = fs::read_to_string(&path)
            .map_err(|error| format!("TABLE: cannot read {}: {error}", change.file))?;
        let found = source.matches(change.find).count();
        if found != 1 {
            return Err(format!(
                "TABLE: mutant no longer applies: its text occurs {found} times in {}",
                change.file
            ));
        }
        let mutated = source.replacen(change.find, change.replace, 1);
        fs::write(&path, mutated).map_err(|error| error.to_string())?;
        let verdict = self.build().and_then(|program| check(&program));
        fs::write(&path, source).map_err(|error| error.to_string())?;
        verdict
    }

    /// Builds the program of the copy, and returns where it is.
    ///
    /// # Errors
    ///
    /// Says why it does not build.
    pub(crate) fn build(&self) -> Result<PathBuf, String> {
        let output = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--profile", "model", "-p", "tests"])
            .args(["--bin", PROGRAM])
            // Building dominates, and what a mutant runs is small: the checker is
            // optimised, and built once; what changes is not.
            .args(["--config", "profile.model.package.'*'.opt-level=3"])
            .args(["--config", "profile.model.opt-level=0"])
            .args(["--config", "profile.model.incremental=true"])
            .current_dir(&self.tree)
            // It would have the last word.
            .env_remove("CARGO_INCREMENTAL")
            .env("CARGO_TARGET_DIR", &self.build)
            .env("RUSTFLAGS", format!("--cfg {} -Awarnings", self.cfg))
            .output()
            .map_err(|error| format!("cargo does not start: {error}"))?;
        if output.status.success() {
            return Ok(self.build.join("model").join(PROGRAM));
        }
        let stderr = String::from_utf8_lossy(&output.stderr);
        Err(format!("TABLE: does not build\n{}", process::tail(&stderr)))
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

/// Removes what an earlier copy had and the workspace has no more. What cargo wrote
/// beside the sources is written again.
fn remove_others(folder: &Path, files: &HashSet<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            remove_others(&path, files)?;
        } else if !files.contains(&path) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}
