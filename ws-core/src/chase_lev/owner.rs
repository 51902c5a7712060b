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

/// The half that pushes and pops; one thread's at a time.
///
/// It may move to another thread, but it can be neither shared nor cloned:
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
/// If it is dropped, the items stay for the stealers; the last half drops what
/// is left.
pub struct Owner<T, R = Even> {
    pub(super) deque: Arc<Deque<T>>,
    /// The same as the shared bottom, which only this half writes.
    bottom: Cell<i64>,
    /// The shared top as last seen: never ahead of it.
    top: Cell<i64>,
    /// The same as the shared buffer, which only this half writes.
    buffer: Cell<*mut Buffer<T>>,
    race: PhantomData<R>,
}

// SAFETY: the raw pointer is to a buffer that the shared deque owns.
unsafe impl<T: Send, R> Send for Owner<T, R> {}

// No user code runs while the deque is changed, so a panic finds it in order.
impl<T, R> UnwindSafe for Owner<T, R> {}
impl<T, R> RefUnwindSafe for Owner<T, R> {}

impl<T, R: Race> Owner<T, R> {
    /// The owner of a deque that no one has used yet.
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

    /// Puts `item` at the bottom; grows the deque if it is full.
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
        // `top` never passes `bottom`, and the remembered one never passes it.
        match last - self.top.get() {
            ..0 => None,
            0 => self.take_oldest(last),
            1.. => self.take_newest(last),
        }
    }

    /// Takes the item at `last`, of which there are older ones, as far as known.
    #[inline(always)]
    fn take_newest(&self, last: i64) -> Option<T> {
        // ORDERING(deque.publish): release side, as for every store of `bottom`.
        // ORDERING(deque.race): without the fence a thief and this pop may each
        // miss what the other one did, and both take the item.
        R::lower(&self.deque.bottom, last);
        chaos::point("deque.pop.fenced");
        // ORDERING(deque.top): acquire side, as later pushes rely on it. SeqCst
        // for the barrier above: this load must not be older than that store.
        let top = self.deque.top.load(Ordering::SeqCst);
        self.top.set(top);
        if top < last {
            self.bottom.set(last);
            // SAFETY: the slot at `last` holds an item, and no thief can take
            // it: one that reads `top == last` has its fence after ours, and so
            // sees this `bottom`.
            return Some(unsafe { self.buffer().load(last).into_item() });
        }
        let item = if top == last {
            self.take_oldest(last)
        } else {
            None
        };
        chaos::point("deque.pop.restore");
        // Whoever took the last item, `top` is where `bottom` was. The shared
        // one goes back there; no thief can tell the difference.
        self.publish(last + 1);
        item
    }

    /// Competes with the thieves for the item at `last`, which is the only one.
    #[inline(always)]
    fn take_oldest(&self, last: i64) -> Option<T> {
        // Either we or a thief moves it.
        self.top.set(last + 1);
        chaos::point("deque.pop.compete");
        self.deque.swap_top(last).ok()?;
        // SAFETY: the slot holds an item, and the swap made it ours.
        Some(unsafe { self.buffer().load(last).into_item() })
    }

    /// Returns how many items the deque holds; thieves may lower it any time.
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
        // SAFETY: buffers are freed with the shared deque, which we hold; the
        // pointer is replaced by `grow` alone, which no caller of ours runs
        // while it uses the reference.
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
        // ORDERING(deque.top): acquire side; the slots below are free.
        let top = self.deque.top.load(Ordering::Acquire);
        self.top.set(top);
        top
    }

    /// Makes the items below `bottom` visible to thieves.
    #[inline(always)]
    fn publish(&self, bottom: i64) {
        self.bottom.set(bottom);
        // ORDERING(deque.publish): release side; otherwise a thief could read a
        // slot before the item is in it.
        self.deque.bottom.store(bottom, Ordering::Release);
    }

    #[cold]
    fn grow(&self) {
        let items = self.top.get()..self.bottom.get();
        // SAFETY: the buffer is alive, and only the owner writes to it.
        let grown = unsafe { Buffer::grown(self.buffer.get(), items) };
        chaos::point("deque.grow.copied");
        self.buffer.set(grown);
        // ORDERING(deque.grow): release side; otherwise a thief could read slots
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
