//! The rings of all `run`s, to steal from.
//!
//! A `run` adds its ring at its first poll. When the `run` is dropped, it empties its ring
//! and then removes it. The ring of a `run` that is leaked stays, and thieves steal from it
//! as from any other ring.

use std::sync::PoisonError;

use async_task::Runnable;
use ws_core::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use ws_core::{Steal, ring};

#[derive(Default)]
pub(crate) struct Rings(RwLock<RingList>);

#[derive(Default)]
struct RingList {
    rings: Vec<(u64, ring::Stealer<Runnable>)>,
    last_number: u64,
}

/// A number that no ring has.
pub(crate) const NONE: u64 = 0;

impl Rings {
    /// Adds a ring and returns its number.
    pub(crate) fn add(&self, stealer: ring::Stealer<Runnable>) -> u64 {
        let mut list = self.write();
        list.last_number += 1;
        let number = list.last_number;
        list.rings.push((number, stealer));
        number
    }

    pub(crate) fn remove(&self, number: u64) {
        let removed = {
            let mut list = self.write();
            let position = list.rings.iter().position(|(other, _)| *other == number);
            position.map(|index| list.rings.swap_remove(index))
        };
        // This may be the last half of the ring. The ring is empty, so no task is dropped.
        drop(removed);
    }

    pub(crate) fn len(&self) -> usize {
        self.read().rings.len()
    }

    /// Whether every ring is empty, each at some moment during the call.
    pub(crate) fn are_empty(&self) -> bool {
        self.read().rings.iter().all(|(_, ring)| ring.is_empty())
    }

    /// How many tasks there are in each ring.
    pub(crate) fn lengths(&self) -> Vec<usize> {
        self.read().rings.iter().map(|(_, r)| r.len()).collect()
    }

    /// Steals from one ring other than `mine`, beginning at the ring that `start` selects.
    /// Returns `Retry` if no steal succeeded and another thread was in the way.
    pub(crate) fn steal(
        &self,
        start: usize,
        mine: u64,
        mut steal: impl FnMut(&ring::Stealer<Runnable>) -> Steal<Runnable>,
    ) -> Steal<Runnable> {
        let list = self.read();
        let (before, after) = list.rings.split_at(start % list.rings.len().max(1));
        let mut result = Steal::Empty;
        for (_, ring) in after.iter().chain(before).filter(|(n, _)| *n != mine) {
            match steal(ring) {
                Steal::Empty => {}
                Steal::Retry => result = Steal::Retry,
                success => return success,
            }
        }
        result
    }

    // No user code runs under the lock, so the list is consistent whatever happened.

    fn read(&self) -> RwLockReadGuard<'_, RingList> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, RingList> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}
