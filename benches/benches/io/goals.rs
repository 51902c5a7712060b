//! The goals, and which of them were reached.

use benches::goal::Goal;

use crate::contender::Kind;
use crate::run::{Figures, Outcome};

/// Holds ours against the runtimes that the same I/O types were made for:
/// 1. a message costs no more than there, in time and in CPU time; with one connection and
///    smol's I/O three quarters of the time and half of the CPU time;
/// 2. one context switch for each message of one connection;
/// 3. beside polls of 20 ms only this: p99 within 3 ms.
pub(crate) fn all(outcomes: &[Outcome]) -> Vec<Goal> {
    let mut goals = Vec::new();
    for outcome in outcomes {
        for kind in [Kind::WsSmol, Kind::WsTokio] {
            if let (Some(ours), Some(native)) = (outcome.of(kind), outcome.of(kind.native())) {
                goals.extend(compare(&outcome.case, ours, native));
            }
        }
    }
    goals
}

fn compare(case: &str, ours: &Figures, native: &Figures) -> Vec<Goal> {
    let name = |what: &str| format!("{case}, {} against {}, {what}", ours.kind, native.kind);
    if case.contains("20 ms") && !ours.p99.is_nan() {
        return vec![Goal::at_most(name("p99"), " µs", ours.p99, 3_000.0)];
    }
    let ratio = |what: &str, ours: f64, native: f64, most: f64| {
        Goal::at_most(name(what), " ×", ours / native, most)
    };
    let is_alone = case.starts_with("echo, 1 ");
    let (most_time, most_cpu) = match ours.kind {
        Kind::WsSmol if is_alone => (0.75, 0.5),
        _ => (1.0, 1.0),
    };
    let switches = Goal::at_most(name("context switches"), "", ours.more.switches, 1.05);
    let time = if ours.p99.is_nan() || native.p99.is_nan() {
        ratio("wall", ours.more.wall, native.more.wall, 1.0)
    } else {
        ratio("p50", ours.median, native.median, most_time)
    };
    let cpu = ratio("CPU", ours.cpu, native.cpu, most_cpu);
    [switches]
        .into_iter()
        .filter(|_| is_alone)
        .chain([time, cpu])
        .collect()
}
