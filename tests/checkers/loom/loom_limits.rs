//! What loom gets wrong, so that a change there is noticed.
//!
//! # A swap and a store
//!
//! A read-modify-write writes directly behind the value it read; no other write
//! comes between (C++20, [atomics.order]). loom knows this for two
//! read-modify-writes, but not for one and a plain store. Take a word that holds
//! 0, which thread A has seen. B swaps 0 for 0; A stores 1. The store comes after
//! the 0 that A saw, and nothing comes between that 0 and B's, so 1 is the last
//! value. loom also lets B's 0 be the last one.
//!
//! This is what happens in [`ws_core::slot`] when a thief swaps an empty slot that
//! the owner, who has seen it empty, fills with a plain store. The models of the
//! slot leave that meeting out; the schedules of shuttle have it.

use loom::sync::Arc;
use loom::sync::atomic::AtomicUsize;
use loom::sync::atomic::Ordering::{AcqRel, Acquire, Release};

use super::model::Bound::Exhaustive;
use super::model::{Body, Expect, Main, Model};

pub(crate) const MODELS: &[Model] = &[Model {
    name: "loom_limits.swap_and_store",
    shows: "a false alarm: loom orders a store before a swap that did not see it",
    flaws: &[],
    bound: Exhaustive,
    expect: Expect::Fails("the store is lost"),
    body: Body::Roles(swap_and_store, [0, 0]),
}];

fn swap_and_store(main: Main) {
    let word = Arc::new(AtomicUsize::new(0));
    let (stored, swapped) = (word.clone(), word.clone());
    let ((), seen) = main.race(
        move || stored.store(1, Release),
        move || swapped.swap(0, AcqRel),
    );
    let last = word.load(Acquire);
    assert!(seen == 1 || last == 1, "the store is lost");
}
