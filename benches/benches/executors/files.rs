//! The findings as files: JSON for programs, a chart for people.

use std::io;
use std::path::PathBuf;

use benches::bars::{Chart, Panel, Row};
use benches::goal::Goal;
use benches::json::{self, Value};
use benches::output;

use crate::Findings;
use crate::contender::Kind;
use crate::low_load::LowLoad;
use crate::memory::{Memory, PerTask};
use crate::outcome::{Means, Measured, Outcome};
use crate::ping::Ping;

/// Writes `target/bench/executors.json` and `target/bench/executors.svg`.
pub(crate) fn save(findings: &Findings, goals: &[Goal]) -> io::Result<[PathBuf; 2]> {
    Ok([
        json::save("executors", &to_json(findings, goals))?,
        output::write("executors.svg", &chart(findings).to_string())?,
    ])
}

fn to_json(findings: &Findings, goals: &[Goal]) -> Value {
    fn list<T>(items: &[T], to_json: impl Fn(&T) -> Value) -> Value {
        items.iter().map(to_json).collect::<Vec<_>>().into()
    }
    let means: Vec<_> = findings
        .workers
        .iter()
        .filter_map(|&workers| Means::at(workers, &findings.outcomes))
        .collect();
    Value::object([
        ("bench", "executors".into()),
        ("unit", "ns".into()),
        ("cores", (findings.cores as f64).into()),
        ("load_average", findings.load_average.as_str().into()),
        ("cases", list(&findings.outcomes, outcome)),
        ("means", list(&means, mean)),
        ("memory", list(&findings.memory, memory)),
        ("low_load", list(&findings.low_load, low_load)),
        ("pings", list(&findings.pings, ping)),
        ("goals", list(goals, Goal::to_json)),
    ])
}

fn outcome(outcome: &Outcome) -> Value {
    let measured: Vec<_> = outcome.measured.iter().map(measured).collect();
    let best_peer = outcome.best_peer().map_or("", |peer| peer.kind.name());
    let peers: Vec<_> = outcome
        .peers
        .iter()
        .map(|kind| kind.name().into())
        .collect();
    Value::object([
        ("case", outcome.name.as_str().into()),
        ("unit", outcome.unit.into()),
        ("workers", (outcome.workers as f64).into()),
        ("in_means", outcome.is_in_means().into()),
        ("peers", peers.into()),
        ("best_peer", best_peer.into()),
        ("speed", optional(outcome.speed(Kind::Ws))),
        (
            "speed_over_tokio",
            optional(outcome.speed_over(Kind::Tokio)),
        ),
        ("cpu_ratio", optional(outcome.cpu_ratio())),
        ("contenders", measured.into()),
    ])
}

fn measured(measured: &Measured) -> Value {
    Value::object([
        ("name", measured.kind.name().into()),
        ("median", measured.ns.into()),
        ("best", measured.best.into()),
        ("p99", optional(measured.p99)),
        ("cpu", measured.cpu.into()),
        ("samples", (measured.samples as f64).into()),
    ])
}

fn mean(means: &Means) -> Value {
    Value::object([
        ("workers", (means.workers as f64).into()),
        ("cases", (means.cases as f64).into()),
        ("speed", means.over_best_peer.into()),
        ("speed_over_tokio", optional(means.over_tokio)),
        ("cpu_ratio", optional(means.cpu)),
    ])
}

fn memory(memory: &Memory) -> Value {
    let per_task = |per_task: PerTask| {
        Value::object([
            ("bytes", per_task.bytes.into()),
            ("blocks", per_task.blocks.into()),
        ])
    };
    Value::object([
        ("name", memory.kind.name().into()),
        ("from_task", per_task(memory.from_task)),
        ("from_outside", per_task(memory.from_outside)),
    ])
}

fn low_load(load: &LowLoad) -> Value {
    Value::object([
        ("name", load.kind.name().into()),
        ("voluntary", load.voluntary.into()),
        ("involuntary", load.involuntary.into()),
        ("cpu_us", load.cpu_us.into()),
    ])
}

fn ping(ping: &Ping) -> Value {
    Value::object([
        ("handoff", format!("{:?}", ping.handoff).as_str().into()),
        ("pings", (ping.pings as f64).into()),
        ("p50_us", ping.p50.into()),
        ("p99_us", ping.p99.into()),
        ("max_us", ping.max.into()),
    ])
}

fn optional(value: Option<f64>) -> Value {
    value.unwrap_or(f64::NAN).into()
}

fn colour(kind: Kind) -> &'static str {
    match kind {
        Kind::Ws => "#d1495b",
        Kind::Tokio => "#2e5e8c",
        Kind::AsyncExecutor => "#66a182",
        Kind::StaticExecutor => "#a3c9a8",
        Kind::ThreadPool => "#b0a8b9",
        Kind::Floor => "#dddddd",
    }
}

fn chart(findings: &Findings) -> Chart {
    let is_shown = |kind: &Kind| {
        *kind != Kind::Floor
            && findings
                .outcomes
                .iter()
                .any(|outcome| outcome.of(*kind).is_some())
    };
    let kinds: Vec<_> = Kind::ALL.into_iter().filter(is_shown).collect();
    let row = |outcome: &Outcome| Row {
        name: outcome.name.clone(),
        values: kinds.iter().map(|&kind| outcome.speed(kind)).collect(),
    };
    let panel = |&workers: &usize| Panel {
        title: Means::at(workers, &findings.outcomes).map_or_else(
            || format!("{workers} workers"),
            |means| {
                let mean = means.over_best_peer;
                format!("{workers} workers; ws in the geometric mean: {mean:.2}")
            },
        ),
        rows: findings
            .outcomes
            .iter()
            .filter(|outcome| outcome.workers == workers && outcome.is_in_means())
            .map(row)
            .collect(),
    };
    Chart {
        title: "Executors: speed, where 1 is the best peer in each case".into(),
        notes: vec![
            "Longer is better. Median wall time per unit, all in one run.".into(),
            "thread-pool is no peer where yields are timed, as it does not yield.".into(),
        ],
        series: kinds
            .iter()
            .map(|&kind| (kind.name(), colour(kind)))
            .collect(),
        panels: findings
            .workers
            .iter()
            .map(panel)
            .filter(|panel| !panel.rows.is_empty())
            .collect(),
    }
}
