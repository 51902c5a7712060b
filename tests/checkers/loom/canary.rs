//! Models that must fail, so that a run in which nothing can fail is noticed.
//!
//! Each has a sibling with the one edge put back, which must hold.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::Ordering::{self, Acquire, Relaxed, Release, SeqCst};
use loom::sync::atomic::{AtomicBool, fence};

use super::model::Bound::Exhaustive;
use super::model::{Body, Expect, Main, Model};

pub(crate) const MODELS: &[Model] = &[
    Model {
        name: "canary.message_passing.relaxed",
        shows: "a relaxed flag publishes nothing",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Fails("Causality violation"),
        body: Body::Roles(message_passing_relaxed, [0, 0]),
    },
    Model {
        name: "canary.message_passing",
        shows: "a release store publishes to the acquire load that sees it",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(message_passing, [190, 170]),
    },
    Model {
        name: "canary.store_buffering.no_fence",
        shows: "release and acquire leave room for a store buffer",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Fails("neither side saw the other"),
        body: Body::Roles(store_buffering_no_fence, [0, 0]),
    },
    Model {
        name: "canary.store_buffering",
        shows: "a fence on both sides closes the store-load race",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(store_buffering, [420, 420]),
    },
];

struct Message {
    text: UnsafeCell<u32>,
    sent: AtomicBool,
}

// SAFETY: whether the text is only touched in turns is what the model checks.
unsafe impl Sync for Message {}

fn message_passing_relaxed(main: Main) {
    pass_message(main, Relaxed, Relaxed);
}

fn message_passing(main: Main) {
    pass_message(main, Release, Acquire);
}

fn pass_message(main: Main, send: Ordering, receive: Ordering) {
    let message = Arc::new(Message {
        text: UnsafeCell::new(0),
        sent: AtomicBool::new(false),
    });
    let received = message.clone();
    main.race(
        move || {
            message.text.with_mut(|text| {
                // SAFETY: checked by loom.
                unsafe { text.write(7) }
            });
            message.sent.store(true, send);
        },
        move || {
            if received.sent.load(receive) {
                let text = received.text.with(|text| {
                    // SAFETY: checked by loom.
                    unsafe { text.read() }
                });
                assert_eq!(text, 7);
            }
        },
    );
}

fn store_buffering_no_fence(main: Main) {
    let (saw, seen) = buffer_stores(main, || {});
    assert!(saw || seen, "neither side saw the other");
}

fn store_buffering(main: Main) {
    let (saw, seen) = buffer_stores(main, || fence(SeqCst));
    assert!(saw || seen, "neither side saw the other");
}

fn buffer_stores(main: Main, between: fn()) -> (bool, bool) {
    let flags = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
    let other = flags.clone();
    main.race(
        move || {
            flags[0].store(true, Release);
            between();
            flags[1].load(Acquire)
        },
        move || {
            other[1].store(true, Release);
            between();
            other[0].load(Acquire)
        },
    )
}
