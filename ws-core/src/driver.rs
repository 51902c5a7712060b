//! Sleeping in a reactor: the hook under which I/O plugs in.
//!
//! An executor without I/O sleeps in parkers. If its tasks wait for sockets and
//! timers, a thread must ask the operating system about these. The cheapest thread
//! for that is a worker that has nothing else to do: instead of sleeping in its
//! parker, the worker sleeps in the reactor. A [`Driver`] is what the executor needs
//! to know of a reactor for that.
//!
//! # The contract
//!
//! What the executor promises:
//! 1. **One at a time.** At most one thread is inside [`turn`](Driver::turn). What a
//!    thread does there happens before the next thread enters.
//! 2. **Inside a life.** Every call except [`wake`](Driver::wake) and
//!    [`block_on`](Driver::block_on) comes from a thread that is in
//!    [`enter`](Driver::enter). This is a worker's thread or a spare thread. A spare
//!    thread polls tasks while every worker is busy, and calls `turn` with a timeout of
//!    zero only.
//!
//! What the driver promises:
//! 1. **A wake is not lost.** After a call of `wake`, the `turn` that is under way
//!    returns without waiting, or else the next `turn` does. A `turn` may also return
//!    at any time without a reason, but in general it waits.
//! 2. **A wake publishes.** What happens before a `wake` happens before the return of
//!    the `turn` that this `wake` ends.
//! 3. **Wakers run inside the turn**, on its thread, as far as the driver can ensure
//!    this. If the thread is a worker's, the tasks that are woken are queued on that
//!    worker, and no other worker is notified. Instead, the executor calls
//!    [`wake_local`](Driver::wake_local).
//! 4. **Nothing is lost between turns.** If an event comes while no thread is inside
//!    `turn`, the next `turn` sees the event.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::pin::Pin;
use core::time::Duration;

/// A future whose type is hidden, as [`Driver::block_on`] receives it.
pub type Visitor<'a> = Pin<&'a mut dyn Future<Output = ()>>;

/// A reactor that workers sleep in.
///
/// The [contract](self#the-contract) is in the module's documentation.
///
/// ```
/// use std::sync::{Condvar, Mutex};
/// use std::time::Duration;
/// use ws_core::Driver;
///
/// /// A reactor without events: it only sleeps.
/// #[derive(Default)]
/// struct Idle(Mutex<bool>, Condvar);
///
/// impl Driver for Idle {
///     fn turn(&self, timeout: Option<Duration>) {
///         let woken = self.0.lock().unwrap();
///         let timeout = timeout.unwrap_or(Duration::from_secs(3600));
///         let (mut woken, _) = self.1.wait_timeout_while(woken, timeout, |woken| !*woken).unwrap();
///         *woken = false;
///     }
///
///     fn wake(&self) {
///         *self.0.lock().unwrap() = true;
///         self.1.notify_one();
///     }
/// }
///
/// let idle = Idle::default();
/// idle.wake();
/// idle.turn(None); // returns at once
/// ```
pub trait Driver: Send + Sync + 'static {
    /// Runs the whole life of a worker, or of a spare thread, inside the thread context
    /// that the reactor's types need. It must call `life` once.
    fn enter(&self, life: &mut dyn FnMut()) {
        life();
    }

    /// Waits for events, for a [`wake`](Self::wake), or until the timeout, and wakes the
    /// tasks concerned. A timeout of zero polls the reactor once and does not wait.
    /// `None` means no timeout.
    fn turn(&self, timeout: Option<Duration>);

    /// Ends the turn that is under way, or else the next one. Any thread may call it.
    fn wake(&self);

    /// Says that a task was woken on the thread that is inside [`turn`](Self::turn). The
    /// `turn` should return soon. No system call is needed for that.
    fn wake_local(&self) {}

    /// Runs one poll of a task, on a thread that is in [`enter`](Self::enter), inside the
    /// context that the reactor's types need there, such as a budget. It must call `poll`
    /// once.
    fn poll_scope(&self, poll: &mut dyn FnMut()) {
        poll();
    }

    /// Runs a future on a thread that is not a worker, inside the thread context that the
    /// reactor's types need. It must poll the future until the future is ready: by `wait`,
    /// which is the executor's own way, or by a `block_on` of the reactor's. Calls of
    /// `block_on` inside such a future come here, too, if their executor has no driver.
    fn block_on(&self, future: Visitor<'_>, wait: &dyn Fn(Visitor<'_>)) {
        wait(future);
    }
}

macro_rules! forward {
    ($($pointer:ident),*) => {$(
        impl<D: Driver + ?Sized> Driver for $pointer<D> {
            fn enter(&self, life: &mut dyn FnMut()) {
                (**self).enter(life);
            }

            fn turn(&self, timeout: Option<Duration>) {
                (**self).turn(timeout);
            }

            fn wake(&self) {
                (**self).wake();
            }

            fn wake_local(&self) {
                (**self).wake_local();
            }

            fn poll_scope(&self, poll: &mut dyn FnMut()) {
                (**self).poll_scope(poll);
            }

            fn block_on(&self, future: Visitor<'_>, wait: &dyn Fn(Visitor<'_>)) {
                (**self).block_on(future, wait);
            }
        }
    )*};
}

forward!(Arc, Box);
