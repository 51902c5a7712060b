//! The ring's memory: `N` cells that know nothing about who owns them.
//!
//! A position is reduced to a cell by its low bits. Whether a cell holds an
//! item, and whose it is, is decided by the ring's indices alone; the functions
//! here are unsafe and move bits.

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

/// `N` cells, on the heap because a ring of large items does not fit a stack.
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
    /// The cell holds no item, and no other thread reads or writes it.
    #[inline(always)]
    pub(super) unsafe fn write(&self, position: u32, item: T) {
        self.cell(position).with_mut(|cell| {
            // SAFETY: the pointer is valid for the closure, and the caller
            // promises that no one else uses this cell.
            unsafe { cell.write(MaybeUninit::new(item)) }
        });
    }

    /// Moves the item out of the cell of `position`.
    ///
    /// # Safety
    ///
    /// The cell holds an item that is the caller's alone, and the caller counts
    /// the cell as empty from here on.
    #[inline(always)]
    pub(super) unsafe fn read(&self, position: u32) -> T {
        self.cell(position).with(|cell| {
            // SAFETY: the pointer is valid for the closure, and no one writes
            // the cell while the item is the caller's.
            let bits = unsafe { cell.read() };
            // SAFETY: the caller promises that the cell holds an item.
            unsafe { bits.assume_init() }
        })
    }

    /// Moves `count` items, from `from..` here to `to..` in `target`.
    ///
    /// # Safety
    ///
    /// As [`read`](Self::read) for each source cell and [`write`](Self::write)
    /// for each target cell; the two ranges share no cell; `count ≤ N`.
    #[inline]
    pub(super) unsafe fn move_to(&self, from: u32, target: &Self, to: u32, count: u32) {
        // SAFETY: the caller's promise is the callee's.
        unsafe { moves::between(&self.cells, from, &target.cells, to, count) }
    }

    /// Moves `count` items, from `from..` here to the end of `out`.
    ///
    /// # Safety
    ///
    /// As [`read`](Self::read) for each cell; `out` has room for `count` more.
    pub(super) unsafe fn move_out(&self, from: u32, count: u32, out: &mut Vec<T>) {
        for offset in 0..count {
            // SAFETY: the caller's promise covers every cell of the range.
            let item = unsafe { self.read(from.wrapping_add(offset)) };
            out.push(item);
        }
    }
}
