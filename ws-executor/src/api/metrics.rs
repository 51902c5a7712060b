//! What an executor has done so far.
//!
//! Each worker has counters that only this worker writes, with plain stores, so counting is
//! always on. A [`Metrics`] is not a snapshot of one moment: its figures are read one after
//! the other, while the workers continue.

use std::iter::Sum;
use std::ops::Add;
use std::time::Duration;

use crate::scheduler::counters::Counters;
use crate::scheduler::shared::Shared;

/// The figures of an executor; returned by [`Handle::metrics`](crate::Handle::metrics).
///
/// ```
/// let executor = ws_executor::Executor::builder().workers(2).build()?;
/// executor.block_on(executor.spawn(async {}));
/// let metrics = executor.metrics();
/// assert_eq!(metrics.workers().len(), 2);
/// assert!(metrics.total().polls >= 1);
/// # Ok::<_, ws_executor::BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Metrics {
    workers: Box<[WorkerMetrics]>,
    live_tasks: usize,
    injector_depth: usize,
    computations_waiting: usize,
    parked_workers: usize,
    spare_polls: u64,
    tasks_rescued: u64,
    stalls: u64,
}

impl Metrics {
    pub(crate) fn new(shared: &Shared) -> Self {
        let age = shared.age();
        let worker = |index: usize| WorkerMetrics::new(shared, index, age);
        Self {
            workers: (0..shared.workers()).map(worker).collect(),
            live_tasks: shared.tasks.live(),
            injector_depth: shared.injector.len(),
            computations_waiting: shared.computations.len(),
            parked_workers: shared.sleep.parked(),
            spare_polls: shared.monitor.spares.polls(),
            tasks_rescued: shared.monitor.rescued.get(),
            stalls: shared.monitor.stalls.get(),
        }
    }

    /// The figures of each worker.
    #[must_use]
    pub fn workers(&self) -> &[WorkerMetrics] {
        &self.workers
    }

    /// The sums over all workers.
    #[must_use]
    pub fn total(&self) -> WorkerMetrics {
        self.workers.iter().cloned().sum()
    }

    /// How many polls of tasks there were: on workers and on
    /// [spare threads](crate::Builder::spares).
    #[must_use]
    pub fn polls(&self) -> u64 {
        self.total().polls + self.spare_polls
    }

    /// How many tasks were spawned and still exist. A task exists until its last handle and its
    /// last waker are dropped.
    #[must_use]
    pub fn live_tasks(&self) -> usize {
        self.live_tasks
    }

    /// How many tasks wait in the injector, the queue that all workers share.
    #[must_use]
    pub fn injector_depth(&self) -> usize {
        self.injector_depth
    }

    /// How many closures given to [`compute`](crate::Handle::compute) wait for a worker.
    #[must_use]
    pub fn computations_waiting(&self) -> usize {
        self.computations_waiting
    }

    /// How many polls [spare threads](crate::Builder::spares) have begun.
    #[must_use]
    pub fn spare_polls(&self) -> u64 {
        self.spare_polls
    }

    /// The same by its older name.
    #[doc(hidden)]
    #[must_use]
    pub fn stand_in_polls(&self) -> u64 {
        self.spare_polls
    }

    /// How many tasks the monitor has moved to the queue that all workers share, from a worker
    /// that was kept by a poll or had a steady backlog.
    #[must_use]
    pub fn tasks_rescued(&self) -> u64 {
        self.tasks_rescued
    }

    /// How many polls took longer than 100 milliseconds. A poll is missed if the monitor slept
    /// during it: the monitor wakes only when a task is queued on a worker, or when a worker
    /// leaves the driver. With [`Builder::on_stall`](crate::Builder::on_stall), polls count at
    /// any time.
    #[must_use]
    pub fn stalls(&self) -> u64 {
        self.stalls
    }

    /// How many workers sleep.
    #[must_use]
    pub fn parked_workers(&self) -> usize {
        self.parked_workers
    }
}

macro_rules! worker_metrics {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The figures of one worker, or their sums.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct WorkerMetrics {
            $($(#[$doc])* pub $name: u64,)*
            /// Time not spent asleep.
            pub busy: Duration,
            /// Tasks in the worker's ring.
            pub ring_depth: usize,
            /// Tasks in the worker's LIFO slot: 0 or 1.
            pub lifo_depth: usize,
            /// Tasks that are pinned to the worker and due to run.
            pub pinned_depth: usize,
        }

        impl WorkerMetrics {
            fn new(shared: &Shared, worker: usize, age: Duration) -> Self {
                let remote = &shared.remotes[worker];
                let counters: &Counters = &remote.counters;
                Self {
                    $($name: counters.$name.get(),)*
                    busy: counters.busy(age),
                    ring_depth: remote.ring.len(),
                    lifo_depth: usize::from(!remote.slot.is_empty()),
                    pinned_depth: remote.pinned.len(),
                }
            }
        }

        impl Add for WorkerMetrics {
            type Output = Self;

            fn add(self, other: Self) -> Self {
                Self {
                    $($name: self.$name + other.$name,)*
                    busy: self.busy + other.busy,
                    ring_depth: self.ring_depth + other.ring_depth,
                    lifo_depth: self.lifo_depth + other.lifo_depth,
                    pinned_depth: self.pinned_depth + other.pinned_depth,
                }
            }
        }
    };
}

worker_metrics! {
    /// Polls of tasks.
    polls,
    /// Tasks that came out of the LIFO slot.
    lifo_hits,
    /// Attempts to steal from a ring that had something.
    steals_tried,
    /// Attempts that got something.
    steals,
    /// Tasks stolen from the rings of other workers.
    tasks_stolen,
    /// How often the ring was full, and half of it moved to the injector.
    overflows,
    /// Batches taken from the injector.
    injector_pulls,
    /// Closures of `join` and of scopes that did not run in their turn: another worker ran
    /// them, or their own worker did while it waited for another closure.
    forks_stolen,
    /// How often the worker slept.
    parks,
    /// Notifications that the worker has sent to other workers.
    notifications,
    /// Notifications of the worker after which it found nothing to do.
    idle_notifications,
}

impl Sum for WorkerMetrics {
    fn sum<I: Iterator<Item = Self>>(metrics: I) -> Self {
        metrics.fold(Self::default(), Add::add)
    }
}
