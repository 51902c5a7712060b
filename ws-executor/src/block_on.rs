//! Running a future on the calling thread.
//!
//! The future is polled here, and the thread sleeps while it is pending. On a
//! worker of an executor that would be a waste, and worse: if every worker waits
//! for a task, nobody is left to run it. So there the thread goes on being a worker
//! while it waits, and runs other tasks on top of the one that waits.
//!
//! That has limits, which are documented at [`Executor::block_on`]: what is on top
//! has to return before the future below is polled again, and the stack is finite.
//! Beyond [`MAX_NESTING`] the thread hands its queues to the others and just waits.
//!
//! [`Executor::block_on`]: crate::Executor::block_on

use std::cell::{Cell, RefCell};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use ws_core::sync::atomic::{AtomicBool, Ordering};
use ws_core::sync::{hint, thread_local};
use ws_core::{Park, ThreadParker, Unpark};

use crate::clock::Instant;
use crate::context;
use crate::coop;
use crate::fork::stand_in;
use crate::shared::Shared;
use crate::shield;
use crate::tuning::{BLOCK_ON_SPINS, MAX_NESTING, SPIN_WORTH};
use crate::worker::{Until, Worker, current};

/// Polls `future` on this thread until it is ready. It most likely waits for tasks of
/// `shared`, if that is given.
pub(crate) fn block_on<F: Future>(shared: Option<&Shared>, future: F) -> F::Output {
    current::with_any(|worker| match worker {
        Some(worker) => block_on_worker(worker, future),
        None => with_sleeper(|sleeper| sleeper.run(shared, future)),
    })
}

fn block_on_worker<F: Future>(worker: &Worker, future: F) -> F::Output {
    /// Restores also when a poll panics.
    struct Nested<'a> {
        worker: &'a Worker,
        forking: bool,
    }

    impl Drop for Nested<'_> {
        fn drop(&mut self) {
            let nesting = self.worker.nesting();
            nesting.set(nesting.get() - 1);
            self.worker.forking().set(self.forking);
        }
    }

    let _waiting = worker.shared().wait_inside();
    worker.nesting().set(worker.nesting().get() + 1);
    let _nested = Nested {
        worker,
        // What runs on top is in no join, whatever is below.
        forking: worker.forking().replace(false),
    };

    let signal = Arc::new(Signal::new(worker.unparker()));
    let waker = Waker::from(Arc::clone(&signal));
    let mut future = pin!(future);
    loop {
        signal.reset();
        if let Poll::Ready(output) = poll(future.as_mut(), &waker) {
            return output;
        }
        if worker.nesting().get() <= MAX_NESTING {
            // Returns early if the executor is closed. The tasks on top have budgets and a
            // context of their own.
            coop::unlimited(|| context::within(None, || worker.run(&*signal)));
            worker.announce_rest();
        } else {
            worker.hand_over();
        }
        worker.wait(&*signal);
    }
}

/// Polls outside of any task: with no end to the budget, and a waker of our own.
fn poll<F: Future>(future: Pin<&mut F>, waker: &Waker) -> Poll<F::Output> {
    let mut cx = Context::from_waker(waker);
    coop::unlimited(|| shield::trusting(waker, || future.poll(&mut cx)))
}

/// A flag that a waker sets, and a thread to unpark for it.
struct Signal<U> {
    set: AtomicBool,
    unparker: U,
}

impl<U> Signal<U> {
    fn new(unparker: U) -> Self {
        Self {
            set: AtomicBool::new(true),
            unparker,
        }
    }

    fn reset(&self) {
        // ORDERING(block_on.signal): acquire side; what happened before the wake is
        // visible to the poll that follows.
        self.set.swap(false, Ordering::Acquire);
    }
}

impl<U> Until for Signal<U> {
    fn is_over(&self) -> bool {
        self.set.load(Ordering::Relaxed)
    }
}

impl<U: Unpark> Wake for Signal<U> {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // ORDERING(block_on.signal): release side. If it was set already, whoever set
        // it has unparked, or is about to.
        if !self.set.swap(true, Ordering::AcqRel) {
            self.unparker.unpark();
        }
    }
}

thread_local! {
    /// A thread's parker and waker, kept for the next call; absent during one.
    static CACHED: RefCell<Option<Sleeper>> = const { RefCell::new(None) };
}

/// What a thread that is no worker sleeps on.
struct Sleeper {
    parker: ThreadParker,
    signal: Arc<Signal<ws_core::ThreadUnparker>>,
    waker: Waker,
    /// How often to look before sleeping; adapts.
    spins: Cell<u32>,
}

/// Calls `code` with this thread's sleeper; one inside another gets a fresh one, so
/// that none takes the token of the other.
fn with_sleeper<R>(code: impl FnOnce(&Sleeper) -> R) -> R {
    let cached = CACHED.try_with(|cached| cached.take()).ok().flatten();
    let sleeper = cached.unwrap_or_else(Sleeper::new);
    let output = code(&sleeper);
    let _ = CACHED.try_with(|cached| cached.replace(Some(sleeper)));
    output
}

impl Sleeper {
    fn new() -> Self {
        let parker = ThreadParker::new();
        let signal = Arc::new(Signal::new(parker.unparker()));
        let waker = Waker::from(Arc::clone(&signal));
        Self {
            parker,
            signal,
            waker,
            spins: Cell::new(BLOCK_ON_SPINS.0),
        }
    }

    fn run<F: Future>(&self, shared: Option<&Shared>, future: F) -> F::Output {
        let mut future = pin!(future);
        loop {
            self.signal.reset();
            if let Poll::Ready(output) = poll(future.as_mut(), &self.waker) {
                return output;
            }
            self.wait(shared);
        }
    }

    /// Waits for the signal; for a while without the help of the system, if that has
    /// proved useful, and if there is a core to spare.
    fn wait(&self, shared: Option<&Shared>) {
        let spins = self.spins.get();
        let has_spare_core = shared.is_some_and(Shared::leaves_a_core);
        for _ in 0..if has_spare_core { spins } else { 0 } {
            if self.signal.is_over() {
                return self.spins.set((spins * 2).min(BLOCK_ON_SPINS.1));
            }
            hint::spin_loop();
        }
        let slept = Instant::now();
        stand_in::relieve();
        while !self.signal.is_over() {
            self.parker.park();
        }
        let spins = if slept.elapsed() < SPIN_WORTH {
            spins * 4
        } else {
            spins / 2
        };
        self.spins
            .set(spins.clamp(BLOCK_ON_SPINS.0, BLOCK_ON_SPINS.1));
    }
}
