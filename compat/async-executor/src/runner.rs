//! One `run`: its ring, and where it searches for tasks.
//!
//! It searches the cheapest source first, in this order:
//! 1. the injector, when its turn is due, so that it cannot starve;
//! 2. its ring, first in, first out;
//! 3. the injector, for a share, which goes into the ring, where thieves can steal it;
//! 4. the rings of other `run`s, in random order, half of one;
//! 5. then it sleeps (`sleepers.rs`): the future returns `Pending`.
//!
//! A poll of a task, or of the future that the `run` is for, may block. Before each such
//! poll all tasks in the ring must be announced, and this `run` must not count as searching.
//! There is one exception: a task that yields into the empty ring is not announced yet, as
//! the `run` polls it next. If something else comes first, the `run` announces the task
//! before that. There are three such places: before a task from the injector at its turn,
//! before the future after the one task for which the `run` was woken, and before the return
//! to the host after [`TICKS`] tasks.

use std::future::poll_fn;
use std::mem;
use std::pin::{Pin, pin};
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use async_task::Runnable;
use ws_core::{Backoff, FastRand, Steal, ring};

use crate::current::{self, Current};
use crate::seat::{Parked, Seat};
use crate::state::State;

/// How many tasks are polled before the future of the `run`, and its host, have their turn.
/// The number is async-executor's, which hosts expect.
const TICKS: u32 = 200;

/// After this many tasks the injector comes first. The number is async-executor's.
const INJECTOR_INTERVAL: u32 = 64;

/// The largest number of tasks that are taken from the injector at once. Not measured.
const INJECTOR_BATCH: usize = 64;

impl State {
    /// Polls tasks until `future` is ready.
    pub(crate) async fn run<F: Future>(&self, future: F) -> F::Output {
        // The ring's owner is not `Sync`, but the future of `run` must be. The lock is never
        // taken: a poll has the future alone, and uses `get_mut`.
        let mut runner = Mutex::new(Runner::new(self));
        let mut future = pin!(future);
        poll_fn(move |cx| {
            let runner = runner.get_mut().unwrap_or_else(PoisonError::into_inner);
            runner.poll(future.as_mut(), cx)
        })
        .await
    }
}

pub(crate) struct Runner<'s> {
    state: &'s State,
    /// The number of its ring among the rings of the executor.
    number: u64,
    /// `None` while this `run` is the current `run` of a thread, which then has the ring.
    ring: Option<ring::Owner<Runnable>>,
    seat: Seat<'s, State>,
    rand: FastRand,
    ticks: u32,
    /// The tasks that are being moved from the injector to the ring; empty otherwise.
    batch: Vec<Runnable>,
}

impl<'s> Runner<'s> {
    pub(crate) fn new(state: &'s State) -> Self {
        let (ring, stealer) = ring::new();
        let number = state.rings.add(stealer);
        Self {
            state,
            number,
            ring: Some(ring),
            seat: Seat::new(state),
            rand: FastRand::new(number),
            ticks: 0,
            batch: Vec::new(),
        }
    }

    /// Polls `future`, then tasks, until no task is due or the host should have its turn.
    pub(crate) fn poll<F: Future>(
        &mut self,
        future: Pin<&mut F>,
        cx: &mut Context<'_>,
    ) -> Poll<F::Output> {
        let entered = Entered::new(self);
        let runner = &mut *entered.runner;
        runner.seat.wake_up();
        if runner.seat.is_searching() {
            // The future may block, and the task for which this `run` was woken must not
            // wait for that.
            runner.search_once();
        }
        if let Poll::Ready(output) = future.poll(cx) {
            return Poll::Ready(output);
        }
        for _ in 0..TICKS {
            match runner.next_or_park(cx.waker()) {
                Some(runnable) => runnable.run(),
                None => return Poll::Pending,
            };
        }
        // Without this, the tasks in the ring would wait for the host.
        runner.announce();
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Runs a task, if there is one. Afterwards this `run` does not count as searching, and
    /// the tasks in its ring are announced.
    fn search_once(&mut self) {
        let found = self.next();
        self.seat.leave();
        found.map(Runnable::run);
        // If it has yielded, it is not the next to be polled: the future is, and may block.
        self.announce();
    }

    /// Finds the next task to run, or falls asleep.
    fn next_or_park(&mut self, waker: &Waker) -> Option<Runnable> {
        loop {
            if let Some(runnable) = self.next() {
                self.seat.leave();
                return Some(runnable);
            }
            if self.seat.park(waker) == Parked::Asleep {
                return None;
            }
        }
    }

    /// Finds the next task; see the list in the module docs.
    fn next(&mut self) -> Option<Runnable> {
        self.ticks = self.ticks.wrapping_add(1);
        self.injector_if_due()
            .or_else(|| self.ring())
            .or_else(|| self.injector())
            .or_else(|| self.steal())
    }

    fn injector_if_due(&self) -> Option<Runnable> {
        if self.ticks % INJECTOR_INTERVAL != 0 {
            return None;
        }
        let found = self.state.injector.pull();
        // The tasks in the ring may have to wait for a long time.
        found.inspect(|_| self.announce())
    }

    fn ring(&self) -> Option<Runnable> {
        self.with_ring(ring::Owner::pop)
    }

    fn injector(&mut self) -> Option<Runnable> {
        let limit = self.with_ring(ring::Owner::spare_capacity);
        let limit = limit.min(INJECTOR_BATCH);
        let sharers = self.state.rings.len();
        let mut batch = mem::take(&mut self.batch);
        let found = self.state.injector.pull_batch(sharers, limit, &mut batch);
        self.with_ring(|ring| {
            let rest = ring.push_batch(batch.drain(..)).next();
            debug_assert!(rest.is_none(), "the ring has room for the batch");
        });
        self.batch = batch;
        // For a moment it was in no queue.
        found.inspect(|_| self.announce())
    }

    fn steal(&mut self) -> Option<Runnable> {
        let start = self.rand.next_u32() as usize;
        let mut backoff = Backoff::new();
        loop {
            let steal = self.with_ring(|thief| {
                let steal = |stealer: &ring::Stealer<Runnable>| stealer.steal_into(thief);
                self.state.rings.steal(start, self.number, steal)
            });
            match steal {
                Steal::Success(runnable) => {
                    // For a moment the other stolen tasks were in no queue.
                    self.announce();
                    return Some(runnable);
                }
                Steal::Empty => return None,
                Steal::Retry => backoff.snooze(),
            }
        }
    }

    /// Announces the tasks in the ring: notifies a sleeper if there are any.
    fn announce(&self) {
        if !self.with_ring(ring::Owner::is_empty) {
            self.state.sleepers.notify();
        }
    }

    fn with_ring<R>(&self, using: impl FnOnce(&ring::Owner<Runnable>) -> R) -> R {
        match &self.ring {
            Some(ring) => using(ring),
            None => current::with(|ring| using(ring.expect("entered while its ring is not here"))),
        }
    }
}

impl Drop for Runner<'_> {
    fn drop(&mut self) {
        if let Some(ring) = self.ring.take() {
            let rest: Vec<Runnable> = std::iter::from_fn(|| ring.pop()).collect();
            let count = rest.len();
            self.state.injector.push_batch(rest.into_iter());
            self.state.rings.remove(self.number);
            self.state.sleepers.notify_many(count);
        }
        // The seat is dropped next, and passes a notification on.
    }
}

/// Makes a runner the current runner of its thread, until this value is dropped.
struct Entered<'r, 's> {
    runner: &'r mut Runner<'s>,
    /// What was current before. `None` if the runner has kept its ring, because the thread is
    /// ending.
    outer: Option<Option<Current>>,
}

impl<'r, 's> Entered<'r, 's> {
    fn new(runner: &'r mut Runner<'s>) -> Self {
        let state = runner.state.address();
        let mut current = runner.ring.take().map(|ring| Current { state, ring });
        let outer = current::replace(&mut current);
        runner.ring = current.map(|current| current.ring);
        Self { runner, outer }
    }
}

impl Drop for Entered<'_, '_> {
    fn drop(&mut self) {
        if let Some(mut outer) = self.outer.take() {
            let mine = current::replace(&mut outer).flatten();
            self.runner.ring = mine.map(|current| current.ring);
        }
    }
}
