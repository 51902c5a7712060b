//! The wake table: which workers are parked.
//!
//! The table has one bit for each worker, 64 to a word, and as many words as are needed. A word
//! is a cache line of its own. Only its worker sets a bit. A thread that wants to notify the
//! worker clears the bit, or the worker itself does. The thread that clears the bit, and saw it
//! set, *has taken* the worker: the value that the operation returns decides. So each parking
//! is ended by one thread.

use ws_core::sync::CachePadded;
use ws_core::sync::atomic::{AtomicU64, Ordering};

const BITS: usize = u64::BITS as usize;

/// A bitmap of parked workers.
pub(super) struct WakeTable {
    words: Box<[CachePadded<AtomicU64>]>,
    /// Raised when a worker was taken out, before the worker is told. If the number is the same
    /// at two looks, each worker that was in the table between them has done nothing since the
    /// first.
    departures: CachePadded<AtomicU64>,
}

impl WakeTable {
    pub(super) fn new(workers: usize) -> Self {
        let word = |_| CachePadded::new(AtomicU64::new(0));
        Self {
            words: (0..workers.div_ceil(BITS)).map(word).collect(),
            departures: CachePadded::new(AtomicU64::new(0)),
        }
    }

    /// Enters `worker`, which is about to park.
    pub(super) fn enter(&self, worker: usize) {
        let (word, bit) = self.bit(worker);
        // ORDERING(sleep.entered): release side; the thread that takes the worker sees where it
        // is going to sleep.
        let before = word.fetch_or(bit, Ordering::Release);
        debug_assert_eq!(before & bit, 0, "a worker parks once at a time");
    }

    /// Takes this worker, if it is parked.
    pub(super) fn take(&self, worker: usize) -> bool {
        let (word, bit) = self.bit(worker);
        // A load first: this does not write a line that others read all the time, unless it
        // must.
        if word.load(Ordering::Relaxed) & bit == 0 {
            return false;
        }
        // ORDERING(sleep.entered): acquire side.
        let taken = word.fetch_and(!bit, Ordering::Acquire) & bit != 0;
        if taken {
            // ORDERING(sleep.departures): release side; a thread that counts this departure
            // sees that the worker is not there.
            self.departures.fetch_add(1, Ordering::Release);
        }
        taken
    }

    /// Takes any parked worker; takes `last` only if there is no other.
    pub(super) fn take_any(&self, last: usize) -> Option<usize> {
        self.words
            .iter()
            .enumerate()
            .find_map(|(index, word)| self.take_from(index, word, last))
            .or_else(|| (last < self.words.len() * BITS && self.take(last)).then_some(last))
    }

    fn take_from(&self, index: usize, word: &AtomicU64, last: usize) -> Option<usize> {
        let spared = if last / BITS == index {
            1 << (last % BITS)
        } else {
            0
        };
        let mut bits = word.load(Ordering::Relaxed) & !spared;
        while bits != 0 {
            let worker = index * BITS + bits.trailing_zeros() as usize;
            if self.take(worker) {
                return Some(worker);
            }
            bits = word.load(Ordering::Relaxed) & !spared;
        }
        None
    }

    /// Whether no worker is parked. Every push asks, so the case of one word must be fast.
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        match &*self.words {
            [word] => word.load(Ordering::Relaxed) == 0,
            words => Self::are_empty(words),
        }
    }

    fn are_empty(words: &[CachePadded<AtomicU64>]) -> bool {
        words.iter().all(|word| word.load(Ordering::Relaxed) == 0)
    }

    /// How often a worker was taken out.
    pub(super) fn departures(&self) -> u64 {
        // ORDERING(sleep.departures): acquire side.
        self.departures.load(Ordering::Acquire)
    }

    pub(super) fn count(&self) -> usize {
        // ORDERING(sleep.entered): acquire side.
        let ones = |word: &CachePadded<AtomicU64>| word.load(Ordering::Acquire).count_ones();
        self.words.iter().map(ones).sum::<u32>() as usize
    }

    fn bit(&self, worker: usize) -> (&AtomicU64, u64) {
        (&self.words[worker / BITS], 1 << (worker % BITS))
    }
}

#[cfg(test)]
#[cfg(not(any(ws_loom, ws_shuttle)))]
mod tests {
    use super::*;

    #[test]
    fn every_worker_is_taken_once_whatever_the_number_of_words() {
        for workers in [1, 2, 63, 64, 65, 128, 129, 256] {
            let table = WakeTable::new(workers);
            (0..workers).for_each(|worker| table.enter(worker));
            assert_eq!(table.count(), workers);
            let taken: Vec<_> = std::iter::from_fn(|| table.take_any(workers - 1)).collect();
            assert_eq!(taken, (0..workers).collect::<Vec<_>>());
            assert!(table.is_empty());
        }
    }

    #[test]
    fn the_one_to_spare_is_taken_last() {
        let table = WakeTable::new(70);
        (0..70).for_each(|worker| table.enter(worker));
        let taken: Vec<_> = std::iter::from_fn(|| table.take_any(3)).collect();
        assert_eq!(taken.len(), 70);
        assert_eq!(taken.last(), Some(&3));
    }
}
