//! The goals, and which of them were reached.

use benches::goal::Goal;

use crate::cases::uneven;
use crate::outcome::{Outcome, Scaling};
use crate::pool::Kind;
use crate::{Findings, in_words};

/// The number of workers that goals with several workers are for.
const WORKERS: usize = 2;

/// Work that takes less than this on one worker, in ms, is over before a second one has
/// woken up, and cannot scale.
const WORTH_SHARING: f64 = 0.1;

/// Holds the findings against the goals:
/// 1. at most 4 ns of CPU time per join over sequential code on one worker, in `fib`;
/// 2. never slower than rayon;
/// 3. at least 1.8 × as fast with two workers as with one;
/// 4. a utilization of at least 97 % in the uneven loop.
pub(crate) fn all(findings: &Findings) -> Vec<Goal> {
    let outcomes = &findings.outcomes;
    let mut goals = Vec::new();
    goals.extend(outcomes.iter().filter_map(cost));
    goals.extend(
        [1, WORKERS]
            .iter()
            .filter_map(|&workers| against_rayon(outcomes, workers)),
    );
    goals.extend(scaling(outcomes));
    goals.extend(outcomes.iter().filter_map(utilization));
    goals
}

fn cost(outcome: &Outcome) -> Option<Goal> {
    if outcome.workers != 1 || !outcome.name.starts_with("fib") {
        return None;
    }
    let over = outcome.over_sequential(Kind::Ws, |measured| measured.cpu)?;
    let what = format!(
        "{}, one worker, CPU time per join over sequential",
        outcome.name
    );
    Some(Goal::at_most(what, " ns", over, 4.0))
}

fn against_rayon(outcomes: &[Outcome], workers: usize) -> Option<Goal> {
    let judge = |outcome: &Outcome| {
        let speed = outcome.speed_over(Kind::Rayon)?;
        let text = format!("{}: {speed:.2} × rayon", outcome.name);
        Some((1.0 / speed, text))
    };
    let outcomes = outcomes.iter().filter(|outcome| outcome.workers == workers);
    let what = format!("{}, never slower than rayon", in_words(workers));
    Goal::in_every_case(&what, outcomes.filter_map(judge))
}

fn scaling(outcomes: &[Outcome]) -> Option<Goal> {
    const LEAST: f64 = 1.8;
    let judge = |scaling: &Scaling<'_>| {
        let factor = scaling.of(Kind::Ws)?;
        let worth = scaling.alone.total_ms(Kind::Ws)? >= WORTH_SHARING;
        let rayon = scaling.of(Kind::Rayon).unwrap_or(f64::NAN);
        let text = format!("{}: {factor:.2} × (rayon {rayon:.2} ×)", scaling.alone.name);
        worth.then_some((LEAST / factor, text))
    };
    let scalings = Scaling::all(outcomes, WORKERS);
    let what = format!("at least {LEAST} × as fast with {WORKERS} workers as with one");
    Goal::in_every_case(&what, scalings.iter().filter_map(judge))
}

fn utilization(outcome: &Outcome) -> Option<Goal> {
    if outcome.workers != WORKERS || outcome.name != uneven::NAME {
        return None;
    }
    let share = outcome.utilization(Kind::Ws)?;
    let what = format!("{}, utilization", outcome.name);
    Some(Goal::at_least(what, " %", share * 100.0, 97.0))
}
