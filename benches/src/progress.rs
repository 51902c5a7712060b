//! Where a run is, and what it is stuck in.
//!
//! One line per step on standard error: its name when it begins, its result when
//! it ends. A watchdog looks once a second at the sample under way, and says
//! whose it is when it takes too long: a contender that lost a wake-up would
//! otherwise look like a slow benchmark.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

/// How often the watchdog looks. It wakes up inside of measurements; once a
/// second is nothing beside what they do.
const LOOK: Duration = Duration::from_secs(1);

/// When it says something. The longest samples take a few seconds.
const PATIENCE: Duration = Duration::from_secs(20);

/// Counts steps and shows them.
#[derive(Debug)]
pub struct Progress {
    total: usize,
    begun: usize,
    start: Instant,
    watch: Watch,
}

impl Progress {
    /// Starts a run of `total` steps, and the watchdog.
    pub fn new(total: usize) -> Self {
        let watch = Watch::default();
        let sample = Arc::downgrade(&watch.sample);
        thread::spawn(move || look_after(&sample));
        Self {
            total,
            begun: 0,
            start: Instant::now(),
            watch,
        }
    }

    /// Shows that the next step begins.
    pub fn begin(&mut self, name: &str) {
        self.begun += 1;
        eprint!(
            "[{:>2}/{} {:>4} s] {name} … ",
            self.begun,
            self.total,
            self.start.elapsed().as_secs(),
        );
    }

    /// Shows what became of the step.
    pub fn end(&self, result: &str) {
        eprintln!("{result}");
    }

    /// Returns what tells the watchdog about samples.
    pub fn watch(&self) -> Watch {
        self.watch.clone()
    }
}

/// What is under way, for the watchdog.
///
/// ```
/// let watch = benches::progress::Progress::new(1).watch();
/// assert_eq!(watch.during("tokio", || 1 + 1), 2);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Watch {
    sample: Arc<Mutex<Option<Sample>>>,
}

#[derive(Clone, Debug)]
struct Sample {
    whose: String,
    since: Instant,
    told: Duration,
}

impl Watch {
    /// Takes a sample, which is `whose`.
    pub fn during<R>(&self, whose: &str, sample: impl FnOnce() -> R) -> R {
        self.set(Some(Sample {
            whose: whose.into(),
            since: Instant::now(),
            told: Duration::ZERO,
        }));
        let result = sample();
        self.set(None);
        result
    }

    fn set(&self, sample: Option<Sample>) {
        *self.sample.lock().unwrap_or_else(PoisonError::into_inner) = sample;
    }
}

fn look_after(sample: &Weak<Mutex<Option<Sample>>>) {
    loop {
        thread::sleep(LOOK);
        let Some(sample) = sample.upgrade() else {
            return;
        };
        let mut sample = sample.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sample) = &mut *sample {
            let age = sample.since.elapsed();
            if age >= sample.told + PATIENCE {
                sample.told = age;
                eprintln!(
                    "\n  {} has been at one sample for {} s",
                    sample.whose,
                    age.as_secs()
                );
            }
        }
    }
}
