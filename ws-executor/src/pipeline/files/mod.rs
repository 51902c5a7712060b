//! Files at the ends of a pipeline: lines that are read once and for all, results that are
//! appended.
//!
//! A run over a file can be killed at any moment and started again: every line then comes
//! at least once. [`Lines`] remembers in an *offset file* up to where all lines are done
//! with. A sink that appends has written the results of a line before that line is
//! acknowledged, so what the offset file skips is in the output. What was under way comes
//! again, and may be in the output twice. So may be what was acknowledged since the offset
//! file was last written, and, unless the pipeline is [ordered](super::Builder::ordered),
//! what was done after the oldest line that was under way.
//!
//! | event | nothing is lost because |
//! |---|---|
//! | the process is killed (`SIGKILL`) | results are handed to the system with `write` before their lines are acknowledged, and the offset file is replaced by a rename |
//! | the machine stops (power) | the same, if the sink is [synced](AppendLines::synced): its file is on the disk before the offset file is; the offset file is synced before the rename, and its directory after it |
//!
//! Reading, and writing without a sync, happens on the lane: it is seldom more than a copy
//! to or from the system's cache. Syncs of the sink happen on a thread for code that
//! blocks.

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

/// Makes the name of a file last: that it was made, or renamed.
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
