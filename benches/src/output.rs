//! The end of a run: which goals were reached, and the files for programs.

use std::io;

use serde_json::{Value, json};

use crate::goal::{self, Goal};
use crate::pin;

/// Prints the goals under `title`, and writes them with the `figures`, an object, to
/// `bench/NAME.json` in the target directory.
///
/// # Errors
///
/// If the file cannot be written.
pub fn finish(name: &str, title: &str, goals: &[Goal], mut figures: Value) -> io::Result<()> {
    goal::print(title, goals);
    figures["bench"] = name.into();
    figures["cores"] = pin::cores().len().into();
    figures["goals"] = json!(goals);
    write(&format!("{name}.json"), &format!("{figures}\n"))
}

/// Writes `text` to `bench/NAME` in the target directory, and says where that is.
///
/// # Errors
///
/// If the file cannot be written.
pub fn write(name: &str, text: &str) -> io::Result<()> {
    let program = std::env::current_exe()?;
    // The program is TARGET/PROFILE/deps/NAME.
    let target = program.ancestors().nth(3).ok_or(io::ErrorKind::NotFound)?;
    let folder = target.join("bench");
    std::fs::create_dir_all(&folder)?;
    let path = folder.join(name);
    std::fs::write(&path, text)?;
    eprintln!("written to {}", path.display());
    Ok(())
}
