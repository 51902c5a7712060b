//! Which `run`s sleep, and which of them a push must notify.
//!
//! The protocol is that of `ws_executor`'s module `sleep`, for sleepers that come and go: `run`
//! and `tick` futures, any number of them. What is said of a `run` below holds for a `tick`,
//! too. Instead of a bitmap there is a locked list of wakers. Only a sleeper that enters or
//! leaves the list, and a pusher that wakes a sleeper, take the lock. A push that has no
//! sleeper to notify reads two counters.
//!
//! A pusher ([`Sleepers::notify`]):
//! 1. (P1) has published the task in a queue;
//! 2. (P2) fences;
//! 3. (P3) if a `run` counts as searching, stops: that searcher is responsible;
//! 4. (P4) if no `run` sleeps, stops;
//! 5. (P5) takes a sleeper of another thread out of the list, counts it as searching and
//!    wakes it. Besides, the pusher *calls* a sleeper of its own thread.
//!
//! A `run` that found no task ([`Seat::park`]):
//! 1. (W1) enters the list;
//! 2. (W2) if it counted as searching, lowers the count;
//! 3. (W3) fences;
//! 4. (W4) looks at every queue once more. If one has a task, the `run` leaves the list,
//!    counts as searching, and searches again.
//!
//! A searcher that finds a task, or that is dropped ([`Seat::leave`]):
//! 1. (S1) lowers the count; if others still search, that is all;
//! 2. (S2) fences;
//! 3. (S3) if any queue has a task, acts as a pusher at P4.
//!
//! # Sleepers of the pusher's own thread
//!
//! A *host* is the code that polls a `run`. Often a pusher is part of a host: the host's
//! reactor has seen an event, and wakes a task. Such a host polls its `run` next, and the
//! system need not wake a thread. But the code that pushes may also wait for the task, and
//! then the thread polls nothing. So the pusher wakes a sleeper that was last polled on its
//! own thread, and no pusher relies on this sleeper: it does not count as searching, and a
//! sleeper of another thread is notified as well. If the called sleeper is polled, it counts
//! as searching, and searches. If it is dropped, it counts, and acts as at S1.
//!
//! # Why no task is forgotten
//!
//! A poll may block for ever. So the claim is: a task in a queue is not forgotten while a
//! `run` sleeps, even if no other `run` ever returns from the poll that it is in.
//!
//! - **P5.** The pusher has woken a searcher. A searcher looks at every queue, or comes to
//!   S3. If the pusher only called a sleeper, all sleepers were of its own thread, and the
//!   rest is as for P4.
//! - **P4.** The pusher saw an empty list. A later sleeper fences after P2, or else P4 would
//!   have seen it. So W4 sees the task.
//! - **P3.** The pusher saw a searcher, which lowers the count later, at W2 or at S1. The
//!   last searcher that lowers the count fences after P2, or else P3 would have seen the
//!   lower count. So W4 or S3 sees the task.
//! - **S3.** A sleeper that is notified here searches, and comes to S3 in turn. So if many
//!   tasks relied on one searcher, each of them has a searcher until no `run` sleeps.
//! - **W4.** The `run` may see several tasks, of pushers that all relied on it. It runs one
//!   of them, so it must count as searching again, and come to S3 before it runs the task.
//!
//! It follows for a `run`:
//!
//! - A searcher must not run code that may block, neither a task nor the future of a `run`:
//!   [`Seat::leave`] must come first.
//! - A task that is moved from one queue to another is in no queue meanwhile, and a sleeper
//!   may miss it at W4. A `run` that moves more tasks than the one it runs next must act as a
//!   pusher, before it runs that task. There are three cases: a thief that has stolen several
//!   tasks, a `run` that has pulled a batch, and a `run` that is dropped and empties its ring.
//! - A task that yields may be pushed without a notification, because the `run` polls it
//!   next. The `run` must announce the task if it does something else first: if it polls a
//!   task from the injector, or its future, or returns to the host.
//!
//! # Memory ordering
//!
//! | edge | release side | acquire side | makes visible |
//! |---|---|---|---|
//! | `sleepers.fence` | P2, W3, S2 | P2, W3, S2 | the task, the counters; both ways |
//! | (the lock) | unlock | lock | the list, and that a sleeper which was taken out was counted |
//!
//! [`Seat::park`]: crate::seat::Seat::park
//! [`Seat::leave`]: crate::seat::Seat::leave

use std::mem;
use std::panic::{self, AssertUnwindSafe};
use std::sync::PoisonError;
use std::task::Waker;

use ws_core::chaos;
use ws_core::sync::atomic::{AtomicUsize, Ordering, fence};
use ws_core::sync::{Mutex, MutexGuard};

use crate::thread_number::thread_number;

/// The list of sleepers, and the counters that a push looks at.
pub struct Sleepers {
    /// How many `run`s search for tasks, so that pushers rely on them.
    searching: AtomicUsize,
    /// How many sleepers are in the list, as last written under the lock.
    sleeping: AtomicUsize,
    list: Mutex<List>,
}

#[derive(Default)]
struct List {
    waiting: Vec<Sleeper>,
    /// The numbers of the sleepers that were called.
    called: Vec<u64>,
    last_number: u64,
}

struct Sleeper {
    number: u64,
    /// The thread on which the sleeper was last polled.
    thread: usize,
    waker: Waker,
}

/// What happened to a sleeper meanwhile.
#[must_use]
pub(crate) enum Slept {
    /// No pusher has woken it. The waker is the host's, and its drop may panic.
    Undisturbed(#[allow(dead_code, reason = "only to be dropped")] Waker),
    /// A pusher on its thread has called it.
    Called,
    /// A pusher has notified it, and has counted it as searching.
    Notified,
}

impl Default for Sleepers {
    fn default() -> Self {
        Self {
            searching: AtomicUsize::new(0),
            sleeping: AtomicUsize::new(0),
            list: Mutex::new(List::default()),
        }
    }
}

impl Sleepers {
    /// Steps P2 to P5.
    #[inline]
    pub fn notify(&self) {
        chaos::point("sleepers.push.published");
        // ORDERING(sleepers.fence): P2; without it a task and a sleeper may miss each other.
        fence(Ordering::SeqCst);
        if self.searching.load(Ordering::Relaxed) == 0 {
            self.notify_any();
        }
    }

    /// As [`notify`](Self::notify), for `count` tasks: notifies as many sleepers as there are
    /// tasks, less the `run`s that already search.
    pub(crate) fn notify_many(&self, count: usize) {
        chaos::point("sleepers.push.published");
        // ORDERING(sleepers.fence): P2.
        fence(Ordering::SeqCst);
        for _ in self.searching.load(Ordering::Relaxed)..count {
            if !self.notify_any() {
                return;
            }
        }
    }

    /// Steps P4 and P5. Returns whether there was a sleeper.
    pub(crate) fn notify_any(&self) -> bool {
        if self.sleeping.load(Ordering::Relaxed) == 0 {
            return false;
        }
        chaos::point("sleepers.push.looked");
        let wakers = self.take_any();
        chaos::point("sleepers.push.took");
        let is_any = wakers.iter().any(Option::is_some);
        for waker in wakers.into_iter().flatten() {
            // A waker is the host's code. Its panic must not unwind through the pusher.
            let woken = panic::catch_unwind(AssertUnwindSafe(|| waker.wake()));
            mem::forget(woken);
        }
        is_any
    }

    /// Calls a sleeper of this thread, and takes a sleeper of another thread out of the list.
    /// In both cases it is the sleeper that came last, because its caches are the warmest.
    fn take_any(&self) -> [Option<Waker>; 2] {
        let thread = thread_number();
        self.change(|list| {
            let own = list.take_last(|sleeper| sleeper.thread == thread);
            list.called.extend(own.iter().map(|sleeper| sleeper.number));
            let other = list.take_last(|sleeper| sleeper.thread != thread);
            if other.is_some() {
                // Under the lock: a sleeper that is no longer in the list, and was not
                // called, has been counted.
                self.start_searching();
            }
            [own, other].map(|sleeper| sleeper.map(|sleeper| sleeper.waker))
        })
    }

    /// Counts one more searcher.
    pub(crate) fn start_searching(&self) {
        self.searching.fetch_add(1, Ordering::Relaxed);
    }

    /// Step W2 or S1: counts one searcher less. Returns whether it was the last.
    pub(crate) fn stop_searching(&self) -> bool {
        self.searching.fetch_sub(1, Ordering::Relaxed) == 1
    }

    /// How many `run`s sleep, at some moment.
    pub fn sleeping(&self) -> usize {
        self.sleeping.load(Ordering::Relaxed)
    }

    /// How many `run`s count as searching, at some moment.
    pub fn searching(&self) -> usize {
        self.searching.load(Ordering::Relaxed)
    }

    /// Step W1, for a sleeper that is polled on this thread. Returns its number.
    pub(crate) fn enter(&self, waker: Waker) -> u64 {
        let thread = thread_number();
        self.change(|list| {
            list.last_number += 1;
            let number = list.last_number;
            list.waiting.push(Sleeper {
                number,
                thread,
                waker,
            });
            number
        })
    }

    /// Takes a sleeper out of the list.
    pub(crate) fn remove(&self, number: u64) -> Slept {
        self.change(|list| {
            if let Some(sleeper) = list.take_last(|sleeper| sleeper.number == number) {
                return Slept::Undisturbed(sleeper.waker);
            }
            match list.called.iter().position(|called| *called == number) {
                Some(index) => {
                    list.called.swap_remove(index);
                    Slept::Called
                }
                None => Slept::Notified,
            }
        })
    }

    fn change<R>(&self, change: impl FnOnce(&mut List) -> R) -> R {
        let mut list = self.lock();
        let result = change(&mut list);
        self.sleeping.store(list.waiting.len(), Ordering::Relaxed);
        result
    }

    fn lock(&self) -> MutexGuard<'_, List> {
        // No user code runs under the lock, so the list is consistent whatever happened.
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl List {
    fn take_last(&mut self, is_wanted: impl FnMut(&Sleeper) -> bool) -> Option<Sleeper> {
        let index = self.waiting.iter().rposition(is_wanted)?;
        Some(self.waiting.remove(index))
    }
}
