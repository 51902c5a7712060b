//! Where files go that a benchmark writes: `bench/` in the target directory.

use std::io;
use std::path::PathBuf;

/// Writes `text` to `bench/NAME` in the target directory, and returns where that
/// is.
///
/// # Errors
///
/// If the file cannot be written.
pub fn write(name: &str, text: &str) -> io::Result<PathBuf> {
    let program = std::env::current_exe()?;
    // The program is TARGET/PROFILE/deps/NAME.
    let target = program.ancestors().nth(3).ok_or(io::ErrorKind::NotFound)?;
    let folder = target.join("bench");
    std::fs::create_dir_all(&folder)?;
    let path = folder.join(name);
    std::fs::write(&path, text)?;
    Ok(path)
}
