//! Where a run is, and what it is stuck in.
//!
//! One line per step on standard error: its name when it begins, its result when
//! it ends. A watchdog looks once a second at the sample under way, and says
//! whose it is when it takes too long: a contender that lost a wake-up would
//! otherwise look like a slow benchmark.

use std::fmt::Display;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How often the watchdog looks. It wakes up inside of measurements; once a
/// second is nothing beside what they do.
const LOOK: Duration = Duration::from_secs(1);

/// When it says something. The longest samples take a few seconds.
const PATIENCE: Duration = Duration::from_secs(20);

/// The sample under way, for the watchdog.
static SAMPLE: Mutex<Option<Sample>> = Mutex::new(None);

#[derive(Debug)]
struct Sample {
    whose: String,
    since: Instant,
    told: Duration,
}

/// Counts steps and shows them.
#[derive(Debug)]
pub struct Progress {
    total: usize,
    begun: usize,
    start: Instant,
}

impl Progress {
    /// Starts a run of `total` steps, and the watchdog.
    pub fn new(total: usize) -> Self {
        thread::spawn(look_after);
        Self {
            total,
            begun: 0,
            start: Instant::now(),
        }
    }

    /// Does the next step, and shows what became of it.
    ///
    /// ```
    /// let mut progress = benches::progress::Progress::new(1);
    /// assert_eq!(progress.step("sum", || 1 + 1, |sum| sum.to_string()), 2);
    /// ```
    pub fn step<R>(
        &mut self,
        name: &str,
        step: impl FnOnce() -> R,
        in_short: impl FnOnce(&R) -> String,
    ) -> R {
        self.begun += 1;
        let (begun, total, seconds) = (self.begun, self.total, self.start.elapsed().as_secs());
        eprint!("[{begun:>2}/{total} {seconds:>4} s] {name} … ");
        let result = step();
        eprintln!("{}", in_short(&result));
        result
    }
}

/// Takes a sample, under the eyes of the watchdog.
///
/// ```
/// assert_eq!(benches::progress::watch("tokio", || 1 + 1), 2);
/// ```
pub fn watch<R>(whose: impl Display, sample: impl FnOnce() -> R) -> R {
    *lock() = Some(Sample {
        whose: whose.to_string(),
        since: Instant::now(),
        told: Duration::ZERO,
    });
    let result = sample();
    *lock() = None;
    result
}

fn lock() -> MutexGuard<'static, Option<Sample>> {
    SAMPLE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn look_after() {
    loop {
        thread::sleep(LOOK);
        if let Some(sample) = &mut *lock() {
            let age = sample.since.elapsed();
            if age >= sample.told + PATIENCE {
                sample.told = age;
                let (whose, seconds) = (&sample.whose, age.as_secs());
                eprintln!("\n  {whose} has been at one sample for {seconds} s");
            }
        }
    }
}
