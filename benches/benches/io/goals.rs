//! The goals, and which of them were reached.

use benches::goal::Goal;

use crate::contender::Kind;
use crate::run::{Figures, Outcome};

/// Holds ours against the runtimes that the same I/O types were made for:
/// 1. p50, p99 and CPU time of a message are no worse than there;
/// 2. over tokio's I/O, a message of one connection takes at most 3.5 system calls and 1.1
///    context switches, also with a millisecond between messages;
/// 3. beside polls of 20 ms, p99 is within 3 ms, and no worse than there.
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
    let ratio =
        |what: &str, ours: f64, native: f64| Goal::at_most(name(what), " ×", ours / native, 1.0);
    if ours.p99.is_nan() || native.p99.is_nan() {
        return vec![
            ratio("wall", ours.more.wall, native.more.wall),
            ratio("CPU", ours.cpu, native.cpu),
        ];
    }
    let mut goals = vec![
        ratio("p50", ours.median, native.median),
        ratio("p99", ours.p99, native.p99),
        ratio("CPU", ours.cpu, native.cpu),
    ];
    if case.contains("polls of 20 ms") {
        let p99 = Goal::at_most(name("p99 alone"), " µs", ours.p99, 3_000.0);
        return vec![p99, goals.swap_remove(1)];
    }
    let is_alone = case == "echo, 1 connection" || case == "echo, 1 connection, 1 ms apart";
    if is_alone && ours.kind == Kind::WsTokio {
        let switches = Goal::at_most(name("context switches"), "", ours.more.switches, 1.1);
        goals.push(switches);
        if !ours.more.calls.is_nan() {
            goals.push(Goal::at_most(
                name("system calls"),
                "",
                ours.more.calls,
                3.5,
            ));
        }
    }
    goals
}
