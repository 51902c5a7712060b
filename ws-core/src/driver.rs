//! Sleeping in a reactor: the hook under which I/O plugs in.
//!
//! An executor without I/O sleeps in parkers. If its tasks wait for sockets and
//! timers, someone has to ask the operating system about those, and the cheapest
//! someone is a worker that has nothing else to do: instead of sleeping in its
//! parker, it sleeps in the reactor. A [`Driver`] is what the executor needs to
//! know of a reactor for that.
//!
//! # The contract
//!
//! What the executor promises:
//! 1. **One at a time.** At most one thread is inside [`turn`](Driver::turn), and what
//!    one did there happens before the next one enters.
//! 2. **Inside a life.** Every call but [`wake`](Driver::wake) and
//!    [`block_on`](Driver::block_on) comes from a thread that is in [`enter`](Driver::enter):
//!    that of a worker, or one that stands in for the workers while all of them compute.
//!    The latter only looks, with a timeout of zero.
//!
//! What the driver promises:
//! 1. **A wake is not lost.** After a call of `wake`, the `turn` that is under way, or
//!    else the next one, returns without waiting. It may return at any time without a
//!    reason as well, but in general it waits.
//! 2. **A wake publishes.** What happens before a `wake` happens before the return of
//!    the `turn` that it ends.
//! 3. **Wakers run inside the turn**, on its thread, as far as the driver can see to
//!    it. If that is a worker's, the tasks they wake are queued on that worker, without a
//!    notification of anyone; [`wake_local`](Driver::wake_local) tells the driver of it.
//! 4. **Nothing is lost between turns.** An event that comes while nobody is inside is
//!    seen by the next `turn`.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::pin::Pin;
use core::time::Duration;

/// A future whose type is hidden, as [`Driver::block_on`] gets it.
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
    /// Runs the whole life of a worker, or of a thread that stands in for the workers,
    /// inside whatever thread context the reactor's types need. Has to call `life` once.
    fn enter(&self, life: &mut dyn FnMut()) {
        life();
    }

    /// Waits for events, a [`wake`](Self::wake), or the timeout, and wakes the tasks
    /// concerned. Zero is one look without waiting; `None` is no timeout.
    fn turn(&self, timeout: Option<Duration>);

    /// Ends the turn under way, or the next one; from any thread.
    fn wake(&self);

    /// A task was woken on the thread that is inside [`turn`](Self::turn): that should
    /// return soon, for which no system call is needed.
    fn wake_local(&self) {}

    /// Runs one poll of a task, on a thread that is in [`enter`](Self::enter), inside whatever the reactor's types need there, such
    /// as a budget. Has to call `poll` once.
    fn poll_scope(&self, poll: &mut dyn FnMut()) {
        poll();
    }

    /// Runs a future on a thread that is no worker's, inside whatever thread context the
    /// reactor's types need. Has to poll it until it is ready: by `wait`, which is the
    /// executor's own way, or by a `block_on` of the reactor's. Inside such a future, the calls of
    /// `block_on` of executors without a driver come here, too.
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
