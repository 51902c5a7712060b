//! A task that is spawned while every worker is in a poll that sleeps.
//!
//! On most executors the task waits until the first of these polls ends. Here a spare thread
//! polls it ([`Builder::spares`](ws_executor::Builder::spares)).

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use benches::outcome::as_text;
use benches::progress;
use benches::stats::quantile;
use serde::Serialize;

use crate::contender::{Contender, Kind, with_contender};

/// How long each worker sleeps.
pub(crate) const SLEEP: Duration = Duration::from_millis(250);

/// How many rounds there are for each second that was asked for.
const ROUNDS: usize = 4;

/// How long such tasks waited for their poll.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Kept {
    #[serde(rename = "name", serialize_with = "as_text")]
    pub(crate) kind: Kind,
    pub(crate) tasks: usize,
    pub(crate) p50_ms: f64,
    pub(crate) max_ms: f64,
}

impl Kept {
    fn new(kind: Kind, times: &[Duration]) -> Self {
        let millis = |time: &Duration| time.as_nanos() as f64 / 1e6;
        let mut times: Vec<_> = times.iter().map(millis).collect();
        Self {
            kind,
            tasks: times.len(),
            p50_ms: quantile(&mut times, 0.5),
            max_ms: quantile(&mut times, 1.0),
        }
    }
}

/// Measures every contender, in turns.
pub(crate) fn measure(kinds: &[Kind], workers: usize, seconds: usize) -> Vec<Kept> {
    let mut contenders: Vec<_> = kinds
        .iter()
        .filter(|&&kind| kind != Kind::Floor)
        .map(|&kind| (kind, Vec::new()))
        .collect();
    for _ in 0..seconds * ROUNDS {
        for (kind, times) in &mut contenders {
            let kind = *kind;
            let round = || with_contender!(kind, C => round::<C>(workers));
            times.push(progress::watch(kind, round));
        }
    }
    let kept = |(kind, times): (Kind, Vec<_>)| Kept::new(kind, &times);
    contenders.into_iter().map(kept).collect()
}

/// A new executor for each round: its threads are started in that round, too.
fn round<C: Contender>(workers: usize) -> Duration {
    let contender = C::new(workers);
    let (begin, begun) = mpsc::channel();
    for _ in 0..workers {
        let begin = begin.clone();
        contender.detach(async move {
            begin.send(()).expect("the round waits");
            thread::sleep(SLEEP);
        });
    }
    (0..workers).for_each(|_| begun.recv().expect("each worker runs one"));
    let (end, ended) = mpsc::channel();
    let spawned = Instant::now();
    contender.detach(async move { end.send(spawned.elapsed()).expect("the round waits") });
    ended.recv().expect("the task runs")
}
