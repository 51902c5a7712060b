//! How a case compares with its sequential code, and with itself on one worker.

use benches::outcome::Measured;

use crate::Outcome;
use crate::pool::Kind;

/// Returns a figure of a contender, less that of the sequential code.
pub(crate) fn over_sequential(
    outcome: &Outcome,
    kind: Kind,
    figure: impl Fn(&Measured<Kind>) -> f64,
) -> Option<f64> {
    Some(figure(outcome.of(kind)?) - figure(outcome.of(Kind::Sequential)?))
}

/// Returns how long the work takes without any joins, per unit: the CPU time, if it
/// is known, in which other programs on the machine do not show.
fn work(outcome: &Outcome) -> Option<f64> {
    let alone = outcome.of(Kind::Sequential)?;
    let cpu = Some(alone.cpu).filter(|cpu| !cpu.is_nan());
    Some(cpu.unwrap_or(alone.median))
}

/// Returns the share of its workers' time that a contender has used for the work.
pub(crate) fn utilization(outcome: &Outcome, kind: Kind) -> Option<f64> {
    Some(work(outcome)? / (outcome.workers as f64 * outcome.of(kind)?.median))
}

/// Returns how long the work of one run takes, in ms.
pub(crate) fn work_ms(outcome: &Outcome) -> Option<f64> {
    Some(work(outcome)? * outcome.units as f64 / 1e6)
}

/// Returns how long one run of a contender takes, in ms.
pub(crate) fn total_ms(outcome: &Outcome, kind: Kind) -> Option<f64> {
    Some(outcome.of(kind)?.median * outcome.units as f64 / 1e6)
}

/// How much faster a contender is with more workers.
#[derive(Clone, Debug)]
pub(crate) struct Scaling<'a> {
    pub(crate) alone: &'a Outcome,
    pub(crate) together: &'a Outcome,
}

impl<'a> Scaling<'a> {
    /// Returns the pairs of outcomes of one case, at one worker and at `workers`.
    pub(crate) fn all(outcomes: &'a [Outcome], workers: usize) -> Vec<Self> {
        let pair = |alone: &'a Outcome| {
            let is_other = |other: &&Outcome| other.workers == workers && other.case == alone.case;
            let together = outcomes.iter().find(is_other)?;
            Some(Self { alone, together })
        };
        let alone = outcomes.iter().filter(|outcome| outcome.workers == 1);
        alone.filter_map(pair).collect()
    }

    pub(crate) fn of(&self, kind: Kind) -> Option<f64> {
        Some(self.alone.of(kind)?.median / self.together.of(kind)?.median)
    }
}
