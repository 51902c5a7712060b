//! The monitor's thread: looks, and does what [`look`](super::look) decides.

use std::sync::{Arc, Weak};

use ws_core::sync::thread;
use ws_core::{Park, ThreadParker};

use super::Start;
use super::look::{Action, DriverView, Snapshot, Stall, Watcher, WorkerView};
use super::started::Started;
use crate::base::clock::{self, Instant};
use crate::base::panics::ignore_panic;
use crate::scheduler::driver::SharedDriver;
use crate::scheduler::shared::{Job, Remote, Shared};

/// A hook that is called for polls that take long.
pub(crate) type StallHook = Arc<dyn Fn(&Stall) + Send + Sync>;

/// What starts the thread.
pub(crate) fn starter(shared: Weak<Shared>, on_stall: Option<StallHook>) -> Start {
    Box::new(move || {
        // The caller has a reference to the executor's state.
        let shared = shared.upgrade().expect("the caller has a reference");
        let parker = ThreadParker::new();
        let unparker = parker.unparker();
        let on_stall = on_stall.clone();
        let builder = thread::Builder::new().name("ws-monitor".to_owned());
        let handle = builder.spawn(move || run(&shared, &parker, on_stall))?;
        Ok(Started { handle, unparker })
    })
}

/// The thread's main function.
fn run(shared: &Arc<Shared>, parker: &ThreadParker, on_stall: Option<StallHook>) {
    let monitor = &shared.monitor;
    let mut watch = Watcher::new(shared.workers(), Instant::now());
    while !shared.is_closed() {
        clock::sleep(parker, watch.period());
        let now = snapshot(shared, watch.buffer());
        for stall in watch.stalls(&now) {
            monitor.stalls.add(1);
            ignore_panic(|| on_stall.iter().for_each(|hook| hook(&stall)));
        }
        match watch.look(now) {
            Action::Nothing => {}
            Action::Sleep => sleep(shared, parker, &mut watch),
            Action::Share(workers) => workers.into_iter().for_each(|it| share(shared, it)),
            Action::AttendDriver => {
                let _ = shared.notify_idle();
            }
            Action::PollTasks => monitor.spares.rouse(),
        }
    }
    ignore_panic(|| drop(on_stall));
    // Jobs that were in the hands of `share` when the executor was closed: the other threads may
    // have ended before they were refused.
    shared.drop_refused();
    shared.report_end(&monitor.progress);
}

/// Sleeps until it is called, or the executor is closed.
fn sleep(shared: &Shared, parker: &ThreadParker, watch: &mut Watcher) {
    let state = &shared.monitor.state;
    state.fall_asleep(|| {
        let now = snapshot(shared, watch.buffer());
        let is_something = shared.is_closed() || now.has_something_to_watch();
        watch.drop_snapshot(now);
        is_something
    });
    let begun = Instant::now();
    while state.is_asleep() {
        parker.park();
    }
    watch.was_called(begun.elapsed());
}

fn snapshot(shared: &Shared, mut workers: Vec<WorkerView>) -> Snapshot {
    let seen = |remote: &Arc<Remote>| WorkerView {
        polls: remote.counters.polls.get(),
        queued: remote.ring.len() + usize::from(!remote.slot.is_empty()),
        asleep: remote.counters.is_asleep(),
        forking: remote.is_in_join(),
    };
    let driver = match &shared.driver {
        Some(driver) if driver.wants_watching() => DriverView::Left(driver.turns()),
        None if shared.settings.hosted => DriverView::Hosted,
        _ => DriverView::Attended,
    };
    // What a host's reactor wakes does not go through the slot.
    let uses = |remote: &Arc<Remote>| match shared.settings.hosted {
        true => remote.counters.polls.get(),
        false => remote.counters.lifo_hits.get(),
    };
    let turns = shared.driver.as_ref().map_or(0, SharedDriver::turns);
    let parked = shared.sleep.parked();
    workers.extend(shared.remotes.iter().map(seen));
    Snapshot {
        time: Instant::now(),
        workers,
        someone_parked: parked > 0,
        all_parked: parked == shared.running(),
        injected: !shared.injector.is_empty(),
        driver,
        uses: shared
            .remotes
            .iter()
            .map(uses)
            .fold(turns, u64::wrapping_add),
        spare_polls: shared.monitor.spares.polls(),
    }
}

/// Moves what is in a worker's slot, and half of what is in its ring, to the injector.
fn share(shared: &Shared, worker: usize) {
    let Remote { slot, ring, .. } = &*shared.remotes[worker];
    {
        // A drain must wait for jobs that are on their way.
        let _inside = shared.wait_inside();
        let half = ring.len().div_ceil(2);
        // A lost race is not tried again: the winner has work.
        let stolen = (0..half).map_while(|_| ring.steal().success());
        let jobs: Vec<Job> = slot.take().into_iter().chain(stolen).collect();
        if !jobs.is_empty() {
            shared.monitor.rescued.add(jobs.len() as u64);
            if let Err(refused) = shared.inject_batch(jobs) {
                shared.refuse(refused);
            }
        }
    }
    shared.look_again_if_wanted();
}
