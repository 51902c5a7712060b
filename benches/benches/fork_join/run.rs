//! Takes the samples of one case: all contenders in every round, for as many rounds as
//! there is time for.

use std::time::Instant;

use benches::limits::Limits;
use benches::meter::Meter;
use benches::progress::Watch;
use benches::rounds::{Contender, Rounds};

use crate::case::Entry;
use crate::outcome::{Measured, Outcome};
use crate::pool::Kind;

/// Measures the contenders in `kinds`, each with so many workers.
pub(crate) fn measure(
    entry: &Entry,
    workers: usize,
    kinds: &[Kind],
    limits: Limits,
    watch: &Watch,
) -> Outcome {
    let contender = |&kind: &Kind| {
        let watch = watch.clone();
        let mut lane = entry.start(kind, workers);
        let mut sample = move || {
            let mut meter = Meter::default();
            watch.during(kind.name(), || lane(&mut meter));
            meter.per_unit()
        };
        // The first one finds cold caches, and memory that the process does not have yet.
        sample();
        Contender::new(kind.name(), move || Some(sample()))
    };
    let mut rounds = Rounds::new(kinds.iter().map(contender).collect());
    let start = Instant::now();
    while limits.allow(rounds.done(), start.elapsed()) {
        rounds.next_round();
    }
    let measured = |(&kind, series)| Measured::new(kind, &series);
    Outcome {
        name: entry.name.clone(),
        unit: entry.unit,
        units: entry.units,
        workers,
        measured: kinds.iter().zip(rounds.finish()).map(measured).collect(),
    }
}
