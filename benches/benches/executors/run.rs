//! Takes the samples of one case: all contenders in every round, for as many
//! rounds as there is time for.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use benches::limits::Limits;
use benches::meter::Meter;
use benches::progress::Watch;
use benches::rounds::{Contender, Rounds};
use benches::stats::quantile;

use crate::case::Entry;
use crate::contender::Kind;
use crate::outcome::{Measured, Outcome};

/// The first sample finds cold caches and memory that the process does not have
/// yet: nobody should pay for being first, so it is thrown away, unless it took so
/// long that this does not show.
const LONG: Duration = Duration::from_millis(250);

/// Measures the contenders in `kinds` that the case admits, each with so many
/// workers.
pub(crate) fn measure(
    entry: &Entry,
    workers: usize,
    kinds: &[Kind],
    limits: Limits,
    watch: &Watch,
) -> Outcome {
    let kinds: Vec<_> = kinds
        .iter()
        .copied()
        .filter(|&kind| entry.admits(kind))
        .collect();
    let latencies: Vec<Rc<RefCell<Vec<f64>>>> = kinds.iter().map(|_| Rc::default()).collect();
    let contender = |(&kind, latencies): (&Kind, &Rc<RefCell<Vec<f64>>>)| {
        let (watch, latencies) = (watch.clone(), latencies.clone());
        let mut lane = entry.start(kind, workers);
        let mut sample = move || {
            let mut meter = Meter::default();
            watch.during(kind.name(), || lane(&mut meter));
            meter
        };
        let mut first = Some(sample()).filter(|first| first.wall() >= LONG);
        Contender::new(kind.name(), move || {
            let meter = first.take().unwrap_or_else(&mut sample);
            let figures = meter.per_unit();
            latencies.borrow_mut().extend(meter.into_latencies());
            Some(figures)
        })
    };
    let mut rounds = Rounds::new(kinds.iter().zip(&latencies).map(contender).collect());
    let start = Instant::now();
    while limits.allow(rounds.done(), start.elapsed()) {
        rounds.next_round();
    }
    let measured = |((&kind, series), latencies): ((&Kind, _), &Rc<RefCell<Vec<f64>>>)| {
        let mut measured = Measured::of_series(kind, &series);
        let mut latencies = latencies.borrow_mut();
        if !latencies.is_empty() {
            measured.ns = quantile(&mut latencies, 0.5);
            measured.p99 = Some(quantile(&mut latencies, 0.99));
        }
        measured
    };
    let series = rounds.finish();
    Outcome {
        name: entry.name.clone(),
        unit: entry.unit,
        workers,
        has_floor: entry.rules.has_floor,
        peers: kinds
            .iter()
            .copied()
            .filter(|&kind| entry.counts(kind))
            .collect(),
        measured: kinds
            .iter()
            .zip(series)
            .zip(&latencies)
            .map(measured)
            .collect(),
    }
}
