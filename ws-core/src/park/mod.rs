//! Parking and unparking a thread: one token between two halves.
//!
//! A [`Park`] is the half of the thread that sleeps. An [`Unpark`] is the half of
//! the threads that may wake it. Between the two halves there is one *token*. An
//! executor needs nothing else of the operating system to wait. So an executor also
//! runs on another way to wait (a reactor, an event loop of a foreign library) if it
//! implements these two traits. [`ThreadParker`] is the parker for plain threads.
//!
//! A return of `park` means only "check again". The caller decides what to check, and
//! must check in a loop:
//!
//! ```
//! use std::sync::Arc;
//! use std::sync::atomic::{AtomicBool, Ordering};
//! use ws_core::{Park, ThreadParker, Unpark};
//!
//! let parker = ThreadParker::new();
//! let unparker = parker.unparker();
//! let ready = Arc::new(AtomicBool::new(false));
//!
//! let producer = std::thread::spawn({
//!     let ready = Arc::clone(&ready);
//!     move || {
//!         ready.store(true, Ordering::Relaxed); // 1. make the condition true
//!         unparker.unpark(); //                    2. then hand over the token
//!     }
//! });
//! while !ready.load(Ordering::Relaxed) {
//!     parker.park();
//! }
//! assert!(ready.load(Ordering::Relaxed));
//! producer.join().unwrap();
//! ```
//!
//! # The contract
//!
//! Callers may rely on these rules, and implementations must keep them. With the
//! feature `testing`, one call of `park::conformance::check` checks a parker against
//! them.
//!
//! 1. **One token.** A parker holds no token or one token. It starts with none. A
//!    second token merges with the first.
//! 2. **Unpark gives, park takes.** [`unpark`](Unpark::unpark) gives the token.
//!    [`park`](Park::park) takes the token: at once if the token is there, otherwise
//!    `park` blocks until the token comes. One token ends one `park`.
//! 3. **A token publishes.** Whatever happens before an `unpark` happens before
//!    the return of the `park` that takes its token, also if that token merged
//!    with a token that was there already. So an `unpark` must not skip its work if
//!    it sees a token: at that moment the sleeper may take that token, without having
//!    seen what this caller wrote.
//! 4. **Spurious returns.** `park` may return although no token came. Such a
//!    return takes nothing, publishes nothing and means nothing. The caller must
//!    check its condition and park again. An implementation may return spuriously now
//!    and then (a signal, an event of a reactor), but in general it must block: a
//!    parker that returns early most of the time is a busy loop and breaks this rule.
//! 5. **Time.** [`park_timeout`](Park::park_timeout) is a `park` that also
//!    returns some time after `timeout` has passed. It does not return much before,
//!    unless it took a token or the return is spurious. A timeout of zero does not
//!    block. A timeout beyond the clock's range means for ever. A token that comes at
//!    the last moment is either taken by this call, with rule 3, or kept for the next
//!    call. A call that timed out leaves nothing else behind.
//! 6. **Who may call when.** Any number of threads may call `unpark` at once: before
//!    the first `park`, during a `park`, between two, on the parking thread itself, and
//!    in destructors of thread-local values. `unpark` does not wait for another thread
//!    to make progress. Only one thread may call `park` at a time. Types that can be
//!    sent but not shared enforce this. If two threads park on one parker all the same,
//!    they may sleep for ever, but the behaviour is not undefined. Between two calls a
//!    parker may move to another thread, and its token moves with it.
//! 7. **Who may drop what.** Each half may outlive the other. An `unpark` does nothing
//!    if its parker is gone. The drop of an unparker gives no token, not even the drop
//!    of the last unparker. The parker can still make more unparkers.
//! 8. **No panics.** No call panics, whatever the other half does.
//!
//! # Why `park_timeout` returns nothing
//!
//! `park_timeout` could say whether it took a token or ran out of time. The caller
//! could not use the answer. "Token" does not mean that the condition holds, as the
//! token may be an old one. "Time" does not mean that the condition does not hold, as
//! the wake-up may be on its way. To know, the caller must check the condition and the
//! clock, and its loop does so anyway. Besides, a parker on
//! [`std::thread::park_timeout`] or on an event loop does not know the answer.
//!
//! # Which implementation
//!
//! [`ThreadParker`] is one state machine over one 32-bit word, in `token.rs`,
//! with its proof. This module chooses what the thread sleeps on: the futex of 64-bit
//! Linux and Android, or an imitation of a futex with a mutex and a condition variable.
//! The imitation serves every other system and, with their own locks, the model
//! checkers.

#[cfg(feature = "testing")]
pub mod conformance;
#[cfg(feature = "std")]
mod thread_parker;
#[cfg(feature = "std")]
mod token;

// 32-bit kernels have two futex calls with two layouts of a time. `futex_linux.rs` is
// not tested there, so these systems use the locks of the standard library.
#[cfg(feature = "std")]
#[cfg_attr(
    all(
        any(target_os = "linux", target_os = "android"),
        target_pointer_width = "64",
        not(any(ws_loom, ws_shuttle))
    ),
    path = "futex_linux.rs"
)]
#[cfg_attr(
    not(all(
        any(target_os = "linux", target_os = "android"),
        target_pointer_width = "64",
        not(any(ws_loom, ws_shuttle))
    )),
    path = "futex_std.rs"
)]
mod futex;

#[cfg(feature = "std")]
#[cfg_attr(not(any(ws_loom, ws_shuttle)), path = "deadline_clock.rs")]
#[cfg_attr(any(ws_loom, ws_shuttle), path = "deadline_model.rs")]
mod deadline;

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::time::Duration;

#[cfg(feature = "std")]
pub use thread_parker::{ThreadParker, ThreadUnparker};

/// The half of the thread that sleeps.
///
/// Implementations must keep the [contract](self#the-contract). Their tests check it
/// with one call of `park::conformance::check` (feature `testing`). The methods
/// take `&self`, so that a parker can be used beside borrows of its owner's other
/// fields. Implementations should not be [`Sync`], because only one thread may park
/// at a time.
///
/// With a fixed unparker the trait can be made into an object:
///
/// ```
/// use std::sync::Arc;
/// use std::time::Duration;
/// use ws_core::{Park, ThreadParker, Unpark};
///
/// /// Hides which parker it is.
/// struct Erased<P>(P);
///
/// impl<P: Park> Park for Erased<P> {
///     type Unparker = Arc<dyn Unpark>;
///
///     fn unparker(&self) -> Arc<dyn Unpark> {
///         Arc::new(self.0.unparker())
///     }
///     fn park(&self) {
///         self.0.park();
///     }
///     fn park_timeout(&self, timeout: Duration) {
///         self.0.park_timeout(timeout);
///     }
/// }
///
/// let parker: Box<dyn Park<Unparker = Arc<dyn Unpark>>> = Box::new(Erased(ThreadParker::new()));
/// parker.unparker().unpark();
/// parker.park();
/// assert_eq!(Arc::strong_count(&parker.unparker()), 1);
/// ```
pub trait Park: Send {
    /// The half of the threads that unpark this parker.
    type Unparker: Unpark + Clone;

    /// Returns a handle that gives this parker its token.
    ///
    /// ```
    /// use ws_core::{Park, ThreadParker, Unpark};
    ///
    /// let parker = ThreadParker::new();
    /// let (one, two) = (parker.unparker(), parker.unparker());
    /// one.unpark();
    /// two.unpark(); // merges with the first
    /// parker.park();
    /// assert_eq!(format!("{parker:?}"), "ThreadParker { state: Empty }");
    /// ```
    fn unparker(&self) -> Self::Unparker;

    /// Blocks until there is a token, and takes the token.
    ///
    /// `park` may also return without a token. So the caller must call it in a loop
    /// that checks the condition which the caller waits for.
    ///
    /// ```
    /// use ws_core::{Park, ThreadParker, Unpark};
    ///
    /// let parker = ThreadParker::new();
    /// parker.unparker().unpark();
    /// parker.park(); // the token is there: returns at once
    /// assert_eq!(format!("{parker:?}"), "ThreadParker { state: Empty }");
    /// ```
    fn park(&self);

    /// Blocks until there is a token or `timeout` has passed.
    ///
    /// A timeout of zero takes a token without blocking. A timeout that the clock
    /// cannot express, such as [`Duration::MAX`], means for ever. There is no result
    /// ([why](self#why-park_timeout-returns-nothing)): check the condition and the
    /// clock.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use ws_core::{Park, ThreadParker};
    ///
    /// let parker = ThreadParker::new();
    /// let (start, limit) = (Instant::now(), Duration::from_millis(5));
    /// while let Some(left) = limit.checked_sub(start.elapsed()) {
    ///     parker.park_timeout(left); // no thread unparks
    /// }
    /// assert!(start.elapsed() > limit);
    /// ```
    fn park_timeout(&self, timeout: Duration);
}

/// The half of the threads that unpark a parked thread.
///
/// The trait is object-safe. `Arc<dyn Unpark>` is an unparker, too.
pub trait Unpark: Send + Sync + 'static {
    /// Gives the token: the `park` of the parked thread returns, or else its next
    /// `park` returns at once.
    ///
    /// What the caller did before is visible to the thread that takes the token.
    ///
    /// ```
    /// use ws_core::{Park, ThreadParker, Unpark};
    ///
    /// let parker = ThreadParker::new();
    /// let unparker = parker.unparker();
    /// let sleeper = std::thread::spawn(move || parker.park());
    /// unparker.unpark();
    /// assert!(sleeper.join().is_ok());
    /// unparker.unpark(); // the parker is gone: does nothing
    /// ```
    fn unpark(&self);
}

impl<U: Unpark + ?Sized> Unpark for Arc<U> {
    fn unpark(&self) {
        (**self).unpark();
    }
}

impl<P: Park + ?Sized> Park for Box<P> {
    type Unparker = P::Unparker;

    fn unparker(&self) -> P::Unparker {
        (**self).unparker()
    }

    fn park(&self) {
        (**self).park();
    }

    fn park_timeout(&self, timeout: Duration) {
        (**self).park_timeout(timeout);
    }
}
