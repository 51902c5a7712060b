//! The part of one `run` or `tick` in the sleep protocol (`sleepers.rs`).

use std::mem;
use std::task::Waker;

use ws_core::chaos;
use ws_core::sync::atomic::{Ordering, fence};

use crate::sleepers::{Sleepers, Slept};

/// The part of one `run` or `tick` in the sleep protocol of its executor.
///
/// If the seat has a notification when it is dropped, the drop passes it on to another
/// sleeper.
pub struct Seat<'s, Q: Queues> {
    queues: &'s Q,
    place: Place,
}

/// The queues that a `run` checks before it sleeps.
pub trait Queues {
    /// The `run`s that sleep until one of these queues has a task.
    fn sleepers(&self) -> &Sleepers;

    /// Whether there is a task in any queue, at some moment.
    fn has_work(&self) -> bool;
}

enum Place {
    /// Searches for tasks or runs one, and does not count as searching.
    Awake,
    /// Is in the list under this number, or was taken out of it: called, or counted.
    Listed(u64),
    /// Counts as searching.
    Searching,
}

/// The outcome of [`Seat::park`].
#[must_use = "a `run` that is not asleep must search again"]
#[derive(Debug, PartialEq, Eq)]
pub enum Parked {
    /// The `run` sleeps. A push wakes it.
    Asleep,
    /// A queue has a task after all, and the `run` must search again.
    Awake,
}

impl<'s, Q: Queues> Seat<'s, Q> {
    /// A seat for a `run` that is awake.
    pub fn new(queues: &'s Q) -> Self {
        Self {
            queues,
            place: Place::Awake,
        }
    }

    /// Ends the sleep, at the beginning of a poll. The host may also poll a `run` that no
    /// pusher has woken.
    pub fn wake_up(&mut self) {
        drop(self.leave_list());
    }

    /// Whether it counts as searching, so that pushers rely on it.
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
        // Dropped last: the drop of the host's waker may panic, and this `run` must count as
        // searching before that.
        let _waker = self.leave_list();
        chaos::point("sleepers.park.left");
        self.start_searching();
        Parked::Awake
    }

    /// Takes this `run` out of the list, then steps S1 to S3: before it runs a task, or when
    /// it ends.
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

    /// Takes this `run` out of the list. Counts it as searching if a pusher has woken it.
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
