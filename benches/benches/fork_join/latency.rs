//! How long a task waits for its poll while all workers compute.
//!
//! A worker that is in a join polls no tasks. So a thread outside wakes a task once a
//! millisecond, while join trees or computations keep all workers busy, and the time
//! from each wake to its poll is noted. If a wake is not answered before the next one is
//! due, that one is left out, so that one long wait counts once.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use benches::stats::quantile;
use futures::future::poll_fn;
use futures::task::AtomicWaker;
use serde::Serialize;
use ws_executor::{Executor, Handle, Task};

use crate::cases::fib;
use crate::pools::Ws;

/// The time between two wakes.
const PERIOD: Duration = Duration::from_millis(1);

/// What keeps the workers busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Load {
    /// Nothing: what a wake takes anyway.
    None,
    /// A task for each worker that divides its work by joins, and never awaits.
    Joins,
    /// Twice as many computations as workers, some ten milliseconds each.
    Computations,
}

impl Load {
    pub(crate) const ALL: [Load; 3] = [Load::None, Load::Joins, Load::Computations];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Load::None => "idle workers",
            Load::Joins => "joins in tasks",
            Load::Computations => "compute closures",
        }
    }
}

/// The latencies beside one load.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Latency {
    /// The name of the load.
    pub(crate) beside: &'static str,
    pub(crate) workers: usize,
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    pub(crate) max_us: f64,
    /// How many wakes were answered, of how many that were due.
    pub(crate) answered: usize,
    pub(crate) due: usize,
}

/// What the thread outside and the task share.
struct Signal {
    base: Instant,
    waker: AtomicWaker,
    /// When the task was woken, in ns; 0 if it has answered.
    woken: AtomicU64,
    latencies: Mutex<Vec<f64>>,
    over: AtomicBool,
}

impl Signal {
    fn now(&self) -> u64 {
        self.base.elapsed().as_nanos() as u64
    }

    /// Wakes the task, unless it has not answered the last time.
    fn wake(&self) {
        let now = self.now();
        let was_answered =
            self.woken
                .compare_exchange(0, now, Ordering::Release, Ordering::Relaxed);
        if was_answered.is_ok() {
            self.waker.wake();
        }
    }

    /// The task: notes how long each wake took, until it is over.
    async fn answer(self: Arc<Self>) {
        poll_fn(|cx| {
            self.waker.register(cx.waker());
            let woken = self.woken.swap(0, Ordering::Acquire);
            if woken != 0 {
                let micros = (self.now() - woken) as f64 / 1e3;
                let mut latencies = self
                    .latencies
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner);
                latencies.push(micros);
            }
            if self.over.load(Ordering::Acquire) {
                return Poll::Ready(());
            }
            Poll::Pending
        })
        .await;
    }
}

/// Measures beside one load, for so long.
pub(crate) fn measure(load: Load, workers: usize, time: Duration) -> Latency {
    let executor = Executor::builder().workers(workers).build();
    let executor = executor.expect("threads can be started");
    let signal = Arc::new(Signal {
        base: Instant::now(),
        waker: AtomicWaker::new(),
        woken: AtomicU64::new(0),
        latencies: Mutex::default(),
        over: AtomicBool::new(false),
    });
    let task = executor.spawn(Arc::clone(&signal).answer());
    let stop = Arc::new(AtomicBool::new(false));
    let busy = start(load, &executor.handle(), &stop);
    let due = (time.as_nanos() / PERIOD.as_nanos()) as usize;
    let start = Instant::now();
    for number in 1..=due {
        let next = start + PERIOD * number as u32;
        thread::sleep(next.saturating_duration_since(Instant::now()));
        signal.wake();
    }
    stop.store(true, Ordering::Relaxed);
    executor.block_on(async {
        for task in busy {
            task.await;
        }
    });
    signal.over.store(true, Ordering::Release);
    signal.waker.wake();
    executor.block_on(task);
    let mut latencies = signal
        .latencies
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    Latency {
        beside: load.name(),
        workers,
        p50_us: quantile(&mut latencies, 0.5),
        p99_us: quantile(&mut latencies, 0.99),
        max_us: quantile(&mut latencies, 1.0),
        answered: latencies.len(),
        due,
    }
}

fn start(load: Load, handle: &Handle, stop: &Arc<AtomicBool>) -> Vec<Task<()>> {
    let task = |_| {
        let stop = Arc::clone(stop);
        handle.spawn(async move {
            while !stop.load(Ordering::Relaxed) {
                black_box(fib::fib::<Ws>(&mut (), black_box(28)));
            }
        })
    };
    let chain = |_| {
        let (handle, stop) = (handle.clone(), Arc::clone(stop));
        // As the task is one, it waits for its poll as well before the next closure runs;
        // so there are two for each worker.
        handle.clone().spawn(async move {
            while !stop.load(Ordering::Relaxed) {
                handle.compute(some_milliseconds).await;
            }
        })
    };
    match load {
        Load::None => Vec::new(),
        Load::Joins => (0..handle.workers()).map(task).collect(),
        Load::Computations => (0..2 * handle.workers()).map(chain).collect(),
    }
}

/// Computes for some ten milliseconds, without joins.
fn some_milliseconds() {
    let mut state = black_box(1_u64);
    for _ in 0..4_000_000 {
        state = black_box(state.wrapping_mul(6_364_136_223_846_793_005).rotate_left(7));
    }
}
