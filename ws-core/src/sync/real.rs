//! The production primitives: `core`, `alloc` and, with the `std` feature, `std`.

pub use alloc::sync::Arc;
pub use core::hint;
pub use core::sync::atomic;

#[cfg(feature = "std")]
pub use std::sync::{Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
#[cfg(feature = "std")]
pub use std::{thread, thread_local};

pub use plain_cell::UnsafeCell;

#[path = "plain_cell.rs"]
mod plain_cell;
