//! What was measured of one case, and how contenders compare in it.

use benches::rounds::Series;
use benches::stats::geometric_mean;

use crate::contender::Kind;

const NS: usize = 0;
const CPU: usize = 1;

/// One contender's figures in one case.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    pub(crate) kind: Kind,
    /// Wall time per unit: the median of the samples, or of the latencies.
    pub(crate) ns: f64,
    /// CPU time of all threads per unit, the median; `NaN` if it says nothing.
    pub(crate) cpu: f64,
    /// The least wall time per unit of any sample.
    pub(crate) best: f64,
    /// For a latency: what one wake in a hundred takes longer than.
    pub(crate) p99: Option<f64>,
    pub(crate) samples: usize,
}

impl Measured {
    pub(crate) fn of_series(kind: Kind, series: &Series<2>) -> Self {
        Self {
            kind,
            ns: series.median(NS),
            cpu: series.median(CPU),
            best: series.best(NS),
            p99: None,
            samples: series.len(),
        }
    }
}

/// All contenders in one case.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) name: String,
    pub(crate) unit: &'static str,
    pub(crate) workers: usize,
    pub(crate) has_floor: bool,
    /// Those whose figures count as a peer's.
    pub(crate) peers: Vec<Kind>,
    pub(crate) measured: Vec<Measured>,
}

impl Outcome {
    pub(crate) fn of(&self, kind: Kind) -> Option<&Measured> {
        self.measured.iter().find(|measured| measured.kind == kind)
    }

    /// Returns the fastest peer.
    pub(crate) fn best_peer(&self) -> Option<&Measured> {
        self.least(|measured| measured.ns)
    }

    /// Returns the peer that uses the least CPU time, which may be another one.
    pub(crate) fn thriftiest_peer(&self) -> Option<&Measured> {
        self.least(|measured| measured.cpu)
    }

    fn least(&self, figure: impl Fn(&Measured) -> f64) -> Option<&Measured> {
        self.measured
            .iter()
            .filter(|measured| self.peers.contains(&measured.kind) && !figure(measured).is_nan())
            .min_by(|a, b| figure(a).total_cmp(&figure(b)))
    }

    /// Returns how many times as fast as the best peer a contender is.
    pub(crate) fn speed(&self, kind: Kind) -> Option<f64> {
        Some(self.best_peer()?.ns / self.of(kind)?.ns)
    }

    /// Returns how many times as fast as another contender ours is.
    pub(crate) fn speed_over(&self, other: Kind) -> Option<f64> {
        Some(self.of(other)?.ns / self.of(Kind::Ws)?.ns)
    }

    /// Returns how much CPU time ours uses, relative to the thriftiest peer.
    pub(crate) fn cpu_ratio(&self) -> Option<f64> {
        let ratio = self.of(Kind::Ws)?.cpu / self.thriftiest_peer()?.cpu;
        (!ratio.is_nan()).then_some(ratio)
    }

    /// Returns whether the case is one of those that means are taken over. Those
    /// with a floor are not: they are there for the floor.
    pub(crate) fn is_in_means(&self) -> bool {
        !self.has_floor
    }
}

/// The means over all cases at one number of workers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Means {
    pub(crate) workers: usize,
    pub(crate) cases: usize,
    pub(crate) over_best_peer: f64,
    pub(crate) over_tokio: Option<f64>,
    /// Our CPU time relative to the thriftiest peer's.
    pub(crate) cpu: Option<f64>,
}

impl Means {
    /// Returns the means, if ours and a peer were measured.
    pub(crate) fn at(workers: usize, outcomes: &[Outcome]) -> Option<Self> {
        let cases: Vec<_> = outcomes
            .iter()
            .filter(|outcome| outcome.workers == workers && outcome.is_in_means())
            .collect();
        let mean = |figure: fn(&Outcome) -> Option<f64>| {
            geometric_mean(cases.iter().filter_map(|outcome| figure(outcome)))
        };
        Some(Self {
            workers,
            cases: cases.len(),
            over_best_peer: mean(|outcome| outcome.speed(Kind::Ws))?,
            over_tokio: mean(|outcome| outcome.speed_over(Kind::Tokio)),
            cpu: mean(Outcome::cpu_ratio),
        })
    }
}
