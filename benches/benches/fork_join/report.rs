//! The findings as tables, and for programs.

use benches::outcome::Measured;
use benches::table::{self, Table, figure, per_cent, table};
use clap::ValueEnum;
use serde_json::{Value, json};

use crate::Outcome;
use crate::cases::uneven;
use crate::latency::Latency;
use crate::pool::Kind;
use crate::scaling::{Scaling, over_sequential, total_ms, utilization, work_ms};

/// What one has to know to read the tables.
const NOTES: &str = "\
Times in ns per join, or per item of a loop: the median of the samples. Contenders
alternate in every round, and run the same code, in the same order.
- \"over sequential\" is the time less that of the same code without joins.
- \"speed\" is how many times as fast as rayon ws is; above 1 it is faster.
- CPU time is that of all threads, up to a pause after the work in which they go to
  sleep.
- chili makes one join in 64 stealable, and the three outermost ones; the others are
  calls. Its calling thread is one of its workers. A panic in a join of its corrupts
  memory, so it pays for less.
- Utilization is the CPU time of the sequential code over the wall time of all workers.
- The loop is `par_for_each`, rayon's `par_iter`, and a recursion of joins for chili.
";

pub(crate) fn print(workers: &[usize], outcomes: &[Outcome], latencies: &[Latency]) {
    if !outcomes.is_empty() {
        println!("\n{NOTES}");
    }
    for &workers in workers {
        let outcomes = || outcomes.iter().filter(|outcome| outcome.workers == workers);
        table::print(&times(workers, "wall time", outcomes(), |m| m.median));
        table::print(&times(workers, "CPU time", outcomes(), |m| m.cpu));
        outcomes()
            .filter(|outcome| outcome.case == uneven::NAME)
            .for_each(print_utilization);
    }
    for &workers in workers.iter().filter(|&&workers| workers > 1) {
        table::print(&scalings(workers, outcomes));
    }
    table::print(&latency_table(latencies));
}

fn times<'a>(
    workers: usize,
    what: &str,
    outcomes: impl Iterator<Item = &'a Outcome>,
    time: fn(&Measured<Kind>) -> f64,
) -> Table {
    const OVER: [Kind; 3] = [Kind::Ws, Kind::Rayon, Kind::Chili];
    let title = format!("{}, {what}", table::workers(workers));
    let mut head = vec![title, "unit".into(), "units".into()];
    head.extend(Kind::value_variants().iter().map(Kind::to_string));
    head.extend(OVER.map(|kind| format!("{kind} over sequential")));
    head.extend(["speed".into(), "samples".into()]);
    let mut table = table(head);
    for outcome in outcomes {
        let of = |kind| outcome.of(kind).map_or(f64::NAN, time);
        let over = |kind| over_sequential(outcome, kind, time).unwrap_or(f64::NAN);
        let units = outcome.units.to_string();
        let mut cells = vec![outcome.case.clone(), outcome.unit.into(), units];
        cells.extend(Kind::value_variants().iter().map(|&kind| figure(of(kind))));
        cells.extend(OVER.map(|kind| figure(over(kind))));
        cells.push(figure(of(Kind::Rayon) / of(Kind::Ws)));
        cells.push(outcome.samples().to_string());
        table.add_row(cells);
    }
    table
}

/// Says how busy the workers were, as the article does whose example it is.
fn print_utilization(outcome: &Outcome) {
    let in_words = |measured: &Measured<Kind>| {
        let (case, kind, workers) = (&outcome.case, measured.kind, outcome.workers);
        let (work, total) = (work_ms(outcome)?, total_ms(outcome, kind)?);
        let per_cents = utilization(outcome, kind)? * 100.0;
        let text = format!(
            "{case}, {kind}: total time {total:.1} ms, utilization {work:.1} / \
             ({workers} * {total:.1}) = {per_cents:.1} %\n"
        );
        (kind != Kind::Sequential).then_some(text)
    };
    let lines = outcome.contenders.iter().filter_map(in_words);
    println!("{}", lines.collect::<String>());
}

fn scalings(workers: usize, outcomes: &[Outcome]) -> Table {
    let title = format!("times as fast with {workers} workers as with one");
    let mut table = table([&title, "ws", "rayon", "chili"]);
    for scaling in Scaling::all(outcomes, workers) {
        let of = |kind| figure(scaling.of(kind).unwrap_or(f64::NAN));
        let figures = [Kind::Ws, Kind::Rayon, Kind::Chili].map(of);
        table.add_row([scaling.alone.case.clone()].into_iter().chain(figures));
    }
    table
}

fn latency_table(latencies: &[Latency]) -> Table {
    let title = "from wake to poll, in µs, beside";
    let mut table = table([title, "workers", "p50", "p99", "max", "answered in time"]);
    for latency in latencies {
        table.add_row([
            latency.beside.into(),
            latency.workers.to_string(),
            format!("{:.0}", latency.p50_us),
            format!("{:.0}", latency.p99_us),
            format!("{:.0}", latency.max_us),
            per_cent(latency.answered as f64 / latency.due as f64),
        ]);
    }
    table
}

/// Returns the findings for programs.
pub(crate) fn figures(outcomes: &[Outcome], latencies: &[Latency]) -> Value {
    let case = |outcome: &Outcome| {
        let mut case = json!(outcome);
        case["speed_over_rayon"] = json!(outcome.speed_over(Kind::Rayon, Kind::Ws));
        for (index, measured) in outcome.contenders.iter().enumerate() {
            let kind = measured.kind;
            let contender = &mut case["contenders"][index];
            contender["over_sequential"] = json!(over_sequential(outcome, kind, |m| m.median));
            contender["cpu_over_sequential"] = json!(over_sequential(outcome, kind, |m| m.cpu));
            contender["utilization"] = json!(utilization(outcome, kind));
        }
        case
    };
    let cases: Vec<_> = outcomes.iter().map(case).collect();
    json!({ "unit": "ns", "cases": cases, "latencies": latencies })
}
