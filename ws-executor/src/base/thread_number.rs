//! A small number for each thread, to spread threads over shards.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

use ws_core::sync::thread_local;

thread_local! {
    /// The thread's number; zero if it has none yet.
    static NUMBER: Cell<usize> = const { Cell::new(0) };
}

/// The number of the calling thread; zero if the thread is ending.
pub(crate) fn thread_number() -> usize {
    // An atomic of `std`, not of the shim: no protocol depends on it.
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    let number = NUMBER.try_with(|number| {
        if number.get() == 0 {
            number.set(NEXT.fetch_add(1, Ordering::Relaxed));
        }
        number.get()
    });
    number.unwrap_or(0)
}
