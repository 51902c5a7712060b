//! Putting a thread to sleep and waking it: one token between two halves.
//!
//! A [`Park`] is the half of the thread that sleeps, an [`Unpark`] the half of
//! everyone who may wake it. Between them lies one *token*. An executor needs
//! nothing else of the operating system, so whoever brings another way to wait
//! (a reactor, an event loop of a foreign library) implements these two traits
//! and the executor runs on it. [`ThreadParker`] is the parker for plain threads.
//!
//! A parker says only "look again". What to look at is the caller's business, and
//! callers always look in a loop:
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
//! Callers may rely on these rules and implementations keep them. With the feature
//! `testing`, one call of `park::conformance::check` checks a parker against them.
//!
//! 1. **One token.** A parker holds no token or one. It starts with none, and a
//!    second token melts into the first.
//! 2. **Unpark gives, park takes.** [`unpark`](Unpark::unpark) gives the token.
//!    [`park`](Park::park) takes it: at once if it is there, otherwise it blocks
//!    until it comes. One token ends one `park`.
//! 3. **A token publishes.** Whatever happens before an `unpark` happens before
//!    the return of the `park` that takes its token, also if that token melted
//!    into one that was there already. So an `unpark` may not skip its work when
//!    it sees a token: the sleeper may be taking that one right now, without
//!    having seen what this caller wrote.
//! 4. **Spurious returns.** `park` may return although no token came. Such a
//!    return takes nothing, publishes nothing and means nothing; the caller
//!    checks its condition and parks again. An implementation may do this now and
//!    then (a signal, an event of a reactor), but in general it blocks: a parker
//!    that returns early most of the time is a busy loop and breaks this rule.
//! 5. **Time.** [`park_timeout`](Park::park_timeout) is a `park` that also
//!    returns some time after `timeout` has passed, and not much before unless it
//!    took a token or the return is spurious. Zero does not block. A
//!    timeout beyond the clock's range means for ever. A token that comes at the
//!    last moment is either taken by this call, with rule 3, or kept for the next
//!    one; nothing else of a call that timed out is left behind.
//! 6. **Who may call when.** `unpark` is called from any thread, by any number of
//!    them at once: before the first `park`, during one, between two, by the
//!    parking thread itself, and from destructors of thread-local values. It
//!    waits for no other thread to make progress. `park` is called by one thread
//!    at a time; types that can be sent but not shared enforce it. Two threads
//!    that park on one parker all the same may sleep for ever, but this is no
//!    undefined behaviour. Between two calls a parker may move to another thread,
//!    and its token moves with it.
//! 7. **Who may drop what.** Each half may outlive the other. An `unpark` whose
//!    parker is gone does nothing. Dropping an unparker gives no token, not even
//!    dropping the last one; the parker can still make more.
//! 8. **No panics.** No call panics, whatever the other half does.
//!
//! # Why `park_timeout` returns nothing
//!
//! It could say whether it took a token or ran out of time. The caller could not
//! use the answer: "token" does not mean that the condition holds (the token may
//! be an old one), and "time" does not mean that it does not (the wake-up may be
//! on its way). Both are answered by looking at the condition and at the clock,
//! which the loop does anyway. And parkers built on [`std::thread::park_timeout`]
//! or on an event loop do not know.
//!
//! # Which implementation
//!
//! [`ThreadParker`] is one state machine over one 32-bit word, in `token.rs`,
//! with its proof. What it sleeps on is chosen here: the futex of 64-bit Linux and
//! Android, or an imitation of it with a mutex and a condition variable, which
//! serves every other system and, with their locks, the model checkers.

#[cfg(feature = "testing")]
pub mod conformance;
#[cfg(feature = "std")]
mod thread_parker;
#[cfg(feature = "std")]
mod token;

// 32-bit kernels have two futex calls with two layouts of a time. It is not
// tested there, so they get what the standard library tests.
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
/// Implementations keep the [contract](self#the-contract), and their tests say so
/// with one call of `park::conformance::check` (feature `testing`). The methods
/// take `&self`, so that a parker can be used beside borrows of its owner's other
/// fields; implementations should not be [`Sync`], as only one thread may park at
/// a time.
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
    /// The half of those who wake this parker.
    type Unparker: Unpark + Clone;

    /// Returns a handle that gives this parker its token.
    ///
    /// ```
    /// use ws_core::{Park, ThreadParker, Unpark};
    ///
    /// let parker = ThreadParker::new();
    /// let (one, two) = (parker.unparker(), parker.unparker());
    /// one.unpark();
    /// two.unpark(); // melts into the first
    /// parker.park();
    /// assert_eq!(format!("{parker:?}"), "ThreadParker { state: Empty }");
    /// ```
    fn unparker(&self) -> Self::Unparker;

    /// Blocks until there is a token, and takes it.
    ///
    /// It may also return without one, so it belongs in a loop that checks what
    /// the caller waits for.
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
    /// Zero takes a token without blocking; a timeout that the clock cannot
    /// express, such as [`Duration::MAX`], means for ever. There is no result, for
    /// [reasons](self#why-park_timeout-returns-nothing): look at the condition and
    /// at the clock.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use ws_core::{Park, ThreadParker};
    ///
    /// let parker = ThreadParker::new();
    /// let (start, limit) = (Instant::now(), Duration::from_millis(5));
    /// while let Some(left) = limit.checked_sub(start.elapsed()) {
    ///     parker.park_timeout(left); // nobody unparks
    /// }
    /// assert!(start.elapsed() > limit);
    /// ```
    fn park_timeout(&self, timeout: Duration);
}

/// The half of those who wake a parked thread.
///
/// It is an object-safe trait; `Arc<dyn Unpark>` is an unparker, too.
pub trait Unpark: Send + Sync + 'static {
    /// Gives the token: the parked thread returns, or its next `park` does.
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
