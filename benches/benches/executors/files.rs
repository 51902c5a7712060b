//! The findings as files: JSON for programs, a chart for people.

use benches::bars::{Chart, Panel, RGBColor, Row};
use clap::ValueEnum;
use serde_json::{Value, json};

use crate::contender::Kind;
use crate::means::{Means, cpu_ratio, over_floor};
use crate::{Findings, Outcome};

/// Returns the findings for programs.
pub(crate) fn figures(findings: &Findings) -> Value {
    let case = |outcome: &Outcome| {
        let mut case = json!(outcome);
        case["best_peer"] = json!(outcome.best_peer().map(|peer| peer.kind.to_string()));
        case["speed"] = json!(outcome.speed(Kind::Ws));
        case["speed_over_tokio"] = json!(outcome.speed_over(Kind::Tokio, Kind::Ws));
        case["cpu_ratio"] = json!(cpu_ratio(outcome));
        case["over_floor"] = json!(over_floor(outcome));
        case
    };
    let means = |&workers: &usize| Means::at(workers, &findings.outcomes);
    json!({
        "unit": "ns",
        "load_average": findings.load_average,
        "cases": findings.outcomes.iter().map(case).collect::<Vec<_>>(),
        "means": findings.workers.iter().filter_map(means).collect::<Vec<_>>(),
        "memory": findings.memory,
        "low_load": findings.low_load,
        "pings": findings.pings,
        "kept": findings.kept,
    })
}

fn colour(kind: Kind) -> RGBColor {
    match kind {
        Kind::Ws => RGBColor(0xd1, 0x49, 0x5b),
        Kind::Tokio => RGBColor(0x2e, 0x5e, 0x8c),
        Kind::AsyncExecutor => RGBColor(0x66, 0xa1, 0x82),
        Kind::StaticExecutor => RGBColor(0xa3, 0xc9, 0xa8),
        Kind::ThreadPool => RGBColor(0xb0, 0xa8, 0xb9),
        Kind::Floor => RGBColor(0xdd, 0xdd, 0xdd),
    }
}

/// Returns the speed of every executor in the cases that means count.
pub(crate) fn chart(findings: &Findings) -> Chart {
    let outcomes = &findings.outcomes;
    let is_measured = |kind| outcomes.iter().any(|outcome| outcome.of(kind).is_some());
    let mut kinds = Kind::value_variants().to_vec();
    kinds.retain(|&kind| kind != Kind::Floor && is_measured(kind));
    let row = |outcome: &Outcome| Row {
        name: outcome.case.clone(),
        values: kinds.iter().map(|&kind| outcome.speed(kind)).collect(),
    };
    let panel = |&workers: &usize| Panel {
        title: Means::at(workers, outcomes).map_or_else(
            || format!("{workers} workers"),
            |means| {
                let mean = means.speed;
                format!("{workers} workers; ws in the geometric mean: {mean:.2}")
            },
        ),
        rows: outcomes
            .iter()
            .filter(|outcome| outcome.workers == workers && outcome.in_means)
            .map(row)
            .collect(),
    };
    let mut panels: Vec<_> = findings.workers.iter().map(panel).collect();
    panels.retain(|panel| !panel.rows.is_empty());
    Chart {
        title: "Executors: speed, where 1 is the best peer in each case".into(),
        notes: vec![
            "Longer is better. Median wall time per unit, all in one run.".into(),
            "thread-pool is no peer where yields are timed, as it does not yield.".into(),
        ],
        series: kinds
            .iter()
            .map(|&kind| (kind.to_string(), colour(kind)))
            .collect(),
        panels,
    }
}
