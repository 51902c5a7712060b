//! What the lanes of a pipeline share.
//!
//! All of it is behind one lock, which lanes take a few times for each chunk of items, not for
//! each item. No user code runs under this lock: a lane that needs the source or a sink takes
//! it out, and puts it back after the call.
//!
//! # Which lane is called up
//!
//! A lane is *active* from its call or wake until it waits. The rule: if there is work for a
//! lane, then as many lanes are active as the executor runs at once, or no further lane may
//! exist. Every section of code that makes work, or makes a lane inactive, ends with
//! [`PipelineState::call_up`], which wakes an idle lane or adds one. A lane that finds work
//! calls up the next lane before it does the work. Each item in flight can have a lane of its
//! own, so there are never more lanes than items may be in flight.
//!
//! # Which lane listens to the source
//!
//! A wake of the source makes work, but it must not spawn: an executor that was closed refuses
//! a lane, and so drops it inside the wake (`shared.rs`). So a wake of the source can only wake
//! an idle lane, and that lane must exist before. The rule: while the source waits and there is
//! room for its items, a lane is idle; or as many lanes are active as the executor runs at
//! once; or no further lane may exist. Before a lane runs something that takes long, or waits,
//! it adds a lane if the rule needs one ([`PipelineState::call_up_to_listen`]). The added lane
//! finds no work and becomes idle. If the source is woken before that lane becomes idle, the
//! lane sees the new items itself.
//!
//! Instead, the wake could wake a lane that waits in an item or a sink, and that lane could add
//! one. But then each wake would poll a user's future for nothing, and the source would wait
//! for two tasks one after the other.

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

/// The most items of one pull: four chunks, so that lanes seldom contend for the source. Larger
/// ones were not measured.
const PULL: usize = 256;

/// A pull that takes longer than this halves the size of the next one; a pull that takes less
/// than half of this doubles it. So it bounds how long items wait while a slow source, such as
/// an iterator that blocks, gives later ones. Not measured.
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

/// The phase of a run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    /// Items are pulled.
    Open,
    /// No further items are pulled, and the items in flight are finished.
    Draining,
    /// The items in flight are cancelled.
    Stopping,
    /// The last lane has left.
    Over,
}

/// The last answer of the source.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Supply {
    Ready,
    Waiting,
    Ended,
}

/// The bounds of a run. They do not change, but are needed to wake a lane.
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
    /// The most items of the next pull; few until the source is known to be fast.
    pull: usize,
    /// The source rang while a lane had it.
    pub(super) rang: bool,
    /// Items that were pulled and have not begun.
    pub(super) backlog: VecDeque<Numbered<P>>,
    pub(super) results: Outlet<P::Output>,
    pub(super) letters: Option<Outlet<Letter<P>>>,
    /// Items that are done, and not yet acknowledged to the source.
    pub(super) acks: Vec<u64>,
    /// Items that count against `in_flight`.
    pub(super) live: usize,
    pub(super) counts: Counts,
    pub(super) lanes: usize,
    pub(super) active: usize,
    /// Lanes that wait for the item they run.
    pub(super) in_items: usize,
    idle: Vec<Arc<LaneSeat>>,
    /// The seats of all lanes of the run, until the run is over.
    seats: Vec<Arc<LaneSeat>>,
    /// The number of all lanes, kept after the end of the run.
    pub(super) all_lanes: usize,
    /// The causes of an early end; the first one counts.
    pub(super) causes: Vec<Cause<P::Error>>,
    pub(super) began: Option<Instant>,
}

/// What the owner of a run gets at its end.
pub(super) struct PipelineEnd<P: PerItem> {
    /// All values are dropped, and the outcome was stored.
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

/// Where a waiting lane leaves its waker.
#[derive(Default)]
pub(super) struct LaneSeat {
    waker: Mutex<Option<Waker>>,
    /// The lane was idle and must look for work.
    called: AtomicBool,
}

impl LaneSeat {
    /// Leaves a waker. A later call or cancellation finds it.
    pub(super) fn wait(&self, waker: &Waker) {
        let known = |old: &Option<Waker>| old.as_ref().is_some_and(|old| old.will_wake(waker));
        if known(&lock(&self.waker)) {
            return;
        }
        let waker = waker.clone(); // Foreign code: not under the lock.
        let old = lock(&self.waker).replace(waker);
        ignore_panic(|| drop(old));
    }

    /// Whether the lane was called since the last look.
    pub(super) fn was_called(&self) -> bool {
        // Relaxed: a call sets the flag and then takes the waker, under the lock of `waker`.
        // The lane leaves its waker under that lock and then reads the flag. So one of the two
        // sees the other.
        self.called.swap(false, Ordering::Relaxed)
    }

    pub(super) fn wake(&self) {
        let waker = lock(&self.waker).take();
        if let Some(waker) = waker {
            ignore_panic(|| waker.wake());
        }
    }
}

/// The lanes to wake or spawn when the lock is released.
#[must_use = "a lane that counts as active must be woken"]
pub(super) enum Call {
    Nobody,
    Wake(Arc<LaneSeat>),
    WakeAll(Vec<Arc<LaneSeat>>),
    Spawn(Arc<LaneSeat>),
}

/// How an item ended, except with one result.
pub(super) enum Finished<P: PerItem> {
    Many(u64, Vec<P::Output>),
    Skipped(u64),
    Letter(u64, Letter<P>),
    Stop(Cause<P::Error>),
}

impl<P: PerItem> Finished<P> {
    /// Drops the values; panics are contained.
    pub(super) fn discard(self) {
        match self {
            Self::Many(_, results) => drop_each(results),
            other => ignore_panic(|| drop(other)),
        }
    }
}

/// The next step of a lane.
pub(super) enum Step<P: PerItem> {
    /// Push these results.
    Push(Box<dyn Outflow<P::Output>>, OutletBatch<P::Output>),
    /// Push these dead letters.
    Letters(Box<dyn Outflow<Letter<P>>>, OutletBatch<Letter<P>>),
    /// Run the items of its chunk.
    Run,
    /// Acknowledge these items, and pull at most this many.
    Source(Box<dyn Feed<P::Item>>, Vec<u64>, usize),
    /// Wait until it is called.
    Idle,
    /// Close the sinks and the source: this is the last lane.
    Close(Box<Closing<P>>),
    /// Leave the rest of the work to the other lanes.
    Leave,
}

/// What the last lane must close.
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

    /// Looks for work, in this order:
    /// 1. results that no lane pushes;
    /// 2. dead letters that no lane pushes;
    /// 3. the source, if it is fast and the backlog will not last for the other lanes, which
    ///    would go to sleep;
    /// 4. items of the backlog, as many as fit the chunk;
    /// 5. the source, if it has items and there is room, or if there are acknowledgements for
    ///    it.
    ///
    /// Without work the lane becomes idle. If no more work can come, the lane leaves.
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

    /// Whether to pull although there are items to run, which other lanes do meanwhile. Pulls
    /// only as many items as a fast source has given at once before: a slow source would delay
    /// the items.
    ///
    /// Without this, one lane slept while another one pulled (the pipeline of `--bench graph`):
    ///
    /// | lanes | time for an item |
    /// |---|---|
    /// | one | 58 ns |
    /// | two, without this | 68 to 95 ns |
    /// | two, with this | 38 to 48 ns |
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

    /// Adjusts the size of the next pull, after a pull of `items` items.
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

    /// Whether lanes must leave.
    fn is_over(&self) -> bool {
        let dry = self.phase == Phase::Draining || self.supply == Supply::Ended;
        let finished = dry && self.live == 0 && self.acks.is_empty() && self.feed.is_some();
        finished || matches!(self.phase, Phase::Stopping | Phase::Over)
    }

    /// If all lanes wait and no item will come for which others could wait: the number of items
    /// that lanes wait for.
    pub(super) fn silence(&self) -> Option<usize> {
        let dry = self.paused || self.phase == Phase::Draining || self.supply == Supply::Ended;
        // There is no room for more items, and no push that would make room.
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

    /// Calls up one more lane if there is work for it; calls up all if there will be no more
    /// work.
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

    /// As [`call_up`](Self::call_up), before something that takes long: adds a lane that
    /// listens to the source meanwhile, if the rule in the module docs needs one.
    pub(super) fn call_up_to_listen(&mut self) -> Call {
        match self.call_up() {
            Call::Nobody if self.lacks_listener() => self.add_lane(),
            call => call,
        }
    }

    /// The source has items again. Returns the idle lane that must be woken for them, if any;
    /// see the module docs.
    #[must_use = "a lane that counts as active must be woken"]
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

    /// Whether there is work for one more lane.
    fn has_work(&self) -> bool {
        let push = self.results.can_push();
        let letters = self.letters.as_ref().is_some_and(Outlet::can_push);
        let work = push || letters || self.can_run() || self.wants_source();
        work && self.active < self.limits.parallelism
    }

    /// Whether a wake of the source could make work for one more lane, no lane is idle, and
    /// another lane may exist.
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

    /// Enters how items ended. Returns whether the route of one is to stop: then the caller
    /// must stop the run.
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

    /// Takes the seats of all lanes, at the end of the run.
    pub(super) fn take_seats(&mut self) -> Vec<Arc<LaneSeat>> {
        self.idle.clear(); // They are among the seats.
        std::mem::take(&mut self.seats)
    }

    /// Cancels the items in flight, and returns the call that wakes every lane.
    pub(super) fn stop(&mut self) -> Call {
        self.phase = Phase::Stopping;
        let _ = self.call_all(); // They are among the seats.
        Call::WakeAll(self.seats.clone())
    }
}
