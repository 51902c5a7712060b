//! The parker of threads: tokens race with parks, with other tokens and with time.
//!
//! The owner parks, the thief unparks. A token that is lost is a park that never
//! returns, which loom reports as a deadlock. A token too many is a park that
//! returns too early: `ThreadParker` promises that every return of `park` is by a
//! token, so a model parks once and then relies on what the token was given for.
//!
//! What the parker sleeps on is the imitation of a futex by loom's mutex and
//! condition variable. In a model the time of a timed park is over as soon as it
//! has announced itself, so a timed park without a token returns.

use std::time::Duration;

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::AtomicBool;
use loom::sync::atomic::Ordering::Relaxed;
use loom::thread;
use ws_core::{Park, ThreadParker, Unpark};

use super::model::Bound::{Exhaustive, Preemptions};
use super::model::{Body, Expect, Main, Model};

pub(crate) const MODELS: &[Model] = &[
    Model {
        name: "park.token_before_park",
        shows: "a token given before park ends it, from the same thread and from another",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Once(token_before_park, 1),
    },
    Model {
        name: "park.unpark_races_park",
        shows: "a token ends the park it races with, and no token is left of it",
        flaws: &[17],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(unpark_races_park, [750, 340]),
    },
    Model {
        name: "park.unpark_publishes",
        shows: "what was written before unpark is read after park",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(unpark_publishes, [1_600, 1_250]),
    },
    Model {
        name: "park.two_unparkers_one_token",
        shows: "two unparks at once give one token or two parks, never two tokens",
        flaws: &[],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(two_unparkers_one_token, [4_100, 1_650]),
    },
    Model {
        name: "park.melted_token_publishes",
        shows: "an unpark that finds a token still publishes what it was called for",
        flaws: &[],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(melted_token_publishes, [22_000, 15_000]),
    },
    Model {
        name: "park.unpark_races_timeout",
        shows: "a token that comes with the time-out is taken with what it publishes, or kept",
        flaws: &[15],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(unpark_races_timeout, [11_000, 9_000]),
    },
    Model {
        name: "park.timeout_leaves_nothing",
        shows: "after a time-out without a token, a park sleeps and is woken as ever",
        flaws: &[15],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(timeout_leaves_nothing, [1_600, 1_250]),
    },
    Model {
        name: "park.unparker_outlives_parker",
        shows: "an unpark beside and after the end of the parker does nothing",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(unparker_outlives_parker, [640, 680]),
    },
    Model {
        name: "park.moved_parker",
        shows: "a parker sleeps on one thread after another",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(moved_parker, [17_000, 13_000]),
    },
    Model {
        name: "park.ping_pong",
        shows: "two threads hand over to each other twice; late wakes do no harm",
        flaws: &[],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(ping_pong, [2_400, 1_800]),
    },
];

/// Longer than nothing; how long does not matter in a model.
const A_WHILE: Duration = Duration::from_secs(1);

/// Content that only its token makes readable.
struct Letter(UnsafeCell<bool>);

// SAFETY: whether the letter is written before it is read is what loom checks.
unsafe impl Sync for Letter {}

impl Letter {
    fn new() -> Arc<Self> {
        Arc::new(Self(UnsafeCell::new(false)))
    }

    fn write(&self) {
        self.0.with_mut(|letter| {
            // SAFETY: checked by loom.
            unsafe { letter.write(true) }
        });
    }

    fn is_written(&self) -> bool {
        self.0.with(|letter| {
            // SAFETY: checked by loom.
            unsafe { letter.read() }
        })
    }
}

pub(crate) fn token_before_park() {
    let parker = ThreadParker::new();
    let unparker = parker.unparker();
    unparker.unpark();
    parker.park();
    let other = thread::spawn(move || unparker.unpark());
    other.join().unwrap();
    parker.park();
}

pub(crate) fn unpark_races_park(main: Main) {
    let parker = ThreadParker::new();
    let unparker = parker.unparker();
    let (parker, unparker) = main.race(
        move || {
            parker.park();
            parker
        },
        move || {
            unparker.unpark();
            unparker
        },
    );
    // No token is left: the next park returns by the next token only.
    let letter = Letter::new();
    let read = letter.clone();
    main.race(
        move || {
            parker.park();
            assert!(read.is_written(), "a park returned without a token");
        },
        move || {
            letter.write();
            unparker.unpark();
        },
    );
}

pub(crate) fn unpark_publishes(main: Main) {
    let parker = ThreadParker::new();
    let unparker = parker.unparker();
    let letter = Letter::new();
    let read = letter.clone();
    main.race(
        move || {
            parker.park();
            assert!(read.is_written(), "a park returned without a token");
        },
        move || {
            letter.write();
            unparker.unpark();
        },
    );
}

pub(crate) fn two_unparkers_one_token(main: Main) {
    let parker = ThreadParker::new();
    let (one, two) = (parker.unparker(), parker.unparker());
    let last = parker.unparker();
    let (parker, (), ()) = main.race_two(
        move || {
            parker.park();
            parker
        },
        move || one.unpark(),
        move || two.unpark(),
    );
    // Both tokens are given. One was taken; the other melted into it, or is here
    // and taken by a zero timeout. Nothing is left then.
    parker.park_timeout(Duration::ZERO);
    assert_eq!(format!("{parker:?}"), "ThreadParker { state: Empty }");
    last.unpark();
    parker.park();
}

pub(crate) fn melted_token_publishes(main: Main) {
    let parker = ThreadParker::new();
    let (one, two) = (parker.unparker(), parker.unparker());
    let news = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
    let (first, second) = (news.clone(), news.clone());
    main.race_two(
        move || {
            // Relaxed, so that seeing the news is the merit of the tokens. A
            // token that is taken without its news leaves this parked for ever.
            while news.iter().any(|news| !news.load(Relaxed)) {
                parker.park();
            }
        },
        move || {
            first[0].store(true, Relaxed);
            one.unpark();
        },
        move || {
            second[1].store(true, Relaxed);
            two.unpark();
        },
    );
}

pub(crate) fn unpark_races_timeout(main: Main) {
    let parker = ThreadParker::new();
    let unparker = parker.unparker();
    let news = Arc::new(AtomicBool::new(false));
    let seen = news.clone();
    main.race(
        move || {
            parker.park_timeout(A_WHILE);
            // Either the token is taken and the news is seen, or it comes.
            if !seen.load(Relaxed) {
                parker.park();
            }
        },
        move || {
            news.store(true, Relaxed);
            unparker.unpark();
        },
    );
}

pub(crate) fn timeout_leaves_nothing(main: Main) {
    let parker = ThreadParker::new();
    let unparker = parker.unparker();
    parker.park_timeout(A_WHILE);
    parker.park_timeout(Duration::ZERO);
    let letter = Letter::new();
    let read = letter.clone();
    main.race(
        move || {
            parker.park();
            assert!(read.is_written(), "a park returned without a token");
        },
        move || {
            letter.write();
            unparker.unpark();
        },
    );
}

pub(crate) fn unparker_outlives_parker(main: Main) {
    let parker = ThreadParker::new();
    let unparker = parker.unparker();
    main.race(
        move || {
            // Announced, withdrawn and gone, beside the swap and the wake.
            parker.park_timeout(A_WHILE);
            drop(parker);
        },
        move || {
            unparker.unpark();
            unparker.clone().unpark();
        },
    );
}

pub(crate) fn moved_parker(main: Main) {
    let parker = ThreadParker::new();
    let unparker = parker.unparker();
    // Given here and taken there, asleep or not.
    let elsewhere = thread::spawn(move || {
        parker.park();
        parker
    });
    unparker.unpark();
    let parker = elsewhere.join().unwrap();
    // Asleep on one more thread.
    let letter = Letter::new();
    let read = letter.clone();
    main.race(
        move || {
            parker.park();
            assert!(read.is_written(), "a park returned without a token");
        },
        move || {
            letter.write();
            unparker.unpark();
        },
    );
}

pub(crate) fn ping_pong(main: Main) {
    let (here, there) = (ThreadParker::new(), ThreadParker::new());
    let (to_here, to_there) = (here.unparker(), there.unparker());
    let letters = [Letter::new(), Letter::new()];
    let answers = letters.clone();
    main.race(
        move || {
            for letter in letters {
                here.park();
                assert!(letter.is_written(), "a park returned without a token");
                to_there.unpark();
            }
        },
        move || {
            for letter in answers {
                letter.write();
                to_here.unpark();
                there.park();
            }
        },
    );
}
