//! The time from a wake on a thread outside to the poll, when every worker
//! sleeps.
//!
//! The thread outside goes on until the task is polled, so that the worker needs
//! another core: were it to sleep at once, the worker would now and then take over
//! its core, which is quicker, and says nothing about the executor. Then it sleeps
//! for a random time that is long enough for all workers to park.
//!
//! CPU time is not shown, as it is mostly that of the thread outside; what a wake
//! costs is seen at low load.

use std::hint;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use benches::meter::Meter;
use futures::future::poll_fn;
use futures::task::AtomicWaker;
use ws_core::FastRand;

use crate::case::Case;
use crate::contender::Contender;

const WAKES: u64 = 100;
/// The pause between wakes, in µs. The least is some ten times as long as a worker
/// looks for work before it parks.
const LEAST_PAUSE: u64 = 400;
const MORE_PAUSE: u32 = 300;

/// How long the thread outside goes on, at most: if it keeps the worker from
/// running it must make room.
const BUSY: Duration = Duration::from_micros(100);

/// What the thread outside and the task share.
struct Signal {
    base: Instant,
    waker: AtomicWaker,
    /// How many wakes there were.
    wakes: AtomicU64,
    /// When the task was polled for the latest wake, in ns since the base; zero
    /// before.
    polled: AtomicU64,
}

impl Signal {
    fn now(&self) -> u64 {
        self.base.elapsed().as_nanos() as u64
    }

    /// Waits for the wake of that number, and notes when it was seen.
    async fn wait_for(&self, number: u64) {
        poll_fn(|cx| {
            let is_woken = || self.wakes.load(Ordering::Acquire) >= number;
            if !is_woken() {
                self.waker.register(cx.waker());
                if !is_woken() {
                    return Poll::Pending;
                }
            }
            self.polled.store(self.now(), Ordering::Release);
            Poll::Ready(())
        })
        .await;
    }

    /// Wakes the task and returns how long it took until it was polled.
    fn wake(&self, number: u64, pause: Duration) -> Duration {
        self.polled.store(0, Ordering::Relaxed);
        let sent = self.now();
        self.wakes.store(number, Ordering::Release);
        self.waker.wake();
        let is_polled = || self.polled.load(Ordering::Acquire) != 0;
        let start = Instant::now();
        while !is_polled() && start.elapsed() < BUSY {
            hint::spin_loop();
        }
        thread::sleep(pause);
        while !is_polled() {
            thread::sleep(pause);
        }
        Duration::from_nanos(self.polled.load(Ordering::Relaxed).saturating_sub(sent))
    }
}

pub(crate) struct WakeIdle;

impl Case for WakeIdle {
    const UNIT: &'static str = "wake";

    fn name() -> String {
        "wake of an idle worker".into()
    }

    fn run<C: Contender>(contender: &C, meter: &mut Meter) {
        let signal = Arc::new(Signal {
            base: Instant::now(),
            waker: AtomicWaker::new(),
            wakes: AtomicU64::new(0),
            polled: AtomicU64::new(0),
        });
        let waiting = signal.clone();
        let task = contender.spawn(async move {
            for number in 1..=WAKES {
                waiting.wait_for(number).await;
            }
        });
        thread::sleep(Duration::from_micros(LEAST_PAUSE));
        let mut rng = FastRand::new(WAKES);
        let mut latencies = Vec::with_capacity(WAKES as usize);
        meter.time_beside(WAKES as usize, || {
            for number in 1..=WAKES {
                let pause = LEAST_PAUSE + u64::from(rng.below(MORE_PAUSE));
                latencies.push(signal.wake(number, Duration::from_micros(pause)));
            }
            contender.block_on(task);
        });
        latencies
            .into_iter()
            .for_each(|latency| meter.latency(latency));
    }
}
