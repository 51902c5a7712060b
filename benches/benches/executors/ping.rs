//! A ping through the driver, beside a task that takes 20 ms for each poll.
//!
//! The worker in the driver sees the event that the long poll waits for, leaves, and runs
//! it. What arrives meanwhile waits until somebody is in the driver again: that is what
//! [`DriverHandoff`] decides. After tokio issue 4730. Peers have no driver to put under
//! them, so this is about ours alone.
//!
//! The driver is a list of wakers under a lock, a reactor without an operating system. A
//! ping is sent every millisecond, whether or not the last one has arrived, so that one that
//! waits does not hide those behind it.

use std::collections::VecDeque;
use std::hint;
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use benches::outcome::as_debug;
use benches::progress;
use benches::stats::quantile;
use futures::future::poll_fn;
use serde::Serialize;
use ws_core::Driver;
use ws_executor::{DriverHandoff, Executor};

/// How long the long poll takes, and how often there is one.
const LONG: Duration = Duration::from_millis(20);
const LONG_PERIOD: u32 = 25;

/// How often a ping is sent. The period of the long polls is that many of these.
const PERIOD: Duration = Duration::from_millis(1);

/// The settings alternate after this many pings: once a second.
const SLICE: u32 = 1_000;

const HANDOFFS: [DriverHandoff; 3] = [
    DriverHandoff::Off,
    DriverHandoff::Monitor,
    DriverHandoff::Eager,
];

/// How long pings took with one setting.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Ping {
    #[serde(serialize_with = "as_debug")]
    pub(crate) handoff: DriverHandoff,
    pub(crate) pings: usize,
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    pub(crate) max_us: f64,
}

impl Ping {
    fn new(handoff: DriverHandoff, times: &[Duration]) -> Self {
        let micros = |time: &Duration| time.as_nanos() as f64 / 1_000.0;
        let mut times: Vec<_> = times.iter().map(micros).collect();
        Self {
            handoff,
            pings: times.len(),
            p50_us: quantile(&mut times, 0.5),
            p99_us: quantile(&mut times, 0.99),
            max_us: quantile(&mut times, 1.0),
        }
    }
}

/// Measures each setting for that many seconds, in turns.
pub(crate) fn measure(workers: usize, seconds: usize) -> Vec<Ping> {
    let mut lanes: Vec<_> = HANDOFFS
        .into_iter()
        .map(|handoff| (handoff, Lane::start(workers, handoff), Vec::new()))
        .collect();
    for _ in 0..seconds {
        for (handoff, lane, times) in &mut lanes {
            times.extend(progress::watch(format!("{handoff:?}"), || lane.slice()));
        }
    }
    lanes
        .into_iter()
        .map(|(handoff, _, times)| Ping::new(handoff, &times))
        .collect()
}

/// An executor with its driver, and two tasks that wait for what it sees.
struct Lane {
    reactor: Arc<Reactor>,
    long: Arc<Mailbox<()>>,
    pings: Arc<Mailbox<Instant>>,
    times: Arc<Mutex<Vec<Duration>>>,
    /// Dropped with its tasks.
    _executor: Executor,
}

impl Lane {
    fn start(workers: usize, handoff: DriverHandoff) -> Self {
        let reactor = Arc::new(Reactor::default());
        let executor = Executor::builder()
            .workers(workers)
            .driver(Shared(Arc::clone(&reactor)))
            .driver_handoff(handoff)
            .build()
            .expect("threads can be had");
        let long = Arc::new(Mailbox::default());
        let pings = Arc::new(Mailbox::default());
        let times = Arc::new(Mutex::default());
        executor.spawn(work_long(Arc::clone(&long))).detach();
        let answer = answer(Arc::clone(&pings), Arc::clone(&times));
        executor.spawn(answer).detach();
        Self {
            reactor,
            long,
            pings,
            times,
            _executor: executor,
        }
    }

    /// Sends the pings of one slice, and returns how long they took when all have arrived.
    fn slice(&self) -> Vec<Duration> {
        let start = Instant::now();
        for number in 0..SLICE {
            let due = start + PERIOD * number;
            thread::sleep(due.saturating_duration_since(Instant::now()));
            if number % LONG_PERIOD == 0 {
                self.long.send((), &self.reactor);
            }
            self.pings.send(Instant::now(), &self.reactor);
        }
        while lock(&self.times).len() < SLICE as usize {
            thread::sleep(PERIOD);
        }
        mem::take(&mut *lock(&self.times))
    }
}

/// Computes for a while, each time it is told to.
async fn work_long(orders: Arc<Mailbox<()>>) {
    loop {
        orders.receive().await;
        let start = Instant::now();
        while start.elapsed() < LONG {
            hint::spin_loop();
        }
    }
}

/// Notes how long each ping took.
async fn answer(pings: Arc<Mailbox<Instant>>, times: Arc<Mutex<Vec<Duration>>>) {
    loop {
        let sent = pings.receive().await;
        lock(&times).push(sent.elapsed());
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The reactor: an event is a waker, and a turn wakes all that there are.
#[derive(Default)]
struct Reactor {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    events: Vec<Waker>,
    is_woken: bool,
}

impl Reactor {
    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut lock(&self.state));
        self.changed.notify_one();
    }
}

/// The reactor, as the executor gets it.
struct Shared(Arc<Reactor>);

impl Driver for Shared {
    fn turn(&self, timeout: Option<Duration>) {
        let Reactor { state, changed } = &*self.0;
        let is_idle = |state: &mut State| !state.is_woken && state.events.is_empty();
        let timeout = timeout.unwrap_or(Duration::MAX);
        let waited = changed.wait_timeout_while(lock(state), timeout, is_idle);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.is_woken = false;
        let events = mem::take(&mut state.events);
        drop(state);
        events.into_iter().for_each(Waker::wake);
    }

    fn wake(&self) {
        self.0.change(|state| state.is_woken = true);
    }
}

/// Where messages arrive, by way of the reactor; for one task.
struct Mailbox<T>(Mutex<(VecDeque<T>, Option<Waker>)>);

impl<T> Default for Mailbox<T> {
    fn default() -> Self {
        Self(Mutex::new((VecDeque::new(), None)))
    }
}

impl<T> Mailbox<T> {
    async fn receive(&self) -> T {
        poll_fn(|cx| {
            let (messages, waker) = &mut *lock(&self.0);
            match messages.pop_front() {
                Some(message) => Poll::Ready(message),
                None => {
                    *waker = Some(cx.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }

    fn send(&self, message: T, reactor: &Reactor) {
        let waker = {
            let (messages, waker) = &mut *lock(&self.0);
            messages.push_back(message);
            waker.take()
        };
        if let Some(waker) = waker {
            reactor.change(|state| state.events.push(waker));
        }
    }
}
