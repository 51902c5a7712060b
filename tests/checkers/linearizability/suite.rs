//! The build with shuttle: the modules in reading order.
//!
//! A [`program`] says what each thread calls. A [`subject`] runs the calls on a
//! structure while one of shuttle's schedulers ([`portfolio`]) decides who goes
//! next; what was called when, and what came back, is a [`history`]. The
//! [`checker`] looks for an order of the calls that a specification allows
//! ([`ring_spec`], [`deque_spec`], [`slot_spec`]). That a wrong history is found
//! out is shown by the canaries: structures with a planted flaw that the run
//! must reject.
//!
//! shuttle's atomics are sequentially consistent: missing edges of the memory
//! model are the business of the loom models, and whole histories, longer than
//! any loom model can be, are the business of this binary.

use std::process::ExitCode;

// What is run, and what is recorded.
mod history;
mod program;
mod subject;

// What is allowed.
mod checker;
mod deque_spec;
mod ring_spec;
mod slot_spec;

// What is checked, and what must be rejected.
mod deque_canaries;
mod ring_canaries;
mod slot_canaries;
mod structures;

// The command line.
mod job;
mod runner;

// What the checkers share.
#[path = "../harness/command_line.rs"]
mod command_line;
#[path = "../harness/jobs.rs"]
mod jobs;
#[path = "../harness/portfolio.rs"]
mod portfolio;
#[path = "../harness/tally.rs"]
mod tally;

/// Runs the command line.
pub(crate) fn main() -> ExitCode {
    runner::main()
}
