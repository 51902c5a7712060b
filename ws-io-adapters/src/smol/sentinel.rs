//! The sentinel: a thread that notices when the worker of the reactor is kept.
//!
//! # The problem
//!
//! A worker that leaves the reactor to run a task does not tell the others: most tasks
//! are short, and it is back before another one would be awake. If the task takes long,
//! nobody is in the reactor, and events wait.
//!
//! # The idea
//!
//! Each poll of a worker counts twice, when it begins and when it ends, so the count is odd
//! while the worker runs tasks. The sentinel looks at the counts every [`PERIOD`]. If one is
//! odd and the same as before, the worker is kept; the sentinel then wakes one that is idle,
//! once. That one finds nothing to run, and `async_io::block_on` lets it wait where there is
//! room: in the reactor.
//!
//! While no worker runs anything, the sentinel sleeps. It falls asleep after some looks
//! without news, and the first poll after that wakes it: so a busy executor pays for a look
//! every period, an idle one nothing, and no message pays for a wake-up.
//!
//! That it does not oversleep is the business of [`Slumber`].
//!
//! # Memory ordering
//!
//! | edge | release side | acquire side | makes visible |
//! |---|---|---|---|
//! | `sentinel.end` | each worker that leaves | the last one | that there is a thread, to be joined |

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use ws_core::sync::slumber::{AWAKE, Answer, Slumber};
use ws_executor::HostedWorker;

/// How long a worker may run tasks before another one takes the reactor: one to two of
/// these. In the bench `io`, a ping beside polls of 20 ms on two cores has a p99 of 2.8 to
/// 4.0 ms with it, and 15 to 17 ms without a sentinel; half of it gains nothing.
const PERIOD: Duration = Duration::from_millis(1);

/// So many looks without news, and the sentinel falls asleep. Not measured.
const QUIET: u32 = 8;

/// What the workers of one executor and its sentinel share.
pub(super) struct Sentinel {
    seats: Mutex<Vec<Arc<Seat>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// Workers that have not ended.
    members: AtomicUsize,
    slumber: Slumber,
    closed: AtomicBool,
}

/// One worker, as the sentinel sees it.
#[derive(Default)]
struct Seat {
    /// Odd while the worker runs tasks.
    polls: AtomicU64,
    waker: Mutex<Option<Waker>>,
}

impl Sentinel {
    /// For the workers of an executor to come.
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            seats: Mutex::default(),
            thread: Mutex::default(),
            members: AtomicUsize::new(0),
            slumber: Slumber::new(AWAKE),
            closed: AtomicBool::new(false),
        })
    }

    /// The worker, watched; it has to be polled on one thread until it is ready.
    pub(super) fn watch(self: &Arc<Self>, worker: HostedWorker) -> Watched {
        let seat = Arc::new(Seat::default());
        let mut seats = lock(&self.seats);
        seats.push(seat.clone());
        self.members.fetch_add(1, Ordering::Relaxed);
        // A worker alone has nobody to be relieved by.
        if seats.len() == 2 {
            let own = self.clone();
            let thread = thread::Builder::new().name("ws-sentinel".to_owned());
            // Without one, events wait for as long as they do without this module.
            *lock(&self.thread) = thread.spawn(move || own.run()).ok();
        }
        Watched {
            worker: Some(worker),
            seat,
            sentinel: self.clone(),
        }
    }

    /// A worker has begun to run tasks: somebody watches.
    fn call(&self) {
        if self.slumber.call() == Answer::WasAsleep {
            self.unpark();
        }
    }

    fn unpark(&self) {
        if let Some(thread) = &*lock(&self.thread) {
            thread.thread().unpark();
        }
    }

    fn run(&self) {
        let mut looks: Vec<Look> = Vec::new();
        let mut quiet = 0;
        while !self.closed.load(Ordering::Relaxed) {
            thread::park_timeout(PERIOD);
            quiet = if self.look(&mut looks) { 0 } else { quiet + 1 };
            if quiet >= QUIET {
                self.sleep(&mut looks);
                quiet = 0;
            }
        }
    }

    /// Wakes an idle worker for each one that is kept; whether any worker did anything.
    fn look(&self, looks: &mut Vec<Look>) -> bool {
        let seats = lock(&self.seats).clone();
        looks.resize_with(seats.len(), Look::default);
        let (mut news, mut kept) = (false, false);
        for (seat, look) in seats.iter().zip(&mut *looks) {
            let now = seat.polls.load(Ordering::Relaxed);
            let is_odd = now % 2 == 1;
            if now != look.polls {
                *look = Look {
                    polls: now,
                    called: false,
                };
                news = true;
            } else if is_odd && !look.called {
                look.called = true;
                kept = true;
            }
            news |= is_odd;
        }
        if kept {
            let idle = seats
                .iter()
                .find(|seat| seat.polls.load(Ordering::Relaxed) % 2 == 0);
            let waker = idle.and_then(|seat| lock(&seat.waker).clone());
            if let Some(waker) = waker {
                waker.wake();
            }
        }
        news
    }

    /// Sleeps until a worker calls, or all have ended.
    fn sleep(&self, looks: &mut Vec<Look>) {
        self.slumber.fall_asleep(|| self.look(looks));
        while self.slumber.is_asleep() && !self.closed.load(Ordering::Relaxed) {
            thread::park();
        }
    }

    /// A worker has ended; the last one takes the thread with it.
    fn leave(&self) {
        // ORDERING(sentinel.end): both sides; the last one sees that there is a thread.
        if self.members.fetch_sub(1, Ordering::AcqRel) != 1 {
            return;
        }
        self.closed.store(true, Ordering::Relaxed);
        self.unpark();
        let thread = lock(&self.thread).take();
        if let Some(thread) = thread {
            // It calls no code that panics but a waker's, whose panic was reported.
            drop(thread.join());
        }
    }
}

/// What the sentinel remembers of a worker between two looks.
#[derive(Default)]
struct Look {
    polls: u64,
    /// Another worker was woken for this poll.
    called: bool,
}

/// A worker whose polls are counted.
pub(super) struct Watched {
    /// There until this is dropped.
    worker: Option<HostedWorker>,
    seat: Arc<Seat>,
    sentinel: Arc<Sentinel>,
}

impl Future for Watched {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Self {
            worker,
            seat,
            sentinel,
        } = self.get_mut();
        let worker = worker.as_mut().expect("there until this is dropped");
        seat.set_waker(cx.waker());
        seat.polls.fetch_add(1, Ordering::Relaxed);
        sentinel.call();
        let polled = Pin::new(worker).poll(cx);
        seat.polls.fetch_add(1, Ordering::Relaxed);
        polled
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        drop(self.worker.take());
        self.sentinel.leave();
    }
}

impl Seat {
    fn set_waker(&self, waker: &Waker) {
        let mut known = lock(&self.waker);
        // async-io's, whose code is known: it may run under the lock.
        if !known.as_ref().is_some_and(|known| known.will_wake(waker)) {
            *known = Some(waker.clone());
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
