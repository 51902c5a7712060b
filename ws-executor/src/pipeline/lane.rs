//! A lane: a task that takes items and runs the whole graph for each, one at a time.
//!
//! Items that never wait cost no lock and no allocation of their own: a lane takes a chunk of
//! items, runs one after the other, and reports all results at once. When an item waits, the
//! lane reports the results so far and gives the rest of its chunk back. So no item waits
//! behind a slow one.
//!
//! A poll that computes for long keeps the chunk. Therefore the lane adjusts the size of its
//! chunks: the next one is shorter if the last took longer than [`SHORT`].

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use super::failure::{BoxError, Cause, DeadLetter, Failure, Route, message};
use super::outlet::OutletBatch;
use super::shared::PipelineShared;
use super::sink::Outflow;
use super::source::{Feed, guarded};
use super::state::{Closing, Finished, LaneSeat, LaneState, Letter, Numbered, Step};
use super::{PerItem, Verdict};
use crate::base::clock::Instant;
use crate::base::panics::{Contained, Payload, contain, drop_each, drop_payload, ignore_panic};
use crate::base::yield_now::yield_now;

/// The most items in a chunk. A lane takes the lock a few times for each chunk
/// (`--bench graph`, two workers):
///
/// | items in a chunk | time for an item |
/// |---|---|
/// | 32 | 39 to 44 ns |
/// | 64 | 34 to 40 ns |
/// | 128 | 35 to 40 ns |
const CHUNK: usize = 64;

/// A chunk that takes longer than this halves the size of the next one; a chunk that takes less
/// than half of this doubles it. So it bounds how long items wait behind one that computes. Not
/// measured.
const SHORT: Duration = Duration::from_micros(50);

/// A lane that never waits yields to other tasks after this time. Not measured.
const TURN: Duration = Duration::from_micros(200);

/// How the wait for a future ends.
enum Ending<T> {
    Ready(T),
    Panicked(Payload),
    /// The run is cancelled.
    Cut,
}

/// A lane. If it is dropped before its end, it ends the run.
pub(super) struct Lane<P: PerItem> {
    shared: Arc<PipelineShared<P>>,
    seat: Arc<LaneSeat>,
    state: LaneState,
    chunk: VecDeque<Numbered<P>>,
    /// The results of items that have one result.
    done: OutletBatch<P::Output>,
    /// The ends of all other items.
    finished: Vec<Finished<P>>,
    limit: usize,
}

impl<P: PerItem> Drop for Lane<P> {
    fn drop(&mut self) {
        if self.state != LaneState::Left {
            // Before other code can see that the run is over.
            drop_each(self.chunk.drain(..));
            drop_each(self.done.results.drain(..));
            self.finished.drain(..).for_each(Finished::discard);
            self.shared.lost(self.state);
        }
    }
}

impl<P: PerItem> Lane<P> {
    pub(super) fn new(shared: Arc<PipelineShared<P>>, seat: Arc<LaneSeat>) -> Self {
        Self {
            shared,
            seat,
            state: LaneState::Active,
            chunk: VecDeque::new(),
            done: OutletBatch::with_capacity(CHUNK),
            finished: Vec::new(),
            limit: CHUNK,
        }
    }

    /// Does the work that [`PipelineShared::next`] returns, until the lane leaves.
    pub(super) async fn run(mut self) {
        // One reference for all items, whose futures borrow from it. With one for each item,
        // the lanes would contend for the reference count.
        let shared = self.shared.clone();
        let mut items = Vec::new();
        let mut turn = Instant::now();
        loop {
            let (seat, limit) = (&self.seat, self.limit);
            let (done, finished) = (&mut self.done, &mut self.finished);
            let chunk = &mut self.chunk;
            match shared.next(seat, done, finished, chunk, limit) {
                Step::Push(sink, batch) => self.push(sink, batch).await,
                Step::Letters(sink, batch) => self.post(sink, batch).await,
                Step::Run => {
                    let began = Instant::now();
                    self.run_chunk(&shared).await;
                    let now = Instant::now();
                    self.adjust(now - began);
                    if now - turn >= TURN {
                        yield_now().await;
                        turn = Instant::now();
                    }
                }
                Step::Source(feed, acks, room) => {
                    if self.pull(feed, acks, room, &mut items) == Pull::Again {
                        yield_now().await;
                        turn = Instant::now();
                    }
                }
                Step::Idle => self.idle().await,
                Step::Close(closing) => {
                    let cause = self.close(*closing).await;
                    self.state = LaneState::Left;
                    shared.closed(cause);
                    return;
                }
                Step::Leave => {
                    self.state = LaneState::Left;
                    return;
                }
            }
        }
    }

    fn adjust(&mut self, took: Duration) {
        if took > SHORT {
            self.limit = (self.limit / 2).max(1);
        } else if took < SHORT / 2 {
            self.limit = (self.limit * 2).min(CHUNK);
        }
    }

    async fn idle(&mut self) {
        self.state = LaneState::Waiting;
        poll_fn(|cx| {
            if self.seat.was_called() {
                return Poll::Ready(());
            }
            self.seat.wait(cx.waker());
            if self.seat.was_called() {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
        self.state = LaneState::Active; // counted by the caller
    }

    /// Runs the items of the chunk one after the other, until none is left.
    ///
    /// One function does all work for an item that does not wait, and catches all of its
    /// panics: so results do not pass through layers of futures.
    async fn run_chunk(&mut self, shared: &PipelineShared<P>) {
        let mut future = pin!(None);
        let (mut number, mut copy, mut begun) = (0, None, false);
        poll_fn(|cx| {
            loop {
                let polled = if future.is_none() {
                    if shared.is_paused() {
                        shared.give_back(&mut self.chunk);
                    }
                    let Some((next, item)) = self.chunk.pop_front() else {
                        return Poll::Ready(());
                    };
                    if shared.is_stopping() {
                        ignore_panic(|| drop(item));
                        continue;
                    }
                    (number, begun) = (next, false);
                    contain(|| {
                        copy = shared.settings.copy.map(|copy| copy(&item));
                        begun = true;
                        future.set(Some(shared.per_item.run(number, item)));
                        poll_item(future.as_mut(), cx)
                    })
                } else if self.resumes(shared) {
                    contain(|| poll_item(future.as_mut(), cx))
                } else {
                    ignore_panic(|| future.set(None));
                    ignore_panic(|| drop(copy.take()));
                    continue;
                };
                match polled {
                    Ok(Poll::Ready(verdict)) => self.ended(number, verdict, copy.take()),
                    Ok(Poll::Pending) => {
                        if self.waits(cx, LaneState::InItem) {
                            return Poll::Pending;
                        }
                        ignore_panic(|| future.set(None));
                        ignore_panic(|| drop(copy.take()));
                    }
                    Err(payload) => {
                        ignore_panic(|| future.set(None));
                        if !begun {
                            ignore_panic(|| shared.per_item.pass_over(number));
                        }
                        self.ended(number, Verdict::Panicked(payload, None), copy.take());
                    }
                }
            }
        })
        .await;
    }

    /// Notes how an item ended.
    fn ended(&mut self, number: u64, verdict: Verdict<P::Output, P::Error>, copy: Option<P::Item>) {
        let failure = match verdict {
            Verdict::Failed(error, node) => Failure::error(number, error, node),
            Verdict::Panicked(payload, node) => Failure::panic(number, payload).in_node(node),
            success => {
                match success {
                    Verdict::Done(result) => self.done.add(number, result),
                    Verdict::Many(results) => self.finished.push(Finished::Many(number, results)),
                    _ => self.finished.push(Finished::Skipped(number)),
                }
                if let Some(copy) = copy {
                    ignore_panic(|| drop(copy));
                }
                return;
            }
        };
        let finished = self.failed(failure, copy);
        if let Finished::Stop(_) = finished {
            // The run ends with this failure. A lane that leaves must not hold values of the
            // user.
            drop_each(self.chunk.drain(..));
        }
        self.finished.push(finished);
    }

    /// Finds the route of an item that failed. A panic of the routing closure stops the run.
    fn failed(&self, failure: Failure<P::Error>, copy: Option<P::Item>) -> Finished<P> {
        let number = failure.number;
        let (failure, copy) = (Contained::new(failure), Contained::new(copy));
        let route = match &self.shared.settings.route {
            None => Ok(Route::Stop),
            Some(route) => contain(|| route(failure.get())),
        };
        match route {
            Ok(Route::Skip) => Finished::Skipped(number),
            Ok(Route::Stop) => Finished::Stop(Cause::Item(failure.into_inner())),
            Ok(Route::DeadLetter) => {
                let failure = failure.into_inner();
                match copy.into_inner() {
                    Some(item) => Finished::Letter(number, DeadLetter { item, failure }),
                    None => Finished::Stop(Cause::NoDeadLetter(failure)),
                }
            }
            Err(payload) => Finished::Stop(Cause::Item(Failure::panic(number, payload))),
        }
    }

    /// Awaits a future. While it is pending, other lanes take over.
    async fn patiently<F: Future>(&mut self, future: F) -> Ending<F::Output> {
        let shared = self.shared.clone();
        let mut future = pin!(Some(future));
        let ending = poll_fn(|cx| {
            if !self.resumes(&shared) {
                return Poll::Ready(Ending::Cut);
            }
            let future = future
                .as_mut()
                .as_pin_mut()
                .expect("dropped only after this");
            match contain(|| future.poll(cx)) {
                Ok(Poll::Ready(output)) => Poll::Ready(Ending::Ready(output)),
                Err(payload) => Poll::Ready(Ending::Panicked(payload)),
                Ok(Poll::Pending) if self.waits(cx, LaneState::Waiting) => Poll::Pending,
                Ok(Poll::Pending) => Poll::Ready(Ending::Cut),
            }
        })
        .await;
        match (contain(|| future.set(None)), ending) {
            (Ok(()), ending) => ending,
            (Err(payload), Ending::Ready(output)) => {
                ignore_panic(|| drop(output));
                Ending::Panicked(payload)
            }
            (Err(second), ending) => {
                drop_payload(second);
                ending
            }
        }
    }

    /// Continues after a wait, if there was one. Returns false if the run is cancelled.
    fn resumes(&mut self, shared: &PipelineShared<P>) -> bool {
        match std::mem::replace(&mut self.state, LaneState::Active) {
            LaneState::Active => true,
            waited => !shared.resume(waited),
        }
    }

    /// Waits for the future that was polled, and leaves other work to other lanes. Returns
    /// false if the run is cancelled.
    fn waits(&mut self, cx: &mut Context<'_>, state: LaneState) -> bool {
        // Before the phase is read: a cancellation finds the waker, or this reads the
        // cancellation.
        self.seat.wait(cx.waker());
        let (done, finished) = (&mut self.done, &mut self.finished);
        self.state = self.shared.wait(done, finished, &mut self.chunk, state);
        self.state == state
    }

    async fn push(&mut self, mut sink: Box<dyn Outflow<P::Output>>, batch: OutletBatch<P::Output>) {
        let OutletBatch {
            results,
            mut numbers,
        } = batch;
        let count = results.len();
        match self.offer(&mut *sink, results).await {
            Some(outcome) => self.shared.pushed(sink, &mut numbers, count, outcome),
            None => drop_each([sink]),
        }
    }

    async fn post(&mut self, mut sink: Box<dyn Outflow<Letter<P>>>, batch: OutletBatch<Letter<P>>) {
        let OutletBatch {
            results,
            mut numbers,
        } = batch;
        match self.offer(&mut *sink, results).await {
            Some(outcome) => self.shared.posted(sink, &mut numbers, outcome),
            None => drop_each([sink]),
        }
    }

    /// Pushes to a sink. Returns `None` if the run is cancelled meanwhile.
    async fn offer<T>(
        &mut self,
        sink: &mut dyn Outflow<T>,
        results: Vec<T>,
    ) -> Option<Result<(), BoxError>> {
        match guarded(|| sink.push(results)) {
            Err(panic) => Some(Err(panic)),
            Ok(pushing) => outcome(self.patiently(pushing).await),
        }
    }

    fn pull(
        &mut self,
        mut feed: Box<dyn Feed<P::Item>>,
        acks: Vec<u64>,
        room: usize,
        items: &mut Vec<P::Item>,
    ) -> Pull {
        let refused = feed.acknowledge(&acks).err();
        let mut cx = Context::from_waker(&self.shared.bell);
        let began = Instant::now();
        let pulled = feed.pull(&mut cx, room, items);
        let took = began.elapsed();
        let none = items.is_empty();
        let rang = self.shared.pulled(feed, room, items, took, pulled, refused);
        if none && rang {
            Pull::Again
        } else {
            Pull::Done
        }
    }

    /// Closes the sinks and then the source: all items that are acknowledged must be safe. A
    /// cancellation ends this early.
    async fn close(&mut self, closing: Closing<P>) -> Option<Cause<P::Error>> {
        let Closing {
            feed,
            acks,
            sink,
            letters,
            in_order,
        } = closing;
        let mut cause = None;
        if let Some(mut sink) = sink {
            if in_order {
                let outcome = self.close_sink(&mut *sink).await;
                cause = cause.or(outcome.err().map(Cause::Sink));
            }
            ignore_panic(|| drop(sink));
        }
        if let Some(mut letters) = letters {
            if in_order && !self.shared.is_stopping() {
                let outcome = self.close_sink(&mut *letters).await;
                cause = cause.or(outcome.err().map(Cause::DeadLetter));
            }
            ignore_panic(|| drop(letters));
        }
        if let Some(mut feed) = feed {
            let refused = feed.acknowledge(&acks).err();
            cause = cause.or(refused.map(Cause::Source));
            if in_order && !self.shared.is_stopping() {
                let closing = poll_fn(|cx| feed.poll_close(cx));
                let outcome = outcome(self.patiently(closing).await).unwrap_or(Ok(()));
                cause = cause.or(outcome.err().map(Cause::Source));
            }
            ignore_panic(|| drop(feed));
        }
        cause
    }

    async fn close_sink<T>(&mut self, sink: &mut dyn Outflow<T>) -> Result<(), BoxError> {
        let closing = guarded(|| sink.close())?;
        outcome(self.patiently(closing).await).unwrap_or(Ok(()))
    }
}

/// The outcome of a call to a source or a sink; `None` if the run was cancelled.
fn outcome(ending: Ending<Result<(), BoxError>>) -> Option<Result<(), BoxError>> {
    match ending {
        Ending::Ready(outcome) => Some(outcome),
        Ending::Panicked(payload) => Some(Err(format!("panicked: {}", message(payload)).into())),
        Ending::Cut => None,
    }
}

/// Polls an item. Drops its future when it is ready.
fn poll_item<F: Future>(mut future: Pin<&mut Option<F>>, cx: &mut Context<'_>) -> Poll<F::Output> {
    let polled = future.as_mut().as_pin_mut().expect("set by the caller");
    let output = ready!(polled.poll(cx));
    future.set(None);
    Poll::Ready(output)
}

/// Whether to pull from the source again at once.
#[derive(PartialEq, Eq)]
enum Pull {
    Done,
    Again,
}
