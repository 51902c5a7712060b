//! Correct parkers of other kinds: the suite asks for nothing but the contract.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::{Arc, Mutex};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use ws_core::park::{ThreadUnparker, conformance};
use ws_core::{FastRand, Park, ThreadParker, Unpark};

use super::locked::{Kind, Locked};

struct Correct;
impl Kind for Correct {}

#[test]
fn parker_on_a_lock_conforms() {
    conformance::check(Locked::<Correct>::new);
}

/// Sleeps in `std::thread::park`; learns at each park whom to wake.
struct OnStdThreads {
    shared: Arc<StdToken>,
    _not_sync: PhantomData<Cell<()>>,
}

#[derive(Default)]
struct StdToken {
    token: AtomicBool,
    sleeper: Mutex<Option<Thread>>,
}

impl OnStdThreads {
    fn new() -> Self {
        Self {
            shared: Arc::default(),
            _not_sync: PhantomData,
        }
    }

    /// Says who sleeps. An unpark that comes later wakes this thread; one that
    /// came before had the lock before, and its token is seen.
    fn register(&self) {
        *self.shared.sleeper.lock().unwrap() = Some(thread::current());
    }

    fn take(&self) -> bool {
        self.shared.token.swap(false, Acquire)
    }
}

impl Park for OnStdThreads {
    type Unparker = Arc<StdToken>;

    fn unparker(&self) -> Arc<StdToken> {
        Arc::clone(&self.shared)
    }

    fn park(&self) {
        self.register();
        // A loop, as the thread's own token may be left from another day.
        while !self.take() {
            thread::park();
        }
    }

    fn park_timeout(&self, timeout: Duration) {
        let start = Instant::now();
        self.register();
        while !self.take() {
            match timeout.checked_sub(start.elapsed()) {
                None | Some(Duration::ZERO) => return,
                Some(left) => thread::park_timeout(left),
            }
        }
    }
}

impl Unpark for StdToken {
    fn unpark(&self) {
        self.token.swap(true, Release);
        if let Some(sleeper) = &*self.sleeper.lock().unwrap() {
            sleeper.unpark();
        }
    }
}

#[test]
fn parker_on_std_threads_conforms() {
    conformance::check(OnStdThreads::new);
}

/// Returns from a random third of its calls at once.
struct Spurious {
    parker: ThreadParker,
    rand: RefCell<FastRand>,
}

impl Spurious {
    fn new() -> Self {
        static SEED: AtomicU32 = AtomicU32::new(1);
        Self {
            parker: ThreadParker::new(),
            rand: RefCell::new(FastRand::new(SEED.fetch_add(1, Relaxed).into())),
        }
    }

    fn returns_early(&self) -> bool {
        self.rand.borrow_mut().below(3) == 0
    }
}

impl Park for Spurious {
    type Unparker = ThreadUnparker;

    fn unparker(&self) -> ThreadUnparker {
        self.parker.unparker()
    }

    fn park(&self) {
        if !self.returns_early() {
            self.parker.park();
        }
    }

    fn park_timeout(&self, timeout: Duration) {
        if !self.returns_early() {
            self.parker.park_timeout(timeout);
        }
    }
}

#[test]
fn parker_with_spurious_returns_conforms() {
    conformance::check(Spurious::new);
}
