//! Servers on `ws-executor` beside the same servers on the runtimes that their I/O types
//! were made for.
//!
//! ```sh
//! cargo bench -p benches --bench io                  # some minutes
//! cargo bench -p benches --bench io -- --quick       # half a minute, coarse
//! cargo bench -p benches --bench io -- echo          # the cases with this word
//! ```
//!
//! Every contender is a process of its own, this program with `--serve` (`server.rs`,
//! `contender.rs`), with two workers. All are started side by side, and idle ones sleep.
//! The load comes from this process, by one thread that knows no runtime (`client.rs`,
//! `http.rs`), the same for all. Contenders alternate inside every round (`run.rs`). CPU
//! time, context switches and system calls (`syscalls.rs`) are those of the server's
//! process.

mod client;
mod contender;
mod goals;
mod http;
mod peer;
mod report;
mod run;
mod server;
mod syscalls;

use std::process::ExitCode;

use benches::options::{Effort, Options};

use self::contender::Kind;

fn main() -> ExitCode {
    let options = Options::from_args();
    if let Some(name) = options.value("serve") {
        return match Kind::by_name(name) {
            Some(kind) => {
                server::run(kind);
                ExitCode::SUCCESS
            }
            None => fail(&format!("no contender is called {name:?}")),
        };
    }
    if let Some(flag) = options.unknown(&["serve"]) {
        return fail(&format!("{flag} is not --quick"));
    }
    match run::all(&options) {
        Ok(outcomes) => {
            if options.effort == Effort::Smoke {
                eprintln!("every case ran once; `cargo bench` measures them");
            } else {
                report::print(&outcomes);
                goals::print(&outcomes);
            }
            ExitCode::SUCCESS
        }
        Err(error) => fail(&error.to_string()),
    }
}

fn fail(message: &str) -> ExitCode {
    eprintln!("error: {message}");
    ExitCode::FAILURE
}
