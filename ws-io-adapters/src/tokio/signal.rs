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
        // sleeper. Acquire as well: if it was set already, that one published as much as
        // the sleeper needs, or it comes after us in the chain of exchanges.
        if !self.set.swap(true, Ordering::AcqRel) {
            self.sleeper.wake();
        }
    }

    /// Waits until the signal is set, or for so long; zero is one look at the reactor.
    pub(super) async fn wait(&self, timeout: Option<Duration>) {
        match timeout {
            None => self.is_set().await,
            // A runtime looks at its reactor before it polls a future that yielded.
            Some(Duration::ZERO) => ::tokio::task::yield_now().await,
            Some(timeout) => {
                let _ = ::tokio::time::timeout(timeout, self.is_set()).await;
            }
        }
        // A signal between two sleeps has nobody to wake.
        self.sleeper.take();
    }

    async fn is_set(&self) {
        poll_fn(|cx| {
            self.sleeper.register(cx.waker());
            // ORDERING(tokio.signal): acquire side. After the registration, so that a
            // signal is seen here or wakes.
            if self.set.swap(false, Ordering::Acquire) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
    }
}
