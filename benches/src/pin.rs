//! Tying a thread to a core, so that two threads that are to disturb each other
//! do so from two cores.

use crate::os;

/// Returns the cores that this thread may use.
///
/// ```
/// assert!(!benches::pin::cores().is_empty());
/// ```
pub fn cores() -> Vec<usize> {
    os::cores()
}

/// Ties the calling thread to `core`; returns whether that worked.
///
/// Elsewhere than on Linux it never does: results are then less steady.
///
/// ```
/// assert!(!benches::pin::to(usize::MAX));
/// ```
pub fn to(core: usize) -> bool {
    os::pin(core)
}
