//! Fork-join of `ws-executor` beside rayon, chili and sequential code.
//!
//! ```sh
//! cargo bench -p benches --bench fork_join                     # about two minutes
//! cargo bench -p benches --bench fork_join -- --quick          # some twenty seconds, coarse
//! cargo bench -p benches --bench fork_join -- fib latency      # the cases with these words
//! cargo bench -p benches --bench fork_join -- --workers=2 --contenders=ws,rayon
//! cargo bench -p benches --bench fork_join -- --seconds=20     # per case
//! ```
//!
//! Every contender implements one trait (`pool.rs`, `pools.rs`), every case is one
//! generic function over it (`case.rs`, `cases/`). For each case, all contenders are
//! started side by side; idle ones sleep. They alternate inside every round
//! ([`measure`](benches::measure)), and each sample is wall time and the CPU time of all threads
//! ([`meter`](benches::meter)). What tasks notice of all that is in `latency.rs`, and
//! `goals.rs` says which goals were reached.

mod case;
mod cases;
mod goals;
mod latency;
mod pool;
mod pools;
mod report;
mod scaling;

use std::io;
use std::time::Duration;

use benches::limits::Limits;
use benches::measure::measure;
use benches::options::{Effort, Options, positive};
use benches::progress::{self, Progress};
use benches::{output, table};
use clap::{Parser, ValueEnum};

use self::case::Entry;
use self::latency::{Latency, Load};
use self::pool::Kind;

pub(crate) type Outcome = benches::outcome::Outcome<Kind>;

/// Measures fork-join of ws-executor beside rayon, chili and sequential code: wall time and
/// CPU time per join or item of a loop, and how long a task waits for its poll meanwhile.
#[derive(Parser)]
#[command(bin_name = "cargo bench -p benches --bench fork_join --")]
struct Args {
    #[command(flatten)]
    options: Options,
    /// How many workers; each case runs with each number.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2], value_parser = positive())]
    workers: Vec<usize>,
    /// Which contenders take part.
    #[arg(long, value_delimiter = ',', default_values_t = Kind::value_variants().to_vec())]
    contenders: Vec<Kind>,
    /// How many seconds a case takes.
    #[arg(long, value_parser = positive())]
    seconds: Option<usize>,
}

fn main() -> io::Result<()> {
    let args = Args::parse();
    let (outcomes, latencies) = measure_all(&args);
    if !args.options.has_figures() {
        return Ok(());
    }
    report::print(&args.workers, &outcomes, &latencies);
    let figures = report::figures(&outcomes, &latencies);
    output::finish("fork_join", "Goals", &goals::all(&outcomes), figures)
}

fn measure_all(args: &Args) -> (Vec<Outcome>, Vec<Latency>) {
    let mut entries = cases::all();
    entries.retain(|entry| args.options.selects(&entry.name));
    let loads = Load::ALL.map(|load| (load, format!("latency beside {}", load.name())));
    let mut loads = Vec::from(loads);
    loads.retain(|(_, name)| args.options.selects(name));
    // How long latencies are measured beside each load, in ms.
    let time = match args.options.effort() {
        Effort::Full => 4_000,
        Effort::Quick => 500,
        Effort::Smoke => 20,
    };
    let time = args.seconds.map_or(time, |seconds| 1_000 * seconds as u64);
    let (mut outcomes, mut latencies) = (Vec::new(), Vec::new());
    let mut progress = Progress::new(args.workers.len() * (entries.len() + loads.len()));
    for &workers in &args.workers {
        for entry in &entries {
            outcomes.push(progress.step(
                &format!("{}, {}", table::workers(workers), entry.name),
                || measure_case(entry, workers, args),
                |outcome| format!("{} ns per {}", outcome.in_short(), outcome.unit),
            ));
        }
        for (load, name) in &loads {
            let latency = || latency::measure(*load, workers, Duration::from_millis(time));
            latencies.push(progress.step(
                &format!("{}, {name}", table::workers(workers)),
                || progress::watch("ws", latency),
                |found| format!("p50 {:.0} µs, p99 {:.0} µs", found.p50_us, found.p99_us),
            ));
        }
    }
    (outcomes, latencies)
}

fn measure_case(entry: &Entry, workers: usize, args: &Args) -> Outcome {
    let limits = Limits::new(args.options.effort(), args.seconds);
    let start = |kind| entry.start(kind, workers);
    let contenders = measure(&args.contenders, start, Duration::MAX, limits);
    let peers = vec![Kind::Rayon, Kind::Chili];
    Outcome {
        units: entry.units,
        workers,
        ..Outcome::new(&entry.name, entry.unit, peers, contenders)
    }
}
