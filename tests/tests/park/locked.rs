//! A parker on a mutex and a condition variable, correct but for what its kind
//! changes.

use std::marker::PhantomData;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use ws_core::{Park, Unpark};

/// What the calls do; the defaults are right.
pub(super) trait Kind: Sized + 'static {
    /// An `unpark`.
    fn unpark(shared: &Shared<Self>) {
        Self::give(&mut shared.lock());
        shared.changed.notify_one();
    }

    /// The part of an `unpark` that happens under the lock.
    fn give(state: &mut State) {
        state.token = true;
    }

    /// A `park`.
    fn park(shared: &Arc<Shared<Self>>) {
        shared.sleep();
    }

    /// A `park_timeout`.
    fn park_timeout(shared: &Arc<Shared<Self>>, timeout: Duration) {
        shared.sleep_for(timeout);
    }

    /// Takes the token, under the lock; says whether there was one.
    fn take(state: &mut State) -> bool {
        std::mem::take(&mut state.token)
    }

    /// The end of a timed park that saw no token, under the lock.
    fn time_is_over(_state: &mut State) {}
}

/// A parker of kind `K`.
pub(super) struct Locked<K>(Arc<Shared<K>>);

/// What it shares with its unparkers.
pub(super) struct Shared<K> {
    state: Mutex<State>,
    pub(super) changed: Condvar,
    kind: PhantomData<fn() -> K>,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) token: bool,
    /// Whether a thread waits for `changed`.
    pub(super) sleeping: bool,
    /// For kinds that count something.
    pub(super) count: u32,
    /// For kinds that remember a thread.
    pub(super) thread: Option<ThreadId>,
}

impl<K: Kind> Shared<K> {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Waits for the token as long as it takes.
    pub(super) fn sleep(&self) {
        let mut state = self.lock();
        while !K::take(&mut state) {
            state.sleeping = true;
            state = self.changed.wait(state).unwrap();
            state.sleeping = false;
        }
    }

    /// Waits for the token until the time is over.
    pub(super) fn sleep_for(&self, timeout: Duration) {
        let Some(deadline) = Instant::now().checked_add(timeout) else {
            return self.sleep();
        };
        let mut state = self.lock();
        while !K::take(&mut state) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return K::time_is_over(&mut state);
            }
            state.sleeping = true;
            (state, _) = self.changed.wait_timeout(state, left).unwrap();
            state.sleeping = false;
        }
    }
}

impl<K: Kind> Locked<K> {
    pub(super) fn new() -> Self {
        Self(Arc::new(Shared {
            state: Mutex::default(),
            changed: Condvar::new(),
            kind: PhantomData,
        }))
    }
}

impl<K: Kind> Park for Locked<K> {
    type Unparker = Arc<Shared<K>>;

    fn unparker(&self) -> Arc<Shared<K>> {
        Arc::clone(&self.0)
    }

    fn park(&self) {
        K::park(&self.0);
    }

    fn park_timeout(&self, timeout: Duration) {
        K::park_timeout(&self.0, timeout);
    }
}

impl<K: Kind> Unpark for Shared<K> {
    fn unpark(&self) {
        K::unpark(self);
    }
}
