//! What the programs are made of.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Poll, Waker};
use std::time::Duration;

use ws_core::sync::{Condvar, Mutex, thread};
use ws_core::{Park, ThreadParker, ThreadUnparker};
use ws_executor::{Builder, Executor};

/// An executor of two workers.
pub(crate) fn pair() -> Executor {
    start(builder().workers(2))
}

/// An executor of one worker.
pub(crate) fn single() -> Executor {
    start(builder().workers(1))
}

/// A builder whose workers have room for nested calls, as shuttle's stacks are small,
/// and let others run when they wait for a time.
pub(crate) fn builder() -> Builder {
    Executor::builder()
        .stack_size(1 << 18)
        .parker(|_| Patient(ThreadParker::new()))
}

/// A [`ThreadParker`] in whose timed parks time passes for the others.
///
/// Under shuttle a timed park without a token is over at once. A worker that parks so
/// in a loop would keep a scheduler with priorities from running anyone else.
struct Patient(ThreadParker);

impl Park for Patient {
    type Unparker = ThreadUnparker;

    fn unparker(&self) -> ThreadUnparker {
        self.0.unparker()
    }

    fn park(&self) {
        self.0.park();
    }

    fn park_timeout(&self, timeout: Duration) {
        self.0.park_timeout(timeout);
        thread::yield_now();
    }
}

/// Starts the workers.
pub(crate) fn start(builder: Builder) -> Executor {
    builder.build().expect("shuttle has threads for everyone")
}

/// Something that happens once. A thread or one task can wait for it.
#[derive(Clone, Default)]
pub(crate) struct Event(Arc<Inner>);

#[derive(Default)]
struct Inner {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    happened: bool,
    waker: Option<Waker>,
}

impl Event {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn set(&self) {
        let mut state = self.0.state.lock().unwrap();
        state.happened = true;
        let waker = state.waker.take();
        drop(state);
        self.0.changed.notify_all();
        waker.into_iter().for_each(Waker::wake);
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.state.lock().unwrap().happened
    }

    /// Blocks the thread until it happens.
    pub(crate) fn block(&self) {
        let mut state = self.0.state.lock().unwrap();
        while !state.happened {
            state = self.0.changed.wait(state).unwrap();
        }
    }

    /// Waits until it happens.
    pub(crate) async fn wait(&self) {
        poll_fn(|cx| {
            let mut state = self.0.state.lock().unwrap();
            if state.happened {
                return Poll::Ready(());
            }
            let old = state.waker.replace(cx.waker().clone());
            drop(state);
            drop(old);
            Poll::Pending
        })
        .await;
    }

    /// The waker of the task that waits, if one does.
    pub(crate) fn waiter(&self) -> Option<Waker> {
        self.0.state.lock().unwrap().waker.clone()
    }
}

/// A count that schedules do not see: it orders nothing.
#[derive(Clone, Default)]
pub(crate) struct Count(Arc<AtomicU32>);

impl Count {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    /// A value that counts its own drop; for futures to carry.
    pub(crate) fn on_drop(&self) -> OnDrop {
        OnDrop(self.clone())
    }
}

/// Counts its drop.
pub(crate) struct OnDrop(Count);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.add();
    }
}
