//! Order within a key: `key = expr`.
//!
//! Items reach a node in any order. Each item *registers* at the node, in the order of the
//! items' numbers: an early item waits until all items before it have registered or have ended.
//! A registered item joins the queue of its key. The first item of a queue is in the node; the
//! others follow, one at a time.
//!
//! A key is known by its hash. Two keys with the same hash wait for each other; that is rare,
//! and does no harm. So no user code runs under the lock.
//! as rare as it is harmless, and no code of the user's runs under the lock.

use std::collections::hash_map::{Entry, RandomState};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt;
use std::future::poll_fn;
use std::hash::{BuildHasher, Hash};
use std::task::{Poll, Waker};

use ws_core::sync::Mutex;

use crate::base::panics::ignore_panic;
use crate::graph::lock;

/// The gate of a node with a key.
pub(super) struct KeyGate {
    hasher: RandomState,
    state: Mutex<KeyState>,
}

#[derive(Default)]
struct KeyState {
    /// All items before this one have registered.
    next: u64,
    /// The items that came before their turn, with their keys.
    early: BTreeMap<u64, u64>,
    /// The items that ended before their turn, as ranges from the first to after the last.
    /// Between two ranges an item is in flight, so there are no more ranges than such items.
    ended: BTreeMap<u64, u64>,
    /// The items of each key, in order. The first one is in the node.
    queues: HashMap<u64, VecDeque<u64>>,
    /// The wakers of items that wait.
    wakers: HashMap<u64, Waker>,
}

impl KeyState {
    /// Registers items as long as the next one is there. Adds the wakers of those whose turn it
    /// is.
    fn advance(&mut self, woken: &mut Vec<Waker>) {
        loop {
            if let Some(key) = self.early.remove(&self.next) {
                let queue = self.queues.entry(key).or_default();
                queue.push_back(self.next);
                if queue.len() == 1 {
                    woken.extend(self.wakers.remove(&self.next));
                }
                self.next += 1;
            } else if let Some(end) = self.ended.remove(&self.next) {
                self.next = end;
            } else {
                return;
            }
        }
    }

    fn has_ended(&self, number: u64) -> bool {
        let range = self.ended.range(..=number).next_back();
        range.is_some_and(|(_, &end)| number < end)
    }

    /// Notes that an item ended before it registered.
    fn end(&mut self, number: u64) {
        self.early.remove(&number);
        if number == self.next {
            self.next += 1;
        } else if !self.has_ended(number) {
            let end = self.ended.remove(&(number + 1)).unwrap_or(number + 1);
            match self.ended.range_mut(..number).next_back() {
                Some((_, last)) if *last == number => *last = end,
                _ => drop(self.ended.insert(number, end)),
            }
        }
    }

    fn is_turn_of(&self, number: u64, key: u64) -> bool {
        self.queues
            .get(&key)
            .is_some_and(|queue| queue.front() == Some(&number))
    }

    /// Takes a registered item out of the queue of its key.
    fn leave(&mut self, number: u64, key: u64, woken: &mut Vec<Waker>) {
        let Entry::Occupied(mut queue) = self.queues.entry(key) else {
            return;
        };
        let was_first = queue.get().front() == Some(&number);
        if was_first {
            queue.get_mut().pop_front(); // Does not search the whole queue.
        } else {
            queue.get_mut().retain(|&other| other != number);
        }
        match queue.get().front() {
            Some(first) if was_first => woken.extend(self.wakers.remove(first)),
            Some(_) => {}
            None => drop(queue.remove()),
        }
    }
}

impl KeyGate {
    pub(super) fn new() -> Self {
        Self {
            hasher: RandomState::new(),
            state: Mutex::new(KeyState::default()),
        }
    }

    pub(super) fn hash(&self, key: &(impl Hash + ?Sized)) -> u64 {
        self.hasher.hash_one(key)
    }

    /// Registers an item, and waits for its turn.
    pub(super) async fn turn(&self, number: u64, key: u64) -> Turn<'_> {
        self.change(|state, woken| {
            if number >= state.next && !state.has_ended(number) {
                state.early.insert(number, key);
                state.advance(woken);
            } else {
                // The number was used before and has ended, so it has no place in the order.
                state.queues.entry(key).or_default().push_back(number);
            }
        });
        let turn = Turn {
            gate: self,
            number,
            key,
        };
        poll_fn(|cx| {
            let waker = cx.waker().clone(); // Foreign code: not under the lock.
            let mut state = lock(&self.state);
            let (turn, old) = if state.is_turn_of(number, key) {
                (Poll::Ready(()), state.wakers.remove(&number))
            } else {
                (Poll::Pending, state.wakers.insert(number, waker))
            };
            drop(state);
            drop(old);
            turn
        })
        .await;
        turn
    }

    /// The number of items that wait for their turn.
    pub(super) fn waiting(&self) -> usize {
        lock(&self.state).wakers.len()
    }

    /// Notes that an item has ended. If it has not registered, the items after it no longer
    /// wait for it.
    pub(super) fn passed(&self, number: u64) {
        self.change(|state, woken| {
            if number >= state.next {
                state.end(number);
                state.advance(woken);
            }
        });
    }

    fn change(&self, change: impl FnOnce(&mut KeyState, &mut Vec<Waker>)) {
        let mut woken = Vec::new();
        change(&mut lock(&self.state), &mut woken);
        for waker in woken {
            ignore_panic(|| waker.wake()); // Foreign code: not under the lock.
        }
    }
}

/// The turn of an item, from its registration on. Dropping it gives the turn to the next item
/// of the key.
#[must_use]
pub struct Turn<'a> {
    gate: &'a KeyGate,
    number: u64,
    key: u64,
}

impl fmt::Debug for Turn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Turn({})", self.number)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut own = None;
        self.gate.change(|state, woken| {
            own = state.wakers.remove(&self.number);
            if state.early.contains_key(&self.number) {
                state.end(self.number);
            } else {
                state.leave(self.number, self.key, woken);
            }
        });
        drop(own);
    }
}

#[cfg(test)]
mod tests {
    use super::KeyGate;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
        future.poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn items_of_a_key_go_by_number_and_other_keys_do_not_wait() {
        let gate = KeyGate::new();
        let (mut two, mut one) = (pin!(gate.turn(2, 7)), pin!(gate.turn(1, 7)));
        assert!(poll(two.as_mut()).is_pending(), "0 and 1 may have its key");
        assert!(poll(one.as_mut()).is_pending());
        gate.passed(0);
        let Poll::Ready(first) = poll(one.as_mut()) else {
            panic!("0 has ended")
        };
        assert!(poll(two.as_mut()).is_pending());
        assert!(poll(pin!(gate.turn(3, 8))).is_ready(), "another key");
        drop(first);
        assert!(poll(two.as_mut()).is_ready());
    }

    #[test]
    fn an_item_that_is_cancelled_holds_nobody_up() {
        let gate = KeyGate::new();
        let mut early = Box::pin(gate.turn(1, 7));
        let mut later = pin!(gate.turn(2, 7));
        assert!(poll(early.as_mut()).is_pending() && poll(later.as_mut()).is_pending());
        drop(early); // Before it could register.
        let Poll::Ready(first) = poll(pin!(gate.turn(0, 7))) else {
            panic!("the first of all")
        };
        let mut waits = Box::pin(gate.turn(3, 7));
        let mut last = pin!(gate.turn(4, 7));
        assert!(poll(waits.as_mut()).is_pending() && poll(last.as_mut()).is_pending());
        drop(waits); // registered
        gate.passed(3);
        drop(first);
        assert!(poll(last.as_mut()).is_pending());
        assert!(poll(later.as_mut()).is_ready());
        assert!(poll(last.as_mut()).is_ready());
        let state = gate.state.lock().unwrap();
        assert!(state.early.is_empty() && state.wakers.is_empty() && state.next == 5);
        assert!(state.ended.is_empty());
    }

    #[test]
    fn those_that_ended_early_are_ranges() {
        let gate = KeyGate::new();
        for number in [9, 2, 4, 3, 7, 3, 8] {
            gate.passed(number);
        }
        let ranges = || Vec::from_iter(gate.state.lock().unwrap().ended.clone());
        assert_eq!(ranges(), [(2, 5), (7, 10)]);
        gate.passed(0);
        gate.passed(1);
        assert_eq!(ranges(), [(7, 10)]);
        gate.passed(6);
        assert_eq!(ranges(), [(6, 10)]);
        gate.passed(5);
        assert_eq!((ranges(), gate.state.lock().unwrap().next), (vec![], 10));
    }
}
