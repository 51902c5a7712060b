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
//! every round ([`measure`](benches::measure)), and each sample is wall time and the CPU time of all
//! threads ([`meter`](benches::meter)). Four sections measure something else:
//! `memory.rs`, `low_load.rs`, `ping.rs` and `kept.rs`. `goals.rs` says which goals were reached.

mod case;
mod cases;
mod contender;
mod contenders;
mod files;
mod goals;
mod kept;
mod low_load;
mod means;
mod memory;
mod ping;
mod report;

use std::io;
use std::time::Duration;

use benches::counting::Counting;
use benches::limits::Limits;
use benches::measure::measure;
use benches::options::{Effort, Options, positive};
use benches::progress::Progress;
use benches::{output, pin, table};
use clap::{Parser, ValueEnum};

use self::case::{Entry, Floor};
use self::contender::Kind;
use self::kept::Kept;
use self::low_load::LowLoad;
use self::memory::Memory;
use self::ping::Ping;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The first sample of a contender is kept if it takes so long that cold caches do not show;
/// not measured.
const LONG: Duration = Duration::from_millis(250);

pub(crate) type Outcome = benches::outcome::Outcome<Kind>;

/// All that was measured.
#[derive(Default)]
pub(crate) struct Findings {
    workers: Vec<usize>,
    /// How busy the machine was before, by the system's own figure.
    load_average: String,
    outcomes: Vec<Outcome>,
    memory: Vec<Memory>,
    low_load: Vec<LowLoad>,
    pings: Vec<Ping>,
    kept: Vec<Kept>,
}

/// Measures ws-executor beside tokio, async-executor's two executors and futures'
/// `ThreadPool`: wall time and CPU time of spawns, yields, wakes and channels; memory of a
/// task; switches at low load; a ping beside a long poll; a task while every worker sleeps.
#[derive(Parser)]
#[command(bin_name = "cargo bench -p benches --bench executors --")]
struct Args {
    #[command(flatten)]
    options: Options,
    /// How many workers; each case runs with each number.
    #[arg(long, value_delimiter = ',', default_values_t = [2, 4], value_parser = positive())]
    workers: Vec<usize>,
    /// Which executors take part.
    #[arg(long, value_delimiter = ',', default_values_t = Kind::value_variants().to_vec())]
    contenders: Vec<Kind>,
    /// How many seconds a case takes.
    #[arg(long, value_parser = positive())]
    seconds: Option<usize>,
    /// How many seconds low load and pings take for each executor or setting.
    #[arg(long, value_parser = positive())]
    low_load: Option<usize>,
}

fn main() -> io::Result<()> {
    let args = Args::parse();
    let findings = measure_all(&args);
    if !args.options.has_figures() {
        return Ok(());
    }
    report::print(&findings);
    let title = format!("Goals, at {} workers", goals::WORKERS);
    let figures = files::figures(&findings);
    output::finish("executors", &title, &goals::all(&findings), figures)?;
    output::write("executors.svg", &files::chart(&findings).to_svg())
}

fn measure_all(args: &Args) -> Findings {
    const MEMORY: &str = "bytes per task";
    const LOW_LOAD: &str = "low load";
    const PING: &str = "ping beside a long poll";
    const KEPT: &str = "a task while every worker sleeps";
    let (options, kinds) = (&args.options, &args.contenders);
    let mut entries = cases::all();
    entries.retain(|entry| options.selects(&entry.name));
    let sections = [MEMORY, LOW_LOAD, PING, KEPT].map(|name| options.selects(name));
    let extra = sections.iter().filter(|&&selected| selected).count();
    // Beside others, the cases with a floor also run on one worker, where nobody
    // steals: what one spawn costs is seen best there.
    let alone = entries.iter().any(Entry::is_about_floor) && !args.workers.contains(&1);
    let runs: Vec<(usize, &Entry)> = [1]
        .iter()
        .filter(|_| alone)
        .chain(&args.workers)
        .flat_map(|&workers| entries.iter().map(move |entry| (workers, entry)))
        .filter(|&(workers, entry)| entry.is_about_floor() || args.workers.contains(&workers))
        .collect();
    let mut findings = Findings {
        workers: runs.iter().map(|&(workers, _)| workers).collect(),
        load_average: load_average(),
        ..Findings::default()
    };
    findings.workers.dedup();
    eprintln!(
        "{} cores; load average {} (others that use this machine disturb the figures)",
        pin::cores().len(),
        findings.load_average
    );
    let mut progress = Progress::new(runs.len() + extra);
    for (workers, entry) in runs {
        let name = format!("{}, {}", table::workers(workers), entry.name);
        let outcome = progress.step(
            &name,
            || measure_case(entry, workers, args),
            |outcome| format!("{} ns", outcome.in_short()),
        );
        findings.outcomes.push(outcome);
    }
    let workers = args.workers.first().copied().unwrap_or(goals::WORKERS);
    let seconds = args.low_load.unwrap_or(match options.effort() {
        Effort::Full => 2,
        Effort::Quick | Effort::Smoke => 1,
    });
    if sections[0] {
        let of = |kind: &Kind| memory::measure(*kind, workers);
        let all = || kinds.iter().filter_map(of).collect();
        findings.memory = progress.step(MEMORY, all, |_| "done".into());
    }
    if sections[1] {
        let all = || low_load::measure(kinds, workers, seconds);
        findings.low_load = progress.step(LOW_LOAD, all, |_| "done".into());
    }
    if sections[2] && kinds.contains(&Kind::Ws) {
        let all = || ping::measure(workers, seconds);
        findings.pings = progress.step(PING, all, |_| "done".into());
    }
    if sections[3] {
        let all = || kept::measure(kinds, workers, seconds);
        findings.kept = progress.step(KEPT, all, |_| "done".into());
    }
    findings
}

/// Measures the contenders that the case admits.
fn measure_case(entry: &Entry, workers: usize, args: &Args) -> Outcome {
    let mut kinds = args.contenders.clone();
    kinds.retain(|&kind| entry.admits(kind));
    let limits = Limits::new(args.options.effort(), args.seconds);
    let mut contenders = measure(&kinds, |kind| entry.start(kind, workers), LONG, limits);
    if entry.rules.floor == Floor::Divided {
        let floors = contenders.iter_mut();
        let share = workers.min(pin::cores().len()).max(1) as f64;
        for floor in floors.filter(|measured| measured.kind == Kind::Floor) {
            floor.median /= share;
            floor.best /= share;
        }
    }
    kinds.retain(|&kind| entry.counts(kind));
    Outcome {
        workers,
        in_means: !entry.is_about_floor(),
        ..Outcome::new(&entry.name, entry.unit, kinds, contenders)
    }
}

fn load_average() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().unwrap_or("unknown").into()
}
