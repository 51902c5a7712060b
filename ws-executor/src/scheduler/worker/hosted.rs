//! A worker as a future, for reactors that run the thread themselves.
//!
//! Some reactors are best driven by their own `block_on`: it polls its future, and sleeps in
//! the reactor while that is pending. A hosted worker is such a future. Where a worker would
//! block, it returns `Pending`. A notification of the worker wakes the future.
//!
//! Between two polls the thread runs its host's code, but still belongs to that worker. A task
//! that is woken there, most likely by an event that the host has seen, goes into the worker's
//! ring. Only the future itself is notified.

use std::fmt;
use std::mem;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use ws_core::sync::{Mutex, MutexGuard};
use ws_core::{Park, ThreadParker, ThreadUnparker, Unpark};

use super::park::SleepPlace;
use super::{Worker, current};
use crate::base::coop;
use crate::base::panics::ignore_panic;
use crate::scheduler::sleep::{Parking, Searching};
use crate::scheduler::until::Never;

/// How many tasks are polled before the host has its turn. Not measured.
const TICKS: u32 = 64;

/// One worker of an executor, as a future; see [`Builder::host`].
///
/// It ends when the executor is shut down. Dropping it earlier leaves the executor with one
/// worker less, and drops the tasks of this worker. When no worker is left, the executor is
/// shut down.
///
/// [`Builder::host`]: crate::Builder::host
#[must_use = "a worker does nothing unless it is polled"]
pub struct HostedWorker(HostedKind);

enum HostedKind {
    Worker(Hosted),
    Spare(Option<Box<dyn FnOnce()>>),
}

/// One of the executor's workers.
struct Hosted {
    worker: Rc<Worker>,
    waker: Arc<WakerSlot>,
    state: HostedState,
}

/// Where the worker was when it returned `Pending`.
enum HostedState {
    /// It does not count as searching.
    Running,
    Parked(Parking),
    Ended,
}

impl HostedWorker {
    /// A worker that does not count as searching: its host may poll it late.
    pub(crate) fn new(worker: Rc<Worker>, waker: Arc<WakerSlot>) -> Self {
        // The thread runs its host's code now, until the worker is polled.
        worker.duty.set_inside(true);
        Self(HostedKind::Worker(Hosted {
            worker,
            waker,
            state: HostedState::Running,
        }))
    }

    /// The life of a spare thread, in one poll.
    pub(crate) fn spare(life: impl FnOnce() + 'static) -> Self {
        Self(HostedKind::Spare(Some(Box::new(life))))
    }

    /// Returns whether this is a [spare thread](crate::Builder::spares), not a worker. It runs
    /// its whole life in its first poll.
    ///
    /// A host runs it as it runs the workers, so that tasks find the host's context there.
    #[must_use]
    pub fn is_spare(&self) -> bool {
        matches!(self.0, HostedKind::Spare(_))
    }
}

impl Hosted {
    /// Takes the worker out of the wake table and of the searchers' count, if the host
    /// gave up before the end.
    fn leave_protocol(&mut self) {
        if let HostedState::Parked(parking) = mem::replace(&mut self.state, HostedState::Ended) {
            let searching = self.worker.unpark_for_good(parking);
            self.worker.shared.stop_searching(searching);
        }
    }

    fn end(&mut self) {
        let _entered = current::enter(&self.worker);
        self.worker.duty.set_inside(false);
        self.worker.end();
    }
}

impl Worker {
    /// Runs tasks until there are none, or the host should have its turn.
    fn advance(&self, state: &mut HostedState, cx: &mut Context<'_>) -> Poll<()> {
        let mut searching = match mem::replace(state, HostedState::Ended) {
            HostedState::Ended => return Poll::Ready(()),
            HostedState::Running => {
                // Announces what the host's reactor has woken between two polls.
                self.announce_events();
                None
            }
            HostedState::Parked(parking) => match self.unhosted_wake(parking) {
                Ok(searching) => {
                    self.wake_up(SleepPlace::Driver);
                    // The host's reactor is left alone while a poll keeps this thread.
                    self.shared.monitor.watch();
                    self.announce_events();
                    searching
                }
                Err(parking) => {
                    *state = HostedState::Parked(parking);
                    return Poll::Pending;
                }
            },
        };
        for _ in 0..TICKS {
            if self.should_stop(&Never) {
                if let Some(searching) = searching {
                    self.shared.stop_searching(searching);
                }
                return Poll::Ready(());
            }
            match self.next_work(&mut searching, &Never) {
                Some(work) => self.run_work(work),
                None => match self.start_parking(searching, SleepPlace::Parker, &Never) {
                    Ok(parking) => {
                        *state = HostedState::Parked(parking);
                        self.fall_asleep();
                        return Poll::Pending;
                    }
                    Err(again) => searching = Some(again),
                },
            }
        }
        // The host may run tasks of its own, and these may block.
        if let Some(searching) = searching {
            self.shared.stop_searching(searching);
        }
        self.announce_rest();
        *state = HostedState::Running;
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Ends a hosted worker's sleep, if there is a reason to.
    fn unhosted_wake(&self, parking: Parking) -> Result<Option<Searching>, Parking> {
        let sleep = &self.shared.sleep;
        sleep.wake_up(parking).map(Some).or_else(|parking| {
            if !self.local.is_empty() {
                // Woken on this thread, by its host's reactor.
                return sleep.cancel_parking_with_work(parking).map(|()| None);
            }
            self.shared.act_if_quiet();
            if self.shared.is_closed() {
                return sleep.cancel_parking(parking).map(Some);
            }
            Err(parking)
        })
    }
}

impl Worker {
    /// Ends a parking without sleeping. If a notification is on its way, waits for that.
    fn unpark_for_good(&self, mut parking: Parking) -> Searching {
        let sleep = &self.shared.sleep;
        loop {
            match sleep
                .cancel_parking(parking)
                .or_else(|parking| sleep.wake_up(parking))
            {
                Ok(searching) => return searching,
                Err(again) => parking = again,
            }
            ws_core::sync::thread::yield_now();
        }
    }
}

impl Future for HostedWorker {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.get_mut().0 {
            HostedKind::Worker(hosted) => hosted.poll(cx),
            HostedKind::Spare(life) => {
                life.take().into_iter().for_each(|life| life());
                Poll::Ready(())
            }
        }
    }
}

impl Hosted {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Self {
            worker,
            waker,
            state,
        } = self;
        waker.set(cx.waker());
        let _entered = current::enter(worker);
        worker.duty.set_inside(false);
        let polled = coop::unlimited(|| worker.advance(state, cx));
        worker.duty.set_inside(true);
        polled
    }
}

impl Drop for Hosted {
    fn drop(&mut self) {
        self.leave_protocol();
        self.end();
        // The thread may live on, but it is no longer a worker.
        current::leave(&self.worker);
        self.waker.clear();
        self.worker.shared.worker_ended();
    }
}

impl fmt::Debug for HostedWorker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut worker = f.debug_struct("HostedWorker");
        match &self.0 {
            HostedKind::Worker(hosted) => worker.field("index", &hosted.worker.index),
            HostedKind::Spare(_) => worker.field("is_spare", &true),
        };
        worker.finish()
    }
}

/// The unparker of a hosted worker: wakes the future, and the thread if it waits inside of a
/// poll.
pub(crate) struct WakerSlot {
    waker: Mutex<Option<Arc<Waker>>>,
    inside: ThreadUnparker,
}

impl WakerSlot {
    fn set(&self, waker: &Waker) {
        let same = |known: &Arc<Waker>| known.will_wake(waker);
        if self.lock().as_ref().is_some_and(same) {
            return;
        }
        // The clone runs the host's code: not under the lock.
        let new = Some(Arc::new(waker.clone()));
        let old = mem::replace(&mut *self.lock(), new);
        drop(old);
    }

    /// Drops the waker here, while the thread runs its host's code, so that the thread that
    /// drops the executor does not.
    fn clear(&self) {
        let old = self.lock().take();
        ignore_panic(|| drop(old));
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<Waker>>> {
        self.waker.lock().expect("never poisoned")
    }
}

impl Unpark for WakerSlot {
    fn unpark(&self) {
        self.inside.unpark();
        let waker = self.lock().clone();
        if let Some(waker) = waker {
            // This may be the last reference to the waker.
            ignore_panic(move || waker.wake_by_ref());
        }
    }
}

/// The parker of a hosted worker, for waits inside of a poll: in a `block_on`, or for a fork.
///
/// It has a token of its own. The token of `std::thread::park` belongs to the host: taking it
/// would lose an event of the host.
pub(crate) struct HostedParker {
    parker: ThreadParker,
    slot: Arc<WakerSlot>,
}

impl HostedParker {
    /// A parker, and the place for the waker of its worker.
    pub(crate) fn new() -> (Self, Arc<WakerSlot>) {
        let parker = ThreadParker::new();
        let slot = Arc::new(WakerSlot {
            waker: Mutex::new(None),
            inside: parker.unparker(),
        });
        let own = Arc::clone(&slot);
        (Self { parker, slot: own }, slot)
    }
}

impl Park for HostedParker {
    type Unparker = Arc<dyn Unpark>;

    fn unparker(&self) -> Arc<dyn Unpark> {
        Arc::clone(&self.slot) as Arc<dyn Unpark>
    }

    fn park(&self) {
        self.parker.park();
    }

    fn park_timeout(&self, timeout: Duration) {
        self.parker.park_timeout(timeout);
    }
}
