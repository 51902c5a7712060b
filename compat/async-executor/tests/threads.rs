//! Many threads: no task is lost while threads fall asleep, however the executor is run.

mod common;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use async_channel::Receiver;
use async_executor::Executor;
use common::Watchdog;
use futures_lite::FutureExt;
use futures_lite::future::{block_on, yield_now};

const ROUNDS: usize = if cfg!(debug_assertions) {
    10_000
} else {
    100_000
};

/// How the threads run the executor.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// All by `run`.
    Run,
    /// All by `tick` in a loop.
    Ticks,
    /// All by `run`s that are dropped after a task or two, and made anew.
    ShortRuns,
    /// All of these at the same time.
    Mixed,
}

const WAYS: [Way; 4] = [Way::Run, Way::Ticks, Way::ShortRuns, Way::Mixed];

impl Way {
    fn of_thread(self, thread: usize) -> Self {
        match self {
            Self::Mixed => WAYS[thread % 3],
            way => way,
        }
    }

    async fn run(self, executor: &Executor<'_>, stop: Receiver<()>) {
        let stop = async move {
            let _ = stop.recv().await;
        };
        match self {
            Self::Run | Self::Mixed => executor.run(stop).await,
            Self::Ticks => {
                let ticks = async {
                    loop {
                        executor.tick().await;
                    }
                };
                stop.or(ticks).await;
            }
            Self::ShortRuns => {
                let runs = async {
                    loop {
                        // Both compete for the task; the first one ends the other.
                        executor.run(executor.tick()).await;
                    }
                };
                stop.or(runs).await;
            }
        }
    }
}

/// Runs `body` while `threads` others run the executor.
fn with_threads(threads: usize, way: Way, body: impl FnOnce(&'static Executor<'static>)) {
    // Leaked, so that its own tasks can use it; it is empty in the end.
    let executor: &'static Executor<'static> = Box::leak(Box::default());
    let (stop, stopped) = async_channel::bounded::<()>(1);
    thread::scope(|scope| {
        for thread in 0..threads {
            let stopped = stopped.clone();
            scope.spawn(move || block_on(way.of_thread(thread).run(executor, stopped)));
        }
        body(executor);
        drop(stop);
    });
    while executor.try_tick() {}
    assert!(executor.is_empty());
}

#[test]
fn one_task_at_a_time_is_never_forgotten() {
    let _watchdog = Watchdog::new("one_task_at_a_time_is_never_forgotten");
    for way in WAYS {
        with_threads(3, way, |executor| {
            for round in 0..ROUNDS {
                assert_eq!(block_on(executor.spawn(async move { round })), round);
            }
        });
    }
}

#[test]
fn tasks_that_spawn_and_yield_all_end() {
    let _watchdog = Watchdog::new("tasks_that_spawn_and_yield_all_end");
    for way in WAYS {
        let done = AtomicUsize::new(0);
        with_threads(3, way, |executor| {
            block_on(async {
                let (sender, receiver) = async_channel::unbounded();
                for _ in 0..ROUNDS {
                    let sender = sender.clone();
                    let task = executor.spawn(async move {
                        yield_now().await;
                        let _ = sender.send(()).await;
                    });
                    task.detach();
                }
                drop(sender);
                while receiver.recv().await.is_ok() {
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        });
        assert_eq!(done.into_inner(), ROUNDS, "{way:?}");
    }
}

#[test]
fn tasks_that_wake_each_other_across_threads_do_not_sleep_for_ever() {
    let _watchdog =
        Watchdog::new("tasks_that_wake_each_other_across_threads_do_not_sleep_for_ever");
    for way in WAYS {
        with_threads(2, way, |executor| {
            let pairs: Vec<_> = (0..2)
                .map(|_| {
                    let (there, from_here) = async_channel::bounded::<usize>(1);
                    let (back, from_there) = async_channel::bounded::<usize>(1);
                    let echo = executor.spawn(async move {
                        while let Ok(n) = from_here.recv().await {
                            let _ = back.send(n).await;
                        }
                    });
                    let ask = executor.spawn(async move {
                        for n in 0..ROUNDS {
                            there.send(n).await.expect("the other one is there");
                            assert_eq!(from_there.recv().await, Ok(n));
                        }
                    });
                    (echo, ask)
                })
                .collect();
            for (echo, ask) in pairs {
                block_on(ask);
                block_on(echo);
            }
        });
    }
}

#[test]
fn a_task_behind_one_that_blocks_is_run_by_another_thread() {
    let _watchdog = Watchdog::new("a_task_behind_one_that_blocks_is_run_by_another_thread");
    for _ in 0..200 {
        with_threads(2, Way::Run, |executor| {
            let (sender, receiver) = std::sync::mpsc::channel();
            let blocking = executor.spawn(async move {
                // Into the ring of the `run` that this blocks.
                let inner = executor.spawn(async move { sender.send(7) });
                inner.detach();
                receiver.recv()
            });
            assert_eq!(block_on(blocking), Ok(7));
        });
    }
}

#[test]
fn a_task_that_yields_behind_one_that_blocks_is_run_by_another_thread() {
    let _watchdog =
        Watchdog::new("a_task_that_yields_behind_one_that_blocks_is_run_by_another_thread");
    for _ in 0..200 {
        with_threads(2, Way::Run, |executor| {
            let (sender, receiver) = std::sync::mpsc::channel();
            let yielding = executor.spawn(async move {
                for _ in 0..1_000 {
                    yield_now().await;
                }
                let _ = sender.send(());
            });
            let blocking = executor.spawn(async move { receiver.recv() });
            assert_eq!(block_on(blocking), Ok(()));
            block_on(yielding);
        });
    }
}

#[test]
fn a_task_that_yields_before_the_future_of_a_run_blocks_is_run_by_another_thread() {
    let _watchdog = Watchdog::new(
        "a_task_that_yields_before_the_future_of_a_run_blocks_is_run_by_another_thread",
    );
    with_threads(1, Way::Run, |executor| {
        wait_for_sleepers(executor, 1);
        let (open_gate, gate) = async_channel::bounded::<()>(1);
        let (done, is_done) = std::sync::mpsc::channel();
        let blocking = thread::spawn(move || {
            block_on(executor.run(async move {
                let _ = gate.recv().await;
                is_done.recv()
            }))
        });
        wait_for_sleepers(executor, 2);
        // For the one that came last, which polls it once before its future.
        let task = executor.spawn(async move {
            let _ = open_gate.try_send(());
            yield_now().await;
            let _ = done.send(());
        });
        assert_eq!(blocking.join().unwrap(), Ok(()));
        block_on(task);
    });
}

/// Waits until so many `run`s sleep.
fn wait_for_sleepers(executor: &Executor<'_>, count: usize) {
    while !format!("{executor:?}").contains(&format!("sleeping: {count}")) {
        thread::yield_now();
    }
}

#[test]
fn tasks_borrow_from_the_frame_of_the_executor() {
    let _watchdog = Watchdog::new("tasks_borrow_from_the_frame_of_the_executor");
    let numbers: Vec<usize> = (0..1_000).collect();
    let sum = AtomicUsize::new(0);
    let executor = Executor::new();
    let mut tasks = Vec::new();
    executor.spawn_many(
        numbers.iter().map(|n| async {
            sum.fetch_add(*n, Ordering::Relaxed);
        }),
        &mut tasks,
    );
    thread::scope(|scope| {
        let (first, second) = (tasks.split_off(500), tasks);
        for half in [first, second] {
            let executor = &executor;
            scope.spawn(move || {
                block_on(executor.run(async {
                    for task in half {
                        task.await;
                    }
                }));
            });
        }
    });
    assert_eq!(sum.load(Ordering::Relaxed), 499_500);
}

/// Each task spawns the next one before it ends, on any of the threads: there is no moment
/// without a task.
#[test]
fn a_chain_of_tasks_is_never_seen_to_be_empty() {
    static EXECUTOR: Executor<'static> = Executor::new();
    static OVER: AtomicBool = AtomicBool::new(false);

    fn link() {
        let next = async {
            if !OVER.load(Ordering::Relaxed) {
                link();
            }
        };
        EXECUTOR.spawn(next).detach();
    }

    let _watchdog = Watchdog::new("a_chain_of_tasks_is_never_seen_to_be_empty");
    link();
    let run = || {
        while !OVER.load(Ordering::Relaxed) {
            EXECUTOR.try_tick();
        }
    };
    let threads: Vec<_> = (0..3).map(|_| thread::spawn(run)).collect();
    let empty = (0..50 * ROUNDS).any(|_| EXECUTOR.is_empty());
    OVER.store(true, Ordering::Relaxed);
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
    assert!(!empty);
}
