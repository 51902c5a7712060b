//! `block_on` inside of `block_on`, and inside of tasks.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::mpsc;
use std::sync::{Arc, Barrier, Condvar, Mutex};
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

use futures::channel::oneshot;
use futures::future::join_all;
use tests::exec::{assert_alive, executor};
use tests::watchdog;
use ws_core::Driver;
use ws_executor::{Executor, Handle, coop, yield_now};

/// How many calls on one thread run other tasks, at least: the documentation says some
/// hundred, and this build is not optimised.
const DEPTH: u32 = 100;

/// Outside of workers: the wake of the outer future comes while the inner one waits,
/// and must be there after it.
#[test]
fn the_inner_call_does_not_take_what_wakes_the_outer_one() {
    watchdog::guard("outer token", || {
        let executor = executor(1);
        for _ in 0..200 {
            let (outer_sender, outer) = oneshot::channel();
            let (inner_sender, inner) = oneshot::channel();
            let waking = thread::spawn(move || {
                outer_sender.send("outer").unwrap();
                inner_sender.send("inner").unwrap();
            });
            let (mut outer, mut inner) = (pin!(outer), Some(inner));
            let output = executor.block_on(poll_fn(|cx| {
                let polled = outer.as_mut().poll(cx);
                if let Some(inner) = inner.take() {
                    assert_eq!(executor.block_on(inner), Ok("inner"));
                }
                polled
            }));
            assert_eq!(output, Ok("outer"));
            waking.join().unwrap();
        }
    });
}

/// The other way round: the outer future's waker is woken all the time.
#[test]
fn the_outer_wakes_do_not_wake_the_inner_call_only() {
    watchdog::guard("inner token", || {
        let executor = executor(1);
        for _ in 0..200 {
            let (wakers, woken) = mpsc::channel::<Waker>();
            let (sender, inner) = oneshot::channel();
            let waking = thread::spawn(move || {
                let waker = woken.recv().unwrap();
                (0..20).for_each(|_| waker.wake_by_ref());
                sender.send("inner").unwrap();
                (0..20).for_each(|_| waker.wake_by_ref());
            });
            let mut inner = Some(inner);
            executor.block_on(poll_fn(|cx| {
                let Some(inner) = inner.take() else {
                    return Poll::Ready(());
                };
                wakers.send(cx.waker().clone()).unwrap();
                assert_eq!(executor.block_on(inner), Ok("inner"));
                Poll::Pending
            }));
            waking.join().unwrap();
        }
    });
}

/// Ten deep, on a thread outside, the innermost woken first and last.
#[test]
fn deep_outside() {
    fn nest(executor: &Executor, receivers: &mut Vec<oneshot::Receiver<usize>>) -> usize {
        let Some(receiver) = receivers.pop() else {
            return 0;
        };
        let deeper = nest_in_poll(executor, receivers);
        executor.block_on(receiver).unwrap() + deeper
    }

    fn nest_in_poll(executor: &Executor, receivers: &mut Vec<oneshot::Receiver<usize>>) -> usize {
        executor.block_on(async { nest(executor, receivers) })
    }

    watchdog::guard("deep outside", || {
        let executor = executor(1);
        for reverse in [false, true] {
            let (mut senders, mut receivers): (Vec<_>, Vec<_>) =
                (0..10).map(|_| oneshot::channel()).unzip();
            if reverse {
                senders.reverse();
            }
            let waking = thread::spawn(move || {
                for (number, sender) in senders.into_iter().enumerate() {
                    sender.send(number).unwrap();
                }
            });
            assert_eq!(nest(&executor, &mut receivers), 45);
            waking.join().unwrap();
        }
    });
}

#[test]
fn on_a_worker_it_waits_for_tasks_of_the_same_executor() {
    watchdog::guard("on a worker", || {
        for workers in [1, 2, 4] {
            let executor = executor(workers);
            let task = executor.spawn(async {
                let handle = Handle::current();
                let tasks = handle.spawn_many((0..1_000).map(|number| async move {
                    yield_now().await;
                    number
                }));
                handle.block_on(join_all(tasks)).into_iter().sum::<u32>()
            });
            assert_eq!(executor.block_on(task), 499_500);
            assert_alive(&executor);
        }
    });
}

/// Every worker is inside of `block_on` when the tasks that they wait for are spawned.
#[test]
fn all_workers_at_once() {
    watchdog::guard("all workers", || {
        for workers in [1, 2, 4] {
            let executor = executor(workers);
            for _ in 0..50 {
                let meeting = Arc::new(Barrier::new(workers));
                let tasks = executor.spawn_many((0..workers).map(|number| {
                    let meeting = Arc::clone(&meeting);
                    async move {
                        let handle = Handle::current();
                        handle.block_on(async {
                            meeting.wait();
                            let child = handle.spawn(async move {
                                yield_now().await;
                                number
                            });
                            child.await
                        })
                    }
                }));
                let outputs = executor.block_on(join_all(tasks));
                assert!(outputs.into_iter().eq(0..workers));
            }
        }
    });
}

/// Each task blocks on the next one, which runs on top of it.
fn tower(depth: u32) -> Pin<Box<dyn Future<Output = u32> + Send>> {
    Box::pin(async move {
        if depth == 0 {
            return 0;
        }
        let handle = Handle::current();
        1 + handle.block_on(handle.spawn(tower(depth - 1)))
    })
}

#[test]
fn as_deep_as_is_promised() {
    watchdog::guard("tower", || {
        for workers in [1, 2, 4] {
            let executor = executor(workers);
            assert_eq!(executor.block_on(executor.spawn(tower(DEPTH))), DEPTH);
            // Nothing of it is left.
            assert_eq!(executor.block_on(executor.spawn(tower(DEPTH))), DEPTH);
            assert_alive(&executor);
        }
    });
}

/// A worker that waits for a foreign thread runs others meanwhile, and may leave its
/// tasks to others.
#[test]
fn tasks_of_a_worker_that_waits_run() {
    watchdog::guard("waiting worker", || {
        for workers in [1, 2] {
            let executor = executor(workers);
            let (sender, receiver) = oneshot::channel();
            let (reports, reported) = mpsc::channel();
            let waits = executor.spawn(async move {
                let handle = Handle::current();
                // One in the slot, others in the ring.
                for number in 0..10 {
                    let reports = reports.clone();
                    handle
                        .spawn(async move { reports.send(number).unwrap() })
                        .detach();
                }
                drop(reports);
                handle.block_on(receiver)
            });
            let mut numbers: Vec<u32> = reported.iter().collect();
            numbers.sort_unstable();
            assert!(numbers.into_iter().eq(0..10));
            sender.send("after them").unwrap();
            assert_eq!(executor.block_on(waits), Ok("after them"));
        }
    });
}

/// The task on top uses up its budget; that below must not be left without.
#[test]
fn the_budget_of_the_task_on_top_is_not_that_of_the_one_below() {
    watchdog::guard("budget on top", || {
        for budget in [1, 2, 128] {
            let executor = Executor::builder()
                .spares(0)
                .workers(1)
                .budget(budget)
                .build()
                .unwrap();
            let task = executor.spawn(async move {
                let handle = Handle::current();
                let uses_it_up = handle.spawn(async move {
                    for _ in 0..budget {
                        coop::consume().await;
                    }
                    assert!(!coop::has_budget());
                });
                handle.block_on(uses_it_up);
            });
            executor.block_on(task);
            assert_alive(&executor);
        }
    });
}

/// Pinned to the worker that waits: nobody else can run it.
#[test]
fn it_runs_tasks_that_are_pinned_to_its_worker() {
    watchdog::guard("pinned to the waiting worker", || {
        let executor = executor(2);
        let task = executor.handle().spawn_pinned(1, || async {
            let handle = Handle::current();
            let pinned = handle.spawn_pinned(1, || async {
                yield_now().await;
                thread::current().id()
            });
            assert_eq!(handle.block_on(pinned), thread::current().id());
            // From another worker, while this one sleeps in `block_on`.
            let from_elsewhere = {
                let other = handle.clone();
                handle.spawn_pinned(0, move || async move {
                    other.spawn_pinned(1, || async { 1 }).await
                })
            };
            handle.block_on(from_elsewhere)
        });
        assert_eq!(executor.block_on(task), 1);
    });
}

/// A reactor without events.
#[derive(Default)]
struct Idle(Mutex<bool>, Condvar);

impl Driver for Idle {
    fn turn(&self, timeout: Option<Duration>) {
        let mut woken = self.0.lock().unwrap();
        match timeout {
            None => {
                while !*woken {
                    woken = self.1.wait(woken).unwrap();
                }
            }
            Some(timeout) => {
                (woken, _) = self
                    .1
                    .wait_timeout_while(woken, timeout, |woken| !*woken)
                    .unwrap();
            }
        }
        *woken = false;
    }

    fn wake(&self) {
        *self.0.lock().unwrap() = true;
        self.1.notify_one();
    }
}

/// The worker sleeps in its driver while it waits, not in its parker.
#[test]
fn a_worker_with_a_driver_is_woken_by_foreign_threads() {
    watchdog::guard("driver", || {
        for workers in [1, 2] {
            let builder = Executor::builder()
                .spares(0)
                .workers(workers)
                .driver(Idle::default());
            let executor = builder.build().unwrap();
            for round in 0..50 {
                let (sender, receiver) = oneshot::channel();
                let (reached, reaches) = mpsc::channel();
                let waits = executor.spawn(async move {
                    let mut receiver = pin!(receiver);
                    ws_executor::block_on(poll_fn(|cx| {
                        let polled = receiver.as_mut().poll(cx);
                        let _ = reached.send(());
                        polled
                    }))
                });
                reaches.recv().unwrap();
                // So that it is asleep, most of the time.
                tests::exec::until(|| executor.metrics().parked_workers() == workers);
                sender.send(round).unwrap();
                assert_eq!(executor.block_on(waits), Ok(round));
            }
        }
    });
}

/// As with the driver, for workers that are futures of a host.
#[test]
fn a_hosted_worker_is_woken_by_foreign_threads() {
    watchdog::guard("hosted", || {
        let builder = Executor::builder()
            .spares(0)
            .workers(2)
            .host(futures::executor::block_on);
        let executor = builder.build().unwrap();
        for round in 0..50 {
            let (sender, receiver) = oneshot::channel();
            let waits = executor.spawn(async move { ws_executor::block_on(receiver) });
            let child = executor.spawn(async { Handle::current().block_on(yield_now()) });
            executor.block_on(child);
            sender.send(round).unwrap();
            assert_eq!(executor.block_on(waits), Ok(round));
        }
    });
}

/// Other runtimes' `block_on` on a worker blocks that worker only: its tasks run on the
/// others.
#[test]
fn a_foreign_block_on_leaves_the_tasks_to_the_others() {
    watchdog::guard("foreign block_on", || {
        let executor = executor(2);
        for _ in 0..100 {
            let task = executor.spawn(async {
                let child = Handle::current().spawn(async { 1 });
                futures::executor::block_on(child)
            });
            assert_eq!(executor.block_on(task), 1);
        }
    });
}
