//! The ring's memory: `N` cells, without any knowledge of their owners.
//!
//! The low bits of a position select a cell. The ring's indices alone decide whether
//! a cell holds an item, and to which thread the cell belongs. The functions here are
//! unsafe and move bits.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::mem::MaybeUninit;

#[cfg(not(ws_loom))]
#[path = "slots_copy.rs"]
mod moves;

#[cfg(ws_loom)]
#[path = "slots_traced.rs"]
mod moves;

use self::moves::Cell;

/// `N` cells, on the heap because a ring of large items may not fit a stack.
pub(super) struct Slots<T, const N: usize> {
    cells: Box<[Cell<T>; N]>,
}

impl<T, const N: usize> Slots<T, N> {
    pub(super) fn new() -> Self {
        Self {
            cells: moves::allocate(),
        }
    }

    #[inline(always)]
    fn cell(&self, position: u32) -> &Cell<T> {
        // `N` is a power of two, so the optimiser drops the bounds check.
        &self.cells[position as usize & (N - 1)]
    }

    /// Moves `item` into the cell of `position`.
    ///
    /// # Safety
    ///
    /// The cell must hold no item, and no other thread may read or write it meanwhile.
    #[inline(always)]
    pub(super) unsafe fn write(&self, position: u32, item: T) {
        self.cell(position).with_mut(|cell| {
            // SAFETY: the pointer is valid for writes during the closure, and the
            // caller promises that no other thread uses this cell.
            unsafe { cell.write(MaybeUninit::new(item)) }
        });
    }

    /// Moves the item out of the cell of `position`.
    ///
    /// # Safety
    ///
    /// The cell must hold an item that belongs to the caller alone. The caller must
    /// treat the cell as empty from here on.
    #[inline(always)]
    pub(super) unsafe fn read(&self, position: u32) -> T {
        self.cell(position).with(|cell| {
            // SAFETY: the pointer is valid for reads during the closure, and no other
            // thread writes the cell while the item belongs to the caller.
            let bits = unsafe { cell.read() };
            // SAFETY: the caller promises that the cell holds an item, and that it
            // does not read this item a second time.
            unsafe { bits.assume_init() }
        })
    }

    /// Moves `count` items, from `from..` here to `to..` in `target`.
    ///
    /// # Safety
    ///
    /// As [`read`](Self::read) for each source cell, and as [`write`](Self::write)
    /// for each target cell. The two ranges must share no cell, and `count ≤ N`.
    #[inline]
    pub(super) unsafe fn move_to(&self, from: u32, target: &Self, to: u32, count: u32) {
        // SAFETY: the caller's promise is the one that the callee needs.
        unsafe { moves::between(&self.cells, from, &target.cells, to, count) }
    }

    /// Moves `count` items, from `from..` here to the end of `out`.
    ///
    /// # Safety
    ///
    /// As [`read`](Self::read) for each cell. `out` must have room for `count` more.
    pub(super) unsafe fn move_out(&self, from: u32, count: u32, out: &mut Vec<T>) {
        for offset in 0..count {
            // SAFETY: the caller's promise covers every cell of the range.
            let item = unsafe { self.read(from.wrapping_add(offset)) };
            out.push(item);
        }
    }
}
