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
//! started side by side; idle ones sleep. They alternate inside every round (`run.rs`),
//! and each sample is wall time and the CPU time of all threads
//! ([`meter`](benches::meter)). What tasks notice of all that is in `latency.rs`, and
//! `goals.rs` says which goals were reached.

mod case;
mod cases;
mod files;
mod goals;
mod latency;
mod outcome;
mod pool;
mod pools;
mod report;
mod run;

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use benches::goal;
use benches::limits::Limits;
use benches::options::{Effort, Options};
use benches::pin;
use benches::progress::Progress;

use self::latency::{Latency, Load};
use self::outcome::Outcome;
use self::pool::Kind;

/// All that was measured.
pub(crate) struct Findings {
    workers: Vec<usize>,
    cores: usize,
    outcomes: Vec<Outcome>,
    latencies: Vec<Latency>,
}

/// What the command line asks for, beside cases and effort.
struct Plan {
    workers: Vec<usize>,
    kinds: Vec<Kind>,
    limits: Limits,
    /// How long latencies are measured beside each load.
    latency: Duration,
}

impl Plan {
    fn new(options: &Options) -> Result<Self, String> {
        options.check(&["workers", "contenders", "seconds"])?;
        let seconds = options.number("seconds")?;
        let seconds = seconds.map(|seconds| Duration::from_secs(seconds as u64));
        let latency = match options.effort {
            Effort::Full => Duration::from_secs(4),
            Effort::Quick => Duration::from_millis(500),
            Effort::Smoke => Duration::from_millis(20),
        };
        Ok(Self {
            workers: options.numbers("workers", "1,2")?,
            kinds: options.among("contenders", &Kind::ALL, Kind::name)?,
            limits: Limits::new(options.effort, seconds),
            latency: seconds.unwrap_or(latency),
        })
    }
}

fn main() -> ExitCode {
    let options = Options::from_args();
    match Plan::new(&options).map(|plan| run(&options, &plan)) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(error)) => fail(&error.to_string()),
        Err(message) => fail(&message),
    }
}

fn fail(message: &str) -> ExitCode {
    eprintln!("error: {message}");
    ExitCode::FAILURE
}

fn run(options: &Options, plan: &Plan) -> io::Result<()> {
    let findings = measure(options, plan);
    if options.effort == Effort::Smoke {
        eprintln!("every case ran once; `cargo bench` measures them");
        return Ok(());
    }
    report::print(&findings);
    let goals = goals::all(&findings);
    goal::print("Goals", &goals);
    let path = files::save(&findings, &goals)?;
    eprintln!("written to {}", path.display());
    Ok(())
}

fn measure(options: &Options, plan: &Plan) -> Findings {
    let entries: Vec<_> = cases::all()
        .into_iter()
        .filter(|entry| options.selects(&entry.name))
        .collect();
    let loads: Vec<_> = Load::ALL
        .into_iter()
        .filter(|load| options.selects(&latency_name(*load)))
        .collect();
    let mut findings = Findings {
        workers: plan.workers.clone(),
        cores: pin::cores().len(),
        outcomes: Vec::new(),
        latencies: Vec::new(),
    };
    let mut progress = Progress::new(plan.workers.len() * (entries.len() + loads.len()));
    let watch = progress.watch();
    for &workers in &plan.workers {
        for entry in &entries {
            progress.begin(&format!("{}, {}", in_words(workers), entry.name));
            let outcome = run::measure(entry, workers, &plan.kinds, plan.limits, &watch);
            progress.end(&in_short(&outcome));
            findings.outcomes.push(outcome);
        }
        for &load in &loads {
            progress.begin(&format!("{}, {}", in_words(workers), latency_name(load)));
            let latency = watch.during("ws", || latency::measure(load, workers, plan.latency));
            progress.end(&format!(
                "p50 {:.0} µs, p99 {:.0} µs",
                latency.p50, latency.p99
            ));
            findings.latencies.push(latency);
        }
    }
    findings
}

fn latency_name(load: Load) -> String {
    format!("latency beside {}", load.name())
}

pub(crate) fn in_words(workers: usize) -> String {
    let plural = if workers == 1 { "" } else { "s" };
    format!("{workers} worker{plural}")
}

/// The figures of one case in one line.
fn in_short(outcome: &Outcome) -> String {
    let figures: Vec<_> = outcome
        .measured
        .iter()
        .map(|measured| format!("{} {:.2}", measured.kind, measured.ns))
        .collect();
    format!("{} ns per {}", figures.join(", "), outcome.unit)
}
