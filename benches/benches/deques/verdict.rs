//! The targets, and which of them were reached.

use std::fmt;

use benches::json::Value;
use benches::rounds::Series;

use crate::{Case, Kind, NS, Outcome};

/// One target and what became of it.
pub(crate) struct Verdict {
    /// Whose figure in which case.
    what: String,
    /// Whose figure it is held against.
    against: String,
    /// Our median over theirs.
    ratio: f64,
    /// Our best over theirs, where the best counts.
    best_ratio: Option<f64>,
    /// What the ratio of the medians must not exceed.
    limit: f64,
}

impl Verdict {
    fn new(outcome: &Outcome, role: &str, other: &Series<2>, limit: f64) -> Self {
        let ours = outcome.ours();
        Self {
            what: format!("{}, {}", ours.name(), outcome.case),
            against: format!("{role} ({})", other.name()),
            ratio: ours.median(NS) / other.median(NS),
            best_ratio: outcome
                .best_counts()
                .then(|| ours.best(NS) / other.best(NS)),
            limit,
        }
    }

    /// Strict: a shortfall of two per cent that comes back in every run is one.
    fn is_reached(&self) -> bool {
        self.ratio <= self.limit
    }

    pub(crate) fn to_json(&self) -> Value {
        Value::object([
            ("what", self.what.as_str().into()),
            ("against", self.against.as_str().into()),
            ("ratio", self.ratio.into()),
            ("best_ratio", self.best_ratio.unwrap_or(f64::NAN).into()),
            ("limit", self.limit.into()),
            ("reached", self.is_reached().into()),
        ])
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {:.2} ×", self.what, self.ratio)?;
        if let Some(ratio) = self.best_ratio {
            write!(f, " (by the best {ratio:.2} ×)")?;
        }
        let word = if self.is_reached() {
            "reached"
        } else {
            "NOT reached"
        };
        write!(f, " {}, at most {:.2} × — {word}", self.against, self.limit)
    }
}

/// Holds the outcomes against the targets:
/// 1. the ring's push+pop: no slower than the best peer, at most twice the floor;
/// 2. the ring's half-steal: at most a third of st3's;
/// 3. the deque's push+pop from bursts of 64: no slower than the best peer;
/// 4. both with a thief: no slower than the best peer.
pub(crate) fn all(outcomes: &[Outcome]) -> Vec<Verdict> {
    outcomes.iter().flat_map(of_outcome).collect()
}

fn of_outcome(outcome: &Outcome) -> Vec<Verdict> {
    let best_peer = || {
        let role = format!("best peer {}", outcome.kind);
        Verdict::new(outcome, &role, outcome.best_peer(), 1.0)
    };
    let floor = || {
        outcome
            .floor()
            .map(|floor| Verdict::new(outcome, "the floor", floor, 2.0))
    };
    let st3 = || Verdict::new(outcome, "the same steal", outcome.st3(), 1.0 / 3.0);
    match (outcome.kind, outcome.case) {
        (Kind::Fifo, Case::Pairs(_)) => [best_peer()].into_iter().chain(floor()).collect(),
        (Kind::Fifo, Case::HalfSteal) => vec![st3()],
        (Kind::Lifo, Case::Pairs(64 | 256)) | (_, Case::Duel(_)) => vec![best_peer()],
        (Kind::Lifo, Case::Pairs(_) | Case::HalfSteal) | (_, Case::Fill | Case::Drain) => vec![],
    }
}

/// Prints one line per target.
pub(crate) fn print(verdicts: &[Verdict]) {
    println!("Targets, by the medians:");
    for verdict in verdicts {
        println!("  {verdict}");
    }
    let reached = verdicts
        .iter()
        .filter(|verdict| verdict.is_reached())
        .count();
    println!("{reached} of {} targets reached.", verdicts.len());
}
