//! shuttle's primitives, for random schedules. Cells are plain: shuttle
//! switches threads at atomics and locks only.

pub use ::shuttle::hint;
pub use ::shuttle::sync::atomic;
pub use ::shuttle::sync::{Arc, Condvar, Mutex, MutexGuard};
pub use ::shuttle::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};
pub use ::shuttle::{thread, thread_local};

pub use plain_cell::UnsafeCell;

#[path = "plain_cell.rs"]
mod plain_cell;
