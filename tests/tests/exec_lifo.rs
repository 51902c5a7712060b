//! The LIFO slot makes a woken task run next, and never keeps one from running.
//!
//! A task that is queued on a worker whose poll blocks is run by another one, in
//! whichever place it is: the LIFO slot, the ring, a batch that the worker has pulled
//! from the injector, or the injector. That does not cost a notification for each push
//! into the slot. And two tasks that wake each other share the worker with the others.
//!
//! The tests with two workers block one with a poll that waits for what the other has
//! to do: if that is not done they hang, and the watchdog ends them.

#[path = "exec_support/gate.rs"]
mod gate;
#[path = "exec_support/named.rs"]
mod named;

use std::future::poll_fn;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use futures::channel::{mpsc as channel, oneshot};
use futures::{SinkExt, StreamExt};
use tests::watchdog;
use ws_executor::{Executor, Handle, Task, yield_now};

/// Often enough to see the other worker parked, searching, and in between.
const ROUNDS: usize = 100;

fn two_workers() -> Executor {
    named::builder(2).build().unwrap()
}

/// Runs `poll` in one poll of a task, again and again, on either worker.
fn on_workers(executor: &Executor, poll: impl Fn(&Handle) + Copy + Send + 'static) {
    for round in 0..ROUNDS {
        let handle = executor.handle();
        let task = executor
            .handle()
            .spawn_pinned(round % 2, move || async move { poll(&handle) });
        executor.block_on(task);
    }
}

#[test]
fn a_task_spawned_into_the_slot_of_a_blocked_worker_runs() {
    watchdog::guard("spawned into the slot", || {
        on_workers(&two_workers(), |handle| {
            let (ran, wait) = mpsc::channel();
            let child = handle.spawn(async move { ran.send(named::worker()) });
            let elsewhere = wait.recv().unwrap();
            assert_ne!(elsewhere, named::worker());
            child.detach();
        });
    });
}

#[test]
fn a_task_woken_into_the_slot_of_a_blocked_worker_runs() {
    watchdog::guard("woken into the slot", || {
        let executor = two_workers();
        for _ in 0..ROUNDS {
            let (wake, woken) = oneshot::channel::<()>();
            let (waits, waiting) = mpsc::channel();
            let (ran, wait) = mpsc::channel();
            let sleeper = executor.spawn(async move {
                waits.send(()).unwrap();
                woken.await.unwrap();
                ran.send(named::worker()).unwrap();
            });
            waiting.recv().unwrap();
            let waker = executor.spawn(async move {
                wake.send(()).unwrap();
                // Blocks, with the sleeper in its slot, unless that runs already.
                wait.recv().unwrap();
            });
            executor.block_on(waker);
            executor.block_on(sleeper);
        }
    });
}

/// Promised is about a millisecond; the bound is what a loaded machine may make of it.
/// Half of the rescues count, not the slowest.
#[test]
fn a_rescue_does_not_take_long() {
    const LONG: Duration = Duration::from_millis(500);
    watchdog::guard("rescue", || {
        let executor = two_workers();
        let rescue = |round: usize| {
            let handle = executor.handle();
            let task = executor
                .handle()
                .spawn_pinned(round % 2, move || async move {
                    let (ran, wait) = mpsc::channel();
                    let begun = Instant::now();
                    handle.spawn(async move { ran.send(()) }).detach();
                    wait.recv().unwrap();
                    begun.elapsed()
                });
            executor.block_on(task)
        };
        let mut times: Vec<Duration> = (0..ROUNDS).map(rescue).collect();
        times.sort_unstable();
        let median = times[ROUNDS / 2];
        assert!(median < LONG, "{median:?}, at worst {:?}", times.last());
    });
}

/// The second push into the slot moves the first task on to the ring.
#[test]
fn tasks_in_slot_and_ring_of_a_blocked_worker_run() {
    watchdog::guard("slot and ring", || {
        on_workers(&two_workers(), |handle| {
            let (ran, wait) = mpsc::channel();
            for n in 0..10 {
                let ran = ran.clone();
                handle.spawn(async move { ran.send(n) }).detach();
            }
            let mut seen: Vec<i32> = wait.iter().take(10).collect();
            seen.sort_unstable();
            assert_eq!(seen, (0..10).collect::<Vec<_>>());
        });
    });
}

#[test]
fn a_task_in_the_ring_of_a_blocked_worker_runs() {
    watchdog::guard("ring", || {
        let executor = named::builder(2).lifo_slot(false).build().unwrap();
        on_workers(&executor, |handle| {
            let (ran, wait) = mpsc::channel();
            handle.spawn(async move { ran.send(()) }).detach();
            wait.recv().unwrap();
        });
    });
}

#[test]
fn tasks_in_a_full_ring_of_a_blocked_worker_run() {
    watchdog::guard("overflow", || {
        on_workers(&two_workers(), |handle| {
            let (ran, wait) = mpsc::channel();
            for _ in 0..600 {
                let ran = ran.clone();
                handle.spawn(async move { ran.send(()) }).detach();
            }
            assert_eq!(wait.iter().take(600).count(), 600);
        });
    });
}

#[test]
fn a_task_in_the_injector_beside_a_blocked_worker_runs() {
    watchdog::guard("injector", || {
        let executor = two_workers();
        for round in 0..ROUNDS {
            let gate = gate::block(&executor.handle(), round % 2);
            let ran_on = executor.block_on(executor.spawn(async { named::worker() }));
            assert_ne!(ran_on, round % 2);
            drop(gate);
        }
    });
}

/// Both workers are blocked while eight tasks are submitted. One is let go, pulls a
/// batch, and is blocked again by the first task of it: the rest of the batch waits
/// behind that, until the other worker is let go.
#[test]
fn a_batch_that_a_blocked_worker_has_pulled_runs() {
    watchdog::guard("pulled batch", || {
        let executor = two_workers();
        for round in 0..ROUNDS {
            let handle = executor.handle();
            let puller = round % 2;
            let gates = [0, 1].map(|worker| gate::block(&handle, worker));
            let (ran, wait) = mpsc::channel();
            let all_others_ran = Arc::new(Mutex::new(Some(wait)));
            let (blocks, blocked) = mpsc::channel();
            let tasks = executor.spawn_many((0..8).map(|_| {
                let (ran, blocks) = (ran.clone(), blocks.clone());
                let wait = Arc::clone(&all_others_ran);
                async move {
                    let wait = wait.lock().unwrap().take();
                    if let Some(wait) = wait {
                        blocks.send(()).unwrap();
                        assert_eq!(wait.iter().take(7).count(), 7);
                    } else {
                        ran.send(()).unwrap();
                    }
                }
            }));
            let [first, second] = gates;
            let (let_go, keep) = match puller {
                0 => (first, second),
                _ => (second, first),
            };
            drop(let_go);
            blocked.recv().unwrap();
            let metrics = executor.metrics();
            assert!(
                metrics.workers()[puller].ring_depth > 0,
                "a batch was pulled: {metrics:#?}"
            );
            drop(keep);
            executor.block_on(futures::future::join_all(tasks));
        }
    });
}

/// As before, but the other worker is free to park whenever it likes.
#[test]
fn a_batch_is_shared_with_a_worker_that_parks() {
    watchdog::guard("batch, parked", || {
        let executor = two_workers();
        for round in 0..ROUNDS {
            let gate = gate::block(&executor.handle(), round % 2);
            let (ran, wait) = mpsc::channel();
            let wait = Arc::new(Mutex::new(Some(wait)));
            let tasks = executor.spawn_many((0..8).map(|_| {
                let (ran, wait) = (ran.clone(), Arc::clone(&wait));
                async move {
                    let wait = wait.lock().unwrap().take();
                    match wait {
                        Some(wait) => assert_eq!(wait.iter().take(7).count(), 7),
                        None => ran.send(()).unwrap(),
                    }
                }
            }));
            drop(gate);
            executor.block_on(futures::future::join_all(tasks));
        }
    });
}

/// A pinned task comes before the slot and before the ring, and only its worker can run
/// it. What is queued behind it must find its way to the other worker.
#[test]
#[expect(clippy::async_yields_async, reason = "awaited outside")]
fn a_task_in_the_slot_behind_a_blocking_pinned_task_runs() {
    watchdog::guard("slot behind pinned", || {
        let executor = two_workers();
        for _ in 0..ROUNDS {
            let handle = executor.handle();
            let task = executor.spawn(async move {
                let (ran, wait) = mpsc::channel();
                let blocker = block_until(&handle, wait);
                handle.spawn(async move { ran.send(()) }).detach();
                blocker
            });
            let blocker = executor.block_on(task);
            executor.block_on(blocker);
        }
    });
}

#[test]
#[expect(clippy::async_yields_async, reason = "awaited outside")]
fn a_task_that_yields_to_a_blocking_pinned_task_runs() {
    watchdog::guard("yielded to pinned", || {
        let executor = two_workers();
        for _ in 0..ROUNDS {
            let handle = executor.handle();
            let task = executor.spawn(async move {
                let (ran, wait) = mpsc::channel();
                let blocker = block_until(&handle, wait);
                yield_now().await;
                ran.send(()).unwrap();
                blocker
            });
            let blocker = executor.block_on(task);
            executor.block_on(blocker);
        }
    });
}

/// Blocks the calling worker, after this poll, until there is a message.
fn block_until(handle: &Handle, wait: mpsc::Receiver<()>) -> Task<()> {
    handle.spawn_pinned(named::worker(), move || async move {
        wait.recv().unwrap();
    })
}

/// A pair that sends a token back and forth, always through the slot.
async fn ping_pong(handle: Handle, rounds: usize) {
    let (mut there, mut from_here) = channel::channel::<usize>(0);
    let (mut back, mut from_there) = channel::channel::<usize>(0);
    let pong = handle.spawn(async move {
        while let Some(n) = from_here.next().await {
            back.send(n).await.unwrap();
        }
    });
    for n in 0..rounds {
        there.send(n).await.unwrap();
        assert_eq!(from_there.next().await, Some(n));
    }
    drop(there);
    pong.await;
}

/// What made another runtime give up stealable slots: a wake-up for each push.
#[test]
fn a_push_into_the_slot_notifies_nobody() {
    watchdog::guard("ping-pong", || {
        let executor = two_workers();
        let rounds = 20_000;
        executor.block_on(executor.spawn(ping_pong(executor.handle(), rounds)));
        let total = executor.metrics().total();
        assert!(total.lifo_hits as usize > rounds, "{total:?}");
        let sleepless = rounds as u64 / 4;
        assert!(total.notifications < sleepless, "{total:?}");
        assert!(total.parks < sleepless, "{total:?}");
    });
}

/// With one worker the order is known: at most three jobs out of the slot, then the ring.
#[test]
fn a_pair_in_the_slot_lets_others_run() {
    const CAP: u64 = 3;
    watchdog::guard("cap", || {
        let executor = named::builder(1).build().unwrap();
        let polls = Arc::new(AtomicU64::new(0));
        let handle = executor.handle();
        let gaps = executor.spawn({
            let polls = Arc::clone(&polls);
            async move {
                let pair = rally(&handle, &polls);
                let mut gaps = Vec::new();
                for _ in 0..1_000 {
                    let before = polls.load(Ordering::Relaxed);
                    yield_now().await;
                    gaps.push(polls.load(Ordering::Relaxed) - before);
                }
                drop(pair);
                gaps
            }
        });
        let gaps = executor.block_on(gaps);
        assert!(executor.metrics().total().lifo_hits > 0);
        let longest = gaps.iter().max().unwrap();
        // The pair itself may stand in the ring as well.
        assert!((1..=CAP + 2).contains(longest), "{gaps:?}");
    });
}

/// Two tasks, each of which wakes the other one in every poll, for ever.
fn rally(handle: &Handle, polls: &Arc<AtomicU64>) -> [Task<()>; 2] {
    let wakers: Arc<[Mutex<Option<Waker>>; 2]> = Arc::default();
    [0, 1].map(|me| {
        let (wakers, polls) = (Arc::clone(&wakers), Arc::clone(polls));
        handle.spawn(poll_fn(move |cx| {
            polls.fetch_add(1, Ordering::Relaxed);
            *wakers[me].lock().unwrap() = Some(cx.waker().clone());
            let other = wakers[1 - me].lock().unwrap().take();
            other.into_iter().for_each(Waker::wake);
            Poll::Pending
        }))
    })
}

/// The order in which one worker runs ten tasks that one of its tasks spawns.
fn order(lifo_slot: bool) -> Vec<usize> {
    let executor = named::builder(1).lifo_slot(lifo_slot).build().unwrap();
    let handle = executor.handle();
    let (ran, order) = mpsc::channel();
    let root = executor.spawn(async move {
        for n in 0..10 {
            let ran = ran.clone();
            handle.spawn(async move { ran.send(n) }).detach();
        }
    });
    executor.block_on(root);
    order.iter().collect()
}

#[test]
fn without_the_slot_tasks_run_in_their_order() {
    watchdog::guard("first in, first out", || {
        assert_eq!(order(false), (0..10).collect::<Vec<_>>());
    });
}

#[test]
fn with_the_slot_the_last_one_runs_first() {
    watchdog::guard("last in, first out", || {
        assert_eq!(order(true), [9, 0, 1, 2, 3, 4, 5, 6, 7, 8]);
    });
}

#[test]
fn without_the_slot_woken_tasks_run_in_their_order() {
    watchdog::guard("woken in order", || {
        let executor = named::builder(1).lifo_slot(false).build().unwrap();
        let (ran, order) = mpsc::channel();
        let (wakers, sleepers): (Vec<_>, Vec<_>) = (0..10)
            .map(|n| {
                let (wake, woken) = oneshot::channel::<()>();
                let ran = ran.clone();
                let sleeper = executor.spawn(async move {
                    woken.await.unwrap();
                    ran.send(n).unwrap();
                });
                (wake, sleeper)
            })
            .unzip();
        drop(ran);
        // They all wait, or are about to: the only worker does not run another one before. To
        // come later is not enough, as the injector has its turn before the ring now and then.
        tests::exec::until(|| executor.metrics().polls() == 10);
        let root = executor.spawn(async move {
            for wake in wakers.into_iter().rev() {
                wake.send(()).unwrap();
            }
        });
        executor.block_on(root);
        executor.block_on(futures::future::join_all(sleepers));
        assert_eq!(
            order.iter().collect::<Vec<i32>>(),
            (0..10).rev().collect::<Vec<_>>()
        );
    });
}
