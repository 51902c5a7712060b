//! A place for one item: its owner fills it, any thread may take the item.
//!
//! # The idea
//!
//! The slot is one atomic pointer, which is null when the slot is empty. Only the
//! owner makes the pointer non-null. So if the owner reads null, the pointer stays
//! null until the owner itself changes it, and filling an empty slot is a plain
//! store. Any thread empties the slot by swapping null in, and the thread whose swap
//! returns the pointer has the item. So taking is one read-modify-write operation and
//! needs no second attempt.
//!
//! An executor keeps the task that was woken last in a slot, and runs it next, while
//! the task's data is in the cache. Thieves can take this task, so it is not stuck
//! while the task before it blocks.
//!
//! # Memory ordering
//!
//! | edge | release side | acquire side | makes visible |
//! |---|---|---|---|
//! | `slot.publish` | owner: store or swap in `push` | taker: swap in `take` | what the item points to |
//!
//! There is no edge back to the owner: the owner reuses nothing but the one word.

use alloc::boxed::Box;
use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::ptr::{self, NonNull};

use crate::chaos;
use crate::sync::atomic::{AtomicPtr, Ordering};
use crate::sync::{Arc, CachePadded};

/// An owned item that can be turned into one non-null, thin pointer: a [`Box`], an
/// `Arc`, or a pointer type of your own.
///
/// ```
/// use std::ptr::NonNull;
/// use ws_core::slot::{self, Pointer};
///
/// #[derive(Debug, PartialEq)]
/// struct Task(Box<u32>);
///
/// // SAFETY: it is a box, and nothing else.
/// unsafe impl Pointer for Task {
///     fn into_raw(self) -> NonNull<()> {
///         self.0.into_raw()
///     }
///     unsafe fn from_raw(raw: NonNull<()>) -> Self {
///         // SAFETY: the caller's promise is the box's.
///         Task(unsafe { Pointer::from_raw(raw) })
///     }
/// }
///
/// let (owner, stealer) = slot::new();
/// assert_eq!(owner.push(Task(Box::new(7))), None);
/// assert_eq!(stealer.take(), Some(Task(Box::new(7))));
/// ```
///
/// # Safety
///
/// `from_raw(into_raw(item))` must give `item` back: on any thread if `Self: Send`.
/// Between the two calls the item must stay alive.
pub unsafe trait Pointer: Sized {
    /// Turns the item into a pointer, which now owns the item.
    fn into_raw(self) -> NonNull<()>;

    /// Turns the pointer back into the item.
    ///
    /// # Safety
    ///
    /// `raw` must come from [`into_raw`](Self::into_raw) of this type, and must be
    /// turned back only once.
    unsafe fn from_raw(raw: NonNull<()>) -> Self;
}

// SAFETY: `Box::from_raw` undoes `Box::leak`, on any thread if the box is `Send`. A
// leaked box stays alive.
unsafe impl<T> Pointer for Box<T> {
    fn into_raw(self) -> NonNull<()> {
        NonNull::from(Box::leak(self)).cast()
    }

    unsafe fn from_raw(raw: NonNull<()>) -> Self {
        // SAFETY: the caller promises that the pointer came from `into_raw`, which
        // leaked a box of this type, and that it is turned back only once.
        unsafe { Box::from_raw(raw.cast().as_ptr()) }
    }
}

// SAFETY: `Arc::from_raw` undoes `Arc::into_raw`, on any thread if the arc is
// `Send`. The reference that `into_raw` does not release keeps the content alive.
unsafe impl<T> Pointer for alloc::sync::Arc<T> {
    fn into_raw(self) -> NonNull<()> {
        let raw = alloc::sync::Arc::into_raw(self).cast_mut().cast();
        // SAFETY: the pointer is to the arc's content, so it is not null.
        unsafe { NonNull::new_unchecked(raw) }
    }

    unsafe fn from_raw(raw: NonNull<()>) -> Self {
        // SAFETY: the caller promises that the pointer came from `into_raw`, which
        // took it from an arc of this type, and that it is turned back only once.
        unsafe { alloc::sync::Arc::from_raw(raw.cast().as_ptr()) }
    }
}

/// Makes an empty slot.
///
/// ```
/// let (owner, stealer) = ws_core::slot::new();
/// assert_eq!(owner.push(Box::new(1)), None);
/// assert_eq!(owner.push(Box::new(2)), Some(Box::new(1))); // evicted
/// assert_eq!(stealer.take(), Some(Box::new(2)));
/// assert_eq!(owner.take(), None);
/// ```
#[must_use]
pub fn new<P: Pointer>() -> (Owner<P>, Stealer<P>) {
    let slot = Arc::new(Slot {
        item: CachePadded::new(AtomicPtr::new(ptr::null_mut())),
        items: PhantomData,
    });
    let owner = Owner {
        slot: Arc::clone(&slot),
        not_sync: PhantomData,
    };
    (owner, Stealer { slot })
}

/// What both halves share.
struct Slot<P: Pointer> {
    /// The item, or null. Only the owner makes it non-null; any thread makes it null.
    item: CachePadded<AtomicPtr<()>>,
    /// Items go in through one half and come out of the other, so the type must be
    /// invariant: an owner of short-lived items must not become an owner of
    /// long-lived items.
    items: PhantomData<fn(P) -> P>,
}

// SAFETY: the halves move items from thread to thread, so `P: Send` is needed. No
// reference to an item is ever shared, so `P: Sync` is not needed.
unsafe impl<P: Pointer + Send> Sync for Slot<P> {}
// SAFETY: the slot owns its item, so it may move to another thread if the item may.
unsafe impl<P: Pointer + Send> Send for Slot<P> {}

// No user code runs while the slot is changed, so a panic leaves it consistent.
impl<P: Pointer> UnwindSafe for Slot<P> {}
impl<P: Pointer> RefUnwindSafe for Slot<P> {}

impl<P: Pointer> Slot<P> {
    fn is_empty(&self) -> bool {
        // ORDERING: relaxed; nothing is read through this pointer.
        self.item.load(Ordering::Relaxed).is_null()
    }

    #[inline]
    fn take(&self) -> Option<P> {
        // An empty slot is the common case. A load does not take the cache line
        // away from the owner, as a swap does.
        if self.is_empty() {
            return None;
        }
        chaos::point("slot.take.seen");
        // ORDERING(slot.publish): acquire side; without it the taker could see the
        // item's memory as it was before the push.
        self.adopt(self.item.swap(ptr::null_mut(), Ordering::Acquire))
    }

    /// Turns the result of a swap into an item.
    #[inline(always)]
    fn adopt(&self, raw: *mut ()) -> Option<P> {
        // SAFETY: every non-null pointer in the slot was put there by `push`, from
        // `into_raw` of this type. A swap takes it out, so only one caller has it.
        NonNull::new(raw).map(|raw| unsafe { P::from_raw(raw) })
    }
}

/// The half that fills the slot. It belongs to one thread at a time.
///
/// It may move to another thread. It can be neither shared nor cloned:
///
/// ```compile_fail,E0277
/// fn shared<T: Sync>(_: T) {}
/// shared(ws_core::slot::new::<Box<u8>>().0);
/// ```
///
/// ```compile_fail,E0599
/// let (owner, _) = ws_core::slot::new::<Box<u8>>();
/// let second = owner.clone();
/// ```
///
/// The lifetime of its items is exactly that of the stealers' items:
///
/// ```compile_fail,E0505
/// let (owner, stealer) = ws_core::slot::new::<Box<&'static str>>();
/// let text = String::from("short-lived");
/// owner.push(Box::new(&*text));
/// drop(text);
/// println!("{}", stealer.take().unwrap());
/// ```
pub struct Owner<P: Pointer> {
    slot: Arc<Slot<P>>,
    not_sync: PhantomData<Cell<()>>,
}

impl<P: Pointer> RefUnwindSafe for Owner<P> {}

impl<P: Pointer> Owner<P> {
    /// Puts `item` into the slot. Returns the item that was there, if no thread had
    /// taken it.
    ///
    /// The cost is a plain store if the slot is empty, else one read-modify-write.
    ///
    /// ```
    /// let (owner, _) = ws_core::slot::new();
    /// assert_eq!(owner.push(Box::new(1)), None);
    /// assert_eq!(owner.push(Box::new(2)).as_deref(), Some(&1));
    /// ```
    #[inline]
    #[must_use = "the evicted item is dropped if it is ignored"]
    pub fn push(&self, item: P) -> Option<P> {
        let raw = item.into_raw().as_ptr();
        if self.slot.is_empty() {
            chaos::point("slot.push.empty");
            // ORDERING(slot.publish): release side. A plain store loses no item:
            // only the owner makes the slot non-null.
            self.slot.item.store(raw, Ordering::Release);
            return None;
        }
        chaos::point("slot.push.full");
        // ORDERING(slot.publish): release side for the new item. The old item was
        // pushed by this same owner and needs no acquire.
        self.slot.adopt(self.slot.item.swap(raw, Ordering::Release))
    }

    /// Takes the item out.
    ///
    /// ```
    /// let (owner, _) = ws_core::slot::new();
    /// assert_eq!(owner.push(Box::new(1)), None);
    /// assert_eq!(owner.take().as_deref(), Some(&1));
    /// assert_eq!(owner.take(), None);
    /// ```
    #[inline]
    pub fn take(&self) -> Option<P> {
        self.slot.take()
    }

    /// Returns whether the slot is empty. Thieves may empty it at any time.
    ///
    /// ```
    /// let (owner, _) = ws_core::slot::new::<Box<u8>>();
    /// assert!(owner.is_empty());
    /// ```
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.slot.is_empty()
    }

    /// Makes a half for one more thief.
    ///
    /// ```
    /// let (owner, _) = ws_core::slot::new();
    /// assert_eq!(owner.push(Box::new(1)), None);
    /// assert_eq!(owner.stealer().take().as_deref(), Some(&1));
    /// ```
    #[must_use]
    pub fn stealer(&self) -> Stealer<P> {
        Stealer {
            slot: Arc::clone(&self.slot),
        }
    }
}

/// The half that takes. Clone it for every thread that may take the item.
pub struct Stealer<P: Pointer> {
    slot: Arc<Slot<P>>,
}

impl<P: Pointer> Stealer<P> {
    /// Takes the item out. There is no third outcome: if another thread was
    /// faster, the slot was empty at that moment.
    ///
    /// A thread that parks after `None` must execute a SeqCst fence between its
    /// announcement as a sleeper and this call. The owner must execute a SeqCst fence
    /// between its push and its check for sleepers. Otherwise each may miss what the
    /// other wrote.
    ///
    /// ```
    /// let (owner, stealer) = ws_core::slot::new();
    /// assert_eq!(owner.push(Box::new(1)), None);
    /// assert_eq!(stealer.take().as_deref(), Some(&1));
    /// assert_eq!(owner.take(), None);
    /// ```
    #[inline]
    pub fn take(&self) -> Option<P> {
        self.slot.take()
    }

    /// Returns whether the slot is empty, at some moment during the call.
    ///
    /// ```
    /// let (_, stealer) = ws_core::slot::new::<Box<u8>>();
    /// assert!(stealer.is_empty());
    /// ```
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.slot.is_empty()
    }
}

impl<P: Pointer> Clone for Stealer<P> {
    fn clone(&self) -> Self {
        Self {
            slot: Arc::clone(&self.slot),
        }
    }
}

impl<P: Pointer> Drop for Slot<P> {
    fn drop(&mut self) {
        drop(self.take());
    }
}

impl<P: Pointer> fmt::Debug for Owner<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Owner")
            .field("is_empty", &self.is_empty())
            .finish()
    }
}

impl<P: Pointer> fmt::Debug for Stealer<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stealer")
            .field("is_empty", &self.is_empty())
            .finish()
    }
}
