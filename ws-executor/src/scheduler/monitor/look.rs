//! What the monitor decides: a function of two looks at the workers.
//!
//! A worker is *stuck* if it has begun no poll between two looks, and had tasks in its slot or
//! its ring at both looks. It has a *backlog* if its ring had several tasks at both looks. The
//! driver was *left* if it was free at both looks and no thread entered it between them.
//!
//! The monitor decides in this order:
//! 1. no worker is parked, and none has begun a poll for [`KEPT`]: a spare thread must poll the
//!    tasks that are due, and must turn the driver if it was left. If all workers are in joins,
//!    a spare thread must do so at once;
//! 2. workers are stuck: their tasks must be shared, if there are other workers;
//! 3. the driver was left, and a worker is parked: that worker must enter it. If the workers
//!    have a host, its reactor counts as left while a poll keeps a worker, until one other
//!    worker was told to enter it;
//! 4. a worker has a backlog, and another one is parked: the backlog must be shared;
//! 5. every worker was parked with nothing to do, at several looks: the monitor may sleep.
//!
//! # How far apart the looks are
//!
//! | what the monitor has seen | pause |
//! |---|---|
//! | a task is in a slot or a ring, or no worker is in the driver, and a worker is parked | [`PERIOD`] |
//! | a spare thread has polled tasks since the look before | [`PERIOD`] |
//! | something is due, and no worker is parked | twice the last one, up to [`BUSY_PERIOD`] |
//! | the monitor had to act not long ago ([`WARY`]) | twice the last one, up to [`CALM_PERIOD`] |
//! | none of these | [`QUIET_PERIOD`] |
//!
//! So a program whose polls have blocked is watched more closely for a while.
//!
//! # When the monitor sleeps
//!
//! If a server gets a message every millisecond, its monitor is awake all the time, which costs
//! a tenth of a look per message. If the monitor slept in each pause, each message would call it
//! anew: over tokio's I/O, a message then made ten system calls instead of three. But if the
//! pauses are long, looks that wait for the next message are in vain. So the number of looks
//! that must find nothing is [`QUIET_LOOKS`] if so many looks would have lasted longer than the
//! last sleep, and one otherwise.
//!
//! System calls of a message, by strace, of an echo server over tokio's I/O with one connection.
//! Three are needed:
//!
//! | between two messages | three looks before each sleep, pauses doubled up to 3 ms | as it is |
//! |---|---|---|
//! | 1 ms | 3.6 | 3.3 |
//! | 5 ms | 5.2 | 3.6 |
//! | 20 ms | 9.0 | 5.1 |

use std::time::Duration;

use crate::base::clock::Instant;
use crate::base::tuning::{
    BACKLOG, BUSY_PERIOD, CALM_PERIOD, KEPT, PERIOD, QUIET_LOOKS, QUIET_PERIOD, STALL, WARY,
};

/// What the monitor must do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Nothing, until the next look.
    Nothing,
    /// Fall asleep.
    Sleep,
    /// Share the tasks of these workers with all others.
    Share(Vec<usize>),
    /// Let a parked worker enter the driver, or the reactor of its host.
    AttendDriver,
    /// Let a spare thread poll tasks.
    PollTasks,
}

/// One worker, at one look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct WorkerView {
    /// How many polls it has begun.
    pub(super) polls: u64,
    /// How many tasks are in its slot and its ring.
    pub(super) queued: usize,
    /// Whether it sleeps, in any manner.
    pub(super) asleep: bool,
    /// Whether it is in a join or a computation.
    pub(super) forking: bool,
}

/// What the monitor sees of the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DriverView {
    /// There is none, or it needs no watching, or a worker is in it.
    Attended,
    /// No thread is in it. The number says how often it was turned before.
    Left(u64),
    /// It belongs to the host of the workers, and is attended while none of them is kept by a
    /// poll.
    Hosted,
}

/// All workers, at one look.
#[derive(Clone)]
pub(super) struct Snapshot {
    /// When the look was.
    pub(super) time: Instant,
    pub(super) workers: Vec<WorkerView>,
    /// Whether a worker is parked, so that it can be notified.
    pub(super) someone_parked: bool,
    /// Whether all workers are parked.
    pub(super) all_parked: bool,
    /// Whether a task is in the injector.
    pub(super) injected: bool,
    pub(super) driver: DriverView,
    /// How often slots and the driver were used so far; of hosted workers, how many polls they
    /// have begun.
    pub(super) uses: u64,
    /// How many polls spare threads have begun so far.
    pub(super) spare_polls: u64,
}

impl Snapshot {
    fn has_queued(&self) -> bool {
        self.workers.iter().any(|worker| worker.queued > 0)
    }

    /// Whether there is anything that the monitor must be awake for.
    pub(super) fn has_something_to_watch(&self) -> bool {
        !self.all_parked
            || self.injected
            || self.has_queued()
            || matches!(self.driver, DriverView::Left(_))
    }

    /// Whether something is at risk that a parked worker could do.
    fn is_at_risk(&self) -> bool {
        self.someone_parked
            && (self.has_queued()
                || match self.driver {
                    DriverView::Attended => false,
                    DriverView::Left(_) => true,
                    DriverView::Hosted => !self.all_parked,
                })
    }
}

/// A poll that takes long; see [`Builder::on_stall`](crate::Builder::on_stall).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stall {
    worker: usize,
    lasted: Duration,
}

impl Stall {
    /// The number of the worker.
    #[must_use]
    pub fn worker(&self) -> usize {
        self.worker
    }

    /// For how long the worker has been in this poll, at least.
    #[must_use]
    pub fn lasted(&self) -> Duration {
        self.lasted
    }
}

/// What the monitor remembers of the look before.
pub(super) struct Watcher {
    last: Option<Snapshot>,
    /// Memory for the next snapshot, so that looks do not allocate.
    buffer: Vec<WorkerView>,
    workers: Vec<Memory>,
    period: Duration,
    /// When a worker was last seen parked, or to have begun a poll.
    progress: Instant,
    /// When the monitor last had to act.
    acted: Option<Instant>,
    /// How many looks in a row found every worker parked with nothing to do.
    quiet: u32,
    /// After how many such looks the monitor sleeps.
    quiet_limit: u32,
}

/// What it remembers of a worker.
#[derive(Clone, Copy)]
struct Memory {
    /// When the worker was first seen in its poll.
    since: Instant,
    /// Whether that poll has been reported as a stall.
    reported: bool,
    /// Whether another worker was told to enter the host's reactor meanwhile.
    relieved: bool,
}

impl Memory {
    fn begin(now: Instant) -> Self {
        Self {
            since: now,
            reported: false,
            relieved: false,
        }
    }
}

impl Watcher {
    pub(super) fn new(workers: usize, now: Instant) -> Self {
        Self {
            last: None,
            buffer: Vec::with_capacity(workers),
            workers: vec![Memory::begin(now); workers],
            period: PERIOD,
            progress: now,
            acted: None,
            quiet: 0,
            quiet_limit: QUIET_LOOKS,
        }
    }

    /// Memory for a snapshot.
    pub(super) fn buffer(&mut self) -> Vec<WorkerView> {
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        buffer
    }

    /// Takes back the memory of a snapshot that is no longer needed.
    pub(super) fn drop_snapshot(&mut self, snapshot: Snapshot) {
        self.buffer = snapshot.workers;
    }

    /// The monitor was called after it has slept for so long.
    pub(super) fn was_called(&mut self, slept: Duration) {
        let would_have_paid = slept < QUIET_PERIOD * QUIET_LOOKS;
        self.quiet_limit = if would_have_paid { QUIET_LOOKS } else { 1 };
    }

    /// How long to sleep until the next look.
    pub(super) fn period(&self) -> Duration {
        self.period
    }

    /// Decides what to do, and remembers this look.
    pub(super) fn look(&mut self, now: Snapshot) -> Action {
        self.choose_period(&now);
        self.count_quiet(&now);
        let action = match self.last.take() {
            Some(last) => {
                let action = self.decide(&last, &now);
                if action != Action::Nothing {
                    self.acted = Some(now.time);
                }
                self.drop_snapshot(last);
                action
            }
            None => {
                self.progress = now.time;
                Action::Nothing
            }
        };
        if self.quiet < self.quiet_limit {
            self.last = Some(now);
            return action;
        }
        // The next look is the first one again.
        (self.period, self.quiet) = (PERIOD, 0);
        self.drop_snapshot(now);
        Action::Sleep
    }

    fn decide(&mut self, last: &Snapshot, now: &Snapshot) -> Action {
        let pairs = || last.workers.iter().zip(&now.workers);
        let begun_none = |(last, now): (&WorkerView, &WorkerView)| last.polls == now.polls;
        let was_left = matches!(now.driver, DriverView::Left(_)) && last.driver == now.driver;
        let is_due = now.injected || now.has_queued() || was_left;
        if last.someone_parked || now.someone_parked || !pairs().all(begun_none) {
            self.progress = now.time;
        } else if is_due {
            let all_fork = now.workers.iter().all(|worker| worker.forking);
            if all_fork || now.time - self.progress >= KEPT {
                return Action::PollTasks;
            }
        }
        let is_stuck = |pair: (&WorkerView, &WorkerView)| {
            begun_none(pair) && pair.0.queued > 0 && pair.1.queued > 0
        };
        let stuck = numbers(pairs().map(is_stuck));
        if !stuck.is_empty() && now.workers.len() > 1 {
            return Action::Share(stuck);
        }
        // This notes every poll that lasts, so that a later look does not ask for it again.
        let is_kept = now.driver == DriverView::Hosted && self.is_kept(last, now);
        if !now.someone_parked {
            return Action::Nothing;
        }
        if was_left || is_kept {
            return Action::AttendDriver;
        }
        let has_backlog =
            |(last, now): (&WorkerView, &WorkerView)| last.queued.min(now.queued) >= BACKLOG;
        let backlogs = numbers(pairs().map(has_backlog));
        if backlogs.is_empty() {
            Action::Nothing
        } else {
            Action::Share(backlogs)
        }
    }

    /// Whether a poll keeps a worker, and no other was told to enter the reactor meanwhile.
    fn is_kept(&mut self, last: &Snapshot, now: &Snapshot) -> bool {
        let pairs = last.workers.iter().zip(&now.workers);
        let mut kept = false;
        for ((last, now), memory) in pairs.zip(&mut self.workers) {
            let is_same = last.polls == now.polls && !last.asleep && !now.asleep;
            kept |= is_same && !memory.relieved;
            memory.relieved = is_same;
        }
        kept
    }

    /// Chooses the next pause.
    fn choose_period(&mut self, now: &Snapshot) {
        let last = self.last.as_ref();
        let spares_poll = last.is_some_and(|last| last.spare_polls != now.spare_polls);
        let doubled = self.period * 2;
        self.period = if now.is_at_risk() || spares_poll {
            PERIOD
        } else if !now.someone_parked && (now.injected || now.has_queued()) {
            doubled.min(BUSY_PERIOD)
        } else if self.is_wary(now.time) {
            doubled.min(CALM_PERIOD)
        } else {
            QUIET_PERIOD
        };
    }

    /// Whether the monitor had to act not long ago.
    fn is_wary(&self, now: Instant) -> bool {
        self.acted.is_some_and(|acted| now - acted < WARY)
    }

    /// Counts the looks in a row that found nothing to watch.
    fn count_quiet(&mut self, now: &Snapshot) {
        let was_used = |last: &Snapshot| last.uses != now.uses;
        let is_quiet = !now.has_something_to_watch() && !self.last.as_ref().is_some_and(was_used);
        self.quiet = if is_quiet { self.quiet + 1 } else { 0 };
    }

    /// The polls that have become stalls since the look before. Must be called before
    /// [`look`](Self::look).
    pub(super) fn stalls(&mut self, now: &Snapshot) -> Vec<Stall> {
        let time = now.time;
        let last = self.last.as_ref();
        let mut stalls = Vec::new();
        for (worker, (view, memory)) in now.workers.iter().zip(&mut self.workers).enumerate() {
            let is_same = last.is_some_and(|last| last.workers[worker].polls == view.polls);
            if !is_same || view.asleep || view.forking {
                *memory = Memory::begin(time);
                continue;
            }
            let lasted = time - memory.since;
            if lasted >= STALL && !memory.reported {
                memory.reported = true;
                stalls.push(Stall { worker, lasted });
            }
        }
        stalls
    }
}

/// The positions of `true`.
fn numbers(list: impl Iterator<Item = bool>) -> Vec<usize> {
    let indexed = list.enumerate();
    indexed.filter(|it| it.1).map(|it| it.0).collect()
}

#[cfg(test)]
#[cfg(not(any(ws_loom, ws_shuttle)))]
mod tests {
    use std::sync::LazyLock;

    use super::*;

    static START: LazyLock<Instant> = LazyLock::new(Instant::now);

    fn watcher(workers: usize) -> Watcher {
        Watcher::new(workers, *START)
    }

    /// Two workers that run, with nothing queued; the driver is attended.
    fn running() -> Snapshot {
        Snapshot {
            time: *START,
            workers: vec![WorkerView::default(); 2],
            someone_parked: false,
            all_parked: false,
            injected: false,
            driver: DriverView::Attended,
            uses: 0,
            spare_polls: 0,
        }
    }

    /// Worker 0 runs, worker 1 is parked.
    fn half_parked() -> Snapshot {
        let mut now = running();
        now.workers[1].asleep = true;
        now.someone_parked = true;
        now
    }

    fn all_parked() -> Snapshot {
        let mut now = half_parked();
        now.workers[0].asleep = true;
        now.all_parked = true;
        now
    }

    fn with(mut snapshot: Snapshot, change: impl FnOnce(&mut Snapshot)) -> Snapshot {
        change(&mut snapshot);
        snapshot
    }

    /// What the last of some looks decides.
    fn decision(looks: impl IntoIterator<Item = Snapshot>) -> Action {
        let mut watch = watcher(2);
        let actions = looks.into_iter().map(|look| watch.look(look));
        actions.last().expect("there is a look")
    }

    fn queued(worker: usize, count: usize) -> impl FnOnce(&mut Snapshot) {
        move |now| now.workers[worker].queued = count
    }

    fn polled(worker: usize, polls: u64) -> impl FnOnce(&mut Snapshot) {
        move |now| now.workers[worker].polls = polls
    }

    #[test]
    fn the_first_look_decides_nothing() {
        assert_eq!(
            decision([with(half_parked(), queued(0, 9))]),
            Action::Nothing
        );
    }

    #[test]
    fn what_is_queued_on_a_stuck_worker_is_shared() {
        let stuck = with(half_parked(), queued(0, 1));
        let actions = [stuck.clone(), stuck.clone()];
        assert_eq!(decision(actions), Action::Share(vec![0]));
        let goes_on = with(stuck.clone(), polled(0, 1));
        assert_eq!(decision([stuck.clone(), goes_on]), Action::Nothing);
        // It came after the first look.
        assert_eq!(decision([half_parked(), stuck]), Action::Nothing);
    }

    #[test]
    fn a_lone_worker_shares_nothing() {
        let mut stuck = with(running(), queued(0, 1));
        stuck.workers.truncate(1);
        let mut watch = watcher(1);
        assert_eq!(watch.look(stuck.clone()), Action::Nothing);
        assert_eq!(watch.look(stuck), Action::Nothing);
    }

    #[test]
    fn a_stuck_worker_beside_a_busy_one_shares() {
        let before = with(running(), queued(0, 1));
        let after = with(before.clone(), polled(1, 1));
        assert_eq!(decision([before, after]), Action::Share(vec![0]));
    }

    #[test]
    fn a_backlog_is_shared_with_a_parked_worker_only() {
        let backlog = |snapshot, polls| with(with(snapshot, queued(0, BACKLOG)), polled(0, polls));
        let looks = [backlog(half_parked(), 1), backlog(half_parked(), 2)];
        assert_eq!(decision(looks), Action::Share(vec![0]));
        let looks = [backlog(running(), 1), backlog(running(), 2)];
        assert_eq!(decision(looks), Action::Nothing);
        let one = |polls| with(with(half_parked(), queued(0, 1)), polled(0, polls));
        assert_eq!(decision([one(1), one(2)]), Action::Nothing);
    }

    #[test]
    fn a_driver_that_was_left_is_attended_by_a_parked_worker() {
        let left = |snapshot, turns| with(snapshot, |now| now.driver = DriverView::Left(turns));
        let looks = [left(half_parked(), 1), left(half_parked(), 1)];
        assert_eq!(decision(looks), Action::AttendDriver);
        let entered = [left(half_parked(), 1), left(half_parked(), 2)];
        assert_eq!(decision(entered), Action::Nothing);
        let busy = |polls| with(left(running(), 1), polled(0, polls));
        assert_eq!(
            decision([busy(1), busy(2)]),
            Action::Nothing,
            "nobody could"
        );
    }

    #[test]
    fn a_host_that_is_kept_is_relieved_once_a_poll() {
        let kept = |polls| {
            with(with(half_parked(), polled(0, polls)), |now| {
                now.driver = DriverView::Hosted;
            })
        };
        let mut watch = watcher(2);
        let mut look = |polls| watch.look(kept(polls));
        assert_eq!(look(1), Action::Nothing);
        assert_eq!(look(1), Action::AttendDriver);
        assert_eq!(look(1), Action::Nothing, "somebody was told");
        assert_eq!(look(2), Action::Nothing);
        assert_eq!(look(2), Action::AttendDriver);
    }

    #[test]
    fn a_spare_thread_polls_when_nobody_has_for_long() {
        let due = with(running(), |now| now.injected = true);
        let mut watch = watcher(2);
        assert_eq!(watch.look(due.clone()), Action::Nothing);
        assert_eq!(
            watch.look(due.clone()),
            Action::Nothing,
            "for a moment only"
        );
        let due = with(due, |now| now.time += KEPT);
        assert_eq!(watch.look(due.clone()), Action::PollTasks);
        assert_eq!(watch.look(with(due, polled(1, 1))), Action::Nothing);
    }

    #[test]
    fn a_spare_thread_polls_at_once_beside_joins() {
        let joins = with(running(), |now| {
            now.injected = true;
            now.workers
                .iter_mut()
                .for_each(|worker| worker.forking = true);
        });
        assert_eq!(decision([joins.clone(), joins.clone()]), Action::PollTasks);
        let nothing_due = with(joins, |now| now.injected = false);
        assert_eq!(
            decision([nothing_due.clone(), nothing_due]),
            Action::Nothing
        );
    }

    #[test]
    fn it_sleeps_after_some_looks_at_parked_workers() {
        let mut watch = watcher(2);
        let actions: Vec<_> = (0..QUIET_LOOKS).map(|_| watch.look(all_parked())).collect();
        let (last, others) = actions.split_last().unwrap();
        assert_eq!(*last, Action::Sleep);
        assert!(others.iter().all(|action| *action == Action::Nothing));
        assert_eq!(watch.look(all_parked()), Action::Nothing, "it begins anew");
    }

    #[test]
    fn it_sleeps_sooner_after_a_long_sleep() {
        let mut watch = watcher(2);
        let mut looks = |slept| {
            watch.was_called(slept);
            (0..)
                .take_while(|_| watch.look(all_parked()) == Action::Nothing)
                .count()
        };
        let all_looks = QUIET_PERIOD * QUIET_LOOKS;
        assert_eq!(looks(all_looks), 0);
        assert_eq!(looks(all_looks - PERIOD), QUIET_LOOKS as usize - 1);
        assert_eq!(looks(all_looks), 0);
    }

    #[test]
    fn it_does_not_sleep_while_a_worker_runs_or_was_used() {
        let many = || 0..100;
        assert_eq!(decision(many().map(|_| half_parked())), Action::Nothing);
        let used = |uses| with(all_parked(), |now| now.uses = uses);
        assert_eq!(decision(many().map(used)), Action::Nothing);
        let left = many().map(|turn| with(all_parked(), |now| now.driver = DriverView::Left(turn)));
        assert_eq!(decision(left), Action::Nothing);
    }

    #[test]
    fn looks_are_near_while_something_is_at_risk() {
        let after = |looks: Vec<Snapshot>| {
            let mut watch = watcher(2);
            for look in looks {
                let _ = watch.look(look);
            }
            watch.period()
        };
        let used = |uses| with(half_parked(), |now| now.uses = uses);
        assert_eq!(after((0..30).map(used).collect()), QUIET_PERIOD);
        let stuck = with(half_parked(), queued(0, 1));
        let mut wary = vec![stuck.clone(), stuck];
        wary.extend((0..30).map(used));
        assert_eq!(after(wary.clone()), CALM_PERIOD);
        wary.extend((0..30).map(|uses| with(used(uses), |now| now.time += WARY)));
        assert_eq!(after(wary), QUIET_PERIOD);
        assert_eq!(after(vec![half_parked(); 30]), QUIET_PERIOD);
        let busy = |polls| with(with(running(), queued(0, 1)), polled(0, polls));
        assert_eq!(after((0..30).map(busy).collect()), BUSY_PERIOD);
        let mut looks = vec![half_parked(); 30];
        looks.push(with(half_parked(), queued(0, 1)));
        assert_eq!(after(looks), PERIOD);
    }

    #[test]
    fn a_poll_is_a_stall_once() {
        let mut watch = watcher(2);
        let mut look = |now: Snapshot| {
            let stalls = watch.stalls(&now);
            let _ = watch.look(now);
            stalls.iter().map(Stall::worker).collect::<Vec<_>>()
        };
        let kept = |time| {
            with(with(half_parked(), polled(0, 7)), |now| {
                now.time += time;
            })
        };
        assert!(look(kept(Duration::ZERO)).is_empty());
        assert!(look(kept(STALL - PERIOD)).is_empty());
        assert_eq!(look(kept(STALL)), [0], "the other one is parked");
        assert!(look(kept(STALL)).is_empty());
        assert!(look(with(kept(STALL), polled(0, 8))).is_empty());
    }

    #[test]
    fn a_join_is_no_stall() {
        let mut watch = watcher(2);
        for look in 0..3 {
            let join = with(half_parked(), |now| {
                now.workers[0].forking = true;
                now.time += STALL * look;
            });
            assert!(watch.stalls(&join).is_empty());
            let _ = watch.look(join);
        }
    }
}
