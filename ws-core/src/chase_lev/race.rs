//! The two fences of `deque.race`, and which side pays for them.
//!
//! The owner's pop stores `bottom` and loads `top`. A thief loads `top` and then
//! `bottom`. Each side needs a SeqCst fence between the two accesses, or both sides may
//! take the same item. [`Even`] has a fence on both sides. [`Uneven`] has the pair of
//! [`asymmetric`] instead: the owner's side is free, and a thief pays for both sides
//! with a system call, unless it sees at once that the deque is empty.
//!
//! If the owner pops most items, as in fork-join, [`Uneven`] is the better choice. A
//! push and pop pair takes 0.34 to 0.43 of the time (3.3 to 4.1 ns; no less for the last
//! item, which costs a swap in both). A steal costs what [`asymmetric`] says, but happens
//! once in thousands of such pairs. If thieves take most items, [`Even`] is the better
//! choice.

use crate::sync::atomic::{AtomicI64, Ordering, fence};
use crate::sync::{asymmetric, fence_after_swap, store_and_fence};

/// Which side pays for the race between the owner and the thieves: [`Even`] or
/// [`Uneven`].
pub trait Race: sealed::Sealed {
    /// The owner's side: stores `bottom` with release ordering, then fences.
    #[doc(hidden)]
    fn lower(bottom: &AtomicI64, value: i64);

    /// The thief's side: fences between the loads of `top` and `bottom`.
    #[doc(hidden)]
    fn look();

    /// As [`look`](Self::look), right after a successful swap of `top`.
    #[doc(hidden)]
    fn look_again();

    /// Whether a thief looks without a fence first.
    #[doc(hidden)]
    const GLANCES: bool;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Even {}
    impl Sealed for super::Uneven {}
}

/// Owner and thieves pay alike: a fence for each pop, and a fence for each steal.
#[derive(Clone, Copy, Debug, Default)]
pub struct Even;

/// Thieves pay for both sides: a pop has no fence, and a steal makes a system call. That
/// is so on Linux. On other systems both sides have a fence, as in [`Even`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Uneven;

impl Race for Even {
    #[inline(always)]
    fn lower(bottom: &AtomicI64, value: i64) {
        // ORDERING(deque.race): owner's side.
        store_and_fence(bottom, value);
    }

    #[inline(always)]
    fn look() {
        // ORDERING(deque.race): thief's side.
        fence(Ordering::SeqCst);
    }

    #[inline(always)]
    fn look_again() {
        // ORDERING(deque.race): thief's side, after a swap.
        fence_after_swap();
    }

    const GLANCES: bool = false;
}

impl Race for Uneven {
    #[inline(always)]
    fn lower(bottom: &AtomicI64, value: i64) {
        bottom.store(value, Ordering::Release);
        // ORDERING(deque.race): owner's side.
        asymmetric::light();
    }

    #[inline(always)]
    fn look() {
        // ORDERING(deque.race): thief's side; it fences for the owner as well.
        asymmetric::heavy();
    }

    #[inline(always)]
    fn look_again() {
        // ORDERING(deque.race): thief's side. The swap is no fence for the owner.
        asymmetric::heavy();
    }

    const GLANCES: bool = true;
}
