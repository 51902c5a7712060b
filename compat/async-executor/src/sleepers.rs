//! Who sleeps, and whom a push must notify.
//!
//! The protocol of `ws_executor`'s module `sleep`, for sleepers that come and go: `run`
//! and `tick` futures, any number of them. Instead of a bitmap there is a locked list of
//! wakers. Only a sleeper that enters or leaves, and a pusher that wakes one, take the
//! lock: a push that has nobody to notify reads two counters.
//!
//! A pusher ([`Sleepers::notify`]):
//! 1. (P1) has published the task in a queue;
//! 2. (P2) fences;
//! 3. (P3) if somebody counts as searching, stops: the searcher is responsible;
//! 4. (P4) if nobody sleeps, stops;
//! 5. (P5) takes a sleeper of another thread out of the list, counts it as searching and
//!    wakes it. Besides, it *calls* a sleeper of its own thread.
//!
//! Somebody who found nothing ([`Seat::park`]):
//! 1. (W1) enters the list;
//! 2. (W2) if it counted as searching, lowers the count;
//! 3. (W3) fences;
//! 4. (W4) looks at every queue once more. If one has a task, it leaves the list, counts
//!    as searching, and searches again.
//!
//! Somebody who counts and finds a task, or gives up ([`Seat::leave`]):
//! 1. (S1) lowers the count; if others are searching still, that is all;
//! 2. (S2) fences;
//! 3. (S3) if any queue has a task, acts as a pusher at P4.
//!
//! # Sleepers of the pusher's own thread
//!
//! Often a pusher is part of a host: its reactor has seen an event, and wakes a task. Such
//! a host polls its `run` next, and no thread has to be woken by the system. But the code
//! that pushes may also wait for the task, and then the thread polls nothing. So a sleeper
//! that was last polled on the pusher's thread is woken, and nobody relies on it: it does
//! not count as searching, and a sleeper of another thread is notified as well. When the
//! called one is polled, it counts and searches; when it is dropped, it acts as at S1.
//!
//! # Why no task is forgotten
//!
//! A poll may block for ever. So the claim is: a task that is in a queue is not forgotten
//! while anybody sleeps, even if whoever is polling something never returns from it.
//!
//! - **P5.** The pusher has woken a searcher, and a searcher looks at every queue, or comes
//!   to S3. If it only called somebody, then all sleepers were of its thread, and the rest
//!   is as for P4.
//! - **P4.** The pusher saw an empty list. A later sleeper fences after P2, or else P4 would
//!   have seen it. So W4 sees the task.
//! - **P3.** The pusher saw a searcher, which lowers the count later, at W2 or at S1. The
//!   last one to do so fences after P2, or else P3 would have seen the lower count. So W4 or
//!   S3 sees the task.
//! - **S3.** One that is notified here searches, and comes to S3 in turn: of many tasks that
//!   relied on one searcher, each has a searcher until nobody sleeps.
//! - **W4.** What it sees may be several tasks, of pushers that all relied on it. It runs
//!   one of them, so it must count again, and come to S3 before that.
//!
//! What follows for those who poll:
//!
//! - Whoever counts as searching runs no code that may block, neither a task nor the future
//!   of a `run`: [`Seat::leave`] comes first.
//! - Tasks that are on their way from one queue to another are in none, and a sleeper may
//!   miss them at W4. Whoever moves more than the one it is going to run is a pusher again,
//!   before it runs that one: a thief with loot, a `run` that has pulled a batch, a `run`
//!   that is dropped and empties its ring.
//! - A task that is pushed quietly, because the `run` polls it next, is announced if the
//!   `run` does something else first: if it polls a task from the injector or its future,
//!   or returns to the host.
//!
//! # Memory ordering
//!
//! | edge | release side | acquire side | makes visible |
//! |---|---|---|---|
//! | `sleepers.fence` | P2, W3, S2 | P2, W3, S2 | the task, the counters; both ways |
//! | (the lock) | unlock | lock | the list, and that a sleeper which left it was counted |
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
    /// How many look for tasks, and are relied on.
    searching: AtomicUsize,
    /// How many wait in the list, as last written under the lock.
    sleeping: AtomicUsize,
    list: Mutex<List>,
}

#[derive(Default)]
struct List {
    waiting: Vec<Sleeper>,
    /// The numbers of those that were called.
    called: Vec<u64>,
    last_number: u64,
}

struct Sleeper {
    number: u64,
    /// The thread that it was last polled on.
    thread: usize,
    waker: Waker,
}

/// What became of a sleeper meanwhile.
#[must_use]
pub(crate) enum Slept {
    /// Nobody has woken it. The waker is the host's, and its drop may panic.
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

    /// As [`notify`](Self::notify), for `count` tasks: as many are notified as there are
    /// tasks, less those that search already.
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

    /// Steps P4 and P5; whether there was anyone.
    pub(crate) fn notify_any(&self) -> bool {
        if self.sleeping.load(Ordering::Relaxed) == 0 {
            return false;
        }
        chaos::point("sleepers.push.looked");
        let wakers = self.take_any();
        chaos::point("sleepers.push.took");
        let is_any = wakers.iter().any(Option::is_some);
        for waker in wakers.into_iter().flatten() {
            // The host's code: if it panics, the pusher is not to blame.
            let woken = panic::catch_unwind(AssertUnwindSafe(|| waker.wake()));
            mem::forget(woken);
        }
        is_any
    }

    /// Calls a sleeper of this thread, and takes one of another thread out of the list. Of
    /// several the one that came last, whose caches are the warmest.
    fn take_any(&self) -> [Option<Waker>; 2] {
        let thread = thread_number();
        self.change(|list| {
            let own = list.take_last(|sleeper| sleeper.thread == thread);
            list.called.extend(own.iter().map(|sleeper| sleeper.number));
            let other = list.take_last(|sleeper| sleeper.thread != thread);
            if other.is_some() {
                // Under the lock: a sleeper that misses itself in the list has been counted.
                self.start_searching();
            }
            [own, other].map(|sleeper| sleeper.map(|sleeper| sleeper.waker))
        })
    }

    /// Counts one more as searching.
    pub(crate) fn start_searching(&self) {
        self.searching.fetch_add(1, Ordering::Relaxed);
    }

    /// Step W2 or S1: counts one less; whether it was the last.
    pub(crate) fn stop_searching(&self) -> bool {
        self.searching.fetch_sub(1, Ordering::Relaxed) == 1
    }

    /// How many sleep, at some moment.
    pub fn sleeping(&self) -> usize {
        self.sleeping.load(Ordering::Relaxed)
    }

    /// How many count as searching, at some moment.
    pub fn searching(&self) -> usize {
        self.searching.load(Ordering::Relaxed)
    }

    /// Step W1, for a sleeper that is polled on this thread; returns its number.
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
        // No user code runs under the lock, so the list is in order whatever happened.
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl List {
    fn take_last(&mut self, is_wanted: impl FnMut(&Sleeper) -> bool) -> Option<Sleeper> {
        let index = self.waiting.iter().rposition(is_wanted)?;
        Some(self.waiting.remove(index))
    }
}
