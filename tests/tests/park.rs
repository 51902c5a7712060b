//! Parkers keep the contract, and the conformance suite tells those that do not.
//!
//! The suite runs over [`ThreadParker`], over other correct parkers, and over
//! broken ones, each of which it must reject by the rule that is broken: a suite
//! that rejects nothing checks nothing.

#[path = "park/broken.rs"]
mod broken;
#[path = "park/correct.rs"]
mod correct;
#[path = "park/locked.rs"]
mod locked;

// Only with the futex, and without what adds system calls of its own.
#[cfg(all(
    target_os = "linux",
    target_pointer_width = "64",
    not(any(ws_chaos, ws_tsan))
))]
#[path = "park/system_calls.rs"]
mod system_calls;

use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use ws_core::park::{ThreadUnparker, conformance};
use ws_core::{Park, ThreadParker, Unpark};

#[test]
fn thread_parker_conforms() {
    conformance::check(ThreadParker::new);
}

#[test]
fn boxed_parker_conforms() {
    conformance::check(|| Box::new(ThreadParker::new()));
}

/// More than the contract asks for: no return without a token.
#[test]
fn thread_parker_returns_with_a_token_only() {
    let parker = ThreadParker::new();
    let unparker = parker.unparker();
    let given = Arc::new(AtomicU32::new(0));
    let giver = thread::spawn({
        let given = Arc::clone(&given);
        move || {
            for n in 1..=2_000 {
                given.store(n, Relaxed);
                unparker.unpark();
                while given.load(Acquire) == n {
                    thread::yield_now();
                }
            }
        }
    });
    for n in 1..=2_000 {
        parker.park();
        assert_eq!(given.swap(0, AcqRel), n, "park returned without a token");
    }
    giver.join().unwrap();
}

/// More than the contract asks for: not even a little early.
#[test]
fn thread_parker_sleeps_its_time() {
    let parker = ThreadParker::new();
    for millis in [1, 3, 10] {
        let (start, timeout) = (Instant::now(), Duration::from_millis(millis));
        parker.park_timeout(timeout);
        assert!(start.elapsed() >= timeout, "{:?}", start.elapsed());
    }
}

#[test]
fn thread_parker_can_be_sent_but_not_shared() {
    /// Implemented once for every type and once more for those that are `Sync`,
    /// so that the parameter can be inferred only for those that are not.
    trait NotSync<Marker> {
        fn holds() {}
    }
    struct Shared;
    impl<T> NotSync<()> for T {}
    impl<T: Sync> NotSync<Shared> for T {}

    fn is_send<T: Send>() {}
    fn is_sync<T: Sync + ?Sized>() {}

    is_send::<ThreadParker>();
    <ThreadParker as NotSync<_>>::holds();
    is_send::<ThreadUnparker>();
    is_sync::<ThreadUnparker>();
    is_sync::<dyn Unpark>();
}
