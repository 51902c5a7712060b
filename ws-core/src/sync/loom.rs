//! loom's primitives, for the models.

pub use ::loom::cell::UnsafeCell;
pub use ::loom::hint;
pub use ::loom::sync::atomic;
pub use ::loom::sync::{Arc, Condvar, Mutex, MutexGuard};
pub use ::loom::thread;
