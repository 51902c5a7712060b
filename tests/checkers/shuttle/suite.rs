//! The build with shuttle: the modules in reading order.
//!
//! A [`scenario`] is a small program: an executor of two workers, and a few tasks. One
//! of shuttle's schedulers ([`portfolio`]) decides at every access to shared memory who
//! goes next. A task that is forgotten is a deadlock, which shuttle reports; what else
//! can go wrong is asserted on the program's main thread, because a panic in a task is
//! that task's outcome and no more.
//!
//! That a flaw would be found is shown by the [`canaries`], programs with a planted one
//! that the portfolio must find, and by the [`mutants`], which plant one in the source.
//!
//! shuttle's atomics are sequentially consistent, and its timed waits are over at once.
//! Missing edges of the memory model are the business of the loom models, time that of
//! the tests with real threads.

use std::process::ExitCode;

// What is run.
mod kit;
mod scenario;

// The programs, by what they are about.
mod abort;
mod blocked;
mod canaries;
mod compat;
mod drain;
mod driver;
mod forks;
mod graphs;
mod hosted;
mod idle;
mod items;
mod pinned;
mod pipelines;
mod shutdown;
mod tasks;
mod waiting;

// The command line, and changes of the source.
mod job;
mod mutants;
mod mutate;
mod runner;

// What the checkers share.
#[path = "../harness/command_line.rs"]
mod command_line;
#[path = "../harness/copy.rs"]
mod copy;
#[path = "../harness/jobs.rs"]
mod jobs;
#[path = "../harness/mutation.rs"]
mod mutation;
#[path = "../harness/portfolio.rs"]
mod portfolio;
#[path = "../harness/process.rs"]
mod process;
#[path = "../harness/tally.rs"]
mod tally;

/// Runs the command line.
pub(crate) fn main() -> ExitCode {
    runner::main()
}
