//! What the models of the executor's sleep protocol share: jobs, and workers that
//! go through the steps W1 to W5 and S1 to S3 as the real ones do.
//!
//! [`Sleep`] is the real one. What a worker does between its calls is written here
//! once more, because a whole worker is too much for loom; each step has the name
//! that the docs of the module `sleep` give it.

use loom::sync::Arc;
use loom::sync::atomic::AtomicUsize;
use loom::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use ws_executor::model::{Parking, Searching, Sleep, Sleeper};

use super::sleep::Bell;

/// Workers that a [`Sleep`] of a model counts with. There are two at most; of eight
/// workers four may search, so that the limit says how many do ([`searchers`]).
const WORKERS: usize = 8;
const LIMIT: usize = 4;

/// A protocol without anyone in it.
pub(crate) fn sleep() -> Sleep {
    Sleep::new(WORKERS, WORKERS.div_ceil(2))
}

/// Counts the searchers, by how many more may start; to be called at the end.
pub(crate) fn searchers(sleep: &Sleep) -> usize {
    let more = std::iter::from_fn(|| sleep.start_searching()).take(LIMIT);
    LIMIT - more.count()
}

/// Makes the caller a searcher.
pub(crate) fn searching(sleep: &Sleep) -> Searching {
    let searching = sleep.start_searching();
    searching.expect("fewer search than may")
}

/// Jobs that are all alike, in a queue that is one word: as in the real ones, a
/// look is a relaxed load, and whoever gets a job out sees what its pusher did.
pub(crate) struct Jobs(AtomicUsize);

impl Jobs {
    pub(crate) fn new(count: usize) -> Self {
        Self(AtomicUsize::new(count))
    }

    pub(crate) fn push(&self, count: usize) {
        self.0.fetch_add(count, Release);
    }

    pub(crate) fn has_some(&self) -> bool {
        self.0.load(Relaxed) > 0
    }

    pub(crate) fn pop(&self) -> bool {
        let less = |count: usize| count.checked_sub(1);
        self.has_some() && self.0.fetch_update(AcqRel, Acquire, less).is_ok()
    }
}

/// Two workers and a queue.
pub(crate) struct Pool {
    pub(crate) sleep: Sleep,
    pub(crate) jobs: Jobs,
    bells: [Bell; 2],
}

impl Pool {
    pub(crate) fn new() -> Arc<Self> {
        Self::with_jobs(0)
    }

    pub(crate) fn with_jobs(count: usize) -> Arc<Self> {
        Arc::new(Self {
            sleep: sleep(),
            jobs: Jobs::new(count),
            bells: [Bell::new(), Bell::new()],
        })
    }

    pub(crate) fn unpark(&self, sleeper: Sleeper) {
        self.ring(sleeper.0);
    }

    /// Gives worker number `worker` a token.
    pub(crate) fn ring(&self, worker: usize) {
        self.bells[worker].ring();
    }

    /// Steps P1 to P5.
    pub(crate) fn push(&self) {
        self.jobs.push(1);
        self.notify();
    }

    /// Steps P2 to P5.
    pub(crate) fn notify(&self) {
        if let Some(sleeper) = self.sleep.after_push() {
            self.unpark(sleeper);
        }
    }

    /// Steps P1 to P5 for two jobs at once.
    pub(crate) fn push_two(&self) {
        self.jobs.push(2);
        self.sleep.after_batch(2, |sleeper| self.unpark(sleeper));
    }

    /// Steps S1 to S3.
    pub(crate) fn found_work(&self, searching: Searching) {
        if self.sleep.found_work(searching) && self.jobs.has_some() {
            if let Some(sleeper) = self.sleep.take_sleeper() {
                self.unpark(sleeper);
            }
        }
    }

    /// A worker that searches and parks until it has a job. Then it is gone: its poll
    /// never returns, so whatever is left is for others.
    pub(crate) fn work(&self, me: usize, mut searching: Option<Searching>) {
        loop {
            if self.jobs.pop() {
                if let Some(searching) = searching {
                    self.found_work(searching);
                }
                return;
            }
            searching = Some(self.park(me, searching));
        }
    }

    /// Steps W1 to W5.
    pub(crate) fn park(&self, me: usize, searching: Option<Searching>) -> Searching {
        match self.start_parking(me, searching) {
            Ok(searching) => searching,
            Err(parking) => self.wait(parking, || self.bells[me].wait()),
        }
    }

    /// Steps W1 to W4.
    pub(crate) fn start_parking(
        &self,
        me: usize,
        searching: Option<Searching>,
    ) -> Result<Searching, Parking> {
        let parking = self.sleep.start_parking(me, searching);
        if self.jobs.has_some() {
            self.sleep.cancel_parking(parking)
        } else {
            Err(parking)
        }
    }

    /// Step W5, with a parker of any kind.
    pub(crate) fn wait(&self, mut parking: Parking, mut park: impl FnMut()) -> Searching {
        loop {
            match self.sleep.wake_up(parking) {
                Ok(searching) => return searching,
                Err(still) => parking = still,
            }
            park();
        }
    }

    /// Waits for a token of worker number `me`.
    pub(crate) fn wait_for_token(&self, me: usize) {
        self.bells[me].wait();
    }
}

/// Whether a worker that is parked was notified; to be called at the end.
pub(crate) fn is_notified(sleep: &Sleep, parking: Parking) -> bool {
    match sleep.wake_up(parking) {
        Ok(Searching { .. }) => true,
        Err(_) => false,
    }
}
