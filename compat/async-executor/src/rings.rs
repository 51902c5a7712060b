//! The rings of all `run`s, to steal from.
//!
//! A `run` adds its ring at its first poll and removes it when it is dropped, after it has
//! emptied it. The ring of one that is leaked stays, and is stolen from as any other.

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

/// No ring has this number.
pub(crate) const NONE: u64 = 0;

impl Rings {
    /// Adds a ring, and says under which number.
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
        // It may be the last half of the ring, and the ring is empty.
        drop(removed);
    }

    pub(crate) fn len(&self) -> usize {
        self.read().rings.len()
    }

    /// Whether there is no task in any ring, at some moment.
    pub(crate) fn are_empty(&self) -> bool {
        self.read().rings.iter().all(|(_, ring)| ring.is_empty())
    }

    /// How many tasks there are in each ring.
    pub(crate) fn lengths(&self) -> Vec<usize> {
        self.read().rings.iter().map(|(_, r)| r.len()).collect()
    }

    /// Steals from one ring other than `mine`, beginning anywhere. `Retry` if there was
    /// nothing, but somebody was in the way.
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

    // No user code runs under the lock, so the list is in order whatever happened.

    fn read(&self) -> RwLockReadGuard<'_, RingList> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, RingList> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}
