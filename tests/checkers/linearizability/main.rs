//! Linearizability: random histories of the queues against what they promise.
//!
//! `.ci/linearizability` builds and runs this binary. shuttle schedules the
//! threads, and `--cfg ws_shuttle` puts it under the structures of `ws-core`; a
//! build without it has nothing to run and says so.

#[cfg(ws_shuttle)]
#[path = "suite.rs"]
mod imp;

#[cfg(not(ws_shuttle))]
#[path = "../harness/without.rs"]
mod imp;

fn main() -> std::process::ExitCode {
    imp::main()
}
