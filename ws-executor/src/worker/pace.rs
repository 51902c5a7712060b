//! How many ticks may pass before the injector has its turn.
//!
//! Looking at the injector costs a few loads, so it is not done at every tick; but
//! a task in it must not wait long. The time of a poll says how many ticks make a
//! given latency: the interval is `latency / mean poll time`, clamped. The mean is
//! an exponentially weighted one (α = 0.1) over intervals; so the clock is read
//! once an interval, and never for a single task, which would cost as much as the
//! task.

use std::cell::Cell;

use crate::clock::Instant;
use crate::tuning::{INJECTOR_INTERVAL, INJECTOR_LATENCY};

/// The weight of the newest interval in the mean.
const ALPHA: f64 = 0.1;

/// A worker's estimate of its polls, and when the injector is due.
pub(crate) struct Pace {
    /// Ticks until the injector is due.
    left: Cell<u32>,
    interval: Cell<u32>,
    /// Mean time of a poll, in nanoseconds.
    mean: Cell<f64>,
    /// When this interval began; `None` if something else than polls was in it.
    began: Cell<Option<Instant>>,
}

impl Pace {
    pub(crate) fn new() -> Self {
        let (_, slowest) = INJECTOR_INTERVAL;
        Self {
            left: Cell::new(slowest),
            interval: Cell::new(slowest),
            mean: Cell::new(INJECTOR_LATENCY.as_nanos() as f64 / f64::from(slowest)),
            began: Cell::new(None),
        }
    }

    /// Counts a tick; says whether the injector is due.
    #[inline]
    pub(crate) fn tick(&self) -> bool {
        let left = self.left.get();
        if left > 0 {
            self.left.set(left - 1);
            return false;
        }
        self.begin_interval();
        true
    }

    #[cold]
    fn begin_interval(&self) {
        let now = Instant::now();
        if let Some(began) = self.began.replace(Some(now)) {
            let polls = f64::from(self.interval.get() + 1);
            let sample = (now - began).as_nanos() as f64 / polls;
            let mean = self.mean.get() * (1.0 - ALPHA) + sample * ALPHA;
            self.mean.set(mean);
            self.interval.set(interval(mean));
        }
        self.left.set(self.interval.get());
    }

    /// The worker was parked or searched: this interval says nothing about polls.
    pub(crate) fn interrupt(&self) {
        self.began.set(None);
    }
}

/// How many polls of this mean time, in nanoseconds, make the latency.
fn interval(mean: f64) -> u32 {
    let (least, most) = INJECTOR_INTERVAL;
    // A cast saturates, also where a mean of zero gives infinity.
    ((INJECTOR_LATENCY.as_nanos() as f64 / mean) as u32).clamp(least, most)
}

#[cfg(test)]
#[cfg(not(any(ws_loom, ws_shuttle)))]
mod tests {
    use super::*;

    #[test]
    fn short_polls_make_long_intervals() {
        let (least, most) = INJECTOR_INTERVAL;
        assert_eq!(interval(0.0), most);
        assert_eq!(interval(1.0), most);
        assert_eq!(interval(10_000.0), 20);
        assert_eq!(interval(1e9), least);
    }

    #[test]
    fn due_once_an_interval() {
        let pace = Pace::new();
        let due = (0..10 * 62).filter(|_| pace.tick()).count();
        assert!(due >= 10, "due {due} times");
    }
}
