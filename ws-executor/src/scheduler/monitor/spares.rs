//! The spare threads of an executor: which one polls tasks while every worker is kept.
//!
//! What a spare thread is for, and what it does, is in [`spare`](super::spare).

use std::io;
use std::sync::Arc;

use ws_core::Unpark;
use ws_core::sync::atomic::{AtomicBool, Ordering};
use ws_core::sync::thread;
use ws_core::sync::{Mutex, MutexGuard};

use super::started::Started;
use crate::base::clock::Instant;
use crate::base::panics::{drop_payload, ignore_panic};
use crate::base::tuning::KEPT;
use crate::scheduler::counters::Counter;
use crate::scheduler::progress::ThreadProgress;

/// Starts a thread that does rounds.
pub(crate) type StartSpare = Box<dyn Fn(&Arc<Round>) -> io::Result<Started> + Send + Sync>;

/// All spare threads of an executor.
pub(crate) struct Spares {
    threads: Mutex<SpareThreads>,
    most: usize,
    /// How far the threads are.
    pub(super) progress: ThreadProgress,
}

struct SpareThreads {
    /// Starts one more; `None` if no other is to begin.
    start: Option<StartSpare>,
    list: Vec<Spare>,
    /// How many have been started in all.
    started: usize,
    /// How many polls there had been when the monitor last saw a new one, and when that was.
    progress: (u64, Instant),
}

/// One thread.
struct Spare {
    thread: Started,
    round: Arc<Round>,
}

/// What the monitor and a thread tell each other.
#[derive(Default)]
pub(crate) struct Round {
    /// Set by the monitor, cleared by the thread at the end of the round.
    pub(super) is_on: AtomicBool,
    /// The hooks have run.
    pub(super) has_begun: AtomicBool,
    /// The thread has ended, or cannot begin.
    pub(super) is_over: AtomicBool,
    /// Written by the thread.
    pub(super) polls: Counter,
}

impl Spares {
    pub(crate) fn new(start: StartSpare, most: usize) -> Self {
        Self {
            threads: Mutex::new(SpareThreads {
                start: Some(start),
                list: Vec::new(),
                started: 0,
                progress: (0, Instant::now()),
            }),
            most,
            progress: ThreadProgress::default(),
        }
    }

    fn threads(&self) -> MutexGuard<'_, SpareThreads> {
        // No user code runs under the lock, so it is not poisoned.
        self.threads.lock().expect("never poisoned")
    }

    /// How many polls they have begun.
    pub(crate) fn polls(&self) -> u64 {
        self.threads().polls()
    }

    /// Lets one of them do a round, unless one is in a round and makes progress. Called by the
    /// monitor.
    pub(super) fn rouse(&self) {
        let mut threads = self.threads();
        let polls = threads.polls();
        if threads.progress.0 != polls {
            threads.progress = (polls, Instant::now());
        }
        let goes_on = threads.progress.1.elapsed() < KEPT;
        let mut idle = None;
        let mut busy = false;
        for spare in &threads.list {
            // ORDERING(spare.round): acquire side.
            let is_on = spare.round.is_on.load(Ordering::Acquire);
            let is_over = spare.round.is_over.load(Ordering::Relaxed);
            if !is_over && !spare.round.has_begun.load(Ordering::Relaxed) {
                // A hook may wait: then it is not a task that keeps the thread.
                return;
            }
            busy |= is_on && !is_over;
            if !is_on && !is_over {
                idle = Some(spare);
            }
        }
        if busy && goes_on {
            return;
        }
        match idle {
            Some(spare) => {
                spare.round.is_on.store(true, Ordering::Relaxed);
                spare.thread.unparker.unpark();
            }
            None => self.start(&mut threads),
        }
        threads.progress.1 = Instant::now();
    }

    /// Starts one more thread, with a round to do.
    fn start(&self, threads: &mut SpareThreads) {
        let Some(start) = &threads.start else {
            return;
        };
        if threads.list.len() >= self.most {
            return;
        }
        let round = Arc::new(Round::default());
        round.is_on.store(true, Ordering::Relaxed);
        // If the system refuses the thread, the next look asks again.
        if let Ok(thread) = start(&round) {
            threads.started += 1;
            threads.list.push(Spare { thread, round });
        }
    }

    /// The executor is closed: lets the threads see that, and lets no other begin.
    pub(super) fn close(&self) {
        self.start_no_more();
        for spare in &self.threads().list {
            spare.thread.unparker.unpark();
        }
    }

    /// Lets no other thread begin.
    pub(super) fn start_no_more(&self) {
        let start = self.threads().start.take();
        // It owns the hooks, which are the user's.
        ignore_panic(|| drop(start));
    }

    /// Whether the calling thread is one of them.
    pub(super) fn is_current(&self) -> bool {
        let me = thread::current().id();
        let is_me = |spare: &Spare| spare.thread.handle.thread().id() == me;
        self.threads().list.iter().any(is_me)
    }

    /// After `close`: whether all threads have said that they end.
    pub(super) fn have_ended(&self) -> bool {
        let started = self.threads().started;
        self.progress.have_ended(started)
    }

    /// After `close`: waits for the threads.
    pub(super) fn join(&self) {
        let list = std::mem::take(&mut self.threads().list);
        for spare in list {
            if let Err(payload) = spare.thread.handle.join() {
                drop_payload(payload);
            }
        }
    }
}

impl SpareThreads {
    fn polls(&self) -> u64 {
        self.list.iter().map(|spare| spare.round.polls.get()).sum()
    }
}
