//! The counters mean what they say.
//!
//! With one worker, or with workers that are blocked, what has happened is known exactly.

#[path = "exec_support/gate.rs"]
mod gate;

use std::future::{pending, poll_fn};
use std::sync::mpsc;
use std::task::Poll;
use std::thread;
use std::time::Duration;

use futures::future::join_all;
use tests::exec::until;
use tests::watchdog;
use ws_executor::{Builder, Executor, Metrics, WorkerMetrics, yield_now};

fn workers(workers: usize) -> Builder {
    Executor::builder().spares(0).workers(workers)
}

/// Waits until every worker sleeps.
fn settle(executor: &Executor) -> Metrics {
    settle_but(executor, 0)
}

/// Waits until all but so many workers sleep. Not only on their way to it: the time
/// that one was awake stands still then.
fn settle_but(executor: &Executor, awake: usize) -> Metrics {
    let sleepers = |metrics: &Metrics| metrics.workers()[awake..].to_vec();
    loop {
        let (before, now) = (executor.metrics(), executor.metrics());
        let parked = now.parked_workers() == executor.workers() - awake;
        if parked && sleepers(&before) == sleepers(&now) {
            return now;
        }
        thread::yield_now();
    }
}

#[test]
fn each_poll_is_counted() {
    watchdog::guard("polls", || {
        let executor = workers(1).build().unwrap();
        assert_eq!(executor.metrics().total().polls, 0);
        let tasks = executor.spawn_many((0..100).map(|n| async move {
            for _ in 0..n {
                yield_now().await;
            }
        }));
        executor.block_on(join_all(tasks));
        assert_eq!(executor.metrics().total().polls, (1..=100).sum::<u64>());
    });
}

#[test]
fn the_total_is_the_sum_over_the_workers() {
    watchdog::guard("sum", || {
        let executor = workers(3).build().unwrap();
        let tasks = executor.spawn_many((0..1_000).map(|_| yield_now()));
        executor.block_on(join_all(tasks));
        let metrics = settle(&executor);
        let total = metrics.total();
        assert_eq!(metrics.workers().len(), 3);
        let sum =
            |field: fn(&WorkerMetrics) -> u64| metrics.workers().iter().map(field).sum::<u64>();
        assert_eq!(total.polls, 2_000);
        assert_eq!(total.polls, sum(|worker| worker.polls));
        assert_eq!(total.parks, sum(|worker| worker.parks));
        assert_eq!(total.steals, sum(|worker| worker.steals));
        let summed: WorkerMetrics = metrics.workers().iter().cloned().sum();
        assert_eq!(total, summed);
    });
}

#[test]
fn the_depths_are_what_waits_in_each_queue() {
    watchdog::guard("depths", || {
        let executor = workers(2).build().unwrap();
        let handle = executor.handle();
        let gate = gate::block(&handle, 1);
        let inside = handle.clone();
        let (looks, look) = mpsc::channel();
        let (ends, end) = mpsc::channel::<()>();
        let busy = executor.handle().spawn_pinned(0, move || async move {
            for _ in 0..5 {
                inside.spawn(async {}).detach();
            }
            looks.send(()).unwrap();
            let _ = end.recv();
        });
        look.recv().unwrap();
        for _ in 0..7 {
            executor.spawn(async {}).detach();
        }
        for _ in 0..3 {
            handle.spawn_pinned(1, || async {}).detach();
        }
        let metrics = executor.metrics();
        let [zero, one] = metrics.workers() else {
            panic!("two workers");
        };
        assert_eq!(
            (zero.lifo_depth, zero.ring_depth, zero.pinned_depth),
            (1, 4, 0)
        );
        assert_eq!(
            (one.lifo_depth, one.ring_depth, one.pinned_depth),
            (0, 0, 3)
        );
        assert_eq!(metrics.injector_depth(), 7);
        assert_eq!(metrics.parked_workers(), 0);
        // Those, the gate, and the one that is busy.
        assert_eq!(metrics.live_tasks(), 5 + 7 + 3 + 2);
        drop((ends, gate));
        executor.block_on(busy);
        settle(&executor);
        until(|| executor.metrics().live_tasks() == 0);
        let total = executor.metrics().total();
        let depths = (total.lifo_depth, total.ring_depth, total.pinned_depth);
        assert_eq!(depths, (0, 0, 0));
        assert_eq!(executor.metrics().injector_depth(), 0);
    });
}

#[test]
fn jobs_out_of_the_lifo_slot_are_counted() {
    watchdog::guard("lifo hits", || {
        for (lifo_slot, expected) in [(true, 1..=50), (false, 0..=0)] {
            let executor = workers(1).lifo_slot(lifo_slot).build().unwrap();
            let handle = executor.handle();
            executor.block_on(executor.spawn(async move {
                for _ in 0..50 {
                    // A detached child, so that nothing but the child is in the slot.
                    handle.spawn(async {}).detach();
                    yield_now().await;
                }
            }));
            let hits = executor.metrics().total().lifo_hits;
            assert!(expected.contains(&hits), "{hits} hits, not {expected:?}");
        }
    });
}

#[test]
fn overflows_of_the_ring_are_counted() {
    watchdog::guard("overflows", || {
        let executor = workers(1).build().unwrap();
        let spawn = |count: usize| {
            let handle = executor.handle();
            let tasks = executor.spawn(async move {
                let child = |_| handle.spawn(async {});
                (0..count).map(child).collect::<Vec<_>>()
            });
            executor.block_on(join_all(executor.block_on(tasks)));
            executor.metrics().total().overflows
        };
        assert_eq!(spawn(200), 0);
        // A ring holds 256; then half of it goes at once.
        let overflows = spawn(1_000);
        assert!((1..=8).contains(&overflows), "{overflows}");
    });
}

#[test]
fn batches_from_the_injector_are_counted() {
    watchdog::guard("injector pulls", || {
        let executor = workers(1).build().unwrap();
        for _ in 0..10 {
            executor.block_on(executor.spawn(async {}));
        }
        assert_eq!(executor.metrics().total().injector_pulls, 10);
        let gate = gate::block(&executor.handle(), 0);
        let tasks = executor.spawn_many((0..20).map(|_| async {}));
        drop(gate);
        executor.block_on(join_all(tasks));
        assert_eq!(executor.metrics().total().injector_pulls, 11);
    });
}

/// Worker 0 is blocked with ten tasks in its queues; worker 1 takes them all.
#[test]
fn stolen_tasks_are_counted_by_the_thief() {
    watchdog::guard("steals", || {
        let executor = workers(2).build().unwrap();
        let handle = executor.handle();
        let blocked = executor.handle().spawn_pinned(0, move || async move {
            let (ran, wait) = mpsc::channel();
            for _ in 0..10 {
                let ran = ran.clone();
                handle.spawn(async move { ran.send(()) }).detach();
            }
            assert_eq!(wait.iter().take(10).count(), 10);
        });
        executor.block_on(blocked);
        let metrics = executor.metrics();
        let [zero, one] = metrics.workers() else {
            panic!("two workers");
        };
        assert_eq!((zero.steals, zero.tasks_stolen), (0, 0), "{metrics:#?}");
        // A few small tasks are not worth stealing: the monitor moves them.
        assert_eq!(
            one.tasks_stolen + metrics.tasks_rescued(),
            10,
            "{metrics:#?}"
        );
        assert!(metrics.tasks_rescued() > 0, "{metrics:#?}");
        assert!(one.steals <= one.tasks_stolen, "{metrics:#?}");
        assert!(one.steals <= one.steals_tried, "{metrics:#?}");
        assert_eq!(one.polls, 10);
    });
}

#[test]
fn sleeps_and_notifications_are_counted() {
    const ROUNDS: u64 = 10;
    watchdog::guard("parks", || {
        let executor = workers(1).build().unwrap();
        let before = settle(&executor).total();
        for _ in 0..ROUNDS {
            executor.block_on(executor.spawn(async {}));
            settle(&executor);
        }
        let after = executor.metrics().total();
        assert_eq!(after.parks - before.parks, ROUNDS);
        assert_eq!(after.notifications, 0, "workers have notified nobody");
        assert_eq!(after.idle_notifications, 0, "there always was a task");

        let executor = workers(2).lifo_slot(false).build().unwrap();
        for _ in 0..ROUNDS {
            settle(&executor);
            let handle = executor.handle();
            let task = handle.clone().spawn_pinned(0, move || async move {
                let (ran, wait) = mpsc::channel();
                // A batch is announced, unlike a single small task.
                let batch = handle.spawn_many([async move { ran.send(()) }]);
                wait.recv().unwrap();
                drop(batch);
            });
            executor.block_on(task);
        }
        let metrics = executor.metrics();
        let [zero, one] = metrics.workers() else {
            panic!("two workers");
        };
        assert!(zero.notifications >= ROUNDS, "{metrics:#?}");
        assert_eq!(one.notifications, 0, "{metrics:#?}");
        assert!(one.parks >= ROUNDS, "{metrics:#?}");
    });
}

/// A worker that is notified of a batch finds nothing to do: others were faster.
#[test]
fn notifications_for_nothing_are_counted() {
    watchdog::guard("idle notifications", || {
        let executor = workers(2).build().unwrap();
        let handle = executor.handle();
        settle(&executor);
        let (ended, end) = mpsc::channel::<()>();
        let task = executor.handle().spawn_pinned(0, move || async move {
            // Into the ring, and out again: the other worker is notified, in vain.
            loop {
                for task in handle.spawn_many([async {}]) {
                    task.detach();
                }
                yield_now().await;
                if end.try_recv() == Err(mpsc::TryRecvError::Disconnected) {
                    return;
                }
            }
        });
        until(|| executor.metrics().total().idle_notifications > 0);
        drop(ended);
        executor.block_on(task);
        let total = executor.metrics().total();
        assert!(total.idle_notifications <= total.parks, "{total:?}");
    });
}

#[test]
fn busy_is_the_time_awake() {
    let pause = Duration::from_millis(50);
    watchdog::guard("busy", || {
        let executor = workers(2).build().unwrap();
        let gate = gate::block(&executor.handle(), 0);
        let before = settle_but(&executor, 1);
        thread::sleep(pause);
        let after = executor.metrics();
        let awake = |worker: usize| after.workers()[worker].busy - before.workers()[worker].busy;
        assert!(awake(0) >= pause, "{:?}", awake(0));
        assert_eq!(awake(1), Duration::ZERO);
        drop(gate);
    });
}

#[test]
fn live_tasks_are_those_that_have_not_ended() {
    watchdog::guard("live tasks", || {
        let executor = workers(2).build().unwrap();
        let live = || executor.metrics().live_tasks();
        assert_eq!(live(), 0);
        let waiting: Vec<_> = (0..100).map(|_| executor.spawn(pending::<()>())).collect();
        assert_eq!(live(), 100);
        let ended = executor.spawn(async {});
        until(|| ended.is_finished());
        assert!((100..=101).contains(&live()), "its handle is still there");
        drop(ended);
        until(|| live() == 100);
        drop(waiting);
        until(|| live() == 0);
        for count in [1, 10, 1_000] {
            let handle = executor.handle();
            let parents = executor.spawn_many((0..count).map(|_| {
                let handle = handle.clone();
                async move { handle.spawn(yield_now()).await }
            }));
            executor.block_on(join_all(parents));
            until(|| live() == 0);
        }
        executor.scope(|s| {
            s.spawn(async {
                assert!(live() > 0);
            });
        });
        executor.block_on(executor.handle().spawn_pinned(1, || async {}));
        until(|| live() == 0);
    });
}

#[test]
fn live_tasks_is_zero_after_a_shutdown() {
    watchdog::guard("live tasks after the end", || {
        let executor = workers(2).build().unwrap();
        let handle = executor.handle();
        let (sends, sent) = mpsc::channel();
        executor
            .spawn(poll_fn(move |cx| {
                sends.send(cx.waker().clone()).unwrap();
                Poll::<()>::Pending
            }))
            .detach();
        let waker = sent.recv().unwrap();
        for _ in 0..100 {
            executor.spawn(pending::<()>()).detach();
        }
        executor.shutdown();
        let metrics = handle.metrics();
        // The waker keeps its task.
        assert_eq!(metrics.live_tasks(), 1);
        drop(waker);
        assert_eq!(handle.metrics().live_tasks(), 0);
        assert_eq!(handle.metrics().injector_depth(), 0);
        drop(handle.spawn(async {}));
        assert_eq!(handle.metrics().live_tasks(), 0);
    });
}
