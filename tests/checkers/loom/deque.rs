//! What the models of small LIFO deques share: the interface, and the scenarios.
//!
//! The deques hold bare numbers in atomic words. Where the printed code uses a plain cell,
//! an atomic one stands in for it, so that a model fails by the flaw of the
//! protocol that it is about and not by the data race beside it.

use loom::sync::Arc;
use ws_core::Steal;

use super::items::{self, Ledger};
use super::model::{Main, beat};

/// A slot without an item.
pub(crate) const VACANT: usize = usize::MAX;

/// A deque small enough to be read beside the paper it follows.
pub(crate) trait Deque: Send + Sync + 'static {
    /// An empty deque for `capacity` items.
    fn new(capacity: usize) -> Self;
    /// Owner: adds an item, or gives it back.
    fn push(&self, id: usize) -> Result<(), usize>;
    /// Owner: takes the newest item.
    fn pop(&self) -> Option<usize>;
    /// Thief: takes the oldest item.
    fn steal(&self) -> Steal<usize>;
    /// Thief: takes up to two of the oldest items.
    fn steal_two(&self) -> Vec<usize> {
        let first = self.steal().success();
        first.into_iter().chain(self.steal().success()).collect()
    }
}

/// Makes item `id` and pushes it; an item that comes back is gone.
pub(crate) fn push(deque: &impl Deque, id: usize) {
    items::made(id);
    if let Err(id) = deque.push(id) {
        items::gone(id);
    }
}

/// Pops one item.
pub(crate) fn pop(deque: &impl Deque) {
    deque.pop().into_iter().for_each(items::gone);
}

/// Tries once to steal one item.
pub(crate) fn steal(deque: &impl Deque) {
    deque.steal().success().into_iter().for_each(items::gone);
}

fn filled<D: Deque>(capacity: usize, count: usize) -> Arc<D> {
    let deque = Arc::new(D::new(capacity));
    (1..=count).for_each(|id| push(&*deque, id));
    deque
}

/// Takes what is left, alone, and checks that every item was seen once.
fn close<D: Deque>(ledger: Ledger, deque: &D) {
    while let Some(id) = deque.pop() {
        items::gone(id);
    }
    ledger.close();
}

/// Owner: push 1, pop // thief: steal.
pub(crate) fn last_item<D: Deque>(main: Main) {
    let ledger = Ledger::open();
    let deque = filled::<D>(2, 0);
    let (owner, thief) = (deque.clone(), deque.clone());
    main.race(
        move || {
            push(&*owner, 1);
            beat();
            pop(&*owner);
        },
        move || steal(&*thief),
    );
    close(ledger, &*deque);
}

/// Items 1 and 2; thief: steal // thief: steal.
pub(crate) fn two_thieves_on_two_items<D: Deque>() {
    let ledger = Ledger::open();
    let deque = filled::<D>(2, 2);
    let (one, other) = (deque.clone(), deque.clone());
    Main::Owner.race(move || steal(&*one), move || steal(&*other));
    close(ledger, &*deque);
}

/// Items 1 and 2; owner: pop // thief: steal // thief: steal.
pub(crate) fn pop_against_two_thieves<D: Deque>(main: Main) {
    let ledger = Ledger::open();
    let deque = filled::<D>(2, 2);
    let (owner, one, other) = (deque.clone(), deque.clone(), deque.clone());
    main.race_two(
        move || pop(&*owner),
        move || steal(&*one),
        move || steal(&*other),
    );
    close(ledger, &*deque);
}

/// Items 1 and 2; owner: pop // thief: steal, steal.
pub(crate) fn pop_against_two_steals<D: Deque>(main: Main) {
    let ledger = Ledger::open();
    let deque = filled::<D>(2, 2);
    let (owner, thief) = (deque.clone(), deque.clone());
    main.race(
        move || pop(&*owner),
        move || {
            steal(&*thief);
            beat();
            steal(&*thief);
        },
    );
    close(ledger, &*deque);
}

/// Capacity 2, full; owner: push // thief: steal.
pub(crate) fn push_into_full<D: Deque>(main: Main) {
    let ledger = Ledger::open();
    let deque = filled::<D>(2, 2);
    let (owner, thief) = (deque.clone(), deque.clone());
    main.race(move || push(&*owner, 3), move || steal(&*thief));
    close(ledger, &*deque);
}

/// Capacity 2; push 3. No second thread is needed.
pub(crate) fn past_capacity<D: Deque>() {
    let ledger = Ledger::open();
    let deque = filled::<D>(2, 3);
    close(ledger, &*deque);
}

/// Items 1 to 4; owner: pop, pop, pop // thief: take two.
pub(crate) fn pops_against_batch<D: Deque>(main: Main) {
    let ledger = Ledger::open();
    let deque = filled::<D>(4, 4);
    let (owner, thief) = (deque.clone(), deque.clone());
    main.race(
        move || (0..3).for_each(|_| pop(&*owner)),
        move || thief.steal_two().into_iter().for_each(items::gone),
    );
    close(ledger, &*deque);
}

/// A pop on a deque that never held anything, then ordinary use.
pub(crate) fn pop_on_new<D: Deque>() {
    let ledger = Ledger::open();
    let deque = filled::<D>(2, 0);
    assert_eq!(deque.pop(), None, "an empty deque gave an item");
    push(&*deque, 1);
    close(ledger, &*deque);
}

/// Two threads that both call themselves the owner, each: push, pop.
pub(crate) fn two_owners<D: Deque>() {
    let ledger = Ledger::open();
    let deque = filled::<D>(4, 0);
    let (one, other) = (deque.clone(), deque.clone());
    let call_in = |deque: Arc<D>, id| {
        move || {
            push(&*deque, id);
            beat();
            pop(&*deque);
        }
    };
    Main::Owner.race(call_in(one, 1), call_in(other, 2));
    close(ledger, &*deque);
}
