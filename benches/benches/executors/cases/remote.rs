//! Tasks that come from several threads outside at once.
//!
//! After tokio's `remote_spawn`: 12,800 empty tasks in all, the threads start
//! together. Theirs times only the calls to spawn; this one times until the last
//! task has run, as a spawn that leaves more work behind is not faster.

use std::sync::Arc;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use benches::meter::Meter;

use crate::case::Case;
use crate::contender::Contender;

const TASKS: usize = 12_800;

pub(crate) struct RemoteSpawn<const THREADS: usize>;

impl<const THREADS: usize> Case for RemoteSpawn<THREADS> {
    const UNIT: &'static str = "task";

    fn name() -> String {
        let plural = if THREADS == 1 { "" } else { "s" };
        format!("remote spawn from {THREADS} thread{plural}")
    }

    fn run<C: Contender>(contender: &C, meter: &mut Meter) {
        const { assert!(TASKS % THREADS == 0) };
        let (done, finished) = mpsc::sync_channel(THREADS);
        let start = Barrier::new(THREADS + 1);
        thread::scope(|scope| {
            for _ in 0..THREADS {
                let (start, done) = (&start, done.clone());
                scope.spawn(move || {
                    let share = TASKS / THREADS;
                    let left = Arc::new(AtomicUsize::new(share));
                    start.wait();
                    for _ in 0..share {
                        let (done, left) = (done.clone(), left.clone());
                        contender.detach(async move {
                            if left.fetch_sub(1, Ordering::Relaxed) == 1 {
                                done.send(()).unwrap();
                            }
                        });
                    }
                });
            }
            meter.time(TASKS, || {
                start.wait();
                for _ in 0..THREADS {
                    finished.recv().unwrap();
                }
            });
        });
    }
}
