//! Pushes against parking workers, on real cores; see `ws_core::sync::litmus`.
//!
//! The left side pushes, the right side parks, and looks once more. One of them must see
//! the other. The models show the same of every interleaving, but take the light and the
//! heavy fence for alike.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};

use ws_core::chase_lev;
use ws_core::sync::CachePadded;
use ws_core::sync::asymmetric;
use ws_core::sync::litmus::{Side, Stores, on_two_cores};

use super::{Parking, Searching, Sleep, Sleeper};

const ROUNDS: u64 = 10_000;

/// In each round, `push` pushes and says whether it saw a worker; meanwhile worker 0 parks
/// in `sleep`, and `look` says whether it sees what was pushed. Returns in how many rounds
/// both saw nothing.
fn race(
    sleep: &Sleep,
    mut push: impl FnMut(&Side<'_>, u64) -> bool + Send,
    look: impl Fn(u64) -> bool + Sync,
) -> Result<u64, &'static str> {
    // From now on the light fence is free, if the system permits it.
    asymmetric::heavy();
    let found: CachePadded<AtomicBool> = CachePadded::default();
    let failures = AtomicU64::new(0);
    on_two_cores(
        |side| {
            for round in 1..=ROUNDS {
                let saw = push(side, round);
                side.meet();
                if !saw && !found.load(Relaxed) {
                    failures.fetch_add(1, Relaxed);
                }
            }
        },
        |side| {
            for round in 1..=ROUNDS {
                side.meet();
                // So that the next look does not have to wait for memory.
                look(round);
                side.start(Stores::Fast);
                let parking = sleep.start_parking(0, None);
                found.store(look(round), Relaxed);
                side.meet();
                let searching = leave(sleep, parking);
                let _ = sleep.found_work(searching);
            }
        },
    )?;
    Ok(failures.into_inner())
}

/// The pusher's start.
fn start(side: &Side<'_>, watched: &[&Sleep]) {
    side.meet();
    // So that the next look does not have to wait for memory.
    let _ = watched.iter().any(|sleep| sleep.someone_parked());
    side.start(Stores::Slow);
}

/// Ends a parking. If the worker was taken, the notification is here: the pusher is done.
fn leave(sleep: &Sleep, parking: Parking) -> Searching {
    let cancelled = sleep.cancel_parking(parking);
    cancelled.unwrap_or_else(|parking| sleep.wake_up(parking).expect("it was notified"))
}

fn expect_none(name: &str, failures: Result<u64, &'static str>) {
    match failures {
        Ok(failures) => assert_eq!(failures, 0, "{name}: of {ROUNDS} rounds"),
        Err(reason) => println!("{name}: skipped, {reason}"),
    }
}

#[test]
fn a_push_of_a_task_and_a_parking_worker_do_not_miss_each_other() {
    let sleep = Sleep::new(1, 1);
    let pushed: CachePadded<AtomicU64> = CachePadded::default();
    let failures = race(
        &sleep,
        |side, round| {
            start(side, &[&sleep]);
            pushed.store(round, Relaxed);
            matches!(sleep.after_push(), Some(Sleeper(0)))
        },
        |round| pushed.load(Relaxed) == round,
    );
    expect_none("push, park", failures);
}

/// A fork is pushed while a worker parks in one of the two.
fn fork(sleep: &Sleep, helpers: &Sleep, idle: &Sleep) -> Result<u64, &'static str> {
    let (lane, stealer) = chase_lev::uneven::<u64>();
    race(
        sleep,
        move |side, _| {
            // That of the last round.
            let _ = lane.pop();
            start(side, &[helpers, idle]);
            lane.push(1);
            helpers.after_fork(idle)
        },
        |_| !stealer.is_empty(),
    )
}

#[test]
fn a_push_of_a_fork_and_a_parking_worker_do_not_miss_each_other() {
    let (helpers, idle) = (Sleep::new(1, 1), Sleep::new(1, 1));
    expect_none("fork, idle worker", fork(&idle, &helpers, &idle));
    expect_none("fork, helper", fork(&helpers, &helpers, &idle));
}
