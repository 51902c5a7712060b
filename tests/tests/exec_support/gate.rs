//! A worker that is blocked inside a poll until a test lets it go.

use std::sync::mpsc;

use ws_executor::Handle;

/// A blocked worker; dropping this lets it go.
#[must_use = "dropping it lets the worker go"]
pub(crate) struct Gate {
    _open: mpsc::Sender<()>,
}

/// Blocks `worker` inside a poll; returns when it is.
pub(crate) fn block(handle: &Handle, worker: usize) -> Gate {
    let (enters, entered) = mpsc::channel();
    let (open, opened) = mpsc::channel::<()>();
    let task = handle.spawn_pinned(worker, move || async move {
        enters.send(()).expect("the test waits for this");
        let _ = opened.recv();
    });
    task.detach();
    entered.recv().expect("the worker enters the gate");
    Gate { _open: open }
}
