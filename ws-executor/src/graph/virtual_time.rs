//! Virtual time for tests: it stands still while a task can run, and jumps to the next deadline
//! when none can.
//!
//! Every task of a run under test is tracked: it is *active* from its wake until its poll
//! returns pending. When the last task ceases to be active, the clock jumps to the earliest
//! deadline and wakes its sleeper. So a test with hours of pauses takes no time, and the order
//! of events does not depend on the speed of the machine. A task that waits for something
//! outside the run, such as another thread, is not active.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use ws_core::Spawn;
use ws_core::sync::Mutex;

use super::{Sleep, Timer, lock};
use crate::base::panics::ignore_panic;

/// The clock of a run under test.
#[derive(Clone, Default)]
pub(super) struct VirtualClock(Arc<Mutex<ClockState>>);

struct ClockState {
    /// The machine's time when the clock was made.
    began: Instant,
    /// The virtual time since then.
    now: Duration,
    active: usize,
    sleepers: BTreeMap<(Duration, u64), Option<Waker>>,
    entered: u64,
}

impl Default for ClockState {
    fn default() -> Self {
        Self {
            began: Instant::now(),
            now: Duration::ZERO,
            active: 0,
            sleepers: BTreeMap::new(),
            entered: 0,
        }
    }
}

impl VirtualClock {
    pub(super) fn now(&self) -> Duration {
        lock(&self.0).now
    }

    fn begin(&self) {
        lock(&self.0).active += 1;
    }

    /// Notes that a task is no longer active. The last one moves the clock.
    fn cease(&self) {
        let mut state = lock(&self.0);
        state.active -= 1;
        let first = if state.active == 0 {
            state.sleepers.pop_first()
        } else {
            None
        };
        let waker = first.and_then(|((due, _), waker)| {
            state.now = state.now.max(due);
            waker
        });
        drop(state);
        if let Some(waker) = waker {
            ignore_panic(|| waker.wake());
        }
    }
}

impl Timer for VirtualClock {
    fn now(&self) -> Instant {
        let state = lock(&self.0);
        state.began + state.now
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        let due = Self::now(self).checked_add(duration);
        Box::pin(VirtualSleep {
            clock: self.clone(),
            due,
            number: None,
        })
    }
}

struct VirtualSleep {
    clock: VirtualClock,
    /// `None`: the sleep never ends.
    due: Option<Duration>,
    number: Option<u64>,
}

impl Future for VirtualSleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(due) = self.due else {
            return Poll::Pending;
        };
        let waker = cx.waker().clone();
        let clock = self.clock.clone();
        let mut state = lock(&clock.0);
        if state.now >= due {
            drop(state);
            return Poll::Ready(());
        }
        let number = *self.number.get_or_insert_with(|| {
            state.entered += 1;
            state.entered
        });
        let old = state.sleepers.insert((due, number), Some(waker));
        drop(state);
        drop(old);
        Poll::Pending
    }
}

impl Drop for VirtualSleep {
    fn drop(&mut self) {
        if let (Some(due), Some(number)) = (self.due, self.number) {
            let old = lock(&self.clock.0).sleepers.remove(&(due, number));
            drop(old);
        }
    }
}

/// An executor that tracks its tasks.
#[derive(Clone)]
pub struct Tracking<S> {
    spawner: S,
    clock: VirtualClock,
}

impl<S> std::fmt::Debug for Tracking<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tracking")
    }
}

impl<S> Tracking<S> {
    pub(super) fn new(spawner: S, clock: VirtualClock) -> Self {
        Self { spawner, clock }
    }
}

impl<S: Spawn> Spawn for Tracking<S> {
    fn spawn<F: Future<Output = ()> + Send + 'static>(&self, future: F) {
        self.spawner.spawn(tracked(&self.clock, future));
    }

    fn parallelism(&self) -> usize {
        self.spawner.parallelism()
    }
}

/// Wraps `future` in a task that is active as long as it can run.
pub(super) fn tracked<F: Future>(
    clock: &VirtualClock,
    future: F,
) -> impl Future<Output = F::Output> + use<F> {
    clock.begin();
    let activity = Activity(Arc::new(Tracker {
        clock: clock.clone(),
        state: Mutex::new(Tracked {
            phase: TrackedPhase::Active,
            waker: None,
        }),
    }));
    async move {
        let mut future = std::pin::pin!(future);
        let activity = activity;
        let waker = Waker::from(activity.0.clone());
        std::future::poll_fn(move |cx| {
            activity.0.poll_begins(cx.waker());
            let polled = future.as_mut().poll(&mut Context::from_waker(&waker));
            if polled.is_pending() {
                activity.0.poll_ends();
            }
            polled
        })
        .await
    }
}

/// Ends the activity of a future when it is done or dropped.
struct Activity(Arc<Tracker>);

impl Drop for Activity {
    fn drop(&mut self) {
        let phase = std::mem::replace(&mut lock(&self.0.state).phase, TrackedPhase::Gone);
        if !matches!(phase, TrackedPhase::Idle | TrackedPhase::Gone) {
            self.0.clock.cease();
        }
    }
}

struct Tracker {
    clock: VirtualClock,
    state: Mutex<Tracked>,
}

struct Tracked {
    phase: TrackedPhase,
    /// In an `Arc`, because cloning a waker is foreign code.
    waker: Option<Arc<Waker>>,
}

#[derive(Clone, Copy, PartialEq)]
enum TrackedPhase {
    /// Waits for a wake.
    Idle,
    /// Woken and not polled since, or being polled.
    Active,
    /// Being polled, and woken since the poll began.
    Again,
    Gone,
}

impl Tracker {
    fn poll_begins(&self, waker: &Waker) {
        let waker = Arc::new(waker.clone());
        let mut state = lock(&self.state);
        if state.phase == TrackedPhase::Idle {
            self.clock.begin(); // Polled without a wake by this tracker.
        }
        state.phase = TrackedPhase::Active;
        let old = state.waker.replace(waker);
        drop(state);
        drop(old);
    }

    fn poll_ends(&self) {
        let mut state = lock(&self.state);
        let ceases = state.phase == TrackedPhase::Active;
        state.phase = if ceases {
            TrackedPhase::Idle
        } else {
            TrackedPhase::Active
        };
        drop(state);
        if ceases {
            self.clock.cease();
        }
    }
}

impl Wake for Tracker {
    fn wake(self: Arc<Self>) {
        let mut state = lock(&self.state);
        if state.phase == TrackedPhase::Idle {
            // Before another thread can see the task active and end its activity.
            self.clock.begin();
        }
        state.phase = match state.phase {
            TrackedPhase::Idle => TrackedPhase::Active,
            TrackedPhase::Active | TrackedPhase::Again => TrackedPhase::Again,
            TrackedPhase::Gone => TrackedPhase::Gone,
        };
        let waker = state.waker.clone();
        drop(state);
        if let Some(waker) = waker {
            waker.wake_by_ref();
        }
    }
}
