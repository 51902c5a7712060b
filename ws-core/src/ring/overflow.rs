//! The items that did not fit: a batch that belongs to the caller.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::iter::{Chain, FusedIterator};
use core::option;

/// The items that a full ring hands to the caller of
/// [`push_or_overflow`](super::Owner::push_or_overflow), oldest first.
///
/// The items have left the ring: the caller may hold them for any time, take locks,
/// and push to the same ring again. Dropping the batch drops the items.
///
/// ```
/// let (owner, _) = ws_core::ring::with_capacity::<u32, 4>();
/// assert!(owner.push_batch(0..4).next().is_none());
///
/// let mut elsewhere = Vec::new();
/// if let Err(overflow) = owner.push_or_overflow(4) {
///     assert_eq!(overflow.len(), 3);
///     elsewhere.extend(overflow);
/// }
/// assert_eq!(elsewhere, [2, 3, 4]);
/// ```
#[must_use = "dropping an overflow drops the items in it"]
pub struct Overflow<T> {
    items: Chain<vec::IntoIter<T>, option::IntoIter<T>>,
    len: usize,
}

impl<T> Overflow<T> {
    /// `older` came out of the ring, `item` did not fit in.
    pub(super) fn new(older: Vec<T>, item: T) -> Self {
        Self {
            len: older.len() + 1,
            items: older.into_iter().chain(Some(item)),
        }
    }
}

impl<T> Iterator for Overflow<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let item = self.items.next()?;
        self.len -= 1;
        Some(item)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len, Some(self.len))
    }

    fn fold<B, F: FnMut(B, T) -> B>(self, start: B, each: F) -> B {
        self.items.fold(start, each)
    }
}

impl<T> ExactSizeIterator for Overflow<T> {}
impl<T> FusedIterator for Overflow<T> {}

impl<T> fmt::Debug for Overflow<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Overflow").field("len", &self.len).finish()
    }
}
