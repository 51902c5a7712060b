//! A pipeline, as its lanes and its owner see it: the state behind its lock, and the wakes and
//! spawns that follow a change of the state.
//!
//! # A wake of the source drops nothing
//!
//! The source may be woken at any time, on any thread, while the waker's caller holds any lock.
//! The drop of a user value may take the same lock. So the waker of the source must not drop
//! such a value, in any state of the executor:
//! - It does not spawn a lane. A closed executor would drop that lane at once. If it were the
//!   last lane, the backlog, the source and the sinks would be dropped with it. The waker at
//!   most wakes an idle lane; `state.rs` says why there is one.
//! - It has a weak reference to the state alone ([`LockedState`]), not to the closures and the
//!   shared values in [`PipelineShared`]. Its upgraded reference may be the last one. Then the
//!   state holds no user values: only a lane passes the waker to the source, a lane keeps the
//!   state, and the last lane takes all values out of the state before it leaves
//!   ([`PipelineShared::finish`]). The outcome, with the user's error, is not part of the
//!   state.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use ws_core::sync::atomic::{AtomicBool, Ordering};
use ws_core::sync::{CachePadded, Mutex, MutexGuard};

use super::failure::{BoxError, Cause};
use super::outlet::{Outlet, OutletBatch};
use super::report::{Progress, Report};
use super::sink::Outflow;
use super::source::{Feed, Pulled};
use super::state::{
    Call, Finished, LaneSeat, LaneState, Letter, Numbered, Phase, PipelineEnd, PipelineState,
    RunOutcome, RunSettings, Step, Supply,
};
use super::{PerItem, RunError};
use crate::base::clock::Instant;
use crate::base::panics::{contain, drop_each, drop_payload, ignore_panic};
use crate::graph::lock;

/// Spawns a lane, which waits at this seat.
pub(super) type SpawnLane<P> = Box<dyn Fn(Arc<PipelineShared<P>>, Arc<LaneSeat>) + Send + Sync>;

pub(super) struct PipelineShared<P: PerItem> {
    pub(super) per_item: P,
    pub(super) settings: RunSettings<P>,
    spawn: SpawnLane<P>,
    /// Set with [`Phase::Stopping`], for a look without the lock.
    stopping: AtomicBool,
    /// Set while it is paused, for a look without the lock.
    paused: AtomicBool,
    /// The waker that the source gets.
    pub(super) bell: Waker,
    state: Arc<LockedState<P>>,
    end: Mutex<PipelineEnd<P>>,
    me: Weak<Self>,
}

/// The state, in a cache line apart from the fields that lanes read for each item. It is all
/// that a wake of the source may keep alive.
type LockedState<P> = CachePadded<Mutex<PipelineState<P>>>;

/// The waker of the source. It wakes any idle lane, not only the lane that has polled the
/// source. It drops nothing; see the module docs.
struct Bell<P: PerItem>(Weak<LockedState<P>>);

impl<P: PerItem> Wake for Bell<P> {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if let Some(state) = self.0.upgrade() {
            let called = lock(&state).ring();
            if let Some(seat) = called {
                seat.wake();
            }
        }
    }
}

impl<P: PerItem> PipelineShared<P> {
    pub(super) fn new(
        per_item: P,
        settings: RunSettings<P>,
        spawn: SpawnLane<P>,
        state: PipelineState<P>,
    ) -> Arc<Self> {
        let state = Arc::new(CachePadded::new(Mutex::new(state)));
        Arc::new_cyclic(|me| Self {
            per_item,
            settings,
            spawn,
            stopping: AtomicBool::new(false),
            paused: AtomicBool::new(false),
            bell: Waker::from(Arc::new(Bell(Arc::downgrade(&state)))),
            state,
            end: Mutex::new(PipelineEnd::not_yet()),
            me: me.clone(),
        })
    }

    /// Whether the items in flight are cancelled; a hint that saves work.
    pub(super) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// Whether items must not begin; a hint, like the one above.
    pub(super) fn is_paused(&self) -> bool {
        self.paused.load(Ordering::Relaxed)
    }

    /// Takes items back that have not begun.
    pub(super) fn give_back(&self, chunk: &mut VecDeque<Numbered<P>>) {
        let mut state = lock(&self.state);
        while let Some(item) = chunk.pop_back() {
            state.backlog.push_front(item);
        }
        self.release(state);
    }

    /// Adds the first lane.
    pub(super) fn start(&self) {
        let mut state = lock(&self.state);
        state.began = Some(Instant::now());
        let call = state.add_lane();
        drop(state);
        self.make(call);
    }

    /// Wakes or spawns the lanes that were chosen under the lock.
    fn make(&self, call: Call) {
        match call {
            Call::Nobody => {}
            Call::Wake(seat) => seat.wake(),
            Call::WakeAll(seats) => seats.iter().for_each(|seat| seat.wake()),
            Call::Spawn(seat) => {
                let me = self.me.upgrade().expect("this is it");
                // A panic drops the lane, which ends the run.
                ignore_panic(|| (self.spawn)(me, seat));
            }
        }
    }

    /// Releases the lock after a change, and calls up a lane if there is work for it. For a
    /// lane that takes its next step right afterwards.
    fn release(&self, mut state: MutexGuard<'_, PipelineState<P>>) {
        let call = state.call_up();
        drop(state);
        self.make(call);
    }

    /// Cancels the items in flight, once. The first call wakes every lane, and no lane waits
    /// after it.
    fn stop(&self, mut state: MutexGuard<'_, PipelineState<P>>) {
        if state.phase >= Phase::Stopping {
            return;
        }
        self.stopping.store(true, Ordering::Relaxed);
        let call = state.stop();
        drop(state);
        self.make(call);
    }

    /// Enters how the items of a lane ended. Returns the lane's next step.
    pub(super) fn next(
        &self,
        seat: &Arc<LaneSeat>,
        done: &mut OutletBatch<P::Output>,
        finished: &mut Vec<Finished<P>>,
        chunk: &mut VecDeque<Numbered<P>>,
        limit: usize,
    ) -> Step<P> {
        let mut state = lock(&self.state);
        if state.settle(done, finished) {
            self.stop(state);
            state = lock(&self.state);
        }
        let step = state.step(seat, chunk, limit);
        self.release_and_flush(state);
        step
    }

    /// A lane waits for its item, or for a sink, as `lane_state` says. Other lanes run the rest
    /// of its chunk. Returns the new state of the lane: still active if the run is cancelled.
    pub(super) fn wait(
        &self,
        done: &mut OutletBatch<P::Output>,
        finished: &mut Vec<Finished<P>>,
        chunk: &mut VecDeque<Numbered<P>>,
        lane_state: LaneState,
    ) -> LaneState {
        let mut state = lock(&self.state);
        if state.settle(done, finished) {
            self.stop(state);
            state = lock(&self.state);
        }
        if state.phase >= Phase::Stopping {
            return LaneState::Active;
        }
        while let Some(item) = chunk.pop_back() {
            state.backlog.push_front(item);
        }
        state.active -= 1;
        state.in_items += usize::from(lane_state == LaneState::InItem);
        self.release_and_flush(state);
        lane_state
    }

    /// A lane that waited was woken. Returns whether it must give up.
    pub(super) fn resume(&self, lane_state: LaneState) -> bool {
        let mut state = lock(&self.state);
        state.active += 1;
        state.in_items -= usize::from(lane_state == LaneState::InItem);
        state.phase >= Phase::Stopping
    }

    /// As [`release`](Self::release), before something that takes long. The last active lane
    /// may have become inactive here.
    fn release_and_flush(&self, mut state: MutexGuard<'_, PipelineState<P>>) {
        // In this order: a lane that is called up is active, and may bring an item that joins a
        // batch.
        let call = state.call_up_to_listen();
        let silence = state.silence();
        drop(state);
        self.make(call);
        if let Some(waiting) = silence {
            ignore_panic(|| self.per_item.flush(waiting));
        }
    }

    /// A lane has pulled from the source, with this much room. Returns whether the source rang
    /// meanwhile.
    pub(super) fn pulled(
        &self,
        feed: Box<dyn Feed<P::Item>>,
        room: usize,
        items: &mut Vec<P::Item>,
        took: Duration,
        pulled: Pulled,
        refused: Option<BoxError>,
    ) -> bool {
        let mut state = lock(&self.state);
        state.feed = Some(feed);
        state.live -= room - items.len();
        state.adjust_pull(items.len(), took);
        state.counts.most_in_flight = state.counts.most_in_flight.max(state.live);
        let first = state.counts.pulled;
        state.counts.pulled += items.len() as u64;
        state.backlog.extend((first..).zip(items.drain(..)));
        if let Some(error) = refused {
            state.causes.push(Cause::Source(error));
            state.phase = state.phase.max(Phase::Draining);
        }
        match pulled {
            Pulled::Full => {}
            Pulled::Pending if state.rang => {}
            Pulled::Pending => state.supply = Supply::Waiting,
            Pulled::Ended => state.supply = Supply::Ended,
            Pulled::Failed(error) => {
                state.supply = Supply::Ended;
                state.causes.push(Cause::Source(error));
            }
        }
        let rang = state.rang;
        self.release(state);
        rang
    }

    /// A lane has pushed results.
    pub(super) fn pushed(
        &self,
        sink: Box<dyn Outflow<P::Output>>,
        numbers: &mut Vec<u64>,
        results: usize,
        outcome: Result<(), BoxError>,
    ) {
        let mut state = lock(&self.state);
        state.results.sink = Some(sink);
        match outcome {
            Ok(()) => {
                state.counts.done += numbers.len() as u64;
                state.counts.results += results as u64;
                state.live -= numbers.len();
                state.acks.append(numbers);
                self.release(state);
            }
            Err(error) => {
                state.causes.push(Cause::Sink(error));
                self.stop(state);
            }
        }
    }

    /// A lane has pushed dead letters.
    pub(super) fn posted(
        &self,
        sink: Box<dyn Outflow<Letter<P>>>,
        numbers: &mut Vec<u64>,
        outcome: Result<(), BoxError>,
    ) {
        let mut state = lock(&self.state);
        state
            .letters
            .as_mut()
            .expect("it was taken from there")
            .sink = Some(sink);
        match outcome {
            Ok(()) => {
                state.counts.dead_lettered += numbers.len() as u64;
                for &number in &*numbers {
                    let left = state.results.pass(number);
                    state.live -= left;
                }
                state.acks.append(numbers);
                self.release(state);
            }
            Err(error) => {
                state.causes.push(Cause::DeadLetter(error));
                self.stop(state);
            }
        }
    }

    /// The last lane has closed the sinks and the source, and leaves.
    pub(super) fn closed(&self, cause: Option<Cause<P::Error>>) {
        let mut state = lock(&self.state);
        state.causes.extend(cause);
        state.lanes = 0;
        state.active = 0;
        self.finish(state);
    }

    /// A lane was dropped before its end.
    pub(super) fn lost(&self, lane_state: LaneState) {
        let mut state = lock(&self.state);
        state.lanes -= 1;
        if lane_state == LaneState::Active {
            state.active -= 1;
        }
        state.causes.push(Cause::Lost);
        if state.lanes == 0 {
            self.stopping.store(true, Ordering::Relaxed);
            self.finish(state);
        } else {
            self.stop(state);
        }
    }

    /// No lane is left. The items in flight are cut off, and all user values are taken out of
    /// the state.
    fn finish(&self, mut state: MutexGuard<'_, PipelineState<P>>) {
        state.phase = Phase::Over;
        let counts = &mut state.counts;
        counts.cancelled = counts.pulled - counts.ended();
        state.counts.took = state.began.map(|began| began.elapsed());
        state.live = 0;
        let backlog = std::mem::take(&mut state.backlog);
        let results = std::mem::replace(&mut state.results, Outlet::closed());
        let (letters, feed) = (state.letters.take(), state.feed.take());
        let mut causes = std::mem::take(&mut state.causes).into_iter();
        let seats = state.take_seats();
        drop(state);

        let cause = causes.next();
        drop_each(backlog);
        results.discard();
        letters.into_iter().for_each(Outlet::discard);
        drop_each(feed);
        drop_each(causes);
        drop_each(seats);
        let report = self.report();
        let outcome = match cause {
            None => Ok(report),
            Some(cause) => Err(RunError {
                cause,
                report: Box::new(report),
            }),
        };
        let mut end = lock(&self.end);
        end.outcome = Some(outcome);
        end.over = true;
        let waiter = end.waiter.take();
        drop(end);
        if let Some(waiter) = waiter {
            ignore_panic(|| waiter.wake());
        }
    }

    pub(super) fn poll_outcome(&self, cx: &mut Context<'_>) -> Poll<RunOutcome<P>> {
        let waker = cx.waker().clone();
        let mut end = lock(&self.end);
        if let Some(outcome) = end.outcome.take() {
            return Poll::Ready(outcome);
        }
        if end.over {
            drop(end);
            panic!("a pipeline was polled after its end");
        }
        let old = end.waiter.replace(waker);
        drop(end);
        drop(old);
        Poll::Pending
    }

    pub(super) fn pause(&self) {
        let mut state = lock(&self.state);
        state.paused = true;
        self.paused.store(true, Ordering::Relaxed);
        self.release_and_flush(state);
    }

    pub(super) fn unpause(&self) {
        let mut state = lock(&self.state);
        state.paused = false;
        self.paused.store(false, Ordering::Relaxed);
        self.release_and_flush(state);
    }

    /// Pulls no more items.
    pub(super) fn drain(&self) {
        let mut state = lock(&self.state);
        state.paused = false;
        self.paused.store(false, Ordering::Relaxed);
        state.phase = state.phase.max(Phase::Draining);
        self.release_and_flush(state);
    }

    /// Cancels the items in flight.
    pub(super) fn cancel(&self) {
        self.stop(lock(&self.state));
    }

    pub(super) fn is_over(&self) -> bool {
        lock(&self.end).over
    }

    pub(super) fn progress(&self) -> Progress {
        let state = lock(&self.state);
        let took = state.began.map(|began| began.elapsed());
        let mut counts = state.counts.clone();
        counts.took = counts.took.or(took);
        drop(state);
        Progress::new(&counts)
    }

    pub(super) fn report(&self) -> Report {
        let nodes = contain(|| self.per_item.nodes()).unwrap_or_else(|payload| {
            drop_payload(payload);
            Vec::new()
        });
        let state = lock(&self.state);
        let mut counts = state.counts.clone();
        let took = state.began.map(|began| began.elapsed());
        counts.took = counts.took.or(took);
        let lanes = state.all_lanes;
        drop(state);
        Report::new(&counts, lanes, nodes)
    }
}
