//! Where cores and CPU time are not known: nothing is pinned, nothing checked.

use std::time::Duration;

use crate::usage::Usage;

pub(crate) fn thread_cpu_time() -> Option<Duration> {
    None
}

pub(crate) fn process_cpu_time() -> Option<Duration> {
    None
}

pub(crate) fn process_usage() -> Option<Usage> {
    None
}

pub(crate) fn thread_usage() -> Option<Usage> {
    None
}

pub(crate) fn cores() -> Vec<usize> {
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    (0..count).collect()
}

pub(crate) fn pin(_core: usize) -> bool {
    false
}
