//! Items that tell when they are dropped.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts the items made, and the drops of each.
#[derive(Clone, Debug, Default)]
pub struct Drops(Arc<Vec<AtomicUsize>>);

/// An item that counts its drop; with `panics` set its drop panics, too.
#[derive(Debug)]
pub struct Item {
    drops: Drops,
    /// Which item it is.
    pub number: usize,
    /// Whether its drop panics.
    pub panics: bool,
}

impl Drops {
    /// A counter for the items `0..items`.
    pub fn of(items: usize) -> Self {
        Self(Arc::new((0..items).map(|_| AtomicUsize::new(0)).collect()))
    }

    /// Makes item `number`.
    pub fn item(&self, number: usize) -> Item {
        self.make(number, false)
    }

    /// Makes item `number`, whose drop panics.
    pub fn panicking(&self, number: usize) -> Item {
        self.make(number, true)
    }

    fn make(&self, number: usize, panics: bool) -> Item {
        Item {
            drops: self.clone(),
            number,
            panics,
        }
    }

    /// How often item `number` was dropped.
    pub fn count(&self, number: usize) -> usize {
        self.0[number].load(Ordering::SeqCst)
    }

    /// Checks that every item was dropped exactly once.
    ///
    /// # Panics
    ///
    /// If one was not.
    pub fn assert_each_once(&self) {
        for number in 0..self.0.len() {
            assert_eq!(self.count(number), 1, "drops of item {number}");
        }
    }
}

impl Drop for Item {
    fn drop(&mut self) {
        self.drops.0[self.number].fetch_add(1, Ordering::SeqCst);
        if self.panics && !std::thread::panicking() {
            panic!("item {} panics in its drop", self.number);
        }
    }
}
