//! A thread that was started, and can be woken.

use ws_core::ThreadUnparker;
use ws_core::sync::thread::JoinHandle;

/// A thread, with what wakes it.
pub(crate) struct Started {
    pub(super) handle: JoinHandle<()>,
    pub(super) unparker: ThreadUnparker,
}
