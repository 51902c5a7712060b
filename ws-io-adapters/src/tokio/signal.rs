//! What ends a sleep in the runtime.
//!
//! # Memory ordering
//!
//! | edge | release side | acquire side | makes visible |
//! |---|---|---|---|
//! | `tokio.signal` | `set` | the exchange in `wait`, after the waker was registered | what happened before `set` |

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

use atomic_waker::AtomicWaker;

/// A flag that one sleeper waits for, as a future.
#[derive(Default)]
pub(super) struct Signal {
    set: AtomicBool,
    sleeper: AtomicWaker,
}

impl Signal {
    /// Ends the sleep under way, or the next one.
    pub(super) fn set(&self) {
        // ORDERING(tokio.signal): release side; what happened before is visible to the
        // sleeper. Acquire as well: if the flag was set already, this exchange continues the
        // release sequence of the earlier one, so the sleeper that takes the flag sees our
        // writes, too.
        if !self.set.swap(true, Ordering::AcqRel) {
            self.sleeper.wake();
        }
    }

    /// Waits until the signal is set, or for `timeout`. Zero is one look at the reactor.
    pub(super) async fn wait(&self, timeout: Option<Duration>) {
        match timeout {
            None => self.is_set().await,
            // A runtime looks at its reactor before it polls a future that yielded.
            Some(Duration::ZERO) => ::tokio::task::yield_now().await,
            Some(timeout) => {
                let _ = ::tokio::time::timeout(timeout, self.is_set()).await;
            }
        }
        // A signal between two sleeps has no sleeper to wake.
        self.sleeper.take();
    }

    async fn is_set(&self) {
        poll_fn(|cx| {
            self.sleeper.register(cx.waker());
            // ORDERING(tokio.signal): acquire side. It follows the registration, so that a
            // signal is either seen here or wakes this future.
            if self.set.swap(false, Ordering::Acquire) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
    }
}
