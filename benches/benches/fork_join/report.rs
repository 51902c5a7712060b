//! The findings as tables.

use benches::table::{Table, figure, per_cent};

use crate::cases::uneven;
use crate::outcome::{Measured, Outcome, Scaling};
use crate::pool::Kind;
use crate::{Findings, in_words};

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

pub(crate) fn print(findings: &Findings) {
    let outcomes = &findings.outcomes;
    if !outcomes.is_empty() {
        println!("\n{NOTES}");
    }
    for &workers in &findings.workers {
        let outcomes = || outcomes.iter().filter(|outcome| outcome.workers == workers);
        if outcomes().next().is_none() {
            continue;
        }
        println!("{}", times(workers, "wall time", outcomes(), |m| m.ns));
        println!("{}", times(workers, "CPU time", outcomes(), |m| m.cpu));
        for outcome in outcomes().filter(|outcome| outcome.name == uneven::NAME) {
            print_utilization(outcome);
        }
    }
    for &workers in findings.workers.iter().filter(|&&workers| workers > 1) {
        let scaling = Scaling::all(outcomes, workers);
        if !scaling.is_empty() {
            println!("{}", scalings(workers, &scaling));
        }
    }
    if !findings.latencies.is_empty() {
        println!("{}", latencies(findings));
    }
}

fn times<'a>(
    workers: usize,
    what: &str,
    outcomes: impl Iterator<Item = &'a Outcome>,
    time: fn(&Measured) -> f64,
) -> Table {
    const OVER: [Kind; 3] = [Kind::Ws, Kind::Rayon, Kind::Chili];
    let title = format!("{}, {what}", in_words(workers));
    let mut head = vec![title, "unit".into(), "units".into()];
    head.extend(Kind::ALL.map(|kind| kind.name().into()));
    head.extend(OVER.map(|kind| format!("{kind} over sequential")));
    head.extend(["speed".into(), "samples".into()]);
    let mut table = Table::new(&head.iter().map(String::as_str).collect::<Vec<_>>());
    for outcome in outcomes {
        let of = |kind| outcome.of(kind).map_or(f64::NAN, time);
        let over = |kind| outcome.over_sequential(kind, time).unwrap_or(f64::NAN);
        let mut cells = vec![
            outcome.name.clone(),
            outcome.unit.into(),
            outcome.units.to_string(),
        ];
        cells.extend(Kind::ALL.map(|kind| figure(of(kind))));
        cells.extend(OVER.map(|kind| figure(over(kind))));
        cells.push(figure(of(Kind::Rayon) / of(Kind::Ws)));
        let samples = outcome.measured.iter().map(|measured| measured.samples);
        cells.push(samples.min().unwrap_or(0).to_string());
        table.row(cells);
    }
    table
}

/// Says how busy the workers were, as the article does whose example it is.
fn print_utilization(outcome: &Outcome) {
    let Some(work) = outcome.work_ms() else {
        return;
    };
    for measured in &outcome.measured {
        let kind = measured.kind;
        let (Some(total), Some(share)) = (outcome.total_ms(kind), outcome.utilization(kind)) else {
            continue;
        };
        if kind != Kind::Sequential {
            println!(
                "{}, {kind}: total time {total:.1} ms, utilization {work:.1} / ({} * {total:.1}) \
                 = {:.1} %",
                outcome.name,
                outcome.workers,
                share * 100.0,
            );
        }
    }
    println!();
}

fn scalings(workers: usize, scalings: &[Scaling<'_>]) -> Table {
    let title = format!("times as fast with {workers} workers as with one");
    let mut table = Table::new(&[&title, "ws", "rayon", "chili"]);
    for scaling in scalings {
        let of = |kind| figure(scaling.of(kind).unwrap_or(f64::NAN));
        table.row([
            scaling.alone.name.clone(),
            of(Kind::Ws),
            of(Kind::Rayon),
            of(Kind::Chili),
        ]);
    }
    table
}

fn latencies(findings: &Findings) -> Table {
    let mut table = Table::new(&[
        "from wake to poll, in µs, beside",
        "workers",
        "p50",
        "p99",
        "max",
        "answered in time",
    ]);
    for latency in &findings.latencies {
        table.row([
            latency.load.name().into(),
            latency.workers.to_string(),
            format!("{:.0}", latency.p50),
            format!("{:.0}", latency.p99),
            format!("{:.0}", latency.max),
            per_cent(latency.answered as f64 / latency.due as f64),
        ]);
    }
    table
}
