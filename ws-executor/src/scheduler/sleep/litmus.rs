//! The fences of the sleep protocol on real cores; see `ws_core::sync::litmus`.
//!
//! The left side pushes. The right side parks, or stops searching, and looks once more. One of
//! the two must see the other. The models check the same for every interleaving, but treat the
//! light and the heavy fence of forks alike.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};

use ws_core::chase_lev;
use ws_core::sync::CachePadded;
use ws_core::sync::asymmetric;
use ws_core::sync::litmus::{Side, Stores, on_two_cores};

use super::{Parking, Searching, Sleeper, Sleepers};

const ROUNDS: u64 = 10_000;

/// In each round, `push` pushes and says whether it has notified a worker, or saw one to
/// notify. Meanwhile the other side starts by `side.start`, does one thing, and says whether it
/// sees what was pushed. When both are done, it tidies up. Returns in how many rounds the
/// pusher notified no worker and the other side saw nothing.
fn race(
    mut push: impl FnMut(&Side<'_>, u64) -> bool + Send,
    mut other: impl Other + Send,
) -> Result<u64, &'static str> {
    // From now on the light fence is free, if the system permits it.
    asymmetric::heavy();
    let found: CachePadded<AtomicBool> = CachePadded::default();
    let failures = AtomicU64::new(0);
    on_two_cores(
        |side| {
            for round in 1..=ROUNDS {
                let told = push(side, round);
                side.meet();
                if !told && !found.load(Relaxed) {
                    failures.fetch_add(1, Relaxed);
                }
            }
        },
        |side| {
            for round in 1..=ROUNDS {
                other.prepare();
                side.meet();
                // So that the next look need not wait for memory.
                other.look(round);
                side.start(Stores::Fast);
                other.act();
                found.store(other.look(round), Relaxed);
                side.meet();
                other.tidy_up();
            }
        },
    )?;
    Ok(failures.into_inner())
}

/// The side that does something, fences, and looks.
trait Other {
    fn prepare(&mut self);
    fn act(&mut self);
    fn look(&self, round: u64) -> bool;
    /// The pusher is done as well.
    fn tidy_up(&mut self);
}

/// The pusher's start.
fn start(side: &Side<'_>, watched: &[&Sleepers]) {
    side.meet();
    // So that the next look need not wait for memory.
    let _ = watched.iter().any(|sleep| sleep.someone_parked());
    side.start(Stores::Slow);
}

/// A worker that parks.
struct Parks<'a, L> {
    sleep: &'a Sleepers,
    parking: Option<Parking>,
    /// Whether forks may be pushed, which fence only lightly.
    forks: bool,
    look: L,
}

impl<'a, L> Parks<'a, L> {
    fn new(sleep: &'a Sleepers, forks: bool, look: L) -> Self {
        Self {
            sleep,
            parking: None,
            forks,
            look,
        }
    }
}

impl<L: Fn(u64) -> bool> Other for Parks<'_, L> {
    fn prepare(&mut self) {}

    fn act(&mut self) {
        self.parking = Some(self.sleep.start_parking(0, None));
        if self.forks {
            self.sleep.fence_against_forks();
        }
    }

    fn look(&self, round: u64) -> bool {
        (self.look)(round)
    }

    fn tidy_up(&mut self) {
        let parking = self.parking.take().expect("it parked");
        let cancelled = self.sleep.cancel_parking(parking);
        // If the pusher took the worker, the notification is here: the pusher is done.
        let searching = cancelled
            .unwrap_or_else(|parking| self.sleep.wake_up(parking).expect("it was notified"));
        let _ = self.sleep.found_work(searching);
    }
}

/// Worker 1: it stays parked, and is taken now and then.
struct Parked<'a> {
    sleep: &'a Sleepers,
    parking: Option<Parking>,
}

impl<'a> Parked<'a> {
    fn new(sleep: &'a Sleepers) -> Self {
        Self {
            sleep,
            parking: Some(sleep.start_parking(1, None)),
        }
    }

    /// Parks again if it was notified.
    fn park_again(&mut self) {
        let parking = self.parking.take().expect("always parked");
        self.parking = Some(match self.sleep.wake_up(parking) {
            Ok(searching) => self.sleep.start_parking(1, Some(searching)),
            Err(parking) => parking,
        });
    }
}

/// The last searcher: it stops with a task in hand while worker 1 is parked (S1 to S3).
struct StopsSearching<'a> {
    sleep: &'a Sleepers,
    searching: Option<Searching>,
    must_look: bool,
    parked: Parked<'a>,
    pushed: &'a AtomicU64,
}

impl Other for StopsSearching<'_> {
    fn prepare(&mut self) {
        self.searching = self.sleep.start_searching();
    }

    fn act(&mut self) {
        let searching = self.searching.take().expect("no other searches");
        self.must_look = self.sleep.found_work(searching);
    }

    fn look(&self, round: u64) -> bool {
        self.pushed.load(Relaxed) == round && self.must_look
    }

    fn tidy_up(&mut self) {
        self.parked.park_again();
    }
}

fn expect_none(name: &str, failures: Result<u64, &'static str>) {
    match failures {
        Ok(failures) => assert_eq!(failures, 0, "{name}: of {ROUNDS} rounds"),
        Err(reason) => println!("{name}: skipped, {reason}"),
    }
}

#[test]
fn a_push_of_a_task_and_a_parking_worker_do_not_miss_each_other() {
    let sleep = Sleepers::new(1, 1);
    let pushed: CachePadded<AtomicU64> = CachePadded::default();
    let failures = race(
        |side, round| {
            start(side, &[&sleep]);
            pushed.store(round, Relaxed);
            matches!(sleep.after_push(), Some(Sleeper(0)))
        },
        Parks::new(&sleep, false, |round| pushed.load(Relaxed) == round),
    );
    expect_none("push, park", failures);
}

/// A fork is pushed while a worker parks in one of the two.
fn fork(sleep: &Sleepers, helpers: &Sleepers, idle: &Sleepers) -> Result<u64, &'static str> {
    let (lane, stealer) = chase_lev::uneven::<u64>();
    race(
        move |side, _| {
            // The fork of the last round.
            let _ = lane.pop();
            start(side, &[helpers, idle]);
            lane.push(1);
            helpers.after_fork(idle)
        },
        Parks::new(sleep, true, |_| !stealer.is_empty()),
    )
}

#[test]
fn a_push_of_a_fork_and_a_parking_worker_do_not_miss_each_other() {
    let (helpers, idle) = (Sleepers::new(1, 1), Sleepers::new(1, 1));
    expect_none("fork, idle worker", fork(&idle, &helpers, &idle));
    expect_none("fork, helper", fork(&helpers, &helpers, &idle));
}

#[test]
fn a_push_and_the_last_searcher_do_not_rely_on_each_other() {
    let sleep = Sleepers::new(2, 2);
    let pushed: CachePadded<AtomicU64> = CachePadded::default();
    let failures = race(
        |side, round| {
            start(side, &[&sleep]);
            pushed.store(round, Relaxed);
            sleep.after_push().is_some()
        },
        StopsSearching {
            sleep: &sleep,
            searching: None,
            must_look: true,
            parked: Parked::new(&sleep),
            pushed: &pushed,
        },
    );
    expect_none("push, last searcher", failures);
}
