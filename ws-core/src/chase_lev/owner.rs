//! The owner's half of a deque.

use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use core::panic::{RefUnwindSafe, UnwindSafe};

use super::buffer::Buffer;
use super::race::{Even, Race};
use super::shared::Deque;
use crate::chaos;
use crate::sync::Arc;
use crate::sync::atomic::Ordering;

/// The half that pushes and pops. It belongs to one thread at a time.
///
/// It may move to another thread. It can be neither shared nor cloned:
///
/// ```compile_fail,E0277
/// fn shared<T: Sync>(_: T) {}
/// shared(ws_core::chase_lev::new::<u8>().0);
/// ```
///
/// ```compile_fail,E0599
/// let (owner, _) = ws_core::chase_lev::new::<u8>();
/// let second = owner.clone();
/// ```
///
/// If the owner is dropped, the items stay for the stealers. The drop of the last half
/// drops the items that are left.
pub struct Owner<T, R = Even> {
    pub(super) deque: Arc<Deque<T>>,
    /// The same as the shared bottom, which only this half writes.
    bottom: Cell<i64>,
    /// The shared top as last seen: never ahead of the shared top.
    top: Cell<i64>,
    /// The same as the shared buffer, which only this half writes.
    buffer: Cell<*mut Buffer<T>>,
    race: PhantomData<R>,
}

// SAFETY: only the raw pointer prevents the automatic impl. It points to a buffer that
// the shared deque owns, and the owner keeps the deque alive. The deque may be used on
// any thread, as `T: Send`.
unsafe impl<T: Send, R> Send for Owner<T, R> {}

// No user code runs while the deque is changed, so a panic leaves it consistent.
impl<T, R> UnwindSafe for Owner<T, R> {}
impl<T, R> RefUnwindSafe for Owner<T, R> {}

impl<T, R: Race> Owner<T, R> {
    /// The owner of a deque that no thread has used yet.
    pub(super) fn new(deque: &Arc<Deque<T>>) -> Self {
        // ORDERING: relaxed; no other thread has the deque yet.
        Self {
            deque: Arc::clone(deque),
            bottom: Cell::new(deque.bottom.load(Ordering::Relaxed)),
            top: Cell::new(deque.top.load(Ordering::Relaxed)),
            buffer: Cell::new(deque.buffer.load(Ordering::Relaxed)),
            race: PhantomData,
        }
    }

    /// Puts `item` at the bottom. Grows the deque if it is full.
    ///
    /// # Panics
    ///
    /// If the deque outgrows the address space.
    ///
    /// ```
    /// let (owner, _) = ws_core::chase_lev::with_capacity(1);
    /// owner.push('a');
    /// owner.push('b');
    /// assert_eq!((owner.len(), owner.capacity()), (2, 2));
    /// ```
    #[inline]
    pub fn push(&self, item: T) {
        let bottom = self.bottom.get();
        if !self.has_room() {
            self.grow();
        }
        self.buffer().store(bottom, item);
        chaos::point("deque.push.written");
        self.publish(bottom + 1);
    }

    /// Takes the newest item.
    ///
    /// ```
    /// let (owner, _) = ws_core::chase_lev::new();
    /// owner.push('a');
    /// owner.push('b');
    /// assert_eq!(owner.pop(), Some('b'));
    /// assert_eq!(owner.pop(), Some('a'));
    /// assert_eq!(owner.pop(), None);
    /// ```
    #[inline]
    pub fn pop(&self) -> Option<T> {
        let bottom = self.bottom.get();
        let last = bottom - 1;
        // `top` never passes `bottom`, and the remembered `top` never passes the shared
        // one.
        match last - self.top.get() {
            ..0 => None,
            0 => self.take_oldest(last),
            1.. => self.take_newest(last),
        }
    }

    /// Takes the item at `last`. By the remembered `top` there are older items.
    #[inline(always)]
    fn take_newest(&self, last: i64) -> Option<T> {
        // ORDERING(deque.publish): release side, as for every store of `bottom`.
        // ORDERING(deque.race): without the fence a thief and this pop may each
        // miss what the other wrote, and both may take the item.
        R::lower(&self.deque.bottom, last);
        chaos::point("deque.pop.fenced");
        // ORDERING(deque.top): acquire side, as later pushes rely on this `top`. SeqCst
        // for the barrier above: the load must not come before that store.
        let top = self.deque.top.load(Ordering::SeqCst);
        self.top.set(top);
        if top < last {
            self.bottom.set(last);
            // SAFETY: the slot at `last` holds an item, which only this half wrote. No
            // thief can take the item: a thief that reads `top == last` has its fence
            // after this one, and so sees this `bottom` (`deque.race`).
            return Some(unsafe { self.buffer().load(last).into_item() });
        }
        let item = if top == last {
            self.take_oldest(last)
        } else {
            None
        };
        chaos::point("deque.pop.restore");
        // The last item is taken, by this pop or by a thief, so `top` is where `bottom`
        // was. The shared `bottom` is set back to that. For a thief the deque is empty
        // before and after.
        self.publish(last + 1);
        item
    }

    /// Competes with the thieves for the item at `last`, which is the only one.
    #[inline(always)]
    fn take_oldest(&self, last: i64) -> Option<T> {
        // Either this swap moves `top`, or a thief has moved it.
        self.top.set(last + 1);
        chaos::point("deque.pop.compete");
        self.deque.swap_top(last).ok()?;
        // SAFETY: the slot holds an item, as only this half writes slots. The swap
        // succeeded, so no thief can take this item.
        Some(unsafe { self.buffer().load(last).into_item() })
    }

    /// Returns how many items the deque holds. Thieves may take some at any time.
    ///
    /// ```
    /// let (owner, _) = ws_core::chase_lev::new();
    /// owner.push('a');
    /// assert_eq!(owner.len(), 1);
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        self.deque.len()
    }

    /// Returns whether the deque holds no item.
    ///
    /// ```
    /// let (owner, _) = ws_core::chase_lev::new();
    /// owner.push('a');
    /// assert!(!owner.is_empty());
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns how many items fit before the deque grows.
    ///
    /// ```
    /// let (owner, _) = ws_core::chase_lev::with_capacity::<u8>(3);
    /// assert_eq!(owner.capacity(), 4);
    /// ```
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.buffer().capacity()
    }

    #[inline(always)]
    fn buffer(&self) -> &Buffer<T> {
        // SAFETY: the pointer came from `Buffer::allocate` or `Buffer::grown`. Buffers
        // are freed with the shared deque, which this half keeps alive, and are only
        // changed through atomics.
        unsafe { &*self.buffer.get() }
    }

    #[inline(always)]
    fn has_room(&self) -> bool {
        let capacity = self.buffer().capacity() as i64;
        let has_room = |top: i64| self.bottom.get() - top < capacity;
        has_room(self.top.get()) || has_room(self.refresh_top())
    }

    #[cold]
    fn refresh_top(&self) -> i64 {
        // ORDERING(deque.top): acquire side; the slots below `top` are free.
        let top = self.deque.top.load(Ordering::Acquire);
        self.top.set(top);
        top
    }

    /// Makes the items below `bottom` visible to thieves.
    #[inline(always)]
    fn publish(&self, bottom: i64) {
        self.bottom.set(bottom);
        // ORDERING(deque.publish): release side; without it a thief could read a
        // slot before the item is in it.
        self.deque.bottom.store(bottom, Ordering::Release);
    }

    #[cold]
    fn grow(&self) {
        let items = self.top.get()..self.bottom.get();
        // SAFETY: the pointer came from `allocate` or `grown`. The buffer is freed with
        // the shared deque, which this half keeps alive. Only the owner writes to it.
        let grown = unsafe { Buffer::grown(self.buffer.get(), items) };
        chaos::point("deque.grow.copied");
        self.buffer.set(grown);
        // ORDERING(deque.grow): release side; without it a thief could read slots
        // that are not copied yet.
        self.deque.buffer.store(grown, Ordering::Release);
    }
}

impl<T, R: Race> fmt::Debug for Owner<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("Owner");
        text.field("len", &self.len())
            .field("capacity", &self.capacity())
            .finish()
    }
}
