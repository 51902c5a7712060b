//! Workers that must wake each other, because a job may wait for another job.
//!
//! Two workers and a queue. Job 1 waits for job 2, as a task that blocks on
//! another does. If the worker that runs job 1 wakes nobody first, job 2 never
//! runs, which loom reports as a deadlock.

use loom::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, SeqCst};
use loom::sync::atomic::{AtomicUsize, fence};
use loom::sync::{Arc, Mutex};

use super::model::Bound::Exhaustive;
use super::model::{Body, Expect, Main, Model};
use super::sleep::Bell;

const DEADLOCK: Expect = Expect::Fails("deadlock");

pub(crate) const MODELS: &[Model] = &[
    Model {
        name: "sleep.local_push.wakes_nobody",
        shows: "a job pushed beside a blocked poll is never found",
        flaws: &[13],
        bound: Exhaustive,
        expect: DEADLOCK,
        body: Body::Roles(local_push_wakes_nobody, [0, 0]),
    },
    Model {
        name: "sleep.local_push",
        shows: "a local push wakes a parked worker when nobody searches",
        flaws: &[13],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(local_push_notifies, [5_200, 4_100]),
    },
    Model {
        name: "sleep.found_work.runs_then_wakes",
        shows: "ramp-up waits for a whole job, here for ever",
        flaws: &[22],
        bound: Exhaustive,
        expect: DEADLOCK,
        body: Body::Roles(runs_then_wakes, [0, 0]),
    },
    Model {
        name: "sleep.found_work",
        shows: "the last searcher to find work wakes another, then runs",
        flaws: &[22],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(wakes_then_runs, [10_000, 8_500]),
    },
];

/// Two workers; the second may be parked, and then its bit in the table is 1.
struct Workers {
    jobs: Mutex<Vec<usize>>,
    table: AtomicUsize,
    bell: Bell,
    /// Rung by job 2.
    done: Bell,
}

impl Workers {
    fn with_jobs(jobs: &[usize]) -> Arc<Self> {
        Arc::new(Self {
            jobs: Mutex::new(jobs.to_vec()),
            table: AtomicUsize::new(0),
            bell: Bell::new(),
            done: Bell::new(),
        })
    }

    fn push(&self, job: usize) {
        self.jobs.lock().unwrap().push(job);
    }

    fn find(&self) -> Option<usize> {
        self.jobs.lock().unwrap().pop()
    }

    /// Wakes the parked worker, if there is one.
    fn notify(&self) {
        fence(SeqCst);
        if self.table.load(Relaxed) == 1 && self.table.fetch_and(0, AcqRel) == 1 {
            self.bell.ring();
        }
    }

    /// Runs one job: the first waits for the second.
    fn run(&self, job: usize) {
        match job {
            1 => self.done.wait(),
            _ => self.done.ring(),
        }
    }

    /// The worker that has nothing to do: looks, parks, and runs one job.
    fn idle(&self) {
        loop {
            if let Some(job) = self.find() {
                return self.run(job);
            }
            self.table.fetch_or(1, AcqRel);
            fence(SeqCst);
            if self.jobs.lock().unwrap().is_empty() {
                self.bell.wait();
            }
            self.table.fetch_and(0, Acquire);
        }
    }
}

/// A worker pushes job 2 locally and goes on with job 1.
fn push_locally(main: Main, notify: fn(&Workers)) {
    let workers = Workers::with_jobs(&[]);
    let busy = workers.clone();
    main.race(
        move || workers.idle(),
        move || {
            busy.push(2);
            notify(&busy);
            busy.run(1);
        },
    );
}

fn local_push_wakes_nobody(main: Main) {
    push_locally(main, |_| {});
}

fn local_push_notifies(main: Main) {
    push_locally(main, Workers::notify);
}

/// A searcher finds job 1; job 2 is behind it, and its poster woke only this one.
fn find_work(main: Main, run: fn(&Workers, usize)) {
    let workers = Workers::with_jobs(&[]);
    let searcher = workers.clone();
    main.race(
        move || workers.idle(),
        move || {
            searcher.jobs.lock().unwrap().extend([2, 1]);
            if let Some(job) = searcher.find() {
                run(&searcher, job);
            }
        },
    );
}

fn runs_then_wakes(main: Main) {
    find_work(main, |workers, job| {
        workers.run(job);
        workers.notify();
    });
}

fn wakes_then_runs(main: Main) {
    find_work(main, |workers, job| {
        workers.notify();
        workers.run(job);
    });
}
