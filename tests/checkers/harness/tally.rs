//! Running checks at the same time, and counting them.

use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Instant;

/// What was checked, and what came of it.
pub(crate) struct Tally {
    start: Instant,
    /// Interleavings, schedules or histories.
    pub(crate) runs: u64,
    pub(crate) passed: u32,
    pub(crate) failed: u32,
}

impl Tally {
    pub(crate) fn new() -> Self {
        Self {
            start: Instant::now(),
            runs: 0,
            passed: 0,
            failed: 0,
        }
    }

    pub(crate) fn count(&mut self, passed: bool) {
        if passed {
            self.passed += 1;
        } else {
            self.failed += 1;
        }
    }

    /// Prints the closing lines, and fails when anything failed. Scripts look for the last.
    pub(crate) fn close(&self, what: &str) -> ExitCode {
        let seconds = self.start.elapsed().as_secs_f64();
        println!("\n{what}, {seconds:.0} seconds");
        println!("{} passed, {} failed", self.passed, self.failed);
        ExitCode::from(u8::from(self.failed > 0))
    }
}

/// Maps `inputs`, so many at a time. The results are in the order of the inputs.
pub(crate) fn in_parallel<I: Sync, O: Send>(
    at_once: usize,
    inputs: &[I],
    map: impl Fn(&I) -> O + Sync,
) -> Vec<O> {
    let next = AtomicUsize::new(0);
    let work = || {
        let indices = std::iter::repeat_with(|| next.fetch_add(1, Relaxed));
        let mine = indices.map_while(|index| Some((index, inputs.get(index)?)));
        mine.map(|(index, input)| (index, map(input))).collect()
    };
    let mut outputs: Vec<(usize, O)> = thread::scope(|scope| {
        let threads: Vec<_> = (0..at_once).map(|_| scope.spawn(work)).collect();
        let results = threads.into_iter().map(|thread| thread.join());
        results
            .flat_map(|result: thread::Result<Vec<_>>| result.expect("no thread panics"))
            .collect()
    });
    outputs.sort_by_key(|&(index, _)| index);
    outputs.into_iter().map(|(_, output)| output).collect()
}
