//! The parker of plain threads.

use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use core::time::Duration;

use super::token::Token;
use super::{Park, Unpark};
use crate::sync::Arc;

/// Parks a thread: on a futex on 64-bit Linux and Android, with the standard
/// library's locks elsewhere.
///
/// It keeps more than the [contract](super#the-contract) requires:
///
/// - It never returns spuriously: `park` returns with a token, and `park_timeout`
///   with a token or after its time.
/// - On 64-bit Linux and Android it takes no lock. A `park` that finds a token, a
///   `park_timeout` of zero and an `unpark` that finds no sleeper make no system
///   call.
///
/// A parker is not tied to a thread: any thread that holds it may park. It can be
/// sent but not shared, so two threads cannot park at once:
///
/// ```compile_fail,E0277
/// fn shared<T: Sync>(_: T) {}
/// shared(ws_core::ThreadParker::new());
/// ```
///
/// ```
/// use ws_core::{Park, ThreadParker, Unpark};
///
/// let parker = ThreadParker::new();
/// let unparker = parker.unparker();
/// let sleeper = std::thread::spawn(move || {
///     parker.park(); // returns only because of the token
///     parker
/// });
/// unparker.unpark();
/// let parker = sleeper.join().unwrap();
/// assert_eq!(format!("{parker:?}"), "ThreadParker { state: Empty }");
/// ```
pub struct ThreadParker {
    state: Arc<Token>,
    /// One thread parks at a time: `Send`, but not `Sync`.
    not_sync: PhantomData<Cell<()>>,
}

/// Wakes the thread that parks on a [`ThreadParker`].
///
/// ```
/// use ws_core::{Park, ThreadParker, Unpark};
///
/// let parker = ThreadParker::new();
/// let unparker = parker.unparker();
/// unparker.clone().unpark();
/// assert_eq!(format!("{unparker:?}"), "ThreadUnparker { state: Notified }");
/// ```
#[derive(Clone)]
pub struct ThreadUnparker {
    /// Every handle keeps the word alive, so that a late wake still finds it.
    state: Arc<Token>,
}

impl ThreadParker {
    /// Makes a parker without a token. The methods are those of [`Park`].
    ///
    /// ```
    /// let parker = ws_core::ThreadParker::new();
    /// assert_eq!(format!("{parker:?}"), "ThreadParker { state: Empty }");
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self {
            state: Arc::new(Token::new()),
            not_sync: PhantomData,
        }
    }
}

impl Default for ThreadParker {
    fn default() -> Self {
        Self::new()
    }
}

impl Park for ThreadParker {
    type Unparker = ThreadUnparker;

    fn unparker(&self) -> ThreadUnparker {
        ThreadUnparker {
            state: Arc::clone(&self.state),
        }
    }

    fn park(&self) {
        self.state.wait();
    }

    fn park_timeout(&self, timeout: Duration) {
        self.state.wait_timeout(timeout);
    }
}

impl Unpark for ThreadUnparker {
    fn unpark(&self) {
        self.state.give();
    }
}

impl fmt::Debug for ThreadParker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parker = f.debug_struct("ThreadParker");
        parker.field("state", &*self.state).finish()
    }
}

impl fmt::Debug for ThreadUnparker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut unparker = f.debug_struct("ThreadUnparker");
        unparker.field("state", &*self.state).finish()
    }
}
