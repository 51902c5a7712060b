//! A number for each thread.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

use ws_core::sync::thread_local;

thread_local! {
    static NUMBER: Cell<usize> = const { Cell::new(0) };
}

/// The number of the calling thread.
pub(crate) fn thread_number() -> usize {
    static LAST: AtomicUsize = AtomicUsize::new(0);
    NUMBER.with(|number| {
        if number.get() == 0 {
            number.set(LAST.fetch_add(1, Ordering::Relaxed) + 1);
        }
        number.get()
    })
}
