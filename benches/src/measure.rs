//! Takes the samples of one case: all contenders in every round, for as many rounds as
//! there is time for.

use std::cell::RefCell;
use std::fmt::Display;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::limits::Limits;
use crate::meter::Meter;
use crate::outcome::Measured;
use crate::progress;
use crate::rounds::{Contender, alternate};
use crate::stats::quantile;

/// A contender that is running, ready to give samples of one case.
pub type Lane = Box<dyn FnMut(&mut Meter)>;

/// Measures contenders, each of which `start` starts.
///
/// The first sample of each finds cold caches and memory that the process does not have
/// yet: no contender should pay for being first, so it is thrown away. A first sample that
/// takes `long` or longer is kept, as all that does not show in it.
///
/// ```
/// use std::time::Duration;
/// use benches::limits::Limits;
/// use benches::measure::{Lane, measure};
/// use benches::options::Effort;
/// let limits = Limits::new(Effort::Smoke, None);
/// let start = |_| -> Lane { Box::new(|meter| meter.time(1, || ())) };
/// let measured = measure(&["a"], start, Duration::MAX, limits);
/// assert_eq!((measured[0].kind, measured[0].samples), ("a", 1));
/// ```
pub fn measure<K: Copy + Display + 'static>(
    kinds: &[K],
    start: impl Fn(K) -> Lane,
    long: Duration,
    limits: Limits,
) -> Vec<Measured<K>> {
    let latencies: Vec<Rc<RefCell<Vec<f64>>>> = kinds.iter().map(|_| Rc::default()).collect();
    let contender = |(&kind, latencies): (&K, &Rc<RefCell<Vec<f64>>>)| {
        let latencies = latencies.clone();
        let mut lane = start(kind);
        let mut sample = move || {
            let mut meter = Meter::default();
            progress::watch(kind, || lane(&mut meter));
            meter
        };
        let mut first = Some(sample()).filter(|first| first.wall() >= long);
        Contender::new(kind, move || {
            let meter = first.take().unwrap_or_else(&mut sample);
            let figures = meter.per_unit();
            latencies.borrow_mut().extend(meter.into_latencies());
            Some(figures)
        })
    };
    let contenders = kinds.iter().zip(&latencies).map(contender).collect();
    let begun = Instant::now();
    let series = alternate(contenders, |done| limits.allow(done, begun.elapsed()));
    let measured = series.iter().zip(latencies).map(|(series, latencies)| {
        let mut measured = Measured::new(series, ());
        measured.cpu = series.median(1);
        let mut latencies = latencies.borrow_mut();
        if !latencies.is_empty() {
            measured.median = quantile(&mut latencies, 0.5);
            measured.p99 = quantile(&mut latencies, 0.99);
        }
        measured
    });
    measured.collect()
}
