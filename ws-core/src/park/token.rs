//! The token between a parker and its unparkers: three states in one word.
//!
//! ```text
//!            give                        arrive
//!   EMPTY ----------> NOTIFIED   NOTIFIED ----------> EMPTY    the token is taken
//!   PARKED ---------> NOTIFIED   EMPTY -------------> PARKED   there is none: sleep
//!   NOTIFIED -------> NOTIFIED
//!   and wakes the sleeper        take
//!   if it found PARKED           NOTIFIED ----------> EMPTY    else left as it is
//!                                withdraw
//!                                NOTIFIED, PARKED --> EMPTY    the time is over
//! ```
//!
//! | state | means | who may leave it |
//! |---|---|---|
//! | `EMPTY` | no token, and the parking thread is awake | anyone |
//! | `PARKED` | no token, and the parking thread sleeps or is about to | anyone |
//! | `NOTIFIED` | a token | the parking thread alone |
//!
//! The numbers are chosen so that arriving is *one step down* whichever state it
//! meets, a single subtraction: 1 becomes 0, and 0 becomes −1. That trick, and
//! sleeping on the state word itself, are those of the parker behind
//! `std::thread::park` in Rust's standard library. Departures: one parker is not
//! tied to one thread, a timed park sleeps on until its time is over instead of
//! returning when the kernel does, and the word lies behind [`Futex`], so that
//! this very source is what the model checkers run.
//!
//! # No token is lost
//!
//! Every access that changes the word is a read-modify-write, so all of them stand
//! in one order, and each sees the one before it. Take any [`give`](Token::give)
//! and what it found:
//!
//! - `EMPTY`. The token is in the word. Only the parking thread leaves `NOTIFIED`,
//!   and all three ways to do so end a `park`.
//! - `NOTIFIED`. The same holds for the token it melted into; the swap publishes
//!   what its caller did to whoever takes that one (below).
//! - `PARKED`. The parking thread is somewhere between `arrive` and its next
//!   `take` or `withdraw`. If it is not asleep yet, it will not fall asleep: the
//!   futex compares the word with `PARKED` and goes to sleep as one step, and the
//!   word is `NOTIFIED` from now on. If it is asleep, the wake that follows the
//!   swap wakes it. If it has been woken by something else, it needs no wake. In
//!   each case it comes to `take` or `withdraw`, finds `NOTIFIED`, and returns.
//!
//! A wake may be late: between swap and wake the sleeper can find the token by
//! itself, return, and even sleep again. Then it is woken for nothing, finds
//! `PARKED`, and goes back to sleep. And the parker may be gone, but the word is
//! not: each unparker keeps it alive.
//!
//! No token is invented either: nothing but `give` writes `NOTIFIED`, and every
//! return without one was a withdrawal.
//!
//! # Memory ordering
//!
//! | edge | release side | acquire side | makes visible |
//! |---|---|---|---|
//! | `park.token` | `give`: swap to `NOTIFIED` | `arrive`, `take`, `withdraw`: the read-modify-write that finds `NOTIFIED` | what the caller of `unpark` did before, and those whose tokens melted into this one |
//!
//! The second half of the last column is the release sequence: a swap that finds
//! `NOTIFIED` continues the sequences of the swaps before it, so one acquire meets
//! them all. A `give` that looked first and left a `NOTIFIED` word alone would be
//! cheaper and wrong (rule 3 of the contract).
//!
//! `PARKED` orders nothing. It only decides whether a wake is needed, and that is
//! settled by the one order of the word; the futex's own compare needs no more.

use core::fmt;
use core::time::Duration;

use super::deadline::Deadline;
use super::futex::Futex;
use crate::chaos;
use crate::sync::atomic::Ordering;

const PARKED: u32 = u32::MAX; // one below `EMPTY`
const EMPTY: u32 = 0;
const NOTIFIED: u32 = 1;

/// How the parking thread found the word.
#[must_use = "a thread that has announced itself must sleep or withdraw"]
enum Arrival {
    /// There was a token, and it is taken.
    Token,
    /// There was none; the word says `PARKED`.
    Parked,
}

/// One token, given by many and taken by one.
pub(super) struct Token {
    word: Futex,
}

impl Token {
    /// No token.
    pub(super) fn new() -> Self {
        Self {
            word: Futex::new(EMPTY),
        }
    }

    /// Gives the token and wakes the sleeper, if there is one.
    pub(super) fn give(&self) {
        // ORDERING(park.token): release side. A swap even if the token is there:
        // it publishes what this caller did to the thread that takes it.
        let found = self.word.swap(NOTIFIED, Ordering::Release);
        chaos::point("park.unpark.given");
        if found == PARKED {
            self.word.wake_one();
        }
    }

    /// Waits for the token as long as it takes.
    pub(super) fn wait(&self) {
        match self.arrive() {
            Arrival::Token => {}
            Arrival::Parked => self.sleep(),
        }
    }

    /// Waits for the token, but not much longer than `timeout`.
    pub(super) fn wait_timeout(&self, timeout: Duration) {
        if timeout.is_zero() {
            self.take();
            return;
        }
        // The token first and the clock second: with a token no clock is read.
        match self.arrive() {
            Arrival::Token => {}
            Arrival::Parked => match Deadline::after(timeout) {
                Some(deadline) => self.sleep_until(deadline),
                None => self.sleep(),
            },
        }
    }

    /// One step down: takes the token, or announces that this thread will sleep.
    fn arrive(&self) -> Arrival {
        // ORDERING(park.token): acquire side, if the token is there.
        let found = self.word.fetch_sub(1, Ordering::Acquire);
        chaos::point("park.park.arrived");
        match found {
            NOTIFIED => Arrival::Token,
            _ => Arrival::Parked,
        }
    }

    /// Sleeps until the token is taken.
    fn sleep(&self) {
        loop {
            self.word.wait(PARKED);
            if self.take() {
                return;
            }
        }
    }

    /// Sleeps until the token is taken or the time is over.
    fn sleep_until(&self, deadline: Deadline) {
        while let Some(left) = deadline.left() {
            self.word.wait_timeout(PARKED, left);
            if self.take() {
                return;
            }
        }
        self.withdraw();
    }

    /// Takes the token if it is there; says whether it was.
    fn take(&self) -> bool {
        chaos::point("park.park.woken");
        // ORDERING(park.token): acquire side. Relaxed on failure: nothing was
        // taken.
        self.word
            .compare_exchange(NOTIFIED, EMPTY, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
    }

    /// Stops waiting; takes the token if it came at the last moment.
    fn withdraw(&self) {
        chaos::point("park.timeout.over");
        // ORDERING(park.token): acquire side, if the token came. Without it the
        // token is gone, and the caller does not see what it was given for.
        self.word.swap(EMPTY, Ordering::Acquire);
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // ORDERING: relaxed; a snapshot for people.
        f.write_str(match self.word.load(Ordering::Relaxed) {
            EMPTY => "Empty",
            NOTIFIED => "Notified",
            _ => "Parked",
        })
    }
}
