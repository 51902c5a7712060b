//! Drop against wake: wakers outlive the executor, and are used while it goes.
//!
//! Meant for the address sanitizer and the leak checker as well. That the state is
//! freed is seen here, too: every unparker, which is a part of it, holds a token.

use std::future::{pending, poll_fn};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

use tests::drops::Drops;
use tests::watchdog;
use ws_core::{FastRand, Park, ThreadParker, ThreadUnparker, Unpark};
use ws_executor::{Executor, Task};

const ROUNDS: usize = 20_000;

/// Tasks of each round.
const TASKS: usize = 3;

struct Parker(ThreadParker, Arc<()>);

#[derive(Clone)]
struct Unparker(ThreadUnparker, #[allow(dead_code)] Arc<()>);

impl Park for Parker {
    type Unparker = Unparker;

    fn unparker(&self) -> Unparker {
        Unparker(self.0.unparker(), Arc::clone(&self.1))
    }

    fn park(&self) {
        self.0.park();
    }

    fn park_timeout(&self, timeout: Duration) {
        self.0.park_timeout(timeout);
    }
}

impl Unpark for Unparker {
    fn unpark(&self) {
        self.0.unpark();
    }
}

fn executor(workers: usize, token: &Arc<()>) -> Executor {
    let token = Arc::clone(token);
    Executor::builder()
        .spares(0)
        .workers(workers)
        .parker(move |_| Parker(ThreadParker::new(), Arc::clone(&token)))
        .build()
        .unwrap()
}

/// What a foreign thread gets in each round.
struct Parcel {
    wakers: Vec<Waker>,
    handles: Vec<Task<()>>,
    /// Sent back when all of it is gone.
    done: Sender<()>,
}

/// A foreign thread: uses wakers in every way, and lets them go.
fn use_parcels(parcels: mpsc::Receiver<Parcel>, seed: u64) {
    let mut rand = FastRand::new(seed);
    for parcel in parcels {
        // So that the moment differs from round to round.
        (0..rand.below(200)).for_each(|_| std::hint::spin_loop());
        for waker in &parcel.wakers {
            waker.wake_by_ref();
        }
        parcel.handles.into_iter().for_each(drop);
        for (number, waker) in parcel.wakers.into_iter().enumerate() {
            match (number + rand.below(2) as usize) % 2 {
                0 => waker.wake(),
                _ => drop(waker),
            }
        }
        parcel.done.send(()).unwrap();
    }
}

/// Spawns tasks that wait, and returns their wakers when they do.
fn waiting_tasks(executor: &Executor, drops: &Drops, round: usize) -> (Vec<Waker>, Vec<Task<()>>) {
    let wakers = Arc::new(Mutex::new(Vec::new()));
    let (polled, first_polls) = mpsc::channel();
    let tasks = (0..TASKS)
        .map(|number| {
            let item = drops.item(round * TASKS + number);
            let (wakers, mut polled) = (Arc::clone(&wakers), Some(polled.clone()));
            let waits = poll_fn(move |cx| {
                let _item = &item;
                if let Some(polled) = polled.take() {
                    wakers.lock().unwrap().push(cx.waker().clone());
                    polled.send(()).unwrap();
                }
                Poll::Pending
            });
            match number {
                0 => executor.handle().spawn_pinned(0, || waits),
                _ => executor.spawn(waits),
            }
        })
        .collect();
    drop(polled);
    assert_eq!(first_polls.iter().count(), TASKS);
    let wakers = wakers.lock().unwrap().clone();
    (wakers, tasks)
}

#[test]
fn drop_against_wake() {
    watchdog::guard("drop against wake", || {
        let token = Arc::new(());
        let drops = Drops::of(ROUNDS * TASKS);
        thread::scope(|threads| {
            let foreign: Vec<_> = (1..=2)
                .map(|seed| {
                    let (sender, parcels) = mpsc::channel();
                    threads.spawn(move || use_parcels(parcels, seed));
                    sender
                })
                .collect();
            for round in 0..ROUNDS {
                let executor = executor(if round % 4 == 3 { 2 } else { 1 }, &token);
                let (wakers, mut handles) = waiting_tasks(&executor, &drops, round);
                let (done, dones) = mpsc::channel();
                let detached = round % 3 == 0;
                for sender in &foreign {
                    let half = handles.split_off(handles.len() / 2);
                    let parcel = Parcel {
                        wakers: wakers.clone(),
                        handles: if detached { Vec::new() } else { half },
                        done: done.clone(),
                    };
                    sender.send(parcel).unwrap();
                }
                if round % 4 == 0 {
                    drop(wakers);
                    drop(executor);
                } else {
                    drop(executor);
                    wakers.into_iter().for_each(Waker::wake);
                }
                drop((handles, done));
                assert_eq!(dones.iter().count(), 2);
                for number in round * TASKS..(round + 1) * TASKS {
                    assert_eq!(drops.count(number), 1, "round {round}");
                }
                assert_eq!(
                    Arc::strong_count(&token),
                    1,
                    "round {round}: the state leaks"
                );
            }
            drop(foreign);
        });
        drops.assert_each_once();
    });
}

/// Without a race: whatever is the last to go takes the state with it.
#[test]
fn the_state_goes_with_the_last_that_needs_it() {
    watchdog::guard("last reference", || {
        for last in 0..4 {
            let token = Arc::new(());
            let drops = Drops::of(TASKS);
            let executor = executor(2, &token);
            let (wakers, tasks) = waiting_tasks(&executor, &drops, 0);
            let handle = executor.handle();
            let queued = executor.spawn(pending::<()>());
            executor.shutdown();
            drops.assert_each_once();
            let mut parts: [Option<Box<dyn std::any::Any>>; 4] = [
                Some(Box::new(wakers)),
                Some(Box::new(tasks)),
                Some(Box::new(handle)),
                Some(Box::new(queued)),
            ];
            let kept = parts[last].take();
            drop(parts);
            assert!(Arc::strong_count(&token) > 1, "part {last} needs it");
            drop(kept);
            assert_eq!(Arc::strong_count(&token), 1, "part {last} was the last");
        }
    });
}

/// As above, with the executor ended by one of its own tasks.
#[test]
fn the_state_goes_when_nobody_waits_for_the_threads() {
    watchdog::guard("last thread", || {
        for _ in 0..200 {
            let token = Arc::new(());
            let executor = executor(2, &token);
            let handle = executor.handle();
            handle.spawn(async move { executor.shutdown() }).detach();
            drop(handle);
            tests::exec::until(|| Arc::strong_count(&token) == 1);
        }
    });
}
