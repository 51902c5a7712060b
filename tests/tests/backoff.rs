//! `Backoff`: short pauses first, sleeps at last, and back again on reset. The
//! exact sequence of pauses is a unit test in `ws-core/src/backoff.rs`.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use ws_core::Backoff;

/// Snoozes until the next pause would be a sleep, and counts the pauses.
fn exhaust(backoff: &mut Backoff) -> u32 {
    let mut snoozes = 0;
    while !backoff.is_sleeping() {
        assert!(snoozes < 100, "expected the short pauses to end");
        backoff.snooze();
        snoozes += 1;
    }
    snoozes
}

#[test]
fn short_pauses_come_first_and_again_after_a_reset() {
    let mut backoff = Backoff::default();
    let first = exhaust(&mut backoff);
    assert!(first > 0);
    backoff.snooze();
    assert!(backoff.is_sleeping(), "sleeps go on until a reset");

    backoff.reset();
    assert_eq!(exhaust(&mut backoff), first);
}

// A sleep lasts at least what was asked for, however busy the machine is, so
// only lower bounds are safe to assert.
#[test]
fn sleeps_double_up_to_the_cap() {
    let cap = Duration::from_micros(1500);
    let mut backoff = Backoff::with_cap(cap);
    exhaust(&mut backoff);
    for exponent in 0..13 {
        let nap = Duration::from_micros(1 << exponent).min(cap);
        let start = Instant::now();
        backoff.snooze();
        let slept = start.elapsed();
        assert!(slept >= nap, "expected at least {nap:?}, slept {slept:?}");
    }
}

#[test]
fn a_copy_goes_its_own_way() {
    let mut backoff = Backoff::new();
    exhaust(&mut backoff);
    let mut copy = backoff.clone();
    backoff.reset();
    assert!(copy.is_sleeping());
    assert!(!backoff.is_sleeping());
    copy.snooze();
}

// What it is for: two threads that take turns without a way to wake each other.
#[test]
fn threads_that_cannot_park_take_turns() {
    const TURNS: u32 = 100;
    let turn = AtomicU32::new(0);
    let play = |parity: u32| {
        let mut backoff = Backoff::with_cap(Duration::from_micros(100));
        for mine in (parity..TURNS).step_by(2) {
            while turn.load(Ordering::Acquire) != mine {
                backoff.snooze();
            }
            backoff.reset();
            turn.store(mine + 1, Ordering::Release);
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| play(0));
        scope.spawn(|| play(1));
    });
    assert_eq!(turn.into_inner(), TURNS);
}
