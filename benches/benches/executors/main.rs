//! `ws-executor` beside its peers: tokio's multi-threaded scheduler,
//! async-executor's two executors and futures' `ThreadPool`.
//!
//! ```sh
//! cargo bench -p benches --bench executors                     # about eight minutes
//! cargo bench -p benches --bench executors -- --quick          # about a minute, coarse
//! cargo bench -p benches --bench executors -- yield skynet     # the cases with these words
//! cargo bench -p benches --bench executors -- --workers=2 --contenders=ws,tokio
//! cargo bench -p benches --bench executors -- --seconds=20     # per case
//! cargo bench -p benches --bench executors -- --low-load=10 low
//! ```
//!
//! Every executor implements one trait (`contender.rs`, `contenders/`), every case
//! is one generic function over it (`case.rs`, `cases/`). For each case, all
//! executors are started side by side; idle ones sleep. They alternate inside
//! every round (`run.rs`), and each sample is wall time and the CPU time of all
//! threads ([`meter`](benches::meter)). Three sections measure what is no such time:
//! `memory.rs`, `low_load.rs` and `ping.rs`. `goals.rs` says which goals were reached.

mod case;
mod cases;
mod contender;
mod contenders;
mod files;
mod goals;
mod low_load;
mod memory;
mod outcome;
mod ping;
mod report;
mod run;

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use benches::counting::Counting;
use benches::goal;
use benches::limits::Limits;
use benches::options::{Effort, Options};
use benches::pin;
use benches::progress::Progress;

use self::case::Entry;
use self::contender::Kind;
use self::low_load::LowLoad;
use self::memory::Memory;
use self::outcome::Outcome;
use self::ping::Ping;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// All that was measured.
pub(crate) struct Findings {
    workers: Vec<usize>,
    cores: usize,
    /// How busy the machine was before, by the system's own figure.
    load_average: String,
    outcomes: Vec<Outcome>,
    memory: Vec<Memory>,
    low_load: Vec<LowLoad>,
    pings: Vec<Ping>,
}

/// What the command line asks for, beside cases and effort.
struct Plan {
    workers: Vec<usize>,
    kinds: Vec<Kind>,
    limits: Limits,
    low_load_seconds: usize,
}

impl Plan {
    fn new(options: &Options) -> Result<Self, String> {
        options.check(&["workers", "contenders", "seconds", "low-load"])?;
        let seconds = options.number("seconds")?;
        let low_load = match options.effort {
            Effort::Full => 2,
            Effort::Quick | Effort::Smoke => 1,
        };
        Ok(Self {
            workers: options.numbers("workers", "2,4")?,
            kinds: options.among("contenders", &Kind::ALL, Kind::name)?,
            limits: Limits::new(
                options.effort,
                seconds.map(|seconds| Duration::from_secs(seconds as u64)),
            ),
            low_load_seconds: options.number("low-load")?.unwrap_or(low_load),
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
    goal::print(&format!("Goals, at {} workers", goals::WORKERS), &goals);
    for path in files::save(&findings, &goals)? {
        eprintln!("written to {}", path.display());
    }
    Ok(())
}

fn measure(options: &Options, plan: &Plan) -> Findings {
    const MEMORY: &str = "bytes per task";
    const LOW_LOAD: &str = "low load";
    const PING: &str = "ping beside a long poll";
    let entries: Vec<_> = cases::all()
        .into_iter()
        .filter(|entry| options.selects(&entry.name))
        .collect();
    let sections = [MEMORY, LOW_LOAD, PING].map(|name| options.selects(name));
    let extra = sections.iter().filter(|&&selected| selected).count();
    // Beside others, the cases with a floor also run on one worker, where nobody
    // steals: what one spawn costs is seen best there.
    let alone = entries.iter().any(|entry| entry.rules.has_floor) && !plan.workers.contains(&1);
    let runs: Vec<(usize, &Entry)> = [1]
        .iter()
        .filter(|_| alone)
        .chain(&plan.workers)
        .flat_map(|&workers| entries.iter().map(move |entry| (workers, entry)))
        .filter(|&(workers, entry)| entry.rules.has_floor || plan.workers.contains(&workers))
        .collect();
    let mut findings = Findings {
        workers: runs.iter().map(|&(workers, _)| workers).collect(),
        cores: pin::cores().len(),
        load_average: load_average(),
        outcomes: Vec::new(),
        memory: Vec::new(),
        low_load: Vec::new(),
        pings: Vec::new(),
    };
    eprintln!(
        "{} cores; load average {} (others that use this machine disturb the figures)",
        findings.cores, findings.load_average
    );
    findings.workers.dedup();
    let mut progress = Progress::new(runs.len() + extra);
    let watch = progress.watch();
    for (workers, entry) in runs {
        progress.begin(&format!("{}, {}", in_words(workers), entry.name));
        let outcome = run::measure(entry, workers, &plan.kinds, plan.limits, &watch);
        progress.end(&in_short(&outcome));
        findings.outcomes.push(outcome);
    }
    let workers = plan.workers.first().copied().unwrap_or(goals::WORKERS);
    if sections[0] {
        progress.begin(MEMORY);
        let of = |kind: &Kind| memory::measure(*kind, workers);
        findings.memory = plan.kinds.iter().filter_map(of).collect();
        progress.end("done");
    }
    if sections[1] {
        progress.begin(LOW_LOAD);
        findings.low_load = low_load::measure(&plan.kinds, workers, plan.low_load_seconds, &watch);
        progress.end("done");
    }
    if sections[2] && plan.kinds.contains(&Kind::Ws) {
        progress.begin(PING);
        findings.pings = ping::measure(workers, plan.low_load_seconds, &watch);
        progress.end("done");
    }
    findings
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
        .map(|measured| format!("{} {:.0}", measured.kind, measured.ns))
        .collect();
    format!("{} ns", figures.join(", "))
}

fn load_average() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().unwrap_or("unknown").into()
}
