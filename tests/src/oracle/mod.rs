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
use std::fmt::Debug;
use std::rc::Rc;

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
