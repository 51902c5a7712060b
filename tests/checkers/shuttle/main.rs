//! Schedules: whole executors under random schedules.
//!
//! `.ci/schedules` builds and runs this binary. shuttle schedules the threads, and
//! `--cfg ws_shuttle` puts it under the real source of `ws-executor` and `ws-core`; a
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
