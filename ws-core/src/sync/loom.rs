//! loom's primitives, for the models.

pub use ::loom::cell::UnsafeCell;
pub use ::loom::hint;
pub use ::loom::sync::atomic;
pub use ::loom::sync::{Arc, Condvar, Mutex, MutexGuard};
pub use ::loom::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};
pub use ::loom::thread;

// All threads of a model run on one system thread, so they share these thread-locals. A
// model must not rely on data in a thread-local.
pub use std::thread_local;
