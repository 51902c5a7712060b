//! What the lanes of a pipeline share.
//!
//! All of it is behind one lock, which lanes take a few times for each chunk of items,
//! not for each item. User code never runs under it: whoever needs the source or a sink
//! takes it out, and puts it back after the call.
//!
//! # Who is called up
//!
//! A lane is *active* from when it is called up or woken until it waits. The rule is: if
//! there is work for a lane, then as many are active as the executor runs at once, or no
//! further one may exist. Every section of code that makes work, or ceases to be active,
//! ends with [`PipelineState::call_up`], which wakes an idle lane or adds one; a lane that finds
//! work calls up the next before it does it. Each live item can have a lane of its own,
//! so there are never more lanes than items may be in flight.
//!
//! # Who hears the source
//!
//! The source makes work by a wake, and a wake must not spawn: an executor that was closed
//! refuses a new lane, and so drops it inside the wake (`shared.rs`). So a wake of the source
//! only ever wakes a lane that is idle, and there is one beforehand. The rule is: while the
//! source waits, and there is room for its items, a lane is idle; or as many are active as the
//! executor runs at once; or no further one may exist. Before a lane runs something that takes
//! long, or waits, it adds a lane if the rule needs one ([`PipelineState::call_up_to_listen`]).
//! That lane finds no work and becomes idle. A lane that was called up and has not come so far
//! yet sees by itself what the source has said meanwhile.
//!
//! Instead, the wake could wake a lane that waits in an item or a sink, and that lane could add
//! one. But each such wake would poll a future of the user's for nothing, and the source would
//! wait for two tasks one after the other.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use ws_core::sync::Mutex;
use ws_core::sync::atomic::{AtomicBool, Ordering};

use super::failure::{Cause, DeadLetter, Failure, Route};
use super::outlet::{Outlet, OutletBatch, Results};
use super::report::Counts;
use super::sink::Outflow;
use super::source::Feed;
use super::{PerItem, Report, RunError};
use crate::base::clock::Instant;
use crate::base::panics::{drop_each, ignore_panic};
use crate::graph::{Timer, lock};

/// At most so many items are pulled at once, so that lanes seldom meet at the source:
/// four chunks. Larger ones were not measured.
const PULL: usize = 256;

/// A pull that takes longer than this makes the next one half as long; half of it, twice.
/// It bounds how long items wait for others that a slow source, such as an iterator that
/// blocks, gives after them. Not measured.
const LONG: Duration = Duration::from_micros(200);

pub(super) type Letter<P> = DeadLetter<<P as PerItem>::Item, <P as PerItem>::Error>;
pub(super) type Router<E> = Box<dyn Fn(&Failure<E>) -> Route + Send + Sync>;
pub(super) type RunOutcome<P> = Result<Report, RunError<<P as PerItem>::Error>>;

/// How to copy an item.
pub(super) type Copier<I> = fn(&I) -> I;

/// An item with its number.
pub(super) type Numbered<P> = (u64, <P as PerItem>::Item);

/// What does not change during a run.
pub(super) struct RunSettings<P: PerItem> {
    pub(super) route: Option<Router<P::Error>>,
    /// How to copy an item before its run, for the sink of dead letters.
    pub(super) copy: Option<Copier<P::Item>>,
    pub(super) timer: Arc<dyn Timer>,
}

/// Where a run is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    /// Items are pulled.
    Open,
    /// No more are, and what is in flight is finished.
    Draining,
    /// What is in flight is cancelled.
    Stopping,
    /// The last lane has left.
    Over,
}

/// What the source said last.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Supply {
    Ready,
    Waiting,
    Ended,
}

/// How much a run does at once; does not change, but is needed to wake a lane.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub(super) in_flight: usize,
    /// How many lanes the executor runs at once.
    pub(super) parallelism: usize,
}

pub(super) struct PipelineState<P: PerItem> {
    limits: Limits,
    pub(super) phase: Phase,
    pub(super) paused: bool,
    /// `None` while a lane has it.
    pub(super) feed: Option<Box<dyn Feed<P::Item>>>,
    pub(super) supply: Supply,
    /// How many items are pulled at once; few until the source is seen to be fast.
    pull: usize,
    /// The source rang while a lane had it.
    pub(super) rang: bool,
    /// Pulled and not begun.
    pub(super) backlog: VecDeque<Numbered<P>>,
    pub(super) results: Outlet<P::Output>,
    pub(super) letters: Option<Outlet<Letter<P>>>,
    /// Done with, and not yet said to the source.
    pub(super) acks: Vec<u64>,
    /// Items that count against `in_flight`.
    pub(super) live: usize,
    pub(super) counts: Counts,
    pub(super) lanes: usize,
    pub(super) active: usize,
    /// Lanes that wait for the item they run.
    pub(super) in_items: usize,
    idle: Vec<Arc<LaneSeat>>,
    /// Of all lanes that there have been, until the run is over.
    seats: Vec<Arc<LaneSeat>>,
    /// How many these are, also afterwards.
    pub(super) all_lanes: usize,
    /// Why it ends early; the first counts.
    pub(super) causes: Vec<Cause<P::Error>>,
    pub(super) began: Option<Instant>,
}

/// What the owner of a run gets at its end.
pub(super) struct PipelineEnd<P: PerItem> {
    /// All is dropped, and the outcome was there to be taken.
    pub(super) over: bool,
    pub(super) outcome: Option<RunOutcome<P>>,
    pub(super) waiter: Option<Waker>,
}

impl<P: PerItem> PipelineEnd<P> {
    pub(super) fn not_yet() -> Self {
        Self {
            over: false,
            outcome: None,
            waiter: None,
        }
    }
}

/// Whether a lane counts as active, or what it waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LaneState {
    Active,
    /// Waits for the item it runs.
    InItem,
    /// Waits for a sink, or is idle.
    Waiting,
    Left,
}

/// Where a lane that waits can be woken.
#[derive(Default)]
pub(super) struct LaneSeat {
    waker: Mutex<Option<Waker>>,
    /// It was idle and is to look for work.
    called: AtomicBool,
}

impl LaneSeat {
    /// Leaves a waker, to be found by whoever calls or cancels afterwards.
    pub(super) fn wait(&self, waker: &Waker) {
        let known = |old: &Option<Waker>| old.as_ref().is_some_and(|old| old.will_wake(waker));
        if known(&lock(&self.waker)) {
            return;
        }
        let waker = waker.clone(); // foreign code: not under the lock
        let old = lock(&self.waker).replace(waker);
        ignore_panic(|| drop(old));
    }

    /// Whether it was called since the last time.
    pub(super) fn was_called(&self) -> bool {
        // Relaxed: it is set before the lock of `waker` is taken to wake, and looked at
        // after a waker was left under that lock. One of the two sees the other.
        self.called.swap(false, Ordering::Relaxed)
    }

    pub(super) fn wake(&self) {
        let waker = lock(&self.waker).take();
        if let Some(waker) = waker {
            ignore_panic(|| waker.wake());
        }
    }
}

/// What is left to do when the lock is released.
#[must_use = "a lane that is counted as active has to be woken"]
pub(super) enum Call {
    Nobody,
    Wake(Arc<LaneSeat>),
    WakeAll(Vec<Arc<LaneSeat>>),
    Spawn(Arc<LaneSeat>),
}

/// How the run of an item ended, unless with one result.
pub(super) enum Finished<P: PerItem> {
    Many(u64, Vec<P::Output>),
    Skipped(u64),
    Letter(u64, Letter<P>),
    Stop(Cause<P::Error>),
}

impl<P: PerItem> Finished<P> {
    /// Drops it; panics are contained.
    pub(super) fn discard(self) {
        match self {
            Self::Many(_, results) => drop_each(results),
            other => ignore_panic(|| drop(other)),
        }
    }
}

/// What a lane is to do next.
pub(super) enum Step<P: PerItem> {
    /// Push these results.
    Push(Box<dyn Outflow<P::Output>>, OutletBatch<P::Output>),
    /// Push these dead letters.
    Letters(Box<dyn Outflow<Letter<P>>>, OutletBatch<Letter<P>>),
    /// Run the items of its chunk.
    Run,
    /// Acknowledge these, and pull so many.
    Source(Box<dyn Feed<P::Item>>, Vec<u64>, usize),
    /// Wait until it is called.
    Idle,
    /// Close what is there: it is the last lane.
    Close(Box<Closing<P>>),
    /// Leave to the others what is left to do.
    Leave,
}

/// What the last lane takes with it.
pub(super) struct Closing<P: PerItem> {
    pub(super) feed: Option<Box<dyn Feed<P::Item>>>,
    pub(super) acks: Vec<u64>,
    pub(super) sink: Option<Box<dyn Outflow<P::Output>>>,
    pub(super) letters: Option<Box<dyn Outflow<Letter<P>>>>,
    /// The run was not cancelled.
    pub(super) in_order: bool,
}

impl<P: PerItem> PipelineState<P> {
    pub(super) fn new(
        limits: Limits,
        feed: Box<dyn Feed<P::Item>>,
        results: Outlet<P::Output>,
        letters: Option<Outlet<Letter<P>>>,
    ) -> Self {
        Self {
            limits,
            phase: Phase::Open,
            paused: false,
            feed: Some(feed),
            supply: Supply::Ready,
            pull: 1,
            rang: false,
            backlog: VecDeque::new(),
            results,
            letters,
            acks: Vec::new(),
            live: 0,
            counts: Counts::default(),
            lanes: 0,
            active: 0,
            in_items: 0,
            idle: Vec::new(),
            seats: Vec::new(),
            all_lanes: 0,
            causes: Vec::new(),
            began: None,
        }
    }

    /// Looks for work, what frees others first:
    /// 1. results that nobody pushes;
    /// 2. dead letters that nobody pushes;
    /// 3. the source, if it is fast, and what was pulled will not last for the other lanes:
    ///    they would go to sleep;
    /// 4. items that were pulled, as many as fit the chunk;
    /// 5. the source, if it has items and there is room, or acknowledgements for it.
    ///
    /// Without any the lane is idle; or it leaves, if there will be no more.
    pub(super) fn step(
        &mut self,
        seat: &Arc<LaneSeat>,
        chunk: &mut VecDeque<Numbered<P>>,
        limit: usize,
    ) -> Step<P> {
        if self.is_over() {
            return self.leave();
        }
        if let Some((sink, batch)) = self.results.take() {
            return Step::Push(sink, batch);
        }
        if let Some((sink, batch)) = self.letters.as_mut().and_then(Outlet::take) {
            return Step::Letters(sink, batch);
        }
        if self.should_pull_ahead() {
            return self.pull();
        }
        if self.can_run() {
            let fair = self.backlog.len().div_ceil(self.limits.parallelism);
            chunk.extend(self.backlog.drain(..fair.min(limit)));
            return Step::Run;
        }
        if self.wants_source() {
            return self.pull();
        }
        self.idle.push(seat.clone());
        self.active -= 1;
        Step::Idle
    }

    /// Whether to pull although there are items to run, which others do meanwhile. Only as
    /// many as a fast source has given at once before: a slow one would keep items waiting.
    ///
    /// Without this, one lane slept while the other one pulled, and both took 68 to 95 ns for
    /// an item where one alone takes 58; now they take 38 to 48 (the pipeline of `--bench
    /// graph`, two workers).
    fn should_pull_ahead(&self) -> bool {
        self.active > 1 && self.backlog.len() < PULL && self.feed.is_some() && self.room() == PULL
    }

    fn pull(&mut self) -> Step<P> {
        let feed = self.feed.take().expect("looked at by the caller");
        let room = self.room();
        self.live += room;
        self.rang = false;
        Step::Source(feed, std::mem::take(&mut self.acks), room)
    }

    fn can_run(&self) -> bool {
        !self.paused && !self.backlog.is_empty()
    }

    /// How many items may be pulled.
    fn room(&self) -> usize {
        if self.phase != Phase::Open || self.paused || self.supply != Supply::Ready {
            return 0;
        }
        (self.limits.in_flight - self.live).min(self.pull)
    }

    /// Judges a pull of so many items by how long it took.
    pub(super) fn adjust_pull(&mut self, items: usize, took: Duration) {
        if took > LONG {
            self.pull = (self.pull / 2).max(1);
        } else if took < LONG / 2 && items == self.pull {
            self.pull = (self.pull * 2).min(PULL);
        }
    }

    fn wants_source(&self) -> bool {
        self.feed.is_some() && (!self.acks.is_empty() || self.room() > 0)
    }

    /// Whether lanes are to leave.
    fn is_over(&self) -> bool {
        let dry = self.phase == Phase::Draining || self.supply == Supply::Ended;
        let finished = dry && self.live == 0 && self.acks.is_empty() && self.feed.is_some();
        finished || matches!(self.phase, Phase::Stopping | Phase::Over)
    }

    /// If all lanes wait, and no item will come that others could wait for: how many items
    /// there are.
    pub(super) fn silence(&self) -> Option<usize> {
        let dry = self.paused || self.phase == Phase::Draining || self.supply == Supply::Ended;
        // There is no room for more, and no push that would make some.
        let full = self.live >= self.limits.in_flight
            && self.results.sink.is_some()
            && (self.letters.as_ref()).is_none_or(|letters| letters.sink.is_some());
        ((dry || full) && self.active == 0).then_some(self.in_items)
    }

    fn leave(&mut self) -> Step<P> {
        if self.lanes > 1 {
            self.lanes -= 1;
            self.active -= 1;
            return Step::Leave;
        }
        Step::Close(Box::new(Closing {
            feed: self.feed.take(),
            acks: std::mem::take(&mut self.acks),
            sink: self.results.sink.take(),
            letters: self
                .letters
                .as_mut()
                .and_then(|letters| letters.sink.take()),
            in_order: self.phase != Phase::Stopping,
        }))
    }

    /// Calls up one lane more, if there is work for it; all, if there will be no more.
    pub(super) fn call_up(&mut self) -> Call {
        if self.is_over() {
            return self.call_all();
        }
        if !self.has_work() {
            return Call::Nobody;
        }
        match self.call_idle() {
            Some(seat) => Call::Wake(seat),
            None if self.lanes < self.limits.in_flight => self.add_lane(),
            None => Call::Nobody,
        }
    }

    /// As [`call_up`](Self::call_up), before something that takes long: adds a lane that hears
    /// the source meanwhile, if the rule in the module docs needs one.
    pub(super) fn call_up_to_listen(&mut self) -> Call {
        match self.call_up() {
            Call::Nobody if self.lacks_listener() => self.add_lane(),
            call => call,
        }
    }

    /// The source has items again. Returns the idle lane that is to be woken for them, if one
    /// is needed; see the module docs.
    #[must_use = "a lane that is counted as active has to be woken"]
    pub(super) fn ring(&mut self) -> Option<Arc<LaneSeat>> {
        self.rang = true;
        if self.supply == Supply::Waiting {
            self.supply = Supply::Ready;
        }
        if self.has_work() {
            self.call_idle()
        } else {
            None
        }
    }

    /// Whether there is work for one lane more.
    fn has_work(&self) -> bool {
        let push = self.results.can_push();
        let letters = self.letters.as_ref().is_some_and(Outlet::can_push);
        let work = push || letters || self.can_run() || self.wants_source();
        work && self.active < self.limits.parallelism
    }

    /// Whether the source could ring for one lane more, and none is idle although it may exist.
    fn lacks_listener(&self) -> bool {
        let open = self.phase == Phase::Open && !self.paused && self.supply == Supply::Waiting;
        let Limits {
            in_flight,
            parallelism,
        } = self.limits;
        let rings = open && self.live < in_flight && self.active < parallelism;
        rings && self.idle.is_empty() && self.lanes < in_flight
    }

    fn call_idle(&mut self) -> Option<Arc<LaneSeat>> {
        let seat = self.idle.pop()?;
        self.active += 1;
        seat.called.store(true, Ordering::Relaxed);
        Some(seat)
    }

    pub(super) fn add_lane(&mut self) -> Call {
        let seat = Arc::new(LaneSeat::default());
        self.seats.push(seat.clone());
        self.all_lanes += 1;
        self.lanes += 1;
        self.active += 1;
        Call::Spawn(seat)
    }

    /// Calls every idle lane, so that it leaves.
    fn call_all(&mut self) -> Call {
        if self.idle.is_empty() {
            return Call::Nobody;
        }
        self.active += self.idle.len();
        for seat in &self.idle {
            seat.called.store(true, Ordering::Relaxed);
        }
        Call::WakeAll(std::mem::take(&mut self.idle))
    }

    /// Enters how items ended. Stopping is the caller's to do, if it is the route of one.
    #[must_use]
    pub(super) fn settle(
        &mut self,
        done: &mut OutletBatch<P::Output>,
        finished: &mut Vec<Finished<P>>,
    ) -> bool {
        let mut stop = false;
        self.live -= self.results.append(done);
        for finished in finished.drain(..) {
            match finished {
                Finished::Many(number, results) => {
                    self.live -= self.results.add(number, Results::Many(results));
                }
                Finished::Skipped(number) => {
                    self.counts.skipped += 1;
                    self.acks.push(number);
                    self.live -= self.results.pass(number);
                }
                Finished::Letter(number, letter) => {
                    let letters = self.letters.as_mut().expect("looked at by the lane");
                    letters.add(number, Results::One(letter));
                }
                Finished::Stop(cause) => {
                    self.counts.failed += 1;
                    self.causes.push(cause);
                    stop = true;
                }
            }
        }
        self.counts.most_waiting = self.counts.most_waiting.max(self.results.waiting());
        stop
    }

    /// The seats of lanes that have left, at the end of the run.
    pub(super) fn take_seats(&mut self) -> Vec<Arc<LaneSeat>> {
        self.idle.clear(); // they are among the seats
        std::mem::take(&mut self.seats)
    }

    /// Cancels what is in flight; every lane is to hear of it.
    pub(super) fn stop(&mut self) -> Call {
        self.phase = Phase::Stopping;
        let _ = self.call_all(); // they are among the seats
        Call::WakeAll(self.seats.clone())
    }
}
