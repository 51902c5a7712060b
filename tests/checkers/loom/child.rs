//! One model in a process of its own.
//!
//! loom aborts the process on a deadlock, and what a failed interleaving left
//! behind must not meet the next model.

use std::panic;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use loom::model::Builder;

use super::model::Bound;
use super::registry::{Entry, Run};

/// The line by which a child reports how much it explored.
pub(crate) const EXPLORED: &str = "explored ";

/// Thread switches per interleaving; a model that needs more spins.
const MAX_BRANCHES: usize = 10_000;

/// Counted in the body, since loom reports the number only to its log. A plain
/// `std` atomic: loom must not see it.
static ITERATIONS: AtomicU64 = AtomicU64::new(0);

/// Explores `entry` to the end.
///
/// Returning means that the whole space up to the bound was explored: nothing
/// here limits the number of interleavings or the time, whatever the environment
/// says, because loom reports a run that was cut short as a success.
pub(crate) fn run(entry: &Entry) -> ExitCode {
    let default = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        eprintln!("interleaving {} failed:", ITERATIONS.load(Relaxed));
        default(info);
    }));

    // Only the checkpoint and the capture of locations are taken from the
    // environment: both serve to replay one failure.
    let mut builder = Builder::new();
    builder.max_branches = MAX_BRANCHES;
    builder.max_permutations = None;
    builder.max_duration = None;
    builder.preemption_bound = match entry.model.bound {
        Bound::Preemptions(bound) => Some(bound),
        Bound::Exhaustive => None,
    };
    let body = entry.run;
    builder.check(move || {
        ITERATIONS.fetch_add(1, Relaxed);
        match body {
            Run::Once(body) => body(),
            Run::As(main, body) => body(main),
        }
    });

    println!("{EXPLORED}{}", ITERATIONS.load(Relaxed));
    ExitCode::SUCCESS
}
