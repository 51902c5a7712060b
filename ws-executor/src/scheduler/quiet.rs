//! Waiting until an executor has nothing left to do.
//!
//! Two calls wait for that: `drain`, which then shuts down, and `wait_idle`, which then
//! returns. For both the executor must be *quiet*: every worker is parked, every queue is
//! empty, and no thread is [inside](crate::scheduler::inside) a poll. For `wait_idle`, in addition, no
//! task may wait for something: no entry of the registry is taken. A future that is alive is in
//! a queue, or is being polled, or has an entry. So no task is left then.
//!
//! # The protocol
//!
//! A thread in `wait_idle` ([`Quiet::wait`]):
//! 1. (Q1) counts itself, under the lock;
//! 2. (Q2) fences, and unparks all workers;
//! 3. (Q3) sleeps until the number of quiet moments has grown, or the executor is closed.
//!
//! A worker asks after each step W3 of the [sleep protocol](crate::scheduler::sleep), and after each
//! return of its parker, before it parks again ([`Quiet::is_wanted`], [`Quiet::tell_if`]):
//! 1. (A1) if no thread is counted, that is all: one relaxed load;
//! 2. (A2) takes the lock;
//! 3. (A3) looks whether the executor is quiet. If so, it counts one more moment, and wakes the
//!    waiting threads.
//!
//! # Why no thread returns too early
//!
//! A3 is under the lock, so a moment that ends a wait was seen after the Q1 of that wait. What
//! the waiting thread spawned before is visible to that look, through the lock. The look itself
//! is [`all_parked_while`](crate::scheduler::sleep::Sleepers::all_parked_while): no worker did anything from
//! its first step to its last, so no task left a queue or an entry meanwhile. A3 looks at one
//! queue after the other, but those that it found empty were all empty at the first step.
//!
//! # Why no thread sleeps for ever
//!
//! Consider the last step that made the executor quiet.
//!
//! - A worker entered the wake table. It asks after that. If A1 saw the count, A3 sees the
//!   executor quiet: of two workers that enter at the same time, the one whose fence W3 comes
//!   last sees the other. If A1 did not see the count, this worker has a token of Q2, or gets
//!   it. So its parker returns, and it asks again. The token makes the count visible.
//! - The step was away from the workers: a spare thread ended a poll, the monitor has moved
//!   tasks, or a worker ended. After such a step, the thread fences and looks at the count. If
//!   it sees the count, it unparks all workers, and they ask. Otherwise Q2 comes later, and
//!   unparks them.
//!
//! A look may fail because a worker was taken out of the wake table at that moment, or because
//! a worker that parks still counts as searching. In both cases that worker parks later, and
//! asks after W3.
//!
//! # Memory ordering
//!
//! | edge | release side | acquire side | makes visible |
//! |---|---|---|---|
//! | `quiet.look` | fence at Q2, fence of `look_again_if_wanted` | the same, both ways | the count, or that something has ended |
//! | (the lock) | Q1 | A2 | what was spawned before the wait |

use ws_core::chaos;
use ws_core::sync::atomic::{AtomicUsize, Ordering, fence};
use ws_core::sync::{Condvar, Mutex, MutexGuard};

/// The lowest bit: the executor is draining. Above it, the number of threads that wait.
const DRAINING: usize = 1;
const ONE: usize = 2;

/// The threads that wait until an executor is quiet.
#[derive(Default)]
pub struct Quiet {
    wanted: AtomicUsize,
    /// How often the executor was seen quiet while a thread waited.
    moments: Mutex<u64>,
    changed: Condvar,
}

impl Quiet {
    /// A1: whether a thread waits until the executor is quiet, or a drain does.
    #[inline]
    pub fn is_wanted(&self) -> bool {
        self.wanted.load(Ordering::Relaxed) != 0
    }

    /// Whether the executor must be closed when it is quiet.
    pub fn is_draining(&self) -> bool {
        self.wanted.load(Ordering::Relaxed) & DRAINING != 0
    }

    /// Says that the executor must be closed when it is quiet. The caller must unpark all
    /// workers.
    pub fn drain(&self) {
        self.wanted.fetch_or(DRAINING, Ordering::Relaxed);
        // ORDERING(quiet.look): Q2.
        fence(Ordering::SeqCst);
    }

    /// Waits for a quiet moment, or until `is_over`; `unpark_all` lets the workers look.
    pub fn wait(&self, unpark_all: impl FnOnce(), is_over: impl Fn() -> bool) {
        let seen = {
            let moments = self.lock();
            self.wanted.fetch_add(ONE, Ordering::Relaxed);
            *moments
        };
        chaos::point("quiet.wait.counted");
        // ORDERING(quiet.look): Q2.
        fence(Ordering::SeqCst);
        unpark_all();
        let mut moments = self.lock();
        while *moments == seen && !is_over() {
            moments = self.changed.wait(moments).expect("never poisoned");
        }
        self.wanted.fetch_sub(ONE, Ordering::Relaxed);
    }

    /// A2 and A3: tells the waiting threads, if `is_quiet` says so under the lock.
    pub fn tell_if(&self, is_quiet: impl FnOnce() -> bool) {
        let mut moments = self.lock();
        if is_quiet() {
            *moments += 1;
            self.changed.notify_all();
        }
    }

    /// Lets the waiting threads see that their wait is over. Called after it is.
    pub fn look_at_end(&self) {
        // Under the lock: no thread is between its look and its sleep, and each that has looked
        // is counted.
        let moments = self.lock();
        let is_awaited = self.wanted.load(Ordering::Relaxed) >= ONE;
        drop(moments);
        if is_awaited {
            self.changed.notify_all();
        }
    }

    /// After something has ended away from the workers: whether the workers must look again.
    #[must_use = "the workers must be unparked"]
    pub fn must_look_again(&self) -> bool {
        // ORDERING(quiet.look): a worker that Q2 unparks sees the end, or this sees the count.
        fence(Ordering::SeqCst);
        self.is_wanted()
    }

    fn lock(&self) -> MutexGuard<'_, u64> {
        // No user code runs under the lock, so it is not poisoned.
        self.moments.lock().expect("never poisoned")
    }
}
