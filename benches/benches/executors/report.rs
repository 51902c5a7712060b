//! The findings as tables.

use benches::table::{Table, figure};

use crate::contender::Kind;
use crate::outcome::{Means, Measured, Outcome};
use crate::{Findings, in_words};

/// What one has to know to read the tables.
const NOTES: &str = "\
Times in ns per unit: the median of the samples. \"speed\" is how many times as fast
as the best peer ws is; above 1 it is faster. Contenders alternate in every round.
- The calling thread is nobody's worker; `block_on` runs on it.
- Channels are async-channel's, oneshot channels futures', for everybody.
- thread-pool is left out of busy1: it polls a task that yields again at once, and
  never lets the others run. Where the yield itself is timed it is shown, but does not
  count as a peer.
- \"create\" starts and ends the workers; spawn_batch and remote spawn are timed until
  the last task has run.
- CPU time is that of all threads of the process, up to a pause after the work in
  which workers go to sleep. Beside a load it says nothing and is not shown.
- The floor is async-task alone, with a queue that belongs to the thread. With two
  workers there is a thief beside the local queue; with one there is none.
- The wake of an idle worker is a latency, p50, with a waking thread that keeps its
  core. Other programs that run meanwhile disturb everybody; compare figures of one
  run only.
";

/// The columns: every contender that was measured in some case.
fn columns(outcomes: &[Outcome]) -> Vec<Kind> {
    let is_there = |kind: &Kind| outcomes.iter().any(|outcome| outcome.of(*kind).is_some());
    Kind::ALL.into_iter().filter(is_there).collect()
}

pub(crate) fn print(findings: &Findings) {
    if !findings.outcomes.is_empty() {
        println!("\n{NOTES}");
    }
    for &workers in &findings.workers {
        let outcomes: Vec<_> = findings
            .outcomes
            .iter()
            .filter(|outcome| outcome.workers == workers)
            .cloned()
            .collect();
        if outcomes.is_empty() {
            continue;
        }
        println!("{}", times(workers, &outcomes));
        println!("{}", cpu_times(workers, &outcomes));
        if let Some(means) = Means::at(workers, &outcomes) {
            print_means(&means);
        }
    }
    if !findings.memory.is_empty() {
        println!("{}", memory(findings));
    }
    if !findings.low_load.is_empty() {
        println!("{}", low_load(findings));
    }
    if !findings.pings.is_empty() {
        println!("{}", pings(findings));
    }
}

/// Three digits that count; a unit behind the figure would be hard to compare.
fn digits(value: f64) -> String {
    match value {
        value if value.is_nan() => String::new(),
        value if value < 100.0 => format!("{value:.1}"),
        value => format!("{value:.0}"),
    }
}

fn times(workers: usize, outcomes: &[Outcome]) -> Table {
    let kinds = columns(outcomes);
    let title = format!("{}, wall time", in_words(workers));
    let mut head = vec![title.as_str(), "unit"];
    head.extend(kinds.iter().map(|kind| kind.name()));
    head.extend(["best peer", "speed", "over tokio", "samples"]);
    let mut table = Table::new(&head);
    for outcome in outcomes {
        let mut cells = vec![outcome.name.clone(), outcome.unit.to_owned()];
        cells.extend(kinds.iter().map(|&kind| cell(outcome, kind, |m| m.ns)));
        cells.push(
            outcome
                .best_peer()
                .map_or("", |peer| peer.kind.name())
                .into(),
        );
        cells.push(figure(outcome.speed(Kind::Ws).unwrap_or(f64::NAN)));
        cells.push(figure(outcome.speed_over(Kind::Tokio).unwrap_or(f64::NAN)));
        let samples = outcome.measured.iter().map(|measured| measured.samples);
        cells.push(samples.min().unwrap_or(0).to_string());
        table.row(cells);
        if outcome
            .measured
            .iter()
            .any(|measured| measured.p99.is_some())
        {
            table.row(tail_row(outcome, &kinds));
        }
    }
    table
}

/// The line of the 99th percentiles below that of the medians.
fn tail_row(outcome: &Outcome, kinds: &[Kind]) -> Vec<String> {
    let p99 = |measured: &Measured| measured.p99.unwrap_or(f64::NAN);
    let mut cells = vec!["… at p99".to_owned(), String::new()];
    cells.extend(kinds.iter().map(|&kind| cell(outcome, kind, p99)));
    cells.resize(kinds.len() + 6, String::new());
    cells
}

fn cpu_times(workers: usize, outcomes: &[Outcome]) -> Table {
    let kinds = columns(outcomes);
    let title = format!("{}, CPU time", in_words(workers));
    let mut head = vec![title.as_str(), "unit"];
    head.extend(kinds.iter().map(|kind| kind.name()));
    head.extend(["least peer", "ws / least"]);
    let mut table = Table::new(&head);
    for outcome in outcomes {
        let Some(peer) = outcome.thriftiest_peer() else {
            continue;
        };
        let mut cells = vec![outcome.name.clone(), outcome.unit.to_owned()];
        cells.extend(kinds.iter().map(|&kind| cell(outcome, kind, |m| m.cpu)));
        cells.push(peer.kind.name().into());
        cells.push(figure(outcome.cpu_ratio().unwrap_or(f64::NAN)));
        table.row(cells);
    }
    table
}

/// A contender's figure; in brackets if it was measured but does not count.
fn cell(outcome: &Outcome, kind: Kind, of: impl Fn(&Measured) -> f64) -> String {
    let Some(measured) = outcome.of(kind) else {
        return String::new();
    };
    let text = digits(of(measured));
    if Kind::PEERS.contains(&kind) && !outcome.peers.contains(&kind) {
        return format!("({text})");
    }
    text
}

fn print_means(means: &Means) {
    println!(
        "Geometric means over {} cases at {} workers: {:.2} × as fast as the best peer of each \
         case, {} × tokio; {} × the CPU time of the peer that uses least.\n",
        means.cases,
        means.workers,
        means.over_best_peer,
        figure(means.over_tokio.unwrap_or(f64::NAN)),
        figure(means.cpu.unwrap_or(f64::NAN)),
    );
}

fn memory(findings: &Findings) -> Table {
    let mut table = Table::new(&[
        "bytes per spawned `async {}`",
        "from a task",
        "blocks",
        "from outside",
        "blocks",
    ]);
    for memory in &findings.memory {
        table.row([
            memory.kind.name().to_owned(),
            digits(memory.from_task.bytes),
            figure(memory.from_task.blocks),
            digits(memory.from_outside.bytes),
            figure(memory.from_outside.blocks),
        ]);
    }
    table
}

fn low_load(findings: &Findings) -> Table {
    let mut table = Table::new(&[
        "low load, per task",
        "voluntary switches",
        "involuntary",
        "CPU µs",
    ]);
    for load in &findings.low_load {
        table.row([
            load.kind.name().to_owned(),
            figure(load.voluntary),
            figure(load.involuntary),
            figure(load.cpu_us),
        ]);
    }
    table
}

fn pings(findings: &Findings) -> Table {
    let mut table = Table::new(&[
        "ping beside a 20 ms poll, µs",
        "p50",
        "p99",
        "slowest",
        "pings",
    ]);
    for ping in &findings.pings {
        table.row([
            format!("handoff {:?}", ping.handoff),
            digits(ping.p50),
            digits(ping.p99),
            digits(ping.max),
            ping.pings.to_string(),
        ]);
    }
    table
}
