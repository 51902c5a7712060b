//! The goals, and which of them were reached.
//!
//! They are for two workers, and the means for four as well.

use benches::goal::Goal;
use benches::table;
use ws_executor::DriverHandoff;

use crate::contender::Kind;
use crate::means::{Means, cpu_ratio, over_floor};
use crate::ping::Ping;
use crate::{Findings, Outcome};

/// The number of workers that the goals are for.
pub(crate) const WORKERS: usize = 2;

/// How many times as long as the floor a case may take.
const FLOORS: [(&str, f64); 6] = [
    ("local yield", 1.5),
    ("local spawn + run", 1.5),
    ("spawn + join, one at a time", 1.5),
    ("token ring of two tasks", 1.5),
    ("uneven CPU work", 1.5),
    ("tokio: spawn_many_remote_idle", 2.0),
];

/// Holds the findings against the goals:
/// 1. at least as fast as the best peer in every case;
/// 2. in the geometric mean at least 1.4 × the best peer and 3 × tokio, also at four workers;
/// 3. close to the floor, in the cases of [`FLOORS`];
/// 4. CPU time per unit no higher than the best peer's;
/// 5. at most 80 bytes per spawned `async {}`;
/// 6. wake-to-poll latency no worse than tokio's, at p50 and at p99;
/// 7. at low load no more context switches and CPU time than tokio;
/// 8. a ping beside a 20 ms poll within 3 ms at p99, with the monitor;
/// 9. a task that comes while every worker sleeps in its poll runs within 20 ms at p50.
pub(crate) fn all(findings: &Findings) -> Vec<Goal> {
    let outcomes: Vec<_> = findings
        .outcomes
        .iter()
        .filter(|outcome| outcome.workers == WORKERS)
        .collect();
    let mut goals = Vec::new();
    goals.extend(every_case(&outcomes));
    let numbers = [WORKERS, 2 * WORKERS];
    goals.extend(
        numbers
            .iter()
            .flat_map(|&workers| means(workers, &findings.outcomes)),
    );
    let alone_or_not = |outcome: &&Outcome| [1, WORKERS].contains(&outcome.workers);
    let with_floor = findings.outcomes.iter().filter(alone_or_not);
    goals.extend(with_floor.filter_map(floor));
    goals.extend(cpu(&outcomes));
    goals.extend(memory(findings));
    goals.extend(outcomes.iter().flat_map(|outcome| latency(outcome)));
    goals.extend(low_load(findings));
    goals.extend(ping(findings));
    goals.extend(kept(findings));
    goals
}

fn every_case(outcomes: &[&Outcome]) -> Option<Goal> {
    let in_means = outcomes.iter().filter(|outcome| outcome.in_means);
    let judge = |outcome: &&Outcome| {
        let speed = outcome.speed(Kind::Ws)?;
        let peer = outcome.best_peer()?.kind;
        let text = format!("{}: {speed:.2} × {peer}", outcome.case);
        Some((1.0 / speed, text))
    };
    let what = "at least as fast as the best peer";
    Goal::in_every_case(what, in_means.filter_map(judge))
}

fn means(workers: usize, outcomes: &[Outcome]) -> Vec<Goal> {
    let Some(means) = Means::at(workers, outcomes) else {
        return Vec::new();
    };
    let speed = |what: &str, value, limit| {
        let workers = table::workers(workers);
        let what = format!("speed in the geometric mean, {workers}, over {what}");
        Goal::at_least(what, " ×", value, limit)
    };
    let best_peer = speed("the best peer of each case", means.speed, 1.4);
    let tokio = means
        .speed_over_tokio
        .map(|value| speed("tokio", value, 3.0));
    [best_peer].into_iter().chain(tokio).collect()
}

fn floor(outcome: &Outcome) -> Option<Goal> {
    let name = outcome.case.as_str();
    let (_, limit) = *FLOORS.iter().find(|(case, _)| name.starts_with(case))?;
    let workers = table::workers(outcome.workers);
    let what = format!("{name}, {workers}, wall time over the floor's");
    Some(Goal::at_most(what, " ×", over_floor(outcome)?, limit))
}

fn cpu(outcomes: &[&Outcome]) -> Option<Goal> {
    let in_means = outcomes.iter().filter(|outcome| outcome.in_means);
    let judge = |outcome: &&Outcome| {
        let ratio = cpu_ratio(outcome)?;
        let peer = outcome.thriftiest_peer()?.kind;
        Some((ratio, format!("{}: {ratio:.2} × {peer}", outcome.case)))
    };
    let what = "CPU time no higher than the peer's that uses least";
    Goal::in_every_case(what, in_means.filter_map(judge))
}

fn memory(findings: &Findings) -> Vec<Goal> {
    let mut memory = findings.memory.iter();
    let Some(ours) = memory.find(|memory| memory.kind == Kind::Ws) else {
        return Vec::new();
    };
    let goal = |from: &str, bytes| {
        let what = format!("memory of an `async {{}}` spawned from {from}");
        Goal::at_most(what, " bytes", bytes, 80.0)
    };
    vec![
        goal("a task", ours.from_task.bytes),
        goal("outside, with queues that grow", ours.from_outside.bytes),
    ]
}

fn latency(outcome: &Outcome) -> Vec<Goal> {
    let (Some(ours), Some(tokio)) = (outcome.of(Kind::Ws), outcome.of(Kind::Tokio)) else {
        return Vec::new();
    };
    if ours.p99.is_nan() || tokio.p99.is_nan() {
        return Vec::new();
    }
    let goal = |which: &str, ours: f64, tokio: f64| {
        let what = format!("{}, {which}, against tokio", outcome.case);
        Goal::at_most(what, " µs", ours / 1_000.0, tokio / 1_000.0)
    };
    vec![
        goal("p50", ours.median, tokio.median),
        goal("p99", ours.p99, tokio.p99),
    ]
}

fn low_load(findings: &Findings) -> Vec<Goal> {
    let of = |kind| findings.low_load.iter().find(|load| load.kind == kind);
    let (Some(ours), Some(tokio)) = (of(Kind::Ws), of(Kind::Tokio)) else {
        return Vec::new();
    };
    let goal = |what: &str, unit, ours, tokio| {
        let what = format!("low load, {what} per task, against tokio");
        Goal::at_most(what, unit, ours, tokio)
    };
    vec![
        goal(
            "voluntary context switches",
            "",
            ours.voluntary,
            tokio.voluntary,
        ),
        goal("CPU time", " µs", ours.cpu_us, tokio.cpu_us),
    ]
}

fn ping(findings: &Findings) -> Option<Goal> {
    let is_monitor = |ping: &&Ping| ping.handoff == DriverHandoff::Monitor;
    let ping = findings.pings.iter().find(is_monitor)?;
    let what = "ping beside a 20 ms poll, p99, with the monitor";
    Some(Goal::at_most(what, " ms", ping.p99_us / 1_000.0, 3.0))
}

fn kept(findings: &Findings) -> Option<Goal> {
    let ours = findings.kept.iter().find(|kept| kept.kind == Kind::Ws)?;
    let what = "a task while every worker sleeps, p50";
    Some(Goal::at_most(what, " ms", ours.p50_ms, 20.0))
}
