//! Every task gets its turn, whatever the others do.
//!
//! A turn is counted in polls, not in time: while *hogs* keep the workers busy for
//! ever, a *probe* is queued, and the polls of hogs until it runs are counted. Only
//! those on the worker that runs the probe count: the system may stop any thread for as
//! long as it likes, and meanwhile the others poll as often as they like.

#[path = "exec_support/gate.rs"]
mod gate;
#[path = "exec_support/named.rs"]
mod named;

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Poll, Waker};
use std::thread;

use tests::{child, watchdog};
use ws_executor::{Executor, Handle, yield_now};

/// A task from outside that is alone in the injector is polled after at most so many
/// polls of others. The executor promises 61 ticks; this leaves room for tuning.
const BOUND: u64 = 128;

/// When a probe has not run after so many polls, the hogs end: a probe that starves
/// is a test that fails, not one that hangs.
const TOO_MANY: u64 = 30_000_000;

/// How many probes are sent in each test.
const PROBES: usize = 50;

/// The polls of hogs on each worker, and whether they are to end.
#[derive(Clone)]
struct Polls(Arc<Counts>);

struct Counts {
    by_worker: Vec<AtomicU64>,
    over: AtomicBool,
}

impl Polls {
    fn of(executor: &Executor) -> Self {
        Self(Arc::new(Counts {
            by_worker: (0..executor.workers()).map(|_| AtomicU64::new(0)).collect(),
            over: AtomicBool::new(false),
        }))
    }

    /// Counts a poll of a hog; says whether it is to go on.
    fn go_on(&self) -> bool {
        self.0.by_worker[named::worker()].fetch_add(1, Ordering::Relaxed);
        !self.is_over()
    }

    fn is_over(&self) -> bool {
        self.0.over.load(Ordering::Relaxed)
    }

    fn end(&self) {
        self.0.over.store(true, Ordering::Relaxed);
    }

    fn by_worker(&self) -> Vec<u64> {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        self.0.by_worker.iter().map(load).collect()
    }

    fn total(&self) -> u64 {
        self.by_worker().iter().sum()
    }

    /// Sends a probe from this thread, and returns how many polls it had to wait for.
    fn probe(&self, handle: &Handle) -> u64 {
        let polls = self.clone();
        let (runs, ran) = mpsc::channel();
        let probe = async move { runs.send((named::worker(), polls.by_worker())) };
        handle.spawn(probe).detach();
        // Not before: this thread may be stopped between looking and spawning.
        let before = self.by_worker();
        let given_up_at = self.total() + TOO_MANY;
        loop {
            if let Ok((worker, after)) = ran.try_recv() {
                return after[worker].saturating_sub(before[worker]);
            }
            if self.total() > given_up_at {
                self.end();
                return TOO_MANY;
            }
            thread::yield_now();
        }
    }

    /// Sends probes one after the other, and returns the longest wait.
    fn longest_wait(&self, handle: &Handle) -> u64 {
        // The hogs are to be in full swing.
        while self.total() < 1_000 {
            thread::yield_now();
        }
        let waits = (0..PROBES).map(|_| self.probe(handle));
        waits.max().expect("there are probes")
    }
}

/// Starts hogs by `start`, and checks how long a task from outside has to wait.
fn assert_fair(workers: usize, bound: u64, start: impl FnOnce(&Handle, &Polls)) {
    watchdog::guard("a task from outside", || {
        let executor = named::builder(workers).build().unwrap();
        let polls = Polls::of(&executor);
        start(&executor.handle(), &polls);
        let wait = polls.longest_wait(&executor.handle());
        polls.end();
        assert!(
            wait <= bound,
            "waited for {wait} polls, on {workers} workers"
        );
    });
}

/// A task that is always ready to run.
async fn wake_yourself(polls: Polls) {
    while polls.go_on() {
        yield_now().await;
    }
}

/// A task that spawns itself anew.
fn respawn(handle: &Handle, polls: Polls) {
    let next = handle.clone();
    let hog = async move {
        if polls.go_on() {
            respawn(&next, polls);
        }
    };
    handle.spawn(hog).detach();
}

/// A task that spawns two of its kind, as long as there are fewer than `limit`.
fn multiply(handle: &Handle, polls: Polls, limit: usize) {
    let next = handle.clone();
    let hog = async move {
        if polls.go_on() {
            let twins = next.metrics().live_tasks() < limit;
            for _ in 0..1 + usize::from(twins) {
                multiply(&next, polls.clone(), limit);
            }
        }
    };
    handle.spawn(hog).detach();
}

/// Two tasks, each of which wakes the other one in every poll.
fn rally(handle: &Handle, polls: &Polls) {
    let wakers: Arc<[Mutex<Option<Waker>>; 2]> = Arc::default();
    for me in [0, 1] {
        let (wakers, polls) = (Arc::clone(&wakers), polls.clone());
        let hog = poll_fn(move |cx| {
            *wakers[me].lock().unwrap() = Some(cx.waker().clone());
            let other = wakers[1 - me].lock().unwrap().take();
            other.into_iter().for_each(Waker::wake);
            if polls.go_on() {
                Poll::Pending
            } else {
                Poll::Ready(())
            }
        });
        handle.spawn(hog).detach();
    }
}

#[test]
fn beside_tasks_that_wake_themselves() {
    for (workers, hogs) in [(1, 1), (1, 2), (2, 1), (2, 4)] {
        assert_fair(workers, BOUND, |handle, polls| {
            for _ in 0..hogs {
                handle.spawn(wake_yourself(polls.clone())).detach();
            }
        });
    }
}

#[test]
fn beside_tasks_that_respawn_themselves() {
    for (workers, hogs) in [(1, 1), (1, 10), (2, 10)] {
        assert_fair(workers, BOUND, |handle, polls| {
            for _ in 0..hogs {
                respawn(handle, polls.clone());
            }
        });
    }
}

#[test]
fn beside_a_pair_in_the_lifo_slot() {
    for workers in [1, 2] {
        assert_fair(workers, BOUND, rally);
    }
}

/// More hogs than a ring holds: the probe stands behind those that overflowed.
#[test]
fn beside_more_than_a_ring_of_tasks_that_wake_themselves() {
    for (workers, hogs) in [(1, 400), (2, 800)] {
        assert_fair(workers, BOUND * hogs, |handle, polls| {
            for _ in 0..hogs {
                handle.spawn(wake_yourself(polls.clone())).detach();
            }
        });
    }
}

#[test]
fn beside_tasks_that_multiply() {
    for workers in [1, 2] {
        assert_fair(workers, BOUND * 1_000, |handle, polls| {
            multiply(handle, polls.clone(), 1_000);
        });
    }
}

/// A pinned task comes before the others of its worker, but not for ever.
#[test]
fn behind_a_pinned_task_that_wakes_itself() {
    const YIELDS: u64 = 10;
    watchdog::guard("behind a pinned task", || {
        let executor = named::builder(1).build().unwrap();
        let polls = Polls::of(&executor);
        let hog = wake_yourself(polls.clone());
        executor.handle().spawn_pinned(0, || hog).detach();
        let (starts, started) = mpsc::channel();
        let (ends, ended) = mpsc::channel();
        let modest = executor.spawn({
            let polls = polls.clone();
            async move {
                starts.send(polls.total()).unwrap();
                for _ in 0..YIELDS {
                    yield_now().await;
                }
                ends.send(polls.total()).unwrap();
            }
        });
        let begun = started.recv().unwrap();
        while !modest.is_finished() && polls.total() < begun + TOO_MANY {
            thread::yield_now();
        }
        polls.end();
        let waited = ended.recv().unwrap() - begun;
        assert!(waited <= BOUND * YIELDS, "waited for {waited} polls");
    });
}

#[test]
fn yielding_lets_all_run_that_are_queued_on_the_worker() {
    /// How many were queued, and how many of them ran before the one that yielded.
    fn runs(lifo_slot: bool) -> Vec<(u64, u64)> {
        let executor = named::builder(1).lifo_slot(lifo_slot).build().unwrap();
        let handle = executor.handle();
        let ran = executor.spawn(async move {
            let ran = Arc::new(AtomicU64::new(0));
            let mut seen = Vec::new();
            for queued in [1, 2, 3, 10, 100] {
                ran.store(0, Ordering::Relaxed);
                for _ in 0..queued {
                    let ran = Arc::clone(&ran);
                    let other = async move { ran.fetch_add(1, Ordering::Relaxed) };
                    handle.spawn(other).detach();
                }
                yield_now().await;
                seen.push((queued, ran.load(Ordering::Relaxed)));
            }
            seen
        });
        executor.block_on(ran)
    }

    watchdog::guard("yield", || {
        let all_ran = |(queued, ran): (u64, u64)| queued == ran;
        assert!(runs(false).into_iter().all(all_ran));
        // A worker that is held up takes its polls for long ones, and then what is in the
        // slot lines up last. That cannot always be so.
        assert!((0..10).any(|_| runs(true).into_iter().all(all_ran)));
    });
}

/// Two tasks that yield take turns.
#[test]
fn those_that_yield_take_turns() {
    watchdog::guard("turns", || {
        let executor = named::builder(1).build().unwrap();
        let handle = executor.handle();
        let turns = executor.spawn(async move {
            let turns = Arc::new(Mutex::new(Vec::new()));
            let tasks: Vec<_> = (0..3)
                .map(|me| {
                    let turns = Arc::clone(&turns);
                    handle.spawn(async move {
                        for _ in 0..100 {
                            turns.lock().unwrap().push(me);
                            yield_now().await;
                        }
                    })
                })
                .collect();
            futures::future::join_all(tasks).await;
            std::mem::take(&mut *turns.lock().unwrap())
        });
        let turns = executor.block_on(turns);
        assert_eq!(turns.len(), 300);
        for round in turns.chunks(3) {
            let mut round = round.to_vec();
            round.sort_unstable();
            assert_eq!(round, [0, 1, 2], "{turns:?}");
        }
    });
}

/// The injector tells submitting threads apart, so that they seldom meet. None of them
/// is forgotten for that, while the others submit all the time. In a process of its own,
/// because threads are told apart by the order in which they first submit.
#[test]
fn among_threads_that_submit_all_the_time() {
    child::survives("among_threads_that_submit_all_the_time", || {
        for (workers, threads) in [(1, 2), (2, 2), (3, 4), (5, 8)] {
            let executor = named::builder(workers).build().unwrap();
            assert_none_forgotten(&executor, threads);
        }
    });
}

#[test]
fn among_threads_that_submit_while_a_worker_is_blocked() {
    child::survives(
        "among_threads_that_submit_while_a_worker_is_blocked",
        || {
            for blocked in [0, 1] {
                let executor = named::builder(2).build().unwrap();
                let gate = gate::block(&executor.handle(), blocked);
                assert_none_forgotten(&executor, 2);
                drop(gate);
            }
        },
    );
}

/// All threads but one submit all the time, that one sends a probe; each in turn.
fn assert_none_forgotten(executor: &Executor, threads: usize) {
    let wait = |prober| {
        let feed = Feed::new(executor, threads);
        let turn = AtomicUsize::new(0);
        let wait = AtomicU64::new(0);
        thread::scope(|scope| {
            for me in 0..threads {
                let (feed, turn, wait) = (&feed, &turn, &wait);
                scope.spawn(move || {
                    // First one task of each, in order.
                    while turn.load(Ordering::Acquire) != me {
                        thread::yield_now();
                    }
                    feed.submit(me);
                    turn.store(me + 1, Ordering::Release);
                    if me == prober {
                        wait.store(feed.probe(me), Ordering::Relaxed);
                    } else {
                        feed.submit_for_ever(me);
                    }
                });
            }
        });
        wait.into_inner()
    };
    let waits: Vec<u64> = (0..threads).map(wait).collect();
    let workers = executor.workers();
    // All that was submitted before may come first.
    let bound = 3 * Feed::BACKLOG * threads as u64;
    assert!(
        waits.iter().all(|&wait| wait <= bound),
        "{workers} workers, {threads} threads: probes waited for {waits:?} polls"
    );
}

/// Tasks that threads submit, such that there are always some of each thread.
struct Feed {
    handle: Handle,
    polls: Polls,
    /// How many tasks of each thread have not run.
    backlog: Arc<Vec<AtomicU64>>,
}

impl Feed {
    /// More than all rings hold, so that some are in the injector.
    const BACKLOG: u64 = 2_000;

    fn new(executor: &Executor, threads: usize) -> Self {
        Self {
            handle: executor.handle(),
            polls: Polls::of(executor),
            backlog: Arc::new((0..threads).map(|_| AtomicU64::new(0)).collect()),
        }
    }

    /// Submits one task. It does not end before there are enough others.
    fn submit(&self, me: usize) {
        let (polls, backlog) = (self.polls.clone(), Arc::clone(&self.backlog));
        backlog[me].fetch_add(1, Ordering::Relaxed);
        let hog = async move {
            polls.go_on();
            while backlog[me].load(Ordering::Relaxed) < Self::BACKLOG && !polls.is_over() {
                thread::yield_now();
            }
            backlog[me].fetch_sub(1, Ordering::Relaxed);
        };
        self.handle.spawn(hog).detach();
    }

    fn submit_for_ever(&self, me: usize) {
        while !self.polls.is_over() {
            if self.backlog[me].load(Ordering::Relaxed) < 2 * Self::BACKLOG {
                self.submit(me);
            } else {
                thread::yield_now();
            }
        }
    }

    fn probe(&self, me: usize) -> u64 {
        // Its first task waits for others, of which there are none.
        self.backlog[me].store(Self::BACKLOG, Ordering::Relaxed);
        let full = |(thread, backlog): (usize, &AtomicU64)| {
            thread == me || backlog.load(Ordering::Relaxed) >= Self::BACKLOG
        };
        while !self.backlog.iter().enumerate().all(full) {
            thread::yield_now();
        }
        let wait = self.polls.probe(&self.handle);
        self.polls.end();
        wait
    }
}
