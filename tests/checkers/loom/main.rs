//! The models: every interleaving of every protocol, up to a stated bound.
//!
//! `.ci/models` builds and runs this binary; `README.md` beside this file says
//! which model shows what, how to run one of them, and how to replay a failure.
//! loom drives the models, and `--cfg ws_loom` puts it under the structures of
//! `ws-core` and `ws-executor`; a build without it has nothing to run and says so.

#[cfg(ws_loom)]
#[path = "suite.rs"]
mod imp;

#[cfg(not(ws_loom))]
#[path = "../harness/without.rs"]
mod imp;

fn main() -> std::process::ExitCode {
    imp::main()
}
