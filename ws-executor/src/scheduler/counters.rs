//! What a worker counts. Each counter is written by its worker alone, with plain loads and
//! stores. Any thread may read it.

use std::time::Duration;

use ws_core::sync::atomic::{AtomicU64, Ordering};

/// A counter with one writer.
#[derive(Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// Adds `more`. Only the one writer may call this.
    #[inline(always)]
    pub(crate) fn add(&self, more: u64) {
        // ORDERING: relaxed; one writer, and readers want only some recent value.
        let value = self.0.load(Ordering::Relaxed).wrapping_add(more);
        self.0.store(value, Ordering::Relaxed);
    }

    #[inline(always)]
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The counters of one worker; [`WorkerMetrics`](crate::WorkerMetrics) says what
/// they mean.
#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) polls: Counter,
    pub(crate) lifo_hits: Counter,
    pub(crate) steals_tried: Counter,
    pub(crate) steals: Counter,
    pub(crate) tasks_stolen: Counter,
    pub(crate) overflows: Counter,
    pub(crate) injector_pulls: Counter,
    pub(crate) forks_stolen: Counter,
    pub(crate) parks: Counter,
    pub(crate) notifications: Counter,
    pub(crate) idle_notifications: Counter,
    /// Mean time of a poll, in nanoseconds: the bits of a float.
    mean_poll: AtomicU64,
    /// Time spent asleep, in nanoseconds.
    asleep: Counter,
    /// When the worker fell asleep, in nanoseconds after the executor's start; zero if
    /// it is awake.
    asleep_since: AtomicU64,
}

impl Counters {
    pub(crate) fn set_mean_poll(&self, nanos: f64) {
        self.mean_poll.store(nanos.to_bits(), Ordering::Relaxed);
    }

    pub(crate) fn mean_poll(&self) -> f64 {
        f64::from_bits(self.mean_poll.load(Ordering::Relaxed))
    }

    /// The worker falls asleep; `age` is that of the executor.
    pub(crate) fn fall_asleep(&self, age: Duration) {
        self.parks.add(1);
        self.asleep_since
            .store(nanos(age).max(1), Ordering::Relaxed);
    }

    /// The worker wakes up. Returns how long it slept.
    pub(crate) fn wake_up(&self, age: Duration) -> Duration {
        let since = self.asleep_since.load(Ordering::Relaxed);
        let slept = nanos(age).saturating_sub(since);
        self.asleep.add(slept);
        self.asleep_since.store(0, Ordering::Relaxed);
        Duration::from_nanos(slept)
    }

    /// Whether the worker sleeps, in any manner.
    pub(crate) fn is_asleep(&self) -> bool {
        self.asleep_since.load(Ordering::Relaxed) != 0
    }

    /// How long the worker was awake.
    pub(crate) fn busy(&self, age: Duration) -> Duration {
        let asleep = Duration::from_nanos(self.asleep.get());
        let nap = match self.asleep_since.load(Ordering::Relaxed) {
            0 => Duration::ZERO,
            since => age.saturating_sub(Duration::from_nanos(since)),
        };
        age.saturating_sub(asleep + nap)
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
