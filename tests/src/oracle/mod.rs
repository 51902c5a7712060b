//! The queues against a `VecDeque`, on one thread.
//!
//! A check reads a byte string as a sequence of operations on a few queues and
//! does the same to a `VecDeque` each. On one thread the outcome of every
//! operation is determined, so the two must agree on everything that can be seen.
//!
//! The bytes come from the property tests (`tests/oracle.rs`), which shrink them,
//! and from the fuzzer (`fuzz/`), which follows the coverage.

pub mod chase_lev;
pub mod ring;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt::Debug;
use std::rc::Rc;

use ws_core::Steal;

/// Who still exists: every item is made once and dropped once.
#[derive(Clone, Default)]
struct Ledger(Rc<RefCell<Vec<bool>>>);

impl Ledger {
    /// Makes the next item.
    fn item<P: Default>(&self) -> Item<P> {
        let mut alive = self.0.borrow_mut();
        alive.push(true);
        Item {
            id: alive.len() as u32 - 1,
            on_heap: Box::default(),
            padding: P::default(),
            ledger: self.clone(),
        }
    }

    /// Whether the item of this number exists.
    fn is_alive(&self, id: u32) -> bool {
        self.0.borrow()[id as usize]
    }

    /// How many items exist.
    fn alive(&self) -> usize {
        self.0.borrow().iter().filter(|&&alive| alive).count()
    }
}

/// An item that owns memory, so that the sanitizer sees a second drop as well,
/// and has a size of the target's choice.
struct Item<P> {
    /// Its number.
    id: u32,
    on_heap: Box<u8>,
    padding: P,
    ledger: Ledger,
}

impl<P> Drop for Item<P> {
    fn drop(&mut self) {
        assert_eq!(*self.on_heap, 0);
        let was_alive = std::mem::replace(&mut self.ledger.0.borrow_mut()[self.id as usize], false);
        assert!(was_alive, "item {} is dropped twice", self.id);
    }
}

/// What the items of a run carry along.
trait Padding: Copy + Default + PartialEq + Debug + 'static {}
impl<P: Copy + Default + PartialEq + Debug + 'static> Padding for P {}

impl<P: Padding> Item<P> {
    /// Its number, when it has been looked at.
    fn checked(&self) -> u32 {
        assert_eq!(self.padding, P::default());
        assert!(
            self.ledger.is_alive(self.id),
            "item {} is used after its drop",
            self.id
        );
        self.id
    }
}

/// A queue's halves, as far as they still exist, and its contents.
struct Halves<O, S> {
    owner: Option<O>,
    stealers: Vec<S>,
    oracle: VecDeque<u32>,
}

impl<O, S: Clone> Halves<O, S> {
    /// An empty queue.
    fn new((owner, stealer): (O, S)) -> Self {
        Self {
            owner: Some(owner),
            stealers: vec![stealer],
            oracle: VecDeque::new(),
        }
    }

    fn is_gone(&self) -> bool {
        self.owner.is_none() && self.stealers.is_empty()
    }

    /// Makes a stealer, out of the owner with `make` or out of another stealer.
    fn one_more_stealer(&mut self, make: impl FnOnce(&O) -> S) {
        let stealer = match (&self.owner, self.stealers.last()) {
            (Some(owner), _) => make(owner),
            (None, Some(stealer)) => stealer.clone(),
            (None, None) => return,
        };
        self.stealers.push(stealer);
        self.stealers.truncate(3);
    }

    fn drop_stealer(&mut self, ledger: &Ledger) {
        self.stealers.pop();
        self.bury_if_gone(ledger);
    }

    fn drop_owner(&mut self, ledger: &Ledger) {
        self.owner = None;
        self.bury_if_gone(ledger);
    }

    /// The last half has taken the items with it.
    fn bury_if_gone(&mut self, ledger: &Ledger) {
        if self.is_gone() {
            let survivor = self.oracle.drain(..).find(|&id| ledger.is_alive(id));
            assert_eq!(survivor, None, "an item outlives its queue");
        }
    }
}

/// What a thief got. On one thread no one can be in its way.
fn stolen<P: Padding>(outcome: Steal<Item<P>>) -> Option<u32> {
    assert!(!outcome.is_retry(), "a thief without rivals is turned away");
    outcome.success().map(|item| item.checked())
}

/// The bytes, one choice after the other.
struct Choices<'a>(std::slice::Iter<'a, u8>);

impl<'a> Choices<'a> {
    /// Reads `data` from its start.
    fn new(data: &'a [u8]) -> Self {
        Self(data.iter())
    }

    /// The next byte, if there is one.
    fn next_byte(&mut self) -> Option<u8> {
        self.0.next().copied()
    }

    /// A number below `n`; 0 when the bytes have ended.
    fn below(&mut self, n: usize) -> usize {
        self.next_byte().unwrap_or(0) as usize % n
    }
}
