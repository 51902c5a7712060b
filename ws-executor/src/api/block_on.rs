//! Running a future on the calling thread.
//!
//! The calling thread polls the future, and sleeps while the future is pending. A worker must
//! not sleep there: if every worker waited for a task, none would be left to run it. So a
//! worker runs other tasks while it waits. Their polls are nested *on top* of the one that
//! waits: on the same stack, inside the call.
//!
//! That has two limits, which are documented at [`Executor::block_on`]. The nested poll must
//! return before the future below is polled again. And the stack is finite: when half of it is
//! used, a call that would have to wait panics.
//!
//! A future that yields is due again at once, and would keep its worker from all other tasks.
//! So the worker runs one job before each further poll of such a future
//! (`scheduler/worker/give_way.rs`).
//!
//! A [scope](crate::scope()) must not end before its tasks, not even by a panic. So it
//! makes sure that there is [`StackHeadroom`] before it begins.
//!
//! # Memory ordering
//!
//! | edge | release side | acquire side | makes visible |
//! |---|---|---|---|
//! | `block_on.signal` | the wake of the future | `Signal::reset` before its next poll | what happened before the wake |
//!
//! [`Executor::block_on`]: crate::Executor::block_on

use std::cell::{Cell, RefCell};
use std::fmt;
use std::future::poll_fn;
use std::panic::resume_unwind;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use ws_core::driver::Visitor;
use ws_core::sync::atomic::{AtomicBool, Ordering};
use ws_core::sync::{hint, thread_local};
use ws_core::{Park, ThreadParker, Unpark};

use crate::base::clock::Instant;
use crate::base::coop;
use crate::base::panics::{contain, ignore_panic};
use crate::base::tuning::{BLOCK_ON_SPINS, SPIN_WORTH};
use crate::base::waker_guard;
use crate::scheduler::context;
use crate::scheduler::dropping::drop_line;
use crate::scheduler::shared::Shared;
use crate::scheduler::until::Until;
use crate::scheduler::worker::nesting::Nested;
use crate::scheduler::worker::{Worker, current};

/// Polls `future` on this thread until it is ready. If `shared` is given, the future most
/// likely waits for tasks of that executor.
///
/// # Panics
///
/// On a worker, if the call would have to wait, and there is no room for other tasks.
pub(crate) fn block_on<F: Future>(shared: Option<&Shared>, future: F) -> F::Output {
    match block_on_with(None, shared, future) {
        Ok(output) => output,
        Err(too_deep) => panic!("{too_deep}"),
    }
}

/// As [`block_on`], for a wait that must not panic.
pub(crate) fn block_on_in<F: Future>(
    room: StackHeadroom,
    shared: Option<&Shared>,
    future: F,
) -> F::Output {
    match block_on_with(Some(room), shared, future) {
        Ok(output) => output,
        Err(_) => unreachable!("there is room"),
    }
}

/// Evidence that a worker has room on its stack to run tasks on top of a call that waits. Any
/// other thread needs no room: it just sleeps.
#[must_use]
pub(crate) struct StackHeadroom(());

impl StackHeadroom {
    /// Checks that there is room for a call to come.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub(crate) fn find() -> Self {
        let found = current::with_any(|worker| match worker {
            None => Ok(Self(())),
            Some(worker) if worker.is_in_driver() => Err(TooDeep::new(worker, Reason::Driver)),
            Some(worker) => {
                let nested = worker.enter_nested();
                Self::look(&nested).ok_or_else(|| TooDeep::new(worker, Reason::Scope))
            }
        });
        match found {
            Ok(room) => room,
            Err(too_deep) => panic!("{too_deep}"),
        }
    }

    fn look(nested: &Nested<'_>) -> Option<Self> {
        nested.has_room().then_some(Self(()))
    }
}

fn block_on_with<F: Future>(
    room: Option<StackHeadroom>,
    shared: Option<&Shared>,
    future: F,
) -> Result<F::Output, TooDeep> {
    current::with_any(|worker| match worker {
        Some(worker) => block_on_worker(room, worker, future),
        None => Ok(block_on_thread(shared, future)),
    })
}

/// On a thread that is not a worker. If the executor has neither driver nor host, the
/// `block_on` around this call may have one. Then the future is in that driver's context, and
/// is polled as that driver requires.
fn block_on_thread<F: Future>(shared: Option<&Shared>, future: F) -> F::Output {
    let outer = match shared {
        Some(shared) if shared.hosts_visitors() => None,
        _ => context::visiting(),
    };
    let host = outer.as_deref().or(shared);
    match host.map(|host| (&host.driver, &host.visitors)) {
        Some((Some(driver), _)) => {
            let by = |visitor: Visitor<'_>, wait: &WaitFn<'_>| driver.block_on(visitor, wait);
            block_on_visitor(by, shared, future)
        }
        Some((None, Some(host))) => {
            let by = |visitor: Visitor<'_>, _: &WaitFn<'_>| ignore_panic(|| host.get()(visitor));
            block_on_visitor(by, shared, future)
        }
        Some((None, None)) | None => with_blocked_thread(|thread| thread.run(shared, future)),
    }
}

/// Waits for a visitor, without a reactor.
type WaitFn<'a> = dyn Fn(Visitor<'_>) + 'a;

/// Lets the driver or the host run the future, on a thread that is not a worker.
fn block_on_visitor<F: Future>(
    by: impl FnOnce(Visitor<'_>, &WaitFn<'_>),
    shared: Option<&Shared>,
    future: F,
) -> F::Output {
    let mut future = pin!(future);
    let mut output = None;
    let mut visitor = pin!(poll_fn(|cx| {
        if output.is_none() {
            // The waker may be the reactor's: it is not one of ours, and not trusted. A panic
            // of the future does not unwind through `by`: it is resumed below.
            match contain(|| coop::unlimited(|| future.as_mut().poll(cx))) {
                Ok(Poll::Pending) => {
                    drop_line();
                    return Poll::Pending;
                }
                Ok(Poll::Ready(ready)) => output = Some(Ok(ready)),
                Err(payload) => output = Some(Err(payload)),
            }
        }
        Poll::Ready(())
    }));
    let wait = |visitor: Visitor<'_>| with_blocked_thread(|thread| thread.run(shared, visitor));
    by(visitor.as_mut(), &wait);
    // If `by` has run the visitor to its end, as it must, this returns at once.
    wait(visitor.as_mut());
    match output.expect("a visitor is ready when it has its output") {
        Ok(output) => output,
        Err(payload) => resume_unwind(payload),
    }
}

fn block_on_worker<F: Future>(
    room: Option<StackHeadroom>,
    worker: &Worker,
    future: F,
) -> Result<F::Output, TooDeep> {
    if worker.is_in_driver() {
        return Err(TooDeep::new(worker, Reason::Driver));
    }
    let _waiting = worker.shared().wait_inside();
    let nested = worker.enter_nested();
    let room = room.or_else(|| StackHeadroom::look(&nested));

    let signal = Arc::new(Signal::new(worker.unparker()));
    let waker = Waker::from(Arc::clone(&signal));
    let mut future = pin!(future);
    loop {
        signal.reset();
        if let Poll::Ready(output) = poll_on_worker(worker, future.as_mut(), &waker) {
            return Ok(output);
        }
        // After a shutdown no room is needed: tasks are no longer polled, but dropped.
        if room.is_none() && !worker.shared().is_closed() {
            return Err(TooDeep::new(worker, Reason::Task));
        }
        // The tasks on top have budgets and a context of their own.
        coop::unlimited(|| context::within(None, || run_on_top(worker, &*signal)));
        worker.announce_rest();
        worker.wait(&*signal);
    }
}

/// Runs other jobs until the signal is set, but at least one job: a future that yields must not
/// keep its worker from all other tasks. Returns early if the executor is closed.
fn run_on_top(worker: &Worker, signal: &impl Until) {
    if signal.is_over() {
        worker.give_way();
    }
    worker.run(signal);
}

/// One more call cannot wait here: there is no room to run tasks on top of it.
struct TooDeep {
    nesting: u32,
    reason: Reason,
}

/// What the call waits for, or where it is.
enum Reason {
    Task,
    Scope,
    Driver,
}

impl TooDeep {
    #[cold]
    fn new(worker: &Worker, reason: Reason) -> Self {
        Self {
            nesting: worker.nesting_depth(),
            reason,
        }
    }
}

impl fmt::Display for TooDeep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = match self.reason {
            Reason::Task => "the worker must run other tasks while it waits",
            Reason::Scope => "a scope must run its tasks",
            Reason::Driver => {
                return f.write_str(
                    "`block_on` or `scope` inside of the driver's turn: this worker cannot go on \
                     before it ends",
                );
            }
        };
        write!(
            f,
            "nested too deeply: {} calls of `block_on` or `scope` wait on this worker, one on \
             top of the other, half of its stack is used, and {reason}: await instead, or give \
             the workers larger stacks",
            self.nesting
        )
    }
}

/// [`poll`], inside the scope that the worker's driver provides. A panic of the future does
/// not unwind through the driver.
fn poll_on_worker<F: Future>(
    worker: &Worker,
    mut future: Pin<&mut F>,
    waker: &Waker,
) -> Poll<F::Output> {
    let mut polled = None;
    let mut poll_once = || {
        if polled.is_none() {
            polled = Some(contain(|| poll(future.as_mut(), waker)));
        }
    };
    worker.shared().within_driver(&mut poll_once);
    // If the driver has called `poll_once`, as it must, this does nothing.
    poll_once();
    match polled.expect("it was polled") {
        Ok(polled) => polled,
        Err(payload) => resume_unwind(payload),
    }
}

/// Polls outside of any task: with an unlimited budget, and a waker of our own.
fn poll<F: Future>(future: Pin<&mut F>, waker: &Waker) -> Poll<F::Output> {
    let mut cx = Context::from_waker(waker);
    let polled = coop::unlimited(|| waker_guard::with_own_waker(waker, || future.poll(&mut cx)));
    if polled.is_pending() {
        drop_line();
    }
    polled
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
        // ORDERING(block_on.signal): release side. If the flag was set already, the thread
        // that set it has unparked, or is about to.
        if !self.set.swap(true, Ordering::AcqRel) {
            self.unparker.unpark();
        }
    }
}

thread_local! {
    /// A thread's parker and waker, kept for the next call. Absent during a call.
    static CACHED: RefCell<Option<BlockedThread>> = const { RefCell::new(None) };
}

/// What a thread that is not a worker sleeps on.
struct BlockedThread {
    parker: ThreadParker,
    signal: Arc<Signal<ws_core::ThreadUnparker>>,
    waker: Waker,
    /// How many looks at the signal there are before a sleep; adapts.
    spins: Cell<u32>,
}

/// Calls `code` with this thread's sleeper. A call inside another one gets a fresh sleeper, so
/// that neither takes the other's token.
fn with_blocked_thread<R>(code: impl FnOnce(&BlockedThread) -> R) -> R {
    let cached = CACHED.try_with(|cached| cached.take()).ok().flatten();
    let sleeper = cached.unwrap_or_else(BlockedThread::new);
    let output = code(&sleeper);
    let _ = CACHED.try_with(|cached| cached.replace(Some(sleeper)));
    output
}

impl BlockedThread {
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

    /// Waits for the signal. At first the thread spins for a while, if spinning has proved
    /// useful, and if the workers leave a core to it.
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
