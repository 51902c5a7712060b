//! The goals, and which of them were reached.

use benches::goal::Goal;
use benches::table;

use crate::Outcome;
use crate::cases::uneven;
use crate::pool::Kind;
use crate::scaling::{self, Scaling, over_sequential, total_ms};

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
pub(crate) fn all(outcomes: &[Outcome]) -> Vec<Goal> {
    let mut goals = Vec::new();
    goals.extend(outcomes.iter().filter_map(cost));
    let against_rayon = |workers: usize| against_rayon(outcomes, workers);
    goals.extend([1, WORKERS].into_iter().filter_map(against_rayon));
    goals.extend(scaling(outcomes));
    goals.extend(outcomes.iter().filter_map(utilization));
    goals
}

fn cost(outcome: &Outcome) -> Option<Goal> {
    if outcome.workers != 1 || !outcome.case.starts_with("fib") {
        return None;
    }
    let over = over_sequential(outcome, Kind::Ws, |measured| measured.cpu)?;
    let case = &outcome.case;
    let what = format!("{case}, one worker, CPU time per join over sequential");
    Some(Goal::at_most(what, " ns", over, 4.0))
}

fn against_rayon(outcomes: &[Outcome], workers: usize) -> Option<Goal> {
    let judge = |outcome: &Outcome| {
        let speed = outcome.speed_over(Kind::Rayon, Kind::Ws)?;
        let text = format!("{}: {speed:.2} × rayon", outcome.case);
        Some((1.0 / speed, text))
    };
    let outcomes = outcomes.iter().filter(|outcome| outcome.workers == workers);
    let what = format!("{}, never slower than rayon", table::workers(workers));
    Goal::in_every_case(what, outcomes.filter_map(judge))
}

fn scaling(outcomes: &[Outcome]) -> Option<Goal> {
    const LEAST: f64 = 1.8;
    let judge = |scaling: &Scaling<'_>| {
        let factor = scaling.of(Kind::Ws)?;
        let worth = total_ms(scaling.alone, Kind::Ws)? >= WORTH_SHARING;
        let rayon = scaling.of(Kind::Rayon).unwrap_or(f64::NAN);
        let text = format!("{}: {factor:.2} × (rayon {rayon:.2} ×)", scaling.alone.case);
        worth.then_some((LEAST / factor, text))
    };
    let scalings = Scaling::all(outcomes, WORKERS);
    let what = format!("at least {LEAST} × as fast with {WORKERS} workers as with one");
    Goal::in_every_case(what, scalings.iter().filter_map(judge))
}

fn utilization(outcome: &Outcome) -> Option<Goal> {
    if outcome.workers != WORKERS || outcome.case != uneven::NAME {
        return None;
    }
    let share = scaling::utilization(outcome, Kind::Ws)?;
    let what = format!("{}, utilization", outcome.case);
    Some(Goal::at_least(what, " %", share * 100.0, 97.0))
}
