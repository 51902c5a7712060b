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
//! | state | means | which thread may leave it |
//! |---|---|---|
//! | `EMPTY` | no token, and the parking thread is awake | any thread |
//! | `PARKED` | no token, and the parking thread sleeps or is about to | any thread |
//! | `NOTIFIED` | a token | the parking thread alone |
//!
//! The numbers are chosen so that arriving is *one step down* from each state, a single
//! subtraction: 1 becomes 0, and 0 becomes −1. That trick, and the sleep on the state
//! word itself, are those of the parker behind `std::thread::park` in Rust's standard
//! library. Departures: a parker is not tied to one thread; a timed park sleeps again
//! until its time is over, and does not return when the kernel does; the word is behind
//! [`Futex`], so that the model checkers run this same source.
//!
//! # No token is lost
//!
//! Every access that changes the word is a read-modify-write. So all of these accesses
//! are in one order, and each access sees the one before it. Take any
//! [`give`](Token::give) and the state that it found:
//!
//! - `EMPTY`. The token is in the word. Only the parking thread leaves `NOTIFIED`,
//!   and all three ways to leave it end a `park`.
//! - `NOTIFIED`. The same holds for the token with which this token merged. The swap
//!   publishes what its caller did to the thread that takes that token (below).
//! - `PARKED`. The parking thread is somewhere between `arrive` and its next
//!   `take` or `withdraw`. If the thread is not asleep yet, it will not fall asleep: the
//!   futex compares the word with `PARKED` and goes to sleep as one step, and the
//!   word is `NOTIFIED` from now on. If the thread is asleep, the wake that follows the
//!   swap wakes it. If something else has woken the thread, it needs no wake. In each
//!   case the thread comes to `take` or `withdraw`, finds `NOTIFIED`, and returns.
//!
//! A wake may be late: between swap and wake the sleeper can find the token by itself,
//! return, and even sleep again. Then the late wake wakes it without a token: the sleeper
//! finds `PARKED` and sleeps again. The parker may also be dropped by then. The word
//! still exists: each unparker keeps it alive.
//!
//! No token is invented: only `give` writes `NOTIFIED`, and every return without a
//! token was a withdrawal.
//!
//! # Memory ordering
//!
//! | edge | release side | acquire side | makes visible |
//! |---|---|---|---|
//! | `park.token` | `give`: swap to `NOTIFIED` | `arrive`, `take`, `withdraw`: the read-modify-write that finds `NOTIFIED` | what the caller of `unpark` did before, and the callers whose tokens merged with this one |
//!
//! The second half of the last column is the release sequence. A swap that finds
//! `NOTIFIED` continues the sequences of the swaps before it, so one acquire
//! synchronises with all of them. A `give` that first loads the word, and does nothing
//! if it is `NOTIFIED`, would be cheaper and wrong (rule 3 of the contract).
//!
//! `PARKED` orders nothing. It only decides whether a wake is needed, and for that the
//! one order of the word is enough. The futex's own compare needs no more.

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
    /// There was no token. The word is now `PARKED`.
    Parked,
}

/// One token: any thread gives it, one thread takes it.
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
        // ORDERING(park.token): release side. A swap even if the token is there: the
        // swap publishes what this caller did to the thread that takes the token.
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
        // The token comes first: if it is there, the clock is not read.
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

    /// Takes the token if it is there. Returns whether it was there.
    fn take(&self) -> bool {
        chaos::point("park.park.woken");
        // ORDERING(park.token): acquire side. Relaxed on failure: nothing was
        // taken.
        self.word
            .compare_exchange(NOTIFIED, EMPTY, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
    }

    /// Stops waiting. Takes the token if it came at the last moment.
    fn withdraw(&self) {
        chaos::point("park.timeout.over");
        // ORDERING(park.token): acquire side, if the token came. Without it the token
        // would be taken, but its data would not be visible to the caller.
        self.word.swap(EMPTY, Ordering::Acquire);
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // ORDERING: relaxed; a snapshot for readers of the debug output.
        f.write_str(match self.word.load(Ordering::Relaxed) {
            EMPTY => "Empty",
            NOTIFIED => "Notified",
            _ => "Parked",
        })
    }
}
