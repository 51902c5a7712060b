//! The findings as a file for programs.

use std::io;
use std::path::PathBuf;

use benches::goal::Goal;
use benches::json::{self, Value};

use crate::Findings;
use crate::latency::Latency;
use crate::outcome::{Measured, Outcome};
use crate::pool::Kind;

/// Writes `target/bench/fork_join.json`.
pub(crate) fn save(findings: &Findings, goals: &[Goal]) -> io::Result<PathBuf> {
    fn list<T>(items: &[T], to_json: impl Fn(&T) -> Value) -> Value {
        items.iter().map(to_json).collect::<Vec<_>>().into()
    }
    let value = Value::object([
        ("bench", "fork_join".into()),
        ("unit", "ns".into()),
        ("cores", (findings.cores as f64).into()),
        ("cases", list(&findings.outcomes, outcome)),
        ("latencies", list(&findings.latencies, latency)),
        ("goals", list(goals, Goal::to_json)),
    ]);
    json::save("fork_join", &value)
}

fn outcome(outcome: &Outcome) -> Value {
    let contender = |measured: &Measured| {
        let kind = measured.kind;
        let optional = |value: Option<f64>| Value::from(value.unwrap_or(f64::NAN));
        Value::object([
            ("name", kind.name().into()),
            ("median", measured.ns.into()),
            ("best", measured.best.into()),
            ("cpu", measured.cpu.into()),
            (
                "over_sequential",
                optional(outcome.over_sequential(kind, |measured| measured.ns)),
            ),
            (
                "cpu_over_sequential",
                optional(outcome.over_sequential(kind, |measured| measured.cpu)),
            ),
            ("utilization", optional(outcome.utilization(kind))),
            ("samples", (measured.samples as f64).into()),
        ])
    };
    let contenders: Vec<_> = outcome.measured.iter().map(contender).collect();
    let speed = outcome.speed_over(Kind::Rayon).unwrap_or(f64::NAN);
    Value::object([
        ("case", outcome.name.as_str().into()),
        ("unit", outcome.unit.into()),
        ("units", (outcome.units as f64).into()),
        ("workers", (outcome.workers as f64).into()),
        ("speed_over_rayon", speed.into()),
        ("contenders", contenders.into()),
    ])
}

fn latency(latency: &Latency) -> Value {
    Value::object([
        ("beside", latency.load.name().into()),
        ("workers", (latency.workers as f64).into()),
        ("p50_us", latency.p50.into()),
        ("p99_us", latency.p99.into()),
        ("max_us", latency.max.into()),
        ("answered", (latency.answered as f64).into()),
        ("due", (latency.due as f64).into()),
    ])
}
