//! A number for each thread of a model. These threads run on one thread of the system, and
//! share its thread-locals.

use std::hash::{DefaultHasher, Hash, Hasher};

use ws_core::sync::thread;

/// The number of the calling thread.
pub(crate) fn thread_number() -> usize {
    let mut hasher = DefaultHasher::new();
    thread::current().id().hash(&mut hasher);
    hasher.finish() as usize
}
