//! Time: the trait by which a run sleeps, and its default timer.
//!
//! The executor has no timers, and a graph runs on any executor. So the default timer is a
//! thread, which the first node that needs it starts. The thread has one heap of deadlines and
//! sleeps until the earliest of them. A program with a reactor gives the reactor's timer to the
//! run instead.
//!
//! # Memory ordering
//!
//! | edge | release side | acquire side | what it makes visible |
//! |---|---|---|---|
//! | `timer.over` | the thread sets `over` of a sleeper | the sleeper reads `over` | that the thread saw the deadline pass: a later `Instant::now` is not before the deadline |
//!
//! To wake a sleeper, the lock of its waker is enough.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

/// A future that is ready after a duration.
pub type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The time of a run, for timeouts, pauses between attempts, and deadlines.
///
/// ```
/// use std::time::Duration;
/// use ws_executor::graph::{Sleep, Timer};
///
/// /// For those who cannot wait.
/// struct NoTime;
///
/// impl Timer for NoTime {
///     fn sleep(&self, _: Duration) -> Sleep {
///         Box::pin(async {})
///     }
/// }
///
/// ws_executor::block_on(NoTime.sleep(Duration::MAX));
/// ```
pub trait Timer: Send + Sync {
    /// A future that is ready once `duration` has passed since this call.
    ///
    /// See the example at [`Timer`].
    fn sleep(&self, duration: Duration) -> Sleep;

    /// The present moment. A timer with a time of its own must override this.
    ///
    /// ```
    /// use std::time::Instant;
    /// use ws_executor::graph::{ThreadTimer, Timer};
    ///
    /// let before = Instant::now();
    /// assert!(ThreadTimer.now() >= before);
    /// ```
    fn now(&self) -> Instant {
        Instant::now()
    }
}

/// The default timer of runs: one thread for the whole process.
///
/// ```
/// use std::time::{Duration, Instant};
/// use ws_executor::graph::{ThreadTimer, Timer};
///
/// let start = Instant::now();
/// ws_executor::block_on(ThreadTimer.sleep(Duration::from_millis(5)));
/// assert!(start.elapsed() >= Duration::from_millis(5));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct ThreadTimer;

impl Timer for ThreadTimer {
    fn sleep(&self, duration: Duration) -> Sleep {
        Box::pin(Nap {
            due: Instant::now().checked_add(duration),
            entry: None,
        })
    }
}

/// The error of a node or a run that took too long.
///
/// ```
/// use ws_executor::graph::TimedOut;
/// assert_eq!(TimedOut::new().to_string(), "took longer than it was given");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct TimedOut;

impl TimedOut {
    /// Makes the error; see the example at [`TimedOut`].
    pub const fn new() -> Self {
        Self
    }
}

impl fmt::Display for TimedOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("took longer than it was given")
    }
}

impl Error for TimedOut {}

/// A sleeper, as the thread knows it.
struct TimerEntry {
    due: Instant,
    number: u64,
    sleeper: Arc<TimerSleeper>,
}

/// What the thread and the sleeping future share.
struct TimerSleeper {
    /// Set by the thread when the deadline has passed, and by the future when it is dropped.
    over: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl PartialEq for TimerEntry {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for TimerEntry {}

impl PartialOrd for TimerEntry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for TimerEntry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.due, self.number).cmp(&(other.due, other.number))
    }
}

#[derive(Default)]
struct Heap {
    entries: BinaryHeap<Reverse<TimerEntry>>,
    entered: u64,
    /// The number of entries whose future was dropped.
    abandoned: usize,
}

impl Heap {
    /// Removes the abandoned entries once they are the majority. Otherwise timeouts that do not
    /// strike would stay in the heap until their deadlines.
    fn sweep(&mut self) {
        if self.abandoned > 64 && self.abandoned > self.entries.len() / 2 {
            self.entries
                .retain(|Reverse(entry)| !entry.sleeper.over.load(Ordering::Relaxed));
            self.abandoned = 0;
        }
    }
}

struct Clock {
    heap: Mutex<Heap>,
    earlier: Condvar,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Clock {
    /// Returns the clock. The first call starts its thread.
    fn get() -> &'static Self {
        static CLOCK: OnceLock<Clock> = OnceLock::new();
        static THREAD: OnceLock<()> = OnceLock::new();
        let clock = CLOCK.get_or_init(|| Self {
            heap: Mutex::default(),
            earlier: Condvar::new(),
        });
        THREAD.get_or_init(|| {
            thread::Builder::new()
                .name("graph-timer".into())
                .spawn(|| clock.run())
                .expect("the timer thread could not be started");
        });
        clock
    }

    fn enter(&self, due: Instant, waker: Waker) -> Arc<TimerSleeper> {
        let sleeper = Arc::new(TimerSleeper {
            over: AtomicBool::new(false),
            waker: Mutex::new(Some(waker)),
        });
        let mut heap = lock(&self.heap);
        let number = heap.entered;
        heap.entered += 1;
        let first = heap
            .entries
            .peek()
            .is_none_or(|Reverse(entry)| due < entry.due);
        heap.entries.push(Reverse(TimerEntry {
            due,
            number,
            sleeper: sleeper.clone(),
        }));
        drop(heap);
        if first {
            self.earlier.notify_one();
        }
        sleeper
    }

    fn run(&self) {
        let mut heap = lock(&self.heap);
        loop {
            let now = Instant::now();
            match heap.entries.peek() {
                None => {
                    heap = self
                        .earlier
                        .wait(heap)
                        .unwrap_or_else(PoisonError::into_inner)
                }
                Some(Reverse(entry)) if entry.due > now => {
                    let wait = entry.due - now;
                    heap = self
                        .earlier
                        .wait_timeout(heap, wait)
                        .unwrap_or_else(PoisonError::into_inner)
                        .0;
                }
                Some(_) => {
                    let entry = heap.entries.pop().map(|Reverse(entry)| entry);
                    drop(heap); // Wakers are foreign code: not under the lock.
                    if let Some(entry) = entry {
                        entry.sleeper.ring();
                    }
                    heap = lock(&self.heap);
                }
            }
        }
    }
}

impl TimerSleeper {
    fn ring(&self) {
        // ORDERING(timer.over): release side; if relaxed, the sleeper's clock could be behind
        // the deadline.
        self.over.store(true, Ordering::Release);
        let waker = lock(&self.waker).take();
        if let Some(waker) = waker {
            // A waker that panics must not end the thread, which serves all sleepers.
            crate::base::panics::ignore_panic(|| waker.wake());
        }
    }
}

/// A sleep on the [`Clock`]. `due` is `None` if the deadline is too far away to be represented:
/// the sleep never ends.
struct Nap {
    due: Option<Instant>,
    entry: Option<Arc<TimerSleeper>>,
}

impl Future for Nap {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(due) = self.due else {
            return Poll::Pending;
        };
        match &self.entry {
            None if Instant::now() >= due => return Poll::Ready(()),
            None => self.entry = Some(Clock::get().enter(due, cx.waker().clone())),
            Some(sleeper) => {
                let waker = cx.waker().clone();
                let old = lock(&sleeper.waker).replace(waker);
                drop(old);
            }
        }
        let sleeper = self.entry.as_ref().expect("entered above");
        // The thread sets `over` before it takes the waker: it takes the waker that was left
        // above, or this load sees `over`.
        // ORDERING(timer.over): acquire side; if relaxed, the clock could be before the
        // deadline for the code after the sleep.
        if sleeper.over.load(Ordering::Acquire) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

impl Drop for Nap {
    fn drop(&mut self) {
        let Some(sleeper) = &self.entry else { return };
        if !sleeper.over.swap(true, Ordering::Relaxed) {
            let waker = lock(&sleeper.waker).take();
            drop(waker);
            let mut heap = lock(&Clock::get().heap);
            heap.abandoned += 1;
            heap.sweep();
        }
    }
}
