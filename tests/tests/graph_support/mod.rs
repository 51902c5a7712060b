//! What the tests of graphs share: executors of four kinds, and ways to meet and to log.

#![allow(dead_code, reason = "each test uses a part")]

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::num::NonZeroUsize;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use futures::executor::ThreadPool;
use ws_core::Spawn;
use ws_core::spawn::FromFutures;
use ws_executor::graph::{Sleep, Timer};

/// Tokio, as any executor is plugged in.
#[derive(Clone)]
pub(crate) struct Tokio(pub(crate) tokio::runtime::Handle);

impl Spawn for Tokio {
    fn spawn<F: Future<Output = ()> + Send + 'static>(&self, future: F) {
        self.0.spawn(future);
    }

    fn parallelism(&self) -> usize {
        2
    }
}

/// async-executor.
#[derive(Clone)]
pub(crate) struct Smol(pub(crate) Arc<async_executor::Executor<'static>>);

impl Spawn for Smol {
    fn spawn<F: Future<Output = ()> + Send + 'static>(&self, future: F) {
        self.0.spawn(future).detach();
    }

    fn parallelism(&self) -> usize {
        2
    }
}

/// What a test does with an executor.
pub(crate) trait Program {
    fn run<S: Spawn + Clone + Send + Sync + 'static>(&self, name: &str, on: &S);
}

/// Runs a program on executors of four kinds, two threads each.
pub(crate) fn on_every_executor(program: &impl Program) {
    let own = tests::exec::executor(2);
    program.run("ws-executor", &own.handle());
    tests::exec::assert_alive(&own);

    let tokio = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .unwrap();
    program.run("tokio", &Tokio(tokio.handle().clone()));

    let smol = Smol(Arc::default());
    let (stop, stopped) = async_channel::bounded::<()>(1);
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let (smol, stopped) = (smol.clone(), stopped.clone());
            thread::spawn(move || {
                let _closed = futures::executor::block_on(smol.0.run(stopped.recv()));
            })
        })
        .collect();
    program.run("async-executor", &smol);
    drop(stop);
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());

    let pool = ThreadPool::builder().pool_size(2).create().unwrap();
    program.run(
        "ThreadPool",
        &FromFutures::with_parallelism(pool, NonZeroUsize::new(2).unwrap()),
    );
}

/// A place where futures wait until so many have come: shows that they run at the same
/// time, because one after the other they would wait for ever.
#[derive(Clone)]
pub(crate) struct Meeting(Arc<Mutex<(usize, Vec<Waker>)>>);

impl Meeting {
    pub(crate) fn of(expected: usize) -> Self {
        Self(Arc::new(Mutex::new((expected, Vec::new()))))
    }

    /// Comes, and waits for the others.
    pub(crate) async fn come(&self) {
        let mut come = false;
        poll_fn(|cx| {
            let mut meeting = self.0.lock().unwrap();
            if !come {
                come = true;
                meeting.0 = meeting
                    .0
                    .checked_sub(1)
                    .expect("nobody is expected any more");
            }
            if meeting.0 > 0 {
                meeting.1.push(cx.waker().clone());
                return Poll::Pending;
            }
            let all = std::mem::take(&mut meeting.1);
            drop(meeting);
            all.into_iter().for_each(Waker::wake);
            Poll::Ready(())
        })
        .await;
    }
}

/// What happened, in order.
#[derive(Clone, Default, Debug)]
pub(crate) struct Log(Arc<Mutex<Vec<&'static str>>>);

impl Log {
    pub(crate) fn add(&self, event: &'static str) {
        self.0.lock().unwrap().push(event);
    }

    pub(crate) fn take(&self) -> Vec<&'static str> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }

    /// Whether the first event is before the second one.
    pub(crate) fn is_before(events: &[&str], first: &str, second: &str) -> bool {
        let at = |event| {
            events
                .iter()
                .position(|&other| other == event)
                .unwrap_or_else(|| panic!("no {event} in {events:?}"))
        };
        at(first) < at(second)
    }
}

/// Time that stands still while anything can run, and jumps to the next sleeper when
/// nothing can.
#[derive(Clone)]
pub(crate) struct Clock {
    began: Instant,
    state: Arc<Mutex<ClockState>>,
}

#[derive(Default)]
struct ClockState {
    now: Duration,
    sleepers: BTreeMap<(Duration, u64), Option<Waker>>,
    entered: u64,
}

impl Clock {
    pub(crate) fn new() -> Self {
        Self {
            began: Instant::now(),
            state: Arc::default(),
        }
    }

    /// What has passed.
    pub(crate) fn elapsed(&self) -> Duration {
        self.state.lock().unwrap().now
    }

    /// Runs a future on this thread; fails if nothing can ever wake it.
    pub(crate) fn block_on<F: Future>(&self, future: F) -> F::Output {
        struct Flag(AtomicBool);
        impl Wake for Flag {
            fn wake(self: Arc<Self>) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        let flag = Arc::new(Flag(AtomicBool::new(true)));
        let waker = Waker::from(flag.clone());
        let mut future = pin!(future);
        loop {
            if flag.0.swap(false, Ordering::Relaxed) {
                if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker))
                {
                    return output;
                }
                continue;
            }
            let mut state = self.state.lock().unwrap();
            let ((due, _), waker) = state
                .sleepers
                .pop_first()
                .expect("everything waits, and nobody sleeps");
            state.now = state.now.max(due);
            drop(state);
            waker.into_iter().for_each(Waker::wake);
        }
    }
}

impl Timer for Clock {
    fn sleep(&self, duration: Duration) -> Sleep {
        let mut state = self.state.lock().unwrap();
        state.entered += 1;
        let place = (state.now + duration, state.entered);
        drop(state);
        Box::pin(ClockSleep {
            clock: self.clone(),
            place,
        })
    }

    fn now(&self) -> Instant {
        self.began + self.elapsed()
    }
}

struct ClockSleep {
    clock: Clock,
    place: (Duration, u64),
}

impl Future for ClockSleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.clock.state.lock().unwrap();
        if state.now >= self.place.0 {
            return Poll::Ready(());
        }
        state.sleepers.insert(self.place, Some(cx.waker().clone()));
        Poll::Pending
    }
}

impl Drop for ClockSleep {
    fn drop(&mut self) {
        self.clock
            .state
            .lock()
            .unwrap()
            .sleepers
            .remove(&self.place);
    }
}
