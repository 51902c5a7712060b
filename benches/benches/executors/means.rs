//! The means over all cases.

use benches::stats::geometric_mean;
use serde::Serialize;

use crate::Outcome;
use crate::contender::Kind;

/// Returns how much CPU time ours uses, relative to the thriftiest peer.
pub(crate) fn cpu_ratio(outcome: &Outcome) -> Option<f64> {
    let ratio = outcome.of(Kind::Ws)?.cpu / outcome.thriftiest_peer()?.cpu;
    (!ratio.is_nan()).then_some(ratio)
}

/// Returns how many times as long as the floor ours takes.
pub(crate) fn over_floor(outcome: &Outcome) -> Option<f64> {
    Some(outcome.of(Kind::Ws)?.median / outcome.of(Kind::Floor)?.median)
}

/// The means over all cases at one number of workers.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Means {
    pub(crate) workers: usize,
    pub(crate) cases: usize,
    /// Our speed over the best peer's.
    pub(crate) speed: f64,
    pub(crate) speed_over_tokio: Option<f64>,
    /// Our CPU time relative to the thriftiest peer's.
    pub(crate) cpu_ratio: Option<f64>,
}

impl Means {
    /// Returns the means, if ours and a peer were measured.
    pub(crate) fn at(workers: usize, outcomes: &[Outcome]) -> Option<Self> {
        let cases: Vec<_> = outcomes
            .iter()
            .filter(|outcome| outcome.workers == workers && outcome.in_means)
            .collect();
        let mean = |figure: fn(&Outcome) -> Option<f64>| {
            geometric_mean(cases.iter().filter_map(|outcome| figure(outcome)))
        };
        Some(Self {
            workers,
            cases: cases.len(),
            speed: mean(|outcome| outcome.speed(Kind::Ws))?,
            speed_over_tokio: mean(|outcome| outcome.speed_over(Kind::Tokio, Kind::Ws)),
            cpu_ratio: mean(cpu_ratio),
        })
    }
}
