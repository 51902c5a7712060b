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

use std::io;

use benches::options::Options;
use benches::output;
use clap::Parser;
use serde_json::json;

use self::contender::Kind;

/// Measures servers on ws-executor beside the same servers on smol and tokio, each in a
/// process of its own: latencies of echo and HTTP/1.1, timers, CPU time, context switches and
/// system calls.
#[derive(Parser)]
#[command(bin_name = "cargo bench -p benches --bench io --")]
struct Args {
    #[command(flatten)]
    options: Options,
    /// Be the server of this contender.
    #[arg(long, hide = true)]
    serve: Option<Kind>,
}

fn main() -> io::Result<()> {
    let Args { options, serve } = Args::parse();
    if let Some(kind) = serve {
        server::run(kind);
        return Ok(());
    }
    let outcomes = run::all(&options)?;
    if !options.has_figures() {
        return Ok(());
    }
    report::print(&outcomes);
    let figures = json!({ "unit": "µs", "cases": outcomes });
    output::finish("io", "Goals", &goals::all(&outcomes), figures)
}
