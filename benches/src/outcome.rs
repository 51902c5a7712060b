//! What was measured of one case, and how contenders compare in it.
//!
//! `K` says which contender it is: an enum of the benchmark, or a name. `X` holds figures
//! that only one benchmark has.

use std::fmt::{Debug, Display};

use serde::{Serialize, Serializer};

use crate::rounds::Series;
use crate::table::digits;

/// One contender's figures in one case. What is not measured is `NaN`.
#[derive(Clone, Debug, Serialize)]
#[serde(bound = "K: Display, X: Serialize")]
pub struct Measured<K, X = ()> {
    /// Whose figures these are.
    #[serde(rename = "name", serialize_with = "as_text")]
    pub kind: K,
    /// Wall time per unit: the median of the samples, or of the latencies.
    pub median: f64,
    /// The least wall time per unit of any sample.
    pub best: f64,
    /// For a latency: what one unit in a hundred takes longer than.
    pub p99: f64,
    /// CPU time of all threads per unit, the median.
    pub cpu: f64,
    /// How many samples there were.
    pub samples: usize,
    /// What else the benchmark measures.
    #[serde(flatten)]
    pub more: X,
}

impl<K: Copy, X> Measured<K, X> {
    /// Takes the time per unit from a series.
    pub fn new<const N: usize>(series: &Series<K, N>, more: X) -> Self {
        Self {
            kind: series.kind,
            median: series.median(0),
            best: series.best(0),
            p99: f64::NAN,
            cpu: f64::NAN,
            samples: series.samples.len(),
            more,
        }
    }
}

/// All contenders in one case.
#[derive(Clone, Debug, Serialize)]
#[serde(bound = "K: Display, X: Serialize")]
pub struct Outcome<K, X = ()> {
    /// The name of the case.
    pub case: String,
    /// What the times are divided by.
    pub unit: &'static str,
    /// How many units one run has; 1 if the benchmark does not count them.
    pub units: usize,
    /// How many workers each contender had; 0 if the benchmark does not say.
    pub workers: usize,
    /// Whether means over all cases count this one.
    pub in_means: bool,
    /// The contenders whose figures count as a peer's.
    #[serde(serialize_with = "as_texts")]
    pub peers: Vec<K>,
    /// The figures, in the order of the contenders.
    pub contenders: Vec<Measured<K, X>>,
}

impl<K: Copy + PartialEq + Display, X> Outcome<K, X> {
    /// An outcome that means count, without workers.
    ///
    /// ```
    /// use benches::outcome::{Measured, Outcome};
    /// use benches::rounds::{Contender, alternate};
    /// let one = |name, time| Contender::new(name, move || Some([time]));
    /// let contenders = vec![one("ours", 2.0), one("theirs", 3.0), one("other", 4.0)];
    /// let series = alternate(contenders, |done| done < 1);
    /// let measured = series.iter().map(|series| Measured::new(series, ())).collect();
    /// let outcome = Outcome::new("fill", "item", vec!["theirs", "other"], measured);
    /// assert_eq!(outcome.of("ours").unwrap().median, 2.0);
    /// assert_eq!(outcome.best_peer().unwrap().kind, "theirs");
    /// assert_eq!(outcome.speed("ours"), Some(1.5));
    /// assert_eq!(outcome.speed_over("other", "ours"), Some(2.0));
    /// ```
    pub fn new(
        case: impl Into<String>,
        unit: &'static str,
        peers: Vec<K>,
        contenders: Vec<Measured<K, X>>,
    ) -> Self {
        Self {
            case: case.into(),
            unit,
            units: 1,
            workers: 0,
            in_means: true,
            peers,
            contenders,
        }
    }

    /// Returns the figures of one contender.
    pub fn of(&self, kind: K) -> Option<&Measured<K, X>> {
        self.contenders
            .iter()
            .find(|measured| measured.kind == kind)
    }

    /// Returns the fastest peer.
    pub fn best_peer(&self) -> Option<&Measured<K, X>> {
        self.least(|measured| measured.median)
    }

    /// Returns the peer that uses the least CPU time, which may be another one.
    pub fn thriftiest_peer(&self) -> Option<&Measured<K, X>> {
        self.least(|measured| measured.cpu)
    }

    fn least(&self, figure: impl Fn(&Measured<K, X>) -> f64) -> Option<&Measured<K, X>> {
        self.contenders
            .iter()
            .filter(|measured| self.peers.contains(&measured.kind) && !figure(measured).is_nan())
            .min_by(|a, b| figure(a).total_cmp(&figure(b)))
    }

    /// Returns how many times as fast as the best peer a contender is.
    pub fn speed(&self, kind: K) -> Option<f64> {
        Some(self.best_peer()?.median / self.of(kind)?.median)
    }

    /// Returns how many times as fast as `other` a contender is.
    pub fn speed_over(&self, other: K, kind: K) -> Option<f64> {
        Some(self.of(other)?.median / self.of(kind)?.median)
    }

    /// Returns how many samples there are at least of every contender.
    pub fn samples(&self) -> usize {
        let samples = self.contenders.iter().map(|measured| measured.samples);
        samples.min().unwrap_or(0)
    }

    /// Returns the times in one line.
    pub fn in_short(&self) -> String {
        let times = self.contenders.iter();
        let times = times.map(|measured| format!("{} {}", measured.kind, digits(measured.median)));
        times.collect::<Vec<_>>().join(", ")
    }
}

/// Serializes a value as the text that it displays.
///
/// # Errors
///
/// If the serializer has one.
pub fn as_text<S: Serializer>(value: &impl Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// Serializes a value as its debug text.
///
/// # Errors
///
/// If the serializer has one.
pub fn as_debug<S: Serializer>(value: &impl Debug, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{value:?}"))
}

fn as_texts<S: Serializer>(values: &[impl Display], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(values.iter().map(ToString::to_string))
}
