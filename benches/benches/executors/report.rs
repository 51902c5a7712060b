//! The findings as tables.

use benches::outcome::Measured;
use benches::table::{self, Table, digits, figure, table};
use clap::ValueEnum;

use crate::contender::Kind;
use crate::means::{Means, cpu_ratio, over_floor};
use crate::{Findings, Outcome};

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

pub(crate) fn print(findings: &Findings) {
    if !findings.outcomes.is_empty() {
        println!("\n{NOTES}");
    }
    for &workers in &findings.workers {
        let outcomes: Vec<_> = findings
            .outcomes
            .iter()
            .filter(|outcome| outcome.workers == workers)
            .collect();
        let is_there = |kind: &&Kind| outcomes.iter().any(|outcome| outcome.of(**kind).is_some());
        // The columns: every contender that was measured in some case.
        let kinds: Vec<_> = Kind::value_variants()
            .iter()
            .filter(is_there)
            .copied()
            .collect();
        table::print(&times(workers, &outcomes, &kinds));
        table::print(&cpu_times(workers, &outcomes, &kinds));
        if let Some(means) = Means::at(workers, &findings.outcomes) {
            print_means(&means);
        }
    }
    table::print(&memory(findings));
    table::print(&low_load(findings));
    table::print(&pings(findings));
    table::print(&kept(findings));
}

fn times(workers: usize, outcomes: &[&Outcome], kinds: &[Kind]) -> Table {
    let more = ["best peer", "speed", "over tokio", "× floor", "samples"];
    let mut table = with_columns(workers, "wall time", kinds, &more);
    for outcome in outcomes {
        let peer = outcome.best_peer();
        let speeds = [
            outcome.speed(Kind::Ws),
            outcome.speed_over(Kind::Tokio, Kind::Ws),
        ];
        let mut cells = cells(outcome, kinds, |measured| measured.median);
        cells.push(peer.map_or(String::new(), |peer| peer.kind.to_string()));
        cells.extend(speeds.map(|speed| figure(speed.unwrap_or(f64::NAN))));
        cells.push(over_floor(outcome).map_or(String::new(), figure));
        cells.push(outcome.samples().to_string());
        table.add_row(cells);
        if outcome
            .contenders
            .iter()
            .any(|measured| !measured.p99.is_nan())
        {
            let mut cells = self::cells(outcome, kinds, |measured| measured.p99);
            cells.splice(..2, ["… at p99".into(), String::new()]);
            table.add_row(cells);
        }
    }
    table
}

fn cpu_times(workers: usize, outcomes: &[&Outcome], kinds: &[Kind]) -> Table {
    let mut table = with_columns(workers, "CPU time", kinds, &["least peer", "ws / least"]);
    for outcome in outcomes {
        let Some(peer) = outcome.thriftiest_peer() else {
            continue;
        };
        let mut cells = cells(outcome, kinds, |measured| measured.cpu);
        cells.push(peer.kind.to_string());
        cells.push(figure(cpu_ratio(outcome).unwrap_or(f64::NAN)));
        table.add_row(cells);
    }
    table
}

fn with_columns(workers: usize, what: &str, kinds: &[Kind], more: &[&str]) -> Table {
    let mut head = vec![
        format!("{}, {what}", table::workers(workers)),
        "unit".into(),
    ];
    head.extend(kinds.iter().map(Kind::to_string));
    head.extend(more.iter().map(ToString::to_string));
    table(head)
}

/// The case, its unit and every contender's figure; in brackets if it was measured but
/// does not count.
fn cells(outcome: &Outcome, kinds: &[Kind], of: fn(&Measured<Kind>) -> f64) -> Vec<String> {
    let cell = |&kind: &Kind| {
        let text = outcome.of(kind).map(|measured| digits(of(measured)))?;
        let counts = !kind.is_peer() || outcome.peers.contains(&kind);
        Some(if counts { text } else { format!("({text})") })
    };
    let figures = kinds.iter().map(|kind| cell(kind).unwrap_or_default());
    [outcome.case.clone(), outcome.unit.into()]
        .into_iter()
        .chain(figures)
        .collect()
}

fn print_means(means: &Means) {
    println!(
        "Geometric means over {} cases at {} workers: {:.2} × as fast as the best peer of each \
         case, {} × tokio; {} × the CPU time of the peer that uses least.\n",
        means.cases,
        means.workers,
        means.speed,
        figure(means.speed_over_tokio.unwrap_or(f64::NAN)),
        figure(means.cpu_ratio.unwrap_or(f64::NAN)),
    );
}

fn memory(findings: &Findings) -> Table {
    let title = "bytes per spawned `async {}`";
    let mut table = table([title, "from a task", "blocks", "from outside", "blocks"]);
    for memory in &findings.memory {
        table.add_row([
            memory.kind.to_string(),
            digits(memory.from_task.bytes),
            figure(memory.from_task.blocks),
            digits(memory.from_outside.bytes),
            figure(memory.from_outside.blocks),
        ]);
    }
    table
}

fn low_load(findings: &Findings) -> Table {
    let title = "low load, per task";
    let mut table = table([title, "voluntary switches", "involuntary", "CPU µs"]);
    for load in &findings.low_load {
        let figures = [load.voluntary, load.involuntary, load.cpu_us].map(figure);
        table.add_row([load.kind.to_string()].into_iter().chain(figures));
    }
    table
}

fn kept(findings: &Findings) -> Table {
    let title = "a task while every worker sleeps for 250 ms, ms";
    let mut table = table([title, "p50", "slowest", "tasks"]);
    for kept in &findings.kept {
        table.add_row([
            kept.kind.to_string(),
            figure(kept.p50_ms),
            figure(kept.max_ms),
            kept.tasks.to_string(),
        ]);
    }
    table
}

fn pings(findings: &Findings) -> Table {
    let title = "ping beside a 20 ms poll, µs";
    let mut table = table([title, "p50", "p99", "slowest", "pings"]);
    for ping in &findings.pings {
        table.add_row([
            format!("handoff {:?}", ping.handoff),
            digits(ping.p50_us),
            digits(ping.p99_us),
            digits(ping.max_us),
            ping.pings.to_string(),
        ]);
    }
    table
}
