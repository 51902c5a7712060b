//! What a model is: a body, a bound, a floor and an expectation.
//!
//! A scenario with two roles is explored twice, once with each role on the
//! model's main thread. loom keeps only the last access per atomic for its
//! reduction, so that a real bug may pass in one assignment and show in the
//! other.

use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread::{self, JoinHandle};

/// One scenario and what exploring it must show.
pub(crate) struct Model {
    /// `structure.scenario`; a role is appended when the body has roles.
    pub(crate) name: &'static str,
    /// What it shows, in one line.
    pub(crate) shows: &'static str,
    /// The rows of the table of flaws it reproduces, empty for none.
    pub(crate) flaws: &'static [u8],
    /// How many pre-emptions an interleaving may have.
    pub(crate) bound: Bound,
    /// What the exploration must end with.
    pub(crate) expect: Expect,
    /// The scenario, run once per interleaving.
    pub(crate) body: Body,
}

/// How far the exploration goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    /// Every interleaving with at most this many pre-emptions.
    Preemptions(usize),
    /// Every interleaving.
    Exhaustive,
}

/// What the exploration must end with.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Expect {
    /// The whole space is explored and nothing fails.
    Holds,
    /// Some interleaving fails, and says this. A model that must fail shows
    /// that its passing sibling checks something.
    Fails(&'static str),
}

/// The scenario and, per assignment of roles, the floor: about the number of
/// interleavings that were counted when the model was recorded. Fewer mean that
/// the threads of the model no longer meet.
pub(crate) enum Body {
    /// A scenario whose threads are alike, or that has only one.
    Once(fn(), u64),
    /// A scenario explored in both assignments; floors for the owner and for
    /// the thief on the main thread.
    Roles(fn(Main), [u64; 2]),
}

/// Which role runs on the model's main thread.
///
/// In the models of queues the roles are owner and thief; in those of sleep
/// protocols the owner is the one who sleeps and the thief the one who wakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Main {
    Owner,
    Thief,
}

impl Main {
    /// Runs both roles at once and returns what each returned. Each begins and
    /// ends with a [`beat`].
    pub(crate) fn race<A: 'static, B: 'static>(
        self,
        owner: impl FnOnce() -> A + Send + 'static,
        thief: impl FnOnce() -> B + Send + 'static,
    ) -> (A, B) {
        let (owner, thief) = (on_beat(owner), on_beat(thief));
        match self {
            Main::Owner => {
                let thief = thread::spawn(thief);
                (owner(), joined(thief))
            }
            Main::Thief => {
                let owner = thread::spawn(owner);
                let stolen = thief();
                (joined(owner), stolen)
            }
        }
    }

    /// Runs an owner and two thieves at once.
    pub(crate) fn race_two<A: 'static, B: 'static, C: 'static>(
        self,
        owner: impl FnOnce() -> A + Send + 'static,
        thief: impl FnOnce() -> B + Send + 'static,
        other: impl FnOnce() -> C + Send + 'static,
    ) -> (A, B, C) {
        let (owner, thief, other) = (on_beat(owner), on_beat(thief), on_beat(other));
        match self {
            Main::Owner => {
                let thief = thread::spawn(thief);
                let other = thread::spawn(other);
                (owner(), joined(thief), joined(other))
            }
            Main::Thief => {
                let owner = thread::spawn(owner);
                let other = thread::spawn(other);
                let stolen = thief();
                (joined(owner), stolen, joined(other))
            }
        }
    }
}

loom::lazy_static! {
    static ref BEAT: AtomicUsize = AtomicUsize::new(0);
}

/// A moment at which loom considers every other thread.
///
/// loom switches threads where two of them touch the same object, and looks back
/// only as far as the last access. Of an owner that pushes and then pops, a thief
/// that ran first is thus only moved behind the pop, never between the two. A
/// beat on both sides is an access that brings loom there. Relaxed, so that it
/// orders nothing.
pub(crate) fn beat() {
    BEAT.fetch_add(1, Ordering::Relaxed);
}

fn on_beat<T>(role: impl FnOnce() -> T) -> impl FnOnce() -> T {
    || {
        beat();
        let result = role();
        beat();
        result
    }
}

fn joined<T>(thread: JoinHandle<T>) -> T {
    thread.join().expect("a thread of the model panicked")
}
