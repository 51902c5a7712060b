//! A place for one item: its owner fills it, anyone may take it.
//!
//! # The idea
//!
//! The slot is one atomic pointer, null when empty. Only the owner makes it
//! non-null, so when the owner sees null it stays null until the owner itself
//! changes it: filling an empty slot is a plain store. Everyone empties it by
//! swapping null in, and whoever gets the pointer out has the item: taking is
//! one read-modify-write operation, and needs no second try.
//!
//! An executor keeps the task that was woken last here, to run it next while its
//! data is in the cache. Because thieves can take it, that task is not stuck
//! when the one before it blocks.
//!
//! # Memory ordering
//!
//! | edge | release side | acquire side | makes visible |
//! |---|---|---|---|
//! | `slot.publish` | owner: store or swap in `push` | taker: swap in `take` | what the item points to |
//!
//! There is no edge back to the owner: it reuses nothing but the one word.

use alloc::boxed::Box;
use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::ptr::{self, NonNull};

use crate::chaos;
use crate::sync::atomic::{AtomicPtr, Ordering};
use crate::sync::{Arc, CachePadded};

/// An owned item that fits into one non-null, thin pointer: a [`Box`], an `Arc`, or
/// a pointer type of your own.
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
/// `from_raw(into_raw(item))` gives `item` back, on any thread if `Self: Send`,
/// and a call of `into_raw` keeps the item alive until then.
pub unsafe trait Pointer: Sized {
    /// Turns the item into a pointer, which now owns it.
    fn into_raw(self) -> NonNull<()>;

    /// Turns the pointer back into the item.
    ///
    /// # Safety
    ///
    /// `raw` came from [`into_raw`](Self::into_raw) of this type, and is turned
    /// back once.
    unsafe fn from_raw(raw: NonNull<()>) -> Self;
}

// SAFETY: `Box::into_raw` and `Box::from_raw` are inverse, and a box's pointer
// is not null.
unsafe impl<T> Pointer for Box<T> {
    fn into_raw(self) -> NonNull<()> {
        NonNull::from(Box::leak(self)).cast()
    }

    unsafe fn from_raw(raw: NonNull<()>) -> Self {
        // SAFETY: the caller promises that it came out of a box of this type.
        unsafe { Box::from_raw(raw.cast().as_ptr()) }
    }
}

// SAFETY: `Arc::into_raw` and `Arc::from_raw` are inverse, and an arc's pointer
// is not null.
unsafe impl<T> Pointer for alloc::sync::Arc<T> {
    fn into_raw(self) -> NonNull<()> {
        let raw = alloc::sync::Arc::into_raw(self).cast_mut().cast();
        // SAFETY: it points to the arc's content.
        unsafe { NonNull::new_unchecked(raw) }
    }

    unsafe fn from_raw(raw: NonNull<()>) -> Self {
        // SAFETY: the caller promises that it came out of an arc of this type.
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
    /// The item, or null. Made non-null by the owner alone, null by anyone.
    item: CachePadded<AtomicPtr<()>>,
    /// Items go in through one half and come out of the other, so the type must
    /// not vary: an owner of short-lived items is no owner of long-lived ones.
    items: PhantomData<fn(P) -> P>,
}

// SAFETY: the halves hand items from thread to thread, so `P: Send` is needed;
// no reference to an item is ever shared, so `P: Sync` is not.
unsafe impl<P: Pointer + Send> Sync for Slot<P> {}
// SAFETY: as above; the slot owns its item.
unsafe impl<P: Pointer + Send> Send for Slot<P> {}

// No user code runs while the slot is changed, so a panic finds it in order.
impl<P: Pointer> UnwindSafe for Slot<P> {}
impl<P: Pointer> RefUnwindSafe for Slot<P> {}

impl<P: Pointer> Slot<P> {
    fn is_empty(&self) -> bool {
        // ORDERING: relaxed; nothing is read through it.
        self.item.load(Ordering::Relaxed).is_null()
    }

    #[inline]
    fn take(&self) -> Option<P> {
        // An empty slot is the common case, and a load does not pull its cache
        // line away from the owner.
        if self.is_empty() {
            return None;
        }
        chaos::point("slot.take.seen");
        // ORDERING(slot.publish): acquire side; otherwise the taker could see the
        // item's memory as it was before.
        self.adopt(self.item.swap(ptr::null_mut(), Ordering::Acquire))
    }

    /// Turns what came out of the slot into an item.
    #[inline(always)]
    fn adopt(&self, raw: *mut ()) -> Option<P> {
        // SAFETY: what is in the slot was put there by `push`, and a swap gives
        // it to one caller only.
        NonNull::new(raw).map(|raw| unsafe { P::from_raw(raw) })
    }
}

/// The half that fills the slot; one thread's at a time.
///
/// It may move to another thread, but it can be neither shared nor cloned:
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
/// Nor can its items be made to live longer or shorter than the stealers':
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
    /// Puts `item` in; returns the item that was there, if no one took it.
    ///
    /// A plain store if the slot is empty, one read-modify-write otherwise.
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
            // ORDERING(slot.publish): release side. A plain store loses nothing:
            // no one but us makes the slot non-null.
            self.slot.item.store(raw, Ordering::Release);
            return None;
        }
        chaos::point("slot.push.full");
        // ORDERING(slot.publish): release side for the new item. The old one is
        // our own and needs no acquire.
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

    /// Returns whether the slot is empty; thieves may empty it any time.
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

/// The half that takes; clone it for every thread that may.
pub struct Stealer<P: Pointer> {
    slot: Arc<Slot<P>>,
}

impl<P: Pointer> Stealer<P> {
    /// Takes the item out. There is no third outcome: if another thread was
    /// faster, the slot was empty at that moment.
    ///
    /// Before a caller goes to sleep over `None` it needs a SeqCst fence, and so
    /// does the owner between its push and its look for sleepers.
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
