//! The part of one `run` or `tick` in the sleep protocol (`sleepers.rs`).

use std::mem;
use std::task::Waker;

use ws_core::chaos;
use ws_core::sync::atomic::{Ordering, fence};

use crate::sleepers::{Sleepers, Slept};

/// The place of one `run` or `tick` among the sleepers of its executor.
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
    /// Counts as searching.
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

    /// Ends the sleep, at the beginning of a poll. A host polls for reasons of its own, too.
    pub fn wake_up(&mut self) {
        drop(self.leave_list());
    }

    /// Whether others rely on it to search.
    pub fn is_searching(&self) -> bool {
        matches!(self.place, Place::Searching)
    }

    /// Steps W1 to W4, after a search that found nothing.
    pub fn park(&mut self, waker: &Waker) -> Parked {
        let sleepers = self.queues.sleepers();
        chaos::point("sleepers.park.searched");
        let number = sleepers.enter(waker.clone());
        chaos::point("sleepers.park.entered");
        if let Place::Searching = mem::replace(&mut self.place, Place::Listed(number)) {
            sleepers.stop_searching();
        }
        // ORDERING(sleepers.fence): W3.
        fence(Ordering::SeqCst);
        chaos::point("sleepers.park.fenced");
        if !self.queues.has_work() {
            return Parked::Asleep;
        }
        // Dropped last: its drop may panic, and others rely on this one.
        let _waker = self.leave_list();
        chaos::point("sleepers.park.left");
        self.start_searching();
        Parked::Awake
    }

    /// Steps S1 to S3, and out of the list: with a task in hand, or for good.
    pub fn leave(&mut self) {
        // Dropped last, as in `park`.
        let _waker = self.leave_list();
        let Place::Searching = mem::replace(&mut self.place, Place::Awake) else {
            return;
        };
        let sleepers = self.queues.sleepers();
        if !sleepers.stop_searching() {
            return;
        }
        chaos::point("sleepers.leave.last");
        // ORDERING(sleepers.fence): S2.
        fence(Ordering::SeqCst);
        if self.queues.has_work() {
            sleepers.notify_any();
        }
    }

    /// Out of the list. Counts as searching if somebody has woken it.
    fn leave_list(&mut self) -> Option<Slept> {
        let Place::Listed(number) = self.place else {
            return None;
        };
        let slept = self.queues.sleepers().remove(number);
        self.place = match slept {
            Slept::Notified => Place::Searching,
            Slept::Called | Slept::Undisturbed(_) => Place::Awake,
        };
        if let Slept::Called = slept {
            self.start_searching();
        }
        Some(slept)
    }

    fn start_searching(&mut self) {
        if !self.is_searching() {
            self.queues.sleepers().start_searching();
            self.place = Place::Searching;
        }
    }
}

impl<Q: Queues> Drop for Seat<'_, Q> {
    fn drop(&mut self) {
        self.leave();
    }
}
