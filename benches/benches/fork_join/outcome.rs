//! What was measured of one case, and how contenders compare in it.

use benches::rounds::Series;

use crate::pool::Kind;

const NS: usize = 0;
const CPU: usize = 1;

/// One contender's figures in one case, per unit; the medians of the samples.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    pub(crate) kind: Kind,
    pub(crate) ns: f64,
    /// CPU time of all threads; `NaN` if the system does not tell.
    pub(crate) cpu: f64,
    /// The least wall time of any sample.
    pub(crate) best: f64,
    pub(crate) samples: usize,
}

impl Measured {
    pub(crate) fn new(kind: Kind, series: &Series<2>) -> Self {
        Self {
            kind,
            ns: series.median(NS),
            cpu: series.median(CPU),
            best: series.best(NS),
            samples: series.len(),
        }
    }
}

/// All contenders in one case.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) name: String,
    pub(crate) unit: &'static str,
    /// How many units one run has.
    pub(crate) units: usize,
    pub(crate) workers: usize,
    pub(crate) measured: Vec<Measured>,
}

impl Outcome {
    pub(crate) fn of(&self, kind: Kind) -> Option<&Measured> {
        self.measured.iter().find(|measured| measured.kind == kind)
    }

    /// Returns how many times as fast as another contender ours is.
    pub(crate) fn speed_over(&self, other: Kind) -> Option<f64> {
        Some(self.of(other)?.ns / self.of(Kind::Ws)?.ns)
    }

    /// Returns a figure of a contender, less that of the sequential code.
    pub(crate) fn over_sequential(
        &self,
        kind: Kind,
        figure: impl Fn(&Measured) -> f64,
    ) -> Option<f64> {
        Some(figure(self.of(kind)?) - figure(self.of(Kind::Sequential)?))
    }

    /// Returns how long the work takes without any joins, per unit: the CPU time, if it
    /// is known, in which other programs on the machine do not show.
    fn work(&self) -> Option<f64> {
        let alone = self.of(Kind::Sequential)?;
        Some(if alone.cpu.is_nan() {
            alone.ns
        } else {
            alone.cpu
        })
    }

    /// Returns the share of its workers' time that a contender has used for the work.
    pub(crate) fn utilization(&self, kind: Kind) -> Option<f64> {
        Some(self.work()? / (self.workers as f64 * self.of(kind)?.ns))
    }

    /// Returns how long the work of one run takes, in ms.
    pub(crate) fn work_ms(&self) -> Option<f64> {
        Some(self.work()? * self.units as f64 / 1e6)
    }

    /// Returns how long one run of a contender takes, in ms.
    pub(crate) fn total_ms(&self, kind: Kind) -> Option<f64> {
        Some(self.of(kind)?.ns * self.units as f64 / 1e6)
    }
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
            let is_other = |other: &&Outcome| other.workers == workers && other.name == alone.name;
            let together = outcomes.iter().find(is_other)?;
            Some(Self { alone, together })
        };
        let alone = outcomes.iter().filter(|outcome| outcome.workers == 1);
        alone.filter_map(pair).collect()
    }

    pub(crate) fn of(&self, kind: Kind) -> Option<f64> {
        Some(self.alone.of(kind)?.ns / self.together.of(kind)?.ns)
    }
}
