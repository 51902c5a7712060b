//! How long the polls of a worker take, and what follows from that.
//!
//! A clock read costs as much as a small task, so no single poll is timed. Polls are timed in
//! stretches: up to an interval's worth of them, or until the worker runs out of work. The mean
//! over stretches is exponentially weighted (α = 0.1, but 0.5 where it rises: long polls should
//! be noticed soon). The mean decides:
//!
//! - how many ticks may pass before the injector has its turn: `latency / mean`, clamped. A
//!   look costs a few loads, so it is not done at every tick; but a task in the injector must
//!   not wait long;
//! - whether the LIFO slot is worth its unfairness;
//! - whether what is queued here is worth sharing (`share.rs`).
//!
//! # The injector's turn
//!
//! Local and injected tasks share a busy worker by time, not by number. If the local polls of
//! an interval took long ([`turn_worth`]), the injector's turn lasts as long as they did: at
//! least [`INJECTOR_LATENCY`], and at most [`LONGEST_TURN`]. Its jobs run one by one, before the local
//! ones. What is left stays in the injector, where other workers see it. If the polls were short,
//! or no local task is due, the turn is one batch, which goes to the end of the ring: that takes
//! one lock for many jobs.
//!
//! If every turn were a batch, 125 short tasks from outside would wait for each round of long
//! local polls. That was measured in the benchmark `executors`, with two workers, beside polls
//! of 10 µs: the batch took 2.0 to 2.4 times as long (`busy1`) and 2.1 to 3.6 times as long
//! (`busy2`).

use std::cell::Cell;
use std::time::Duration;

use crate::base::clock::Instant;
use crate::base::tuning::{
    COMPUTATION_INTERVALS, INJECTOR_INTERVAL, INJECTOR_LATENCY, LIFO_CAP, LIFO_WORTH, LONGEST_TURN,
    turn_worth,
};

/// The length of the very first stretch, in ticks.
const FIRST: u32 = 4;

/// The weight of the newest stretch in the mean: if it is lower than the mean, and if it is
/// higher.
const ALPHA: (f64, f64) = (0.1, 0.5);

/// The most jobs of a turn that run between two reads of the clock. A read costs as much as
/// half a small job.
const JOBS_PER_READ: u32 = 16;

/// A worker's estimate of its polls.
pub(super) struct Pace {
    /// Ticks until the injector is due.
    left: Cell<u32>,
    interval: Cell<u32>,
    /// What `left` was when this stretch began.
    left_at_first: Cell<u32>,
    /// When this stretch began, if one has.
    began: Cell<Option<Instant>>,
    /// Mean time of a poll, in nanoseconds.
    mean: Cell<f64>,
    /// The injector's turn, while it lasts.
    turn: Cell<Option<InjectorTurn>>,
    /// How many intervals ago a computation had its turn, while computations were queued.
    intervals: Cell<u32>,
}

/// A turn of the injector.
#[derive(Clone, Copy)]
struct InjectorTurn {
    began: Instant,
    /// How long it may last.
    limit: Duration,
    /// How many of its jobs have begun.
    jobs: u32,
    /// At how many the clock is read again.
    next_read: u32,
}

impl Pace {
    pub(super) fn new() -> Self {
        let (_, longest) = INJECTOR_INTERVAL;
        Self {
            // The first stretch is short, so that there is an estimate soon.
            left: Cell::new(FIRST),
            interval: Cell::new(longest),
            left_at_first: Cell::new(FIRST),
            began: Cell::new(None),
            mean: Cell::new(0.0),
            turn: Cell::new(None),
            intervals: Cell::new(0),
        }
    }

    /// Counts a tick; says whether the injector is due.
    #[inline]
    pub(super) fn tick(&self) -> bool {
        let left = self.left.get();
        if left > 0 {
            self.left.set(left - 1);
            return false;
        }
        true
    }

    /// The injector is due: begins an interval, and a stretch. Returns how long the polls of
    /// the last stretch took.
    pub(super) fn begin_interval(&self) -> Duration {
        let now = Instant::now();
        let took = self.began.get().map_or(Duration::ZERO, |began| now - began);
        self.end_stretch(now);
        self.left.set(self.interval.get());
        self.begin_stretch(now);
        took
    }

    /// Begins a turn of the injector that is measured in time, after local polls that took so
    /// long. Returns false if they were too short. The injector stays due until the turn ends.
    pub(super) fn begin_turn(&self, took: Duration) -> bool {
        if took < turn_worth() {
            return false;
        }
        // What runs now are not local polls: the stretch begins when the turn ends.
        let now = self.began.take().unwrap_or_else(Instant::now);
        self.left.set(0);
        self.turn.set(Some(InjectorTurn {
            began: now,
            limit: took.clamp(INJECTOR_LATENCY, LONGEST_TURN),
            jobs: 0,
            next_read: 1,
        }));
        true
    }

    /// Whether it is the injector's turn.
    pub(super) fn is_in_turn(&self) -> bool {
        self.turn.get().is_some()
    }

    /// Whether the turn goes on for one more job.
    pub(super) fn turn_goes_on(&self) -> bool {
        let Some(mut turn) = self.turn.get() else {
            return false;
        };
        if turn.jobs == turn.next_read {
            let left = turn.limit.saturating_sub(turn.began.elapsed());
            if left.is_zero() {
                return false;
            }
            // As many jobs as fill half of the time that is left, if all take the same time.
            let each = (turn.limit - left).as_nanos() / u128::from(turn.jobs);
            let more = left.as_nanos() / 2 / each.max(1);
            turn.next_read += more.clamp(1, u128::from(JOBS_PER_READ)) as u32;
        }
        turn.jobs += 1;
        self.turn.set(Some(turn));
        true
    }

    /// Ends the injector's turn: begins an interval of local polls.
    pub(super) fn end_turn(&self) {
        self.turn.set(None);
        self.left.set(self.interval.get());
        self.begin_stretch(Instant::now());
    }

    /// The worker has found work again: begins a stretch.
    pub(super) fn resume(&self) {
        self.begin_stretch(Instant::now());
    }

    /// The worker has run out of work: ends the stretch.
    pub(super) fn pause(&self) {
        if self.began.get().is_some() {
            self.end_stretch(Instant::now());
        }
    }

    fn begin_stretch(&self, now: Instant) {
        self.began.set(Some(now));
        self.left_at_first.set(self.left.get());
    }

    fn end_stretch(&self, now: Instant) {
        let ticks = self.left_at_first.get().saturating_sub(self.left.get());
        if let Some(began) = self.began.take().filter(|_| ticks > 0) {
            self.learn((now - began) / ticks);
        }
    }

    fn learn(&self, sample: Duration) {
        let (sample, mean) = (sample.as_nanos() as f64, self.mean.get());
        let alpha = if sample < mean { ALPHA.0 } else { ALPHA.1 };
        let mean = mean + (sample - mean) * alpha;
        self.mean.set(mean);
        self.interval.set(interval(mean));
    }

    /// Called once an interval. Whether a computation is due: none had its turn for long.
    pub(super) fn computation_is_due(&self, is_queued: bool) -> bool {
        if !is_queued {
            self.intervals.set(0);
            return false;
        }
        let intervals = self.intervals.get() + 1;
        self.intervals.set(intervals % COMPUTATION_INTERVALS);
        intervals == COMPUTATION_INTERVALS
    }

    /// The mean time of a poll, in nanoseconds.
    #[inline]
    pub(super) fn mean(&self) -> f64 {
        self.mean.get()
    }

    /// How often in a row the LIFO slot may be used. Not at all while polls are long: then it
    /// saves almost nothing, and other tasks wait longer.
    #[inline]
    pub(super) fn lifo_cap(&self) -> u32 {
        if self.mean.get() < LIFO_WORTH {
            LIFO_CAP
        } else {
            0
        }
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
        assert_eq!(interval(2_000.0), 10);
        assert_eq!(interval(1e9), least);
    }

    #[test]
    fn long_polls_are_noticed_at_once_and_short_ones_slowly() {
        let pace = Pace::new();
        pace.learn(Duration::from_micros(10));
        assert_eq!(pace.mean(), 5_000.0);
        assert_eq!(pace.lifo_cap(), 0);
        pace.learn(Duration::ZERO);
        assert_eq!(pace.mean(), 4_500.0);
    }

    #[test]
    fn a_turn_lasts_only_after_long_polls() {
        let pace = Pace::new();
        assert!(!pace.begin_turn(Duration::ZERO));
        assert!(!pace.is_in_turn());
        assert!(pace.begin_turn(turn_worth()));
        assert!(pace.tick(), "the injector stays due");
        assert!(pace.turn_goes_on(), "one job at the least");
        std::thread::sleep(INJECTOR_LATENCY);
        assert!(!pace.turn_goes_on(), "its time is over");
        pace.end_turn();
        assert!(!pace.is_in_turn());
        assert!(!pace.tick(), "the local polls have an interval");
    }

    #[test]
    fn a_turn_lasts_as_long_as_the_local_polls_did() {
        let limit = |took| {
            let pace = Pace::new();
            assert!(pace.begin_turn(took));
            pace.turn.get().map(|turn| turn.limit)
        };
        let middle = (INJECTOR_LATENCY + LONGEST_TURN) / 2;
        assert_eq!(limit(turn_worth()), Some(INJECTOR_LATENCY));
        assert_eq!(limit(middle), Some(middle));
        assert_eq!(limit(Duration::from_secs(1)), Some(LONGEST_TURN));
    }

    #[test]
    fn due_once_an_interval() {
        let pace = Pace::new();
        let ticks = || (1..).find(|_| pace.tick()).unwrap();
        assert_eq!(ticks(), FIRST + 1);
        pace.begin_interval();
        assert_eq!(ticks(), 62);
    }
}
