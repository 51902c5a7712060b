//! No task waits for ever beside a parked worker.
//!
//! The dangerous moment is the edge of parking: a worker has found nothing and is
//! about to sleep, and a task is pushed. So one task is submitted at a time, each
//! after a random gap of 0 to 100 µs, which is about how long a worker searches
//! before it parks. Each must run. There is no timeout in the executor that would
//! repair a lost wake-up, so patience of seconds is unambiguous.
//!
//! | test | submitted by | looks at |
//! |---|---|---|
//! | `from_outside` | a thread outside | injector against parking |
//! | `in_pairs` | a thread outside, two in a row; the first waits for the second | the last searcher's duty to notify |
//! | `pinned` | a thread outside, to one certain worker | the notification of one worker |
//! | `from_a_ring` | a worker that never returns from its poll | ring against parking |
//! | `from_a_slot` | as before, into the LIFO slot | the monitor |
//! | `from_a_hosted_worker` | as before, where workers are futures | the monitor |
//!
//! When a task does not run, one more is submitted from outside (the *kick*). If the
//! first runs now, a wake-up was lost. If only the kick runs, the first is stranded
//! where nobody looks. If neither does, the workers are blocked or dead. The report
//! has the counters of every worker and what the system says of every thread.
//!
//! # What it can see
//!
//! Flaws put into the source, and how many submissions it took until a stall, about, in
//! the test that sees it best:
//!
//! | flaw | plain | with `ws_chaos` |
//! |---|---|---|
//! | no look at the queues before parking | 300 (release: 1,800) | 100 |
//! | that look before the worker is in the wake table | 500 | 40 |
//! | the searcher is counted until after that look | 500 | 70 |
//! | no look at the pinned tasks before parking | 2,500 | |
//! | the last searcher to find work notifies nobody | 1 | 1 |
//! | a search counted twice | 1 | 1 |
//! | a push into a slot calls no monitor | 4 | 20 |
//! | no fences at all (release) | 1,000, hosted workers only | 2,000 |
//!
//! The last row is what a processor that delays stores makes rare; loom sees it at once.
//!
//! `WS_STRESS_ITEMS` is the number of submissions over all tests, 100,000 unless it is
//! set; a soak takes a million. `WS_STRESS_SEED` chooses the gaps. Delays at the steps of
//! the protocol (`--cfg ws_chaos`) make what is rare frequent.

#[cfg_attr(target_os = "linux", path = "exec_support/affinity.rs")]
#[cfg_attr(not(target_os = "linux"), path = "exec_support/affinity_elsewhere.rs")]
mod affinity;
#[cfg_attr(target_os = "linux", path = "exec_support/threads.rs")]
#[cfg_attr(not(target_os = "linux"), path = "exec_support/threads_elsewhere.rs")]
mod threads;

use std::fmt;
use std::hint;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use tests::census::stress_items;
use tests::watchdog;
use ws_core::FastRand;
use ws_executor::{Builder, Executor, Handle, Task};

/// How long a task may take to run before the kick test begins. On a machine with much
/// else to do a thread may have to wait for its core for seconds.
const PATIENCE: Duration = Duration::from_secs(20);

/// After so many stalls a run ends: its point is made.
const ENOUGH: usize = 10;

/// How many submissions there are in all, unless one asks for more. Then each test runs
/// several times, with another seed and another executor.
const NORMAL: u64 = 100_000;

/// How often a run submits, and after which gaps.
struct Plan {
    submissions: u64,
    /// In nanoseconds.
    longest_gap: u32,
    seed: u64,
}

impl Plan {
    /// So many hundredths of all submissions, with gaps of 0 to 100 µs.
    fn new(share: u64, seed: u64) -> Self {
        Self {
            submissions: stress_items(NORMAL).min(NORMAL) * share / 100,
            longest_gap: 100_000,
            seed,
        }
    }

    /// The same with gaps about as long as the monitor takes to give up.
    fn with_long_gaps(self) -> Self {
        Self {
            longest_gap: 2_000_000,
            ..self
        }
    }
}

#[test]
fn from_outside() {
    run("from_outside", &[1, 2, 8], |workers, seed| {
        let executor = build(Executor::builder().spares(0).workers(workers), None);
        let handle = executor.handle();
        from_a_thread(&handle, Plan::new(20, seed), |done| {
            handle.spawn(done.set()).detach();
        })
    });
}

#[test]
fn in_pairs() {
    run("in_pairs", &[2, 8], |workers, seed| {
        let executor = build(Executor::builder().spares(0).workers(workers), None);
        let handle = executor.handle();
        // Two tasks each: half as many submissions.
        from_a_thread(&handle, Plan::new(5, seed), |done| {
            let (ran, wait) = mpsc::channel();
            let first = done.clone();
            // Blocks its worker, so that another has to take the second.
            let first = async move {
                while wait.recv_timeout(PATIENCE / 10).is_err() && !first.is_given_up() {}
            };
            let second = async move {
                let _ = ran.send(());
                done.set().await;
            };
            handle.spawn(first).detach();
            handle.spawn(second).detach();
        })
    });
}

#[test]
fn pinned() {
    run("pinned", &[2, 8], |workers, seed| {
        let executor = build(Executor::builder().spares(0).workers(workers), None);
        let handle = executor.handle();
        // Always the same worker: another would have been parked for long.
        from_a_thread(&handle, Plan::new(5, seed), |done| {
            handle.spawn_pinned(workers - 1, || done.set()).detach();
        })
    });
}

/// Here and below the monitor may take a period or two, so there are fewer of them.
#[test]
fn from_a_ring() {
    run("from_a_ring", &[2, 8], |workers, seed| {
        let executor = build(Executor::builder().spares(0).workers(workers), Some(0));
        from_a_worker(&executor, Plan::new(2, seed), |handle, done| {
            // A batch goes to the ring.
            let batch = handle.spawn_many([done.set()]);
            batch.into_iter().for_each(Task::detach);
        })
    });
}

#[test]
fn from_a_slot() {
    run("from_a_slot", &[2, 8], |workers, seed| {
        let executor = build(Executor::builder().spares(0).workers(workers), Some(0));
        let plan = Plan::new(1, seed).with_long_gaps();
        from_a_worker(&executor, plan, |handle, done| {
            handle.spawn(done.set()).detach();
        })
    });
}

#[test]
fn from_a_hosted_worker() {
    run("from_a_hosted_worker", &[2, 8], |workers, seed| {
        let builder = Executor::builder()
            .spares(0)
            .workers(workers)
            .host(futures::executor::block_on);
        let executor = build(builder, Some(0));
        from_a_worker(&executor, Plan::new(4, seed), |handle, done| {
            handle.spawn(done.set()).detach();
        })
    });
}

/// Submits from a thread outside of the executor, pinned to core 0.
fn from_a_thread(handle: &Handle, plan: Plan, submit: impl FnMut(Done) + Send) -> Vec<Stall> {
    let mut edge = Edge::new(handle);
    thread::scope(|scope| {
        scope.spawn(|| {
            pin_submitter();
            edge.submit_all(plan, submit);
        });
    });
    edge.stalls
}

/// Submits from worker 0, which stays inside one poll all the time.
fn from_a_worker(
    executor: &Executor,
    plan: Plan,
    submit: impl Fn(&Handle, Done) + Send + 'static,
) -> Vec<Stall> {
    let handle = executor.handle();
    let task = executor.handle().spawn_pinned(0, move || async move {
        let mut edge = Edge::new(&handle);
        edge.submit_all(plan, |done| submit(&handle, done));
        edge.stalls
    });
    executor.block_on(task)
}

/// Builds an executor whose workers keep off the submitter's core; which may be that of
/// one of them.
fn build(builder: Builder, submitter: Option<usize>) -> Executor {
    let pin = move |worker| match submitter {
        Some(number) if number == worker => pin_submitter(),
        _ => pin_other(worker),
    };
    let builder = builder.on_thread_start(pin);
    builder.build().expect("threads can be started")
}

/// Pins this thread to the first core, if there are others.
fn pin_submitter() {
    if let [first, _, ..] = affinity::cores()[..] {
        affinity::pin_to(first);
    }
}

/// Pins this thread to one of the other cores, so that the two sides of the race do not
/// take turns.
fn pin_other(number: usize) {
    if let [_, others @ ..] = &affinity::cores()[..] {
        if !others.is_empty() {
            affinity::pin_to(others[number % others.len()]);
        }
    }
}

/// Runs `stress` with each number of workers, alone, and complains of stalls.
fn run(name: &str, workers: &[usize], stress: impl Fn(usize, u64) -> Vec<Stall>) {
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let seed = match std::env::var("WS_STRESS_SEED") {
        Ok(seed) => seed.parse().expect("WS_STRESS_SEED is a number"),
        Err(_) => 1,
    };
    let mut failures = String::new();
    for seed in seed..seed + stress_items(NORMAL).div_ceil(NORMAL) {
        for &workers in workers {
            let stalls = watchdog::guard(name, || stress(workers, seed));
            for stall in &stalls {
                eprintln!("{name}, {workers} workers: {stall}");
            }
            if !stalls.is_empty() {
                let at: Vec<u64> = stalls.iter().map(|stall| stall.submission).collect();
                failures += &format!("\nseed {seed}, {workers} workers: stalls at {at:?}");
            }
        }
    }
    assert!(failures.is_empty(), "{name}: {failures}");
}

/// Whether a submitted task has run.
#[derive(Clone, Default)]
struct Done(Arc<(AtomicBool, AtomicBool)>);

impl Done {
    async fn set(self) {
        self.0.0.store(true, Ordering::Release);
    }

    fn is_set(&self) -> bool {
        self.0.0.load(Ordering::Acquire)
    }

    fn give_up(&self) {
        self.0.1.store(true, Ordering::Relaxed);
    }

    fn is_given_up(&self) -> bool {
        self.0.1.load(Ordering::Relaxed)
    }

    /// Waits until the task has run, but not for ever.
    fn wait(&self) -> bool {
        let begun = Instant::now();
        let mut rounds = 0_u32;
        while !self.is_set() {
            rounds += 1;
            if rounds % 1024 != 0 {
                hint::spin_loop();
            } else if begun.elapsed() < PATIENCE {
                thread::yield_now();
            } else {
                return self.is_set();
            }
        }
        true
    }
}

/// Lets some time pass, more exactly than a sleep does.
fn spin(time: Duration) {
    let begun = Instant::now();
    while begun.elapsed() < time {
        hint::spin_loop();
    }
}

/// Submits one task after the other.
struct Edge {
    handle: Handle,
    stalls: Vec<Stall>,
}

impl Edge {
    fn new(handle: &Handle) -> Self {
        Self {
            handle: handle.clone(),
            stalls: Vec::new(),
        }
    }

    fn submit_all(&mut self, plan: Plan, mut submit: impl FnMut(Done)) {
        let mut rand = FastRand::new(plan.seed);
        for submission in 0..plan.submissions {
            spin(Duration::from_nanos(rand.below(plan.longest_gap).into()));
            let done = Done::default();
            submit(done.clone());
            if !done.wait() {
                let stall = self.kick(submission, &done);
                self.stalls.push(stall);
                if self.stalls.len() == ENOUGH {
                    return;
                }
            }
        }
    }

    /// The kick test.
    fn kick(&self, submission: u64, done: &Done) -> Stall {
        let state = format!("{:#?}\n{}", self.handle.metrics(), threads::describe());
        let kick = Done::default();
        // From a thread of its own: this one may be a worker, and would push locally.
        thread::scope(|scope| {
            scope.spawn(|| self.handle.spawn(kick.clone().set()).detach());
        });
        let kicked = kick.wait();
        let cause = match (done.wait(), kicked) {
            (true, _) => Cause::LostWakeUp,
            (false, true) => Cause::Stranded,
            (false, false) => Cause::Blocked,
        };
        done.give_up();
        Stall {
            submission,
            cause,
            state,
        }
    }
}

/// A task that did not run.
struct Stall {
    submission: u64,
    cause: Cause,
    /// What the workers were doing before the kick.
    state: String,
}

#[derive(Debug)]
enum Cause {
    /// It ran when another task was submitted.
    LostWakeUp,
    /// The other task ran, but not this one.
    Stranded,
    /// Neither ran.
    Blocked,
}

impl fmt::Display for Stall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            submission,
            cause,
            state,
        } = self;
        write!(f, "submission {submission} stalled: {cause:?}\n{state}")
    }
}
