//! The schedulers: no single one finds every flaw.
//!
//! A scheduler that picks threads at random switches often, and rarely lets one
//! thread sleep through all the others' calls; the priorities of PCT do just
//! that, but change a few times only. The uniform random walk is fair to
//! interleavings where the random one is fair to steps.

use std::panic::{AssertUnwindSafe, catch_unwind};

use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler, UrwRandomScheduler};
use shuttle::{Config, Runner};

/// One of shuttle's ways to decide who goes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strategy {
    Random,
    /// Zhao, Wolff, Mathur and Roychoudhury, *Selectively uniform concurrency
    /// testing* (2025).
    Urw,
    /// Burckhardt, Kothari, Musuvathi and Nagarakatte, *A randomized scheduler
    /// with probabilistic guarantees of finding bugs* (2010), with this depth.
    Pct(usize),
}

/// The portfolio, in the order of the table.
pub(crate) const PORTFOLIO: &[Strategy] = &[
    Strategy::Random,
    Strategy::Urw,
    Strategy::Pct(2),
    Strategy::Pct(3),
    Strategy::Pct(5),
    Strategy::Pct(8),
];

impl Strategy {
    pub(crate) fn name(self) -> String {
        match self {
            Self::Random => "random".to_owned(),
            Self::Urw => "urw".to_owned(),
            Self::Pct(depth) => format!("pct{depth}"),
        }
    }

    /// Runs `body` under `schedules` schedules, drawn from `seed`.
    ///
    /// # Errors
    ///
    /// The message of the panic if a thread of `body` panics, or if all of them wait.
    pub(crate) fn run(
        self,
        seed: u64,
        schedules: usize,
        body: impl Fn() + Send + Sync + 'static,
    ) -> Result<(), String> {
        let scheduler: Box<dyn Scheduler + Send> = match self {
            Self::Random => Box::new(RandomScheduler::new_from_seed(seed, schedules)),
            Self::Urw => Box::new(UrwRandomScheduler::new_from_seed(seed, schedules)),
            Self::Pct(depth) => Box::new(PctScheduler::new_from_seed(seed, depth, schedules)),
        };
        let mut config = Config::new();
        // Orderings weaker than SeqCst are checked by the loom models.
        config.silence_warnings = true;
        let runner = Runner::new(scheduler, config);
        let ended = catch_unwind(AssertUnwindSafe(|| runner.run(body)));
        ended.map(drop).map_err(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            text.unwrap_or("no message").to_owned()
        })
    }
}
