//! Files as sources and sinks: lines that are read across runs, and results that are appended.
//!
//! A run over a file can be killed at any moment and started again: every line then comes at
//! least once. [`Lines`] stores a position in an *offset file*; all lines before it are done. A
//! sink that appends has written the results of a line before that line is acknowledged. So the
//! results of all lines before the position are in the output. The following lines come again,
//! and their results may be in the output twice:
//! - lines that were in flight;
//! - lines that were acknowledged since the offset file was last written;
//! - unless the pipeline is [ordered](super::Builder::ordered), lines that were done after the
//!   oldest line in flight.
//!
//! | event | nothing is lost because |
//! |---|---|
//! | the process is killed (`SIGKILL`) | results are passed to the system with `write` before their lines are acknowledged, and the offset file is replaced by a rename |
//! | the machine loses power | the same, if the sink is [synced](AppendLines::synced): its file is on the disk before the offset file is. The offset file is synced before the rename, and its directory after it |
//!
//! The lane itself reads, and writes if there is no sync. That is seldom more than a copy to or
//! from the system's cache. Syncs of the sink run on a thread for blocking code.

use std::fs::File;
use std::io;
use std::path::Path;

mod append;
mod lines;

#[cfg(feature = "json")]
mod json;

pub use append::AppendLines;
pub use lines::Lines;

#[cfg(feature = "json")]
pub use json::{AppendJson, JsonLines};

/// Makes the directory entry of a file durable, after a creation or a rename.
fn sync_directory(path: &Path) -> io::Result<()> {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    match File::open(directory) {
        Ok(directory) => directory.sync_all(),
        Err(_) => Ok(()), // no such thing on this system
    }
}
