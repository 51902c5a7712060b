//! Who sleeps, and whom a push must notify.
//!
//! The protocol of `ws_executor`'s module `sleep`, for sleepers that come and go: `run`
//! and `tick` futures, any number of them. Instead of a bitmap there is a locked list of
//! wakers, which only those touch that go to sleep, or wake somebody: a push that has
//! nobody to notify reads two counters. A sleeper that is not in its list any more has
//! been notified.
//!
//! A pusher ([`Sleepers::notify`]):
//! 1. (P1) has published the task in a queue;
//! 2. (P2) fences;
//! 3. (P3) if a notified sleeper is still searching, stops: that one is responsible;
//! 4. (P4) if nobody sleeps, stops;
//! 5. (P5) takes a sleeper out of the list, counts it as searching, wakes it.
//!
//! Who found nothing ([`Seat::park`]):
//! 1. (W1) enters the list;
//! 2. (W2) if it counted as searching, lowers the count;
//! 3. (W3) fences;
//! 4. (W4) looks at every queue once more. If one has a task, it leaves the list and
//!    searches again; if it is not in the list any more, a pusher has counted it.
//!
//! Who was counted and finds a task, or gives up ([`Seat::leave`]):
//! 1. (S1) lowers the count; if others are searching still, that is all;
//! 2. (S2) fences;
//! 3. (S3) if any queue has a task, acts as a pusher at P4.
//!
//! # Why no task is forgotten
//!
//! A pusher that went through P5 has woken somebody who searches, and a search looks at
//! every queue. One that stopped at P4 saw an empty list: whoever enters it later fences
//! after P2, or else P4 would have seen it, so W4 sees the task. One that stopped at P3 saw
//! a searcher, which lowers the count later, at W2 or S1; the last one to do so fences
//! after P2, or else P3 would have seen the lower count, so W4 or S3 sees the task.
//!
//! Tasks that are on their way from one queue to another are in none. Whoever moves more
//! than the one it is going to run is a pusher again.
//!
//! # Memory ordering
//!
//! | edge | release side | acquire side | makes visible |
//! |---|---|---|---|
//! | `sleepers.fence` | P2, W3, S2 | P2, W3, S2 | the task, the counters; both ways |
//! | (the lock) | unlock | lock | the list, and that who left it was counted |

use std::mem;
use std::panic::{self, AssertUnwindSafe};
use std::sync::PoisonError;
use std::task::Waker;

use ws_core::sync::atomic::{AtomicUsize, Ordering, fence};
use ws_core::sync::{Mutex, MutexGuard};

use crate::current;

/// The list of sleepers, and the counters that a push looks at.
pub struct Sleepers {
    /// How many were notified and have not found anything yet, nor gone back to sleep.
    searching: AtomicUsize,
    /// The length of the list, as last written under the lock.
    sleeping: AtomicUsize,
    list: Mutex<List>,
}

#[derive(Default)]
struct List {
    sleepers: Vec<Sleeper>,
    last_number: u64,
}

struct Sleeper {
    number: u64,
    /// The thread that it was last polled on.
    thread: usize,
    waker: Waker,
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
        // ORDERING(sleepers.fence): P2; without it a task and a sleeper may miss each other.
        fence(Ordering::SeqCst);
        if self.searching.load(Ordering::Relaxed) == 0 {
            self.notify_any();
        }
    }

    /// As [`notify`](Self::notify), for `count` tasks: as many are notified as there are
    /// tasks, less those that search already.
    pub(crate) fn notify_many(&self, count: usize) {
        // ORDERING(sleepers.fence): P2.
        fence(Ordering::SeqCst);
        for _ in self.searching.load(Ordering::Relaxed)..count {
            if !self.notify_any() {
                return;
            }
        }
    }

    /// Steps P4 and P5; whether there was anyone.
    fn notify_any(&self) -> bool {
        if self.sleeping.load(Ordering::Relaxed) == 0 {
            return false;
        }
        let Some(waker) = self.take_any() else {
            return false;
        };
        // The host's code: if it panics, whoever pushed is not to blame.
        let woken = panic::catch_unwind(AssertUnwindSafe(|| waker.wake()));
        mem::forget(woken);
        true
    }

    /// Takes a sleeper out of the list: one of this thread, if there is any, because it
    /// runs next what was woken by an event that its host has just seen, and need not be
    /// woken by the system; otherwise the one that came last, whose caches are the warmest.
    fn take_any(&self) -> Option<Waker> {
        let thread = current::thread_number();
        self.change(|list| {
            let here = |sleeper: &Sleeper| sleeper.thread == thread;
            let position = list.iter().rposition(here);
            let index = position.or(list.len().checked_sub(1))?;
            let sleeper = list.remove(index);
            // Under the lock: whoever misses itself in the list has been counted.
            self.searching.fetch_add(1, Ordering::Relaxed);
            Some(sleeper.waker)
        })
    }

    /// How many sleep, at some moment.
    pub fn sleeping(&self) -> usize {
        self.sleeping.load(Ordering::Relaxed)
    }

    /// How many were notified and search still, at some moment.
    pub fn searching(&self) -> usize {
        self.searching.load(Ordering::Relaxed)
    }

    fn enter(&self, waker: Waker) -> u64 {
        let thread = current::thread_number();
        let mut list = self.lock();
        list.last_number += 1;
        let number = list.last_number;
        let sleeper = Sleeper {
            number,
            thread,
            waker,
        };
        list.sleepers.push(sleeper);
        self.sleeping.store(list.sleepers.len(), Ordering::Relaxed);
        number
    }

    /// Has a sleeper be woken by `waker`, on this thread; whether it is still in the list.
    fn renew(&self, number: u64, waker: &Waker) -> bool {
        let thread = current::thread_number();
        let same = |sleeper: &Sleeper| sleeper.thread == thread && sleeper.waker.will_wake(waker);
        let find = |list: &[Sleeper]| list.iter().position(|sleeper| sleeper.number == number);
        let is_same = self.change(|list| find(list).map(|index| same(&list[index])));
        if let None | Some(true) = is_same {
            return is_same.is_some();
        }
        // The host's code: cloned and dropped outside the lock.
        let mut waker = waker.clone();
        self.change(|list| {
            let Some(index) = find(list) else {
                return false;
            };
            list[index].thread = thread;
            mem::swap(&mut list[index].waker, &mut waker);
            true
        })
    }

    /// Takes a sleeper out of the list; whether it was still there.
    fn remove(&self, number: u64) -> bool {
        let removed = self.change(|list| {
            let index = list.iter().position(|sleeper| sleeper.number == number)?;
            Some(list.remove(index))
        });
        removed.is_some()
    }

    fn change<R>(&self, change: impl FnOnce(&mut Vec<Sleeper>) -> R) -> R {
        let mut list = self.lock();
        let result = change(&mut list.sleepers);
        self.sleeping.store(list.sleepers.len(), Ordering::Relaxed);
        result
    }

    fn lock(&self) -> MutexGuard<'_, List> {
        // No user code runs under the lock, so the list is in order whatever happened.
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The part of one `run` or `tick` in the protocol.
///
/// Dropping it hands a notification on, if there is one.
pub struct Seat<'s, Q: Queues> {
    queues: &'s Q,
    place: Place,
}

/// What sleepers look at before they sleep.
pub trait Queues {
    /// Those who sleep on these queues.
    fn sleepers(&self) -> &Sleepers;

    /// Whether there is a task in any queue, at some moment.
    fn has_work(&self) -> bool;
}

enum Place {
    /// Looks for tasks, or runs one, of its own accord.
    Awake,
    /// Is in the list under this number, or was taken out of it and counted.
    Listed(u64),
    /// Was notified, and counts as searching.
    Searching,
}

/// What becomes of somebody who found nothing.
#[must_use = "who is not asleep has to search again"]
#[derive(Debug, PartialEq, Eq)]
pub enum Parked {
    /// It will be woken.
    Asleep,
    /// There is work after all.
    Awake,
}

impl<'s, Q: Queues> Seat<'s, Q> {
    /// Somebody who is awake.
    pub fn new(queues: &'s Q) -> Self {
        Self {
            queues,
            place: Place::Awake,
        }
    }

    /// At the beginning of a poll: whether the sleep goes on. A host polls for reasons of
    /// its own, too, and on any thread.
    pub fn wake_up(&mut self, waker: &Waker) -> Parked {
        let Place::Listed(number) = self.place else {
            return Parked::Awake;
        };
        if !self.queues.has_work() && self.queues.sleepers().renew(number, waker) {
            return Parked::Asleep;
        }
        self.rise(number)
    }

    /// Steps W1 to W4, after a search that found nothing.
    pub fn park(&mut self, waker: &Waker) -> Parked {
        let sleepers = self.queues.sleepers();
        let number = sleepers.enter(waker.clone());
        if let Place::Searching = mem::replace(&mut self.place, Place::Listed(number)) {
            sleepers.searching.fetch_sub(1, Ordering::Relaxed);
        }
        // ORDERING(sleepers.fence): W3.
        fence(Ordering::SeqCst);
        if self.queues.has_work() {
            self.rise(number)
        } else {
            Parked::Asleep
        }
    }

    /// The end of W4, or of the sleep.
    fn rise(&mut self, number: u64) -> Parked {
        // Before the waker is dropped, which may panic: then it was still in the list.
        self.place = Place::Awake;
        if !self.queues.sleepers().remove(number) {
            self.place = Place::Searching;
        }
        Parked::Awake
    }

    /// Before the caller runs code that may push: it is not asleep, so others are to be
    /// notified, and not itself.
    pub fn rise_if_listed(&mut self) {
        if let Place::Listed(number) = self.place {
            let _ = self.rise(number);
        }
    }

    /// Steps S1 to S3, and out of the list: with a task in hand, or for good.
    pub fn leave(&mut self) {
        let sleepers = self.queues.sleepers();
        let counted = match mem::replace(&mut self.place, Place::Awake) {
            Place::Awake => false,
            Place::Listed(number) => !sleepers.remove(number),
            Place::Searching => true,
        };
        if !counted || sleepers.searching.fetch_sub(1, Ordering::Relaxed) != 1 {
            return;
        }
        // ORDERING(sleepers.fence): S2.
        fence(Ordering::SeqCst);
        if self.queues.has_work() {
            sleepers.notify_any();
        }
    }
}

impl<Q: Queues> Drop for Seat<'_, Q> {
    fn drop(&mut self) {
        self.leave();
    }
}
