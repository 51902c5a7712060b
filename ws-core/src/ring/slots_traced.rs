//! Moving many items in a model: one by one, so that loom sees every access.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::mem::MaybeUninit;

use crate::sync::UnsafeCell;

/// Room for an item.
pub(super) type Cell<T> = UnsafeCell<MaybeUninit<T>>;

/// Allocates cells, one by one: loom's cells are not plain memory.
pub(super) fn allocate<T, const N: usize>() -> Box<[Cell<T>; N]> {
    let cells: Vec<Cell<T>> = (0..N).map(|_| Cell::new(MaybeUninit::uninit())).collect();
    let Ok(cells) = cells.into_boxed_slice().try_into() else {
        unreachable!("collected N cells");
    };
    cells
}

/// Moves `count` items, from `from..` of `source` to `to..` of `target`.
///
/// # Safety
///
/// As for [`Slots::move_to`](super::Slots::move_to).
pub(super) unsafe fn between<T, const N: usize>(
    source: &[Cell<T>; N],
    from: u32,
    target: &[Cell<T>; N],
    to: u32,
    count: u32,
) {
    for offset in 0..count {
        let source = &source[from.wrapping_add(offset) as usize & (N - 1)];
        let target = &target[to.wrapping_add(offset) as usize & (N - 1)];
        source.with(|source| {
            target.with_mut(|target| {
                // SAFETY: both pointers are valid during the closures. The caller
                // promises that the cells differ and that no other thread uses them.
                unsafe { target.copy_from_nonoverlapping(source, 1) }
            });
        });
    }
}
