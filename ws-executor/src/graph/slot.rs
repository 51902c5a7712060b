//! The slot of a node's value: written once, then lent, then moved out.
//!
//! | state | meaning |
//! |---|---|
//! | `EMPTY` | nothing was written |
//! | `BUSY` | the value is being written, or was moved out |
//! | `FULL + n·READER` | the value is there, and lent `n` times |
//!
//! The order of a graph guarantees that a value is written before it is lent, and that it is
//! not lent when it is moved out. A slot does not rely on that: every transition checks the
//! state from which it starts, and panics if that is another. So no order of safe calls, from
//! any number of threads, reads a missing value or moves a lent one.
//!
//! This is the one file of the graph runtime with unsafe code.
//!
//! # Memory ordering
//!
//! | edge | release side | acquire side | what it makes visible |
//! |---|---|---|---|
//! | `slot.publish` | the store of `FULL`, in `set` or when a `Back` is dropped | `share`, `take` | the value |
//! | `slot.return` | the subtraction when a `Lent` is dropped | `take` | that all reads through it are over |

use std::fmt;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Deref;

use ws_core::sync::UnsafeCell;
use ws_core::sync::atomic::{AtomicUsize, Ordering};

const EMPTY: usize = 0;
const BUSY: usize = 1;
const FULL: usize = 2;
const READER: usize = 2;

/// A value that moves into its only user.
pub struct Slot<T> {
    state: AtomicUsize,
    value: UnsafeCell<MaybeUninit<T>>,
}

// SAFETY: a `Slot` lends only through `SharedSlot`, which is `Sync` for `Sync` values
// alone. By itself it only moves values from thread to thread, one taker each: the CAS
// in `take` succeeds once for each `set`.
unsafe impl<T: Send> Sync for Slot<T> {}

impl<T> Slot<T> {
    /// Makes an empty slot.
    pub fn new() -> Self {
        Self {
            state: AtomicUsize::new(EMPTY),
            value: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// Makes a slot that has its value, such as an input of the graph.
    pub fn full(value: T) -> Self {
        Self {
            state: AtomicUsize::new(FULL),
            value: UnsafeCell::new(MaybeUninit::new(value)),
        }
    }

    /// Writes the value.
    ///
    /// # Panics
    /// If the slot has or had a value.
    #[inline]
    pub fn set(&self, value: T) {
        // ORDERING: relaxed; no thread has touched the cell before.
        self.claim(EMPTY, Ordering::Relaxed, "a node wrote its value twice");
        // SAFETY: this thread has claimed the slot.
        unsafe { self.fill(value) }
    }

    /// Writes the value, and publishes it.
    ///
    /// # Safety
    ///
    /// The calling thread must have made the slot `BUSY`, and the cell must not hold a value.
    #[inline]
    unsafe fn fill(&self, value: T) {
        self.value.with_mut(|cell| {
            // SAFETY: only this thread touches the cell until the store below.
            unsafe { cell.write(MaybeUninit::new(value)) }
        });
        // ORDERING(slot.publish): release side; a thread that sees `FULL` sees the value.
        self.state.store(FULL, Ordering::Release);
    }

    /// Moves the value out.
    ///
    /// # Panics
    /// If the value is not there, or is lent.
    #[inline]
    pub fn take(&self) -> T {
        // ORDERING(slot.publish), ORDERING(slot.return): acquire side; the value is readable,
        // and all reads through `Lent`s are over.
        self.claim(
            FULL,
            Ordering::Acquire,
            "a node took a value that it may not move",
        );
        // SAFETY: the claim made this thread the only one to touch the cell; the state
        // was `FULL`, so the value is there.
        let value = self.value.with(|cell| unsafe { cell.read() });
        // SAFETY: as above, it was initialised; the state stays `BUSY`, so no code reads or
        // drops it again.
        unsafe { value.assume_init() }
    }

    /// Moves the value out, if it is there and not lent.
    pub fn take_if_full(&self) -> Option<T> {
        // `take` checks again: another thread may take the value in between.
        (self.state.load(Ordering::Relaxed) == FULL).then(|| self.take())
    }

    /// Moves the value out of a slot that must have it.
    ///
    /// # Panics
    /// If the value is not there.
    pub fn into_full(self) -> T {
        self.take()
    }

    /// Moves the value out until the [`Back`] is dropped.
    ///
    /// # Panics
    /// If the value is not there, or is lent.
    pub fn borrow_mut(&self) -> Back<'_, T> {
        Back {
            value: Some(self.take()),
            slot: self,
        }
    }

    fn claim(&self, from: usize, success: Ordering, misuse: &'static str) {
        let claimed = self
            .state
            .compare_exchange(from, BUSY, success, Ordering::Relaxed);
        assert!(claimed.is_ok(), "{misuse}");
    }
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Drop for Slot<T> {
    fn drop(&mut self) {
        // A `Lent` borrows the slot, so none exists now, unless one was leaked. The value is
        // dropped in both cases.
        if self.state.load(Ordering::Relaxed) >= FULL {
            self.value.with_mut(|cell| {
                // SAFETY: `&mut self`: no other thread touches the cell.
                let cell = unsafe { &mut *cell };
                // SAFETY: from `FULL` on the value is there, and it is dropped only here.
                unsafe { cell.assume_init_drop() }
            });
        }
    }
}

impl<T> fmt::Debug for Slot<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.state.load(Ordering::Relaxed) {
            EMPTY => f.write_str("Slot(empty)"),
            BUSY => f.write_str("Slot(moved)"),
            full => write!(f, "Slot(full, lent {} times)", (full - FULL) / READER),
        }
    }
}

/// A value that returns into its [`Slot`] when this is dropped.
#[derive(Debug)]
pub struct Back<'a, T> {
    value: Option<T>,
    slot: &'a Slot<T>,
}

impl<T> Back<'_, T> {
    /// Borrows the value.
    pub fn value(&mut self) -> &mut T {
        self.value.as_mut().expect("taken only when dropped")
    }
}

impl<T> Drop for Back<'_, T> {
    fn drop(&mut self) {
        if let Some(value) = self.value.take() {
            // SAFETY: the slot is `BUSY` since this `Back` has taken the value.
            unsafe { self.slot.fill(value) }
        }
    }
}

/// A value that several nodes borrow; the last of them may move it out.
#[derive(Debug)]
pub struct SharedSlot<T> {
    slot: Slot<T>,
    /// Makes this type `Sync` only if `T` is.
    lends: PhantomData<T>,
}

impl<T> SharedSlot<T> {
    /// Makes an empty slot.
    pub fn new() -> Self {
        Self {
            slot: Slot::new(),
            lends: PhantomData,
        }
    }

    /// Makes a slot that has its value.
    pub fn full(value: T) -> Self {
        Self {
            slot: Slot::full(value),
            lends: PhantomData,
        }
    }

    /// As [`Slot::set`].
    ///
    /// # Panics
    /// As [`Slot::set`].
    #[inline]
    pub fn set(&self, value: T) {
        self.slot.set(value);
    }

    /// As [`Slot::take`].
    ///
    /// # Panics
    /// As [`Slot::take`].
    #[inline]
    pub fn take(&self) -> T {
        self.slot.take()
    }

    /// As [`Slot::into_full`].
    ///
    /// # Panics
    /// As [`Slot::into_full`].
    pub fn into_full(self) -> T {
        self.slot.take()
    }

    /// Borrows the value, until the [`Lent`] is dropped.
    ///
    /// # Panics
    /// If the value is not there.
    #[inline]
    pub fn share(&self) -> Lent<'_, T> {
        let mut state = self.slot.state.load(Ordering::Relaxed);
        loop {
            assert!(state >= FULL, "a node borrowed a value that is not there");
            // ORDERING(slot.publish): acquire side; makes the value readable.
            match self.slot.state.compare_exchange_weak(
                state,
                state + READER,
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Lent { slot: self },
                Err(seen) => state = seen,
            }
        }
    }
}

impl<T> Default for SharedSlot<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// A borrowed value of a [`SharedSlot`].
#[derive(Debug)]
pub struct Lent<'a, T> {
    slot: &'a SharedSlot<T>,
}

impl<T> Deref for Lent<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.slot.slot.value.with(|cell| {
            // SAFETY: this reader keeps the state above `FULL`: the cell is not written, and
            // `take` fails.
            let cell = unsafe { &*cell };
            // SAFETY: from `FULL` on the value is there.
            unsafe { cell.assume_init_ref() }
        })
    }
}

impl<T> Drop for Lent<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // ORDERING(slot.return): release side; reads through this happen before a `take`.
        self.slot.slot.state.fetch_sub(READER, Ordering::Release);
    }
}

/// A slot of a parallel run.
///
/// It takes only values that may be sent to other threads, and demands that where a value is
/// put in. Otherwise the error of rustc for an `Rc` would point at the whole run, and not at
/// the node that makes the `Rc`.
#[derive(Debug, Default)]
pub struct Parallel<Slot>(Slot);

// SAFETY: the only ways to put a value in, `full` and `set`, demand that it is `Send`. A
// slot of other values is always empty, and has nothing that another thread could touch.
unsafe impl<T> Send for Parallel<Slot<T>> {}
// SAFETY: as above; a `Slot` of `Send` values is `Sync`.
unsafe impl<T> Sync for Parallel<Slot<T>> {}
// SAFETY: as above.
unsafe impl<T> Send for Parallel<SharedSlot<T>> {}
// SAFETY: as above; here values must be `Sync` as well, and a `SharedSlot` of such values is
// `Sync`.
unsafe impl<T> Sync for Parallel<SharedSlot<T>> {}

/// A value that moves between nodes of a parallel run.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot go from node to node of a parallel run",
    label = "this value cannot be sent to another thread",
    note = "use `Arc` instead of `Rc`, or `#[task_graph(local)]` for a graph that stays on one task"
)]
pub trait Moves: Send + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Send + 'static> Moves for T {}

/// A value that nodes of a parallel run share.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be shared by nodes of a parallel run",
    label = "this value cannot be used by several threads at once",
    note = "use `Arc` instead of `Rc` and `Mutex` instead of `RefCell`, or `#[task_graph(local)]` for a graph that stays on one task",
    note = "a trait object says so itself: write `&(dyn Trait + Send + Sync)`"
)]
pub trait Shares: Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Send + Sync + 'static> Shares for T {}

impl<T> Parallel<Slot<T>> {
    /// As [`Slot::new`].
    pub fn new() -> Self {
        Self(Slot::new())
    }

    /// As [`Slot::full`].
    pub fn full(value: T) -> Self
    where
        T: Moves,
    {
        Self(Slot::full(value))
    }

    /// As [`Slot::set`].
    ///
    /// # Panics
    /// As [`Slot::set`].
    #[inline]
    pub fn set(&self, value: T)
    where
        T: Moves, // rustc shows this line: a node owns its value, and borrows from no other
    {
        self.0.set(value);
    }

    /// As [`Slot::take`].
    ///
    /// # Panics
    /// As [`Slot::take`].
    #[inline]
    pub fn take(&self) -> T {
        self.0.take()
    }
}

impl<T> Parallel<SharedSlot<T>> {
    /// As [`Slot::new`].
    pub fn new_shared() -> Self {
        Self(SharedSlot::new())
    }

    /// As [`Slot::full`].
    pub fn full_shared(value: T) -> Self
    where
        T: Shares,
    {
        Self(SharedSlot::full(value))
    }

    /// As [`Slot::set`].
    ///
    /// # Panics
    /// As [`Slot::set`].
    #[inline]
    pub fn set(&self, value: T)
    where
        T: Shares, // rustc shows this line: a node owns its value, and borrows from no other
    {
        self.0.set(value);
    }

    /// As [`Slot::take`].
    ///
    /// # Panics
    /// As [`Slot::take`].
    #[inline]
    pub fn take(&self) -> T {
        self.0.take()
    }

    /// As [`SharedSlot::share`].
    ///
    /// # Panics
    /// As [`SharedSlot::share`].
    #[inline]
    pub fn share(&self) -> Lent<'_, T> {
        self.0.share()
    }
}

#[cfg(test)]
mod tests {
    use super::{SharedSlot, Slot};
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;

    fn refused<R>(code: impl FnOnce() -> R) -> bool {
        catch_unwind(AssertUnwindSafe(code)).is_err()
    }

    #[test]
    fn each_transition_checks_where_it_starts() {
        let slot = SharedSlot::new();
        assert!(refused(|| slot.take()) && refused(|| drop(slot.share())));
        slot.set(Box::new(1));
        assert!(refused(|| slot.set(Box::new(2))));
        let (one, two) = (slot.share(), slot.share());
        assert!(**one == 1 && **two == 1 && refused(|| slot.take()));
        drop((one, two));
        assert_eq!(*slot.take(), 1);
        assert!(refused(|| slot.take()) && refused(|| drop(slot.share())));
        assert!(refused(|| slot.set(Box::new(3))));
    }

    #[test]
    fn a_value_is_dropped_once_in_every_state() {
        let value = Arc::new(());
        drop(Slot::<Arc<()>>::new());
        drop(Slot::full(value.clone()));
        assert_eq!(Arc::strong_count(&value), 1);
        let slot = SharedSlot::full(value.clone());
        drop(slot.share());
        drop(slot);
        assert_eq!(Arc::strong_count(&value), 1);
        let slot = Slot::full(value.clone());
        drop(slot.take());
        assert!(refused(|| slot.into_full()));
        assert_eq!(SharedSlot::full(value.clone()).into_full(), value);
        assert_eq!(Arc::strong_count(&value), 1);
    }
}
