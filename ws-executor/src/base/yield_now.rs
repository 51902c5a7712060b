//! Yielding: letting other tasks run.

use std::pin::Pin;
use std::task::{Context, Poll};

/// Lets the tasks run that are already queued, before the calling task continues.
///
/// ```
/// ws_executor::block_on(async {
///     ws_executor::yield_now().await;
/// });
/// ```
pub fn yield_now() -> YieldNow {
    YieldNow { yielded: false }
}

/// The future of [`yield_now`].
#[must_use = "futures do nothing unless they are polled"]
#[derive(Debug)]
pub struct YieldNow {
    yielded: bool,
}

impl Future for YieldNow {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.yielded {
            return Poll::Ready(());
        }
        self.yielded = true;
        // A task that is woken during its own poll goes to the end of the queue.
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}
