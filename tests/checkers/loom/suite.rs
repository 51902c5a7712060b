//! The build with loom: the modules in reading order.

use std::process::ExitCode;

// How models are described, run and mutated.
mod child;
mod items;
mod model;
mod mutants;
mod mutate;
mod poison;
mod readme;
mod record;
mod registry;
mod runner;
mod supervise;

// What the checkers share.
#[path = "../harness/command_line.rs"]
mod command_line;
#[path = "../harness/copy.rs"]
mod copy;
#[path = "../harness/mutation.rs"]
mod mutation;
#[path = "../harness/process.rs"]
mod process;
#[path = "../harness/tally.rs"]
mod tally;

// What shows that the checker itself works, and where it does not.
mod canary;
mod loom_limits;

// The known flaws, each as a small structure that has it and one that does not.
mod deque;
mod deque_flaws;
mod deque_right;
mod growth;
mod injector;
mod ring_flaws;
mod sleep;
mod sleep_rayon;
mod sleep_workers;

// The structures of `ws-core`.
mod chase_lev;
mod chase_lev_growth;
mod park;
mod ring;
mod ring_chain;
mod ring_drop;
mod ring_overflow;
mod slot;

// The protocols of `ws-executor`.
mod exec_abort;
mod exec_drain;
mod exec_driver;
mod exec_fork;
mod exec_graph;
mod exec_injector;
mod exec_kit;
mod exec_lives;
mod exec_monitor;
mod exec_refused;
mod exec_scope;
mod exec_sleep;

// That of `compat/async-executor`.
mod compat_sleep;

#[global_allocator]
static ALLOCATOR: poison::Poison = poison::Poison;

/// Runs the command line.
pub(crate) fn main() -> ExitCode {
    runner::main()
}
