//! How a worker looks at other workers: in which order, and for how long.

use std::cell::{Cell, RefCell};

use ws_core::FastRand;

use crate::base::tuning::search_rounds;

/// The order of victims, and how many rounds a search has.
pub(super) struct Search {
    worker: usize,
    workers: usize,
    rand: RefCell<FastRand>,
    /// How many rounds before parking; adapts.
    rounds: Cell<u32>,
}

impl Search {
    pub(super) fn new(worker: usize, workers: usize, seed: u64) -> Self {
        Self {
            worker,
            workers,
            rand: RefCell::new(FastRand::for_worker(seed, worker)),
            rounds: Cell::new(search_rounds(workers).0),
        }
    }

    /// The other workers, in random order.
    pub(super) fn victims(&self) -> impl Iterator<Item = usize> + use<> {
        self.rand.borrow_mut().victims(self.workers, self.worker)
    }

    pub(super) fn rounds(&self) -> u32 {
        self.rounds.get()
    }

    /// The search has found work in this round: the next one may be longer, if this one took
    /// more than a round.
    pub(super) fn paid(&self, round: u32) {
        if round > 0 {
            self.lengthen(2);
        }
    }

    /// Lets the next search be longer, up to a bound on the looks at other workers.
    pub(super) fn lengthen(&self, times: u32) {
        let (least, most) = search_rounds(self.workers);
        self.rounds
            .set((self.rounds.get() * times).clamp(least, most));
    }

    /// The search has found nothing: the next one is shorter.
    pub(super) fn was_in_vain(&self) {
        let rounds = self.rounds.get();
        let (least, _) = search_rounds(self.workers);
        self.rounds.set((rounds - rounds / 4).max(least));
    }
}
