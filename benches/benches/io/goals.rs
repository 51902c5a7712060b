//! What should be reached, and whether it was.

use crate::contender::Kind;
use crate::run::{Figures, Outcome};

/// Prints each goal that the cases which ran can tell of.
pub(crate) fn print(outcomes: &[Outcome]) {
    for outcome in outcomes {
        for ours in [Kind::WsSmol, Kind::WsTokio] {
            let of = |kind: Kind| outcome.figures.iter().find(|figures| figures.kind == kind);
            if let (Some(ours), Some(native)) = (of(ours), of(ours.native())) {
                compare(outcome.case, ours, native);
            }
        }
    }
}

fn compare(case: &str, ours: &Figures, native: &Figures) {
    let ratio = |what: &str, ours: f64, native: f64, most: f64| {
        let (ratio, mark) = (
            ours / native,
            if ours <= native * most {
                "reached"
            } else {
                "MISSED"
            },
        );
        format!("{what} {ratio:.2} of at most {most:.2}: {mark}")
    };
    let halves = ours.kind == Kind::WsSmol && case.starts_with("echo, 1 ");
    let (most_p50, most_cpu) = if halves { (0.75, 0.5) } else { (1.0, 1.0) };
    let mut goals = Vec::new();
    if case.starts_with("echo, 1 ") {
        let mark = if ours.switches <= 1.05 {
            "reached"
        } else {
            "MISSED"
        };
        goals.push(format!(
            "{:.2} context switches of at most 1: {mark}",
            ours.switches
        ));
    }
    if let (Some(mine), Some(theirs)) = (ours.p50, native.p50) {
        goals.push(ratio("p50", mine, theirs, most_p50));
    } else {
        goals.push(ratio("wall", ours.each, native.each, 1.0));
    }
    goals.push(ratio("CPU", ours.cpu, native.cpu, most_cpu));
    if let Some(p99) = ours.p99.filter(|_| case.contains("20 ms")) {
        let mark = if p99 < 3_000.0 { "reached" } else { "MISSED" };
        goals = vec![format!("p99 {p99:.0} µs of at most 3000: {mark}")];
    }
    println!(
        "{case}, {} against {}: {}",
        ours.kind.name(),
        native.kind.name(),
        goals.join("; ")
    );
}
