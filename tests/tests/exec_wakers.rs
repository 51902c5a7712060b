//! A woken task is polled, and no more often than it was woken.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

use futures::StreamExt;
use futures::channel::oneshot;
use futures::future::{FutureExt, join_all, select_all};
use futures::stream::FuturesUnordered;
use tests::census::stress_items;
use tests::exec::{Gate, assert_alive, executor, hold, until};
use tests::{child, watchdog};
use ws_executor::{Executor, LocalExecutor, Task, yield_now};

/// A task that counts its polls and hands out its waker; it ends when it is told to.
struct Counted {
    polls: Arc<AtomicUsize>,
    waker: Waker,
    end: Arc<AtomicBool>,
    task: Task<()>,
}

impl Counted {
    fn new(executor: &Executor) -> Self {
        let (polls, end) = (
            Arc::new(AtomicUsize::new(0)),
            Arc::new(AtomicBool::new(false)),
        );
        let (sender, wakers) = mpsc::channel();
        let task = executor.spawn({
            let (polls, end) = (Arc::clone(&polls), Arc::clone(&end));
            poll_fn(move |cx| {
                polls.fetch_add(1, Ordering::SeqCst);
                if end.load(Ordering::SeqCst) {
                    return Poll::Ready(());
                }
                let _ = sender.send(cx.waker().clone());
                Poll::Pending
            })
        });
        let waker = wakers.recv().unwrap();
        // Behind its first poll, for sure.
        executor.block_on(async {
            for _ in 0..executor.workers() {
                executor.spawn(async {}).await;
            }
        });
        Self {
            polls,
            waker,
            end,
            task,
        }
    }

    fn polls(&self) -> usize {
        self.polls.load(Ordering::SeqCst)
    }
}

#[test]
fn a_wake_after_the_end_is_nothing() {
    watchdog::guard("after the end", || {
        let executor = executor(2);
        for cancelled in [false, true] {
            let counted = Counted::new(&executor);
            let waker = counted.waker.clone();
            if cancelled {
                assert_eq!(executor.block_on(counted.task.cancel()), None);
            } else {
                counted.end.store(true, Ordering::SeqCst);
                counted.waker.wake();
                executor.block_on(counted.task);
            }
            let polls = counted.polls.load(Ordering::SeqCst);
            let before = executor.metrics().polls();
            for _ in 0..50 {
                waker.wake_by_ref();
                let by_value = waker.clone();
                by_value.wake();
            }
            thread::scope(|threads| {
                threads.spawn(|| (0..50).for_each(|_| waker.wake_by_ref()));
            });
            assert_alive(&executor);
            assert_eq!(counted.polls.load(Ordering::SeqCst), polls);
            // Only the tasks of `assert_alive`.
            assert_eq!(executor.metrics().polls(), before + 2);
        }
    });
}

#[test]
fn a_wake_during_its_own_poll_is_one_more_poll() {
    watchdog::guard("own poll", || {
        for wakes in [1, 2, 100] {
            let executor = executor(2);
            let polls = Arc::new(AtomicUsize::new(0));
            let (sender, wakers) = mpsc::channel::<Waker>();
            let (woken, dones) = mpsc::channel();
            let foreign = thread::spawn(move || {
                for waker in wakers {
                    (0..wakes).for_each(|_| waker.wake_by_ref());
                    woken.send(()).unwrap();
                }
            });
            let task = executor.spawn({
                let polls = Arc::clone(&polls);
                poll_fn(move |cx| {
                    if polls.fetch_add(1, Ordering::SeqCst) == 0 {
                        // The foreign thread wakes, and is done, within this poll.
                        sender.send(cx.waker().clone()).unwrap();
                        dones.recv().unwrap();
                    }
                    Poll::<()>::Pending
                })
            });
            until(|| polls.load(Ordering::SeqCst) >= 2);
            assert_alive(&executor);
            assert_eq!(polls.load(Ordering::SeqCst), 2, "{wakes} wakes");
            executor.block_on(task.cancel());
            foreign.join().unwrap();
        }
    });
}

/// By itself, by a foreign thread, and by another task at once: still one.
#[test]
fn wakes_of_a_queued_task_are_one() {
    watchdog::guard("queued", || {
        let executor = executor(1);
        let counted = Counted::new(&executor);
        let held = hold(&executor);
        thread::scope(|threads| {
            for _ in 0..4 {
                threads.spawn(|| (0..100).for_each(|_| counted.waker.wake_by_ref()));
            }
        });
        assert_eq!(executor.metrics().injector_depth(), 1);
        drop(held);
        assert_alive(&executor);
        assert_eq!(counted.polls(), 2);
    });
}

#[test]
fn a_storm_of_wakes() {
    const THREADS: usize = 8;

    watchdog::guard("wake storm", || {
        let wakes = usize::try_from(stress_items(1_000_000)).unwrap();
        let executor = executor(2);
        let counted = Counted::new(&executor);
        let before = counted.polls();
        thread::scope(|threads| {
            for _ in 0..THREADS {
                threads.spawn(|| (0..wakes).for_each(|_| counted.waker.wake_by_ref()));
            }
        });
        // It is polled after the last wake: the end is seen.
        counted.end.store(true, Ordering::SeqCst);
        counted.waker.wake_by_ref();
        executor.block_on(counted.task);
        let polls = counted.polls.load(Ordering::SeqCst) - before;
        assert!((1..=THREADS * wakes + 1).contains(&polls), "{polls} polls");
        assert_alive(&executor);
    });
}

/// Each wake publishes what was written before it, whoever polls.
#[test]
fn no_wake_is_lost() {
    watchdog::guard("no lost wake", || {
        let executor = executor(2);
        for _ in 0..200 {
            let written = Arc::new(AtomicUsize::new(0));
            let (sender, wakers) = mpsc::channel::<Waker>();
            let task = executor.spawn({
                let written = Arc::clone(&written);
                let mut sender = Some(sender);
                poll_fn(move |cx| {
                    if let Some(sender) = sender.take() {
                        sender.send(cx.waker().clone()).unwrap();
                    }
                    match written.load(Ordering::Relaxed) {
                        4 => Poll::Ready(()),
                        _ => Poll::Pending,
                    }
                })
            });
            let waker = wakers.recv().unwrap();
            thread::scope(|threads| {
                for _ in 0..4 {
                    threads.spawn(|| {
                        written.fetch_add(1, Ordering::Relaxed);
                        waker.wake_by_ref();
                    });
                }
            });
            executor.block_on(task);
        }
    });
}

/// The wakers of a task are equal, whichever worker polls it, and those of different
/// tasks are not.
#[test]
fn will_wake_is_true_across_workers() {
    /// Waits for the other worker to be blocked, so that it runs on a certain one.
    fn wakers_of_a_task(executor: &Executor) -> Vec<(thread::ThreadId, Waker)> {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (sender, polled) = mpsc::channel();
        let task = executor.spawn({
            let seen = Arc::clone(&seen);
            poll_fn(move |cx| {
                let mut seen = seen.lock().unwrap();
                seen.push((thread::current().id(), cx.waker().clone()));
                let _ = sender.send(());
                Poll::<()>::Pending
            })
        });
        polled.recv().unwrap();
        for worker in [0, 1, 0, 1] {
            // All but one worker are blocked.
            let (gate, inside) = (Gate::new(), Gate::new());
            let blocks = executor.handle().spawn_pinned(worker, {
                let (gate, inside) = (gate.clone(), inside.clone());
                move || async move {
                    inside.open();
                    gate.wait();
                }
            });
            inside.wait();
            let waker = seen.lock().unwrap()[0].1.clone();
            waker.wake();
            polled.recv().unwrap();
            gate.open();
            executor.block_on(blocks);
        }
        executor.block_on(task.cancel());
        std::mem::take(&mut *seen.lock().unwrap())
    }

    watchdog::guard("will_wake", || {
        let executor = executor(2);
        let first = wakers_of_a_task(&executor);
        let threads = first.iter().map(|(thread, _)| thread);
        assert_eq!(threads.collect::<std::collections::HashSet<_>>().len(), 2);
        let second = wakers_of_a_task(&executor);
        for (_, waker) in &first {
            assert!(waker.will_wake(&first[0].1) && waker.will_wake(&waker.clone()));
            assert!(!waker.will_wake(&second[0].1));
        }
    });
}

#[test]
fn will_wake_is_true_in_block_on() {
    let executor = executor(1);
    let mut seen: Vec<Waker> = Vec::new();
    executor.block_on(poll_fn(|cx| {
        seen.push(cx.waker().clone());
        if seen.len() == 3 {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }));
    assert!(seen.iter().all(|waker| waker.will_wake(&seen[0])));
}

/// Tasks inside of sets that poll them with wakers of their own.
#[test]
fn tasks_in_sub_executors() {
    watchdog::guard("sub-executors", || {
        let executor = executor(2);
        let tasks = |count: u32| {
            let task = |number| async move {
                for _ in 0..number % 4 {
                    yield_now().await;
                }
                number
            };
            executor.spawn_many((0..count).map(task))
        };
        // In a task and in `block_on`, where the trusted waker is another one.
        let unordered: FuturesUnordered<_> = tasks(500).into_iter().collect();
        let sum = unordered.fold(0, |sum, number| async move { sum + number });
        assert_eq!(executor.block_on(executor.spawn(sum)), 124_750);
        let unordered: FuturesUnordered<_> = tasks(500).into_iter().collect();
        let sum = unordered.fold(0, |sum, number| async move { sum + number });
        assert_eq!(executor.block_on(sum), 124_750);
        // Nested, and with others that come first.
        let nested = join_all([tasks(100), tasks(100)].map(join_all));
        let sum = executor.spawn(nested.map(|all| all.concat().into_iter().sum::<u32>()));
        assert_eq!(executor.block_on(sum), 9_900);
        let (_, _, rest) = executor.block_on(executor.spawn(select_all(tasks(10))));
        assert_eq!(executor.block_on(join_all(rest)).len(), 9);
        // On another executor, inside of a task of this one.
        let inner = tasks(50);
        let local = executor.spawn(async move {
            let local = LocalExecutor::new();
            let all: Vec<_> = inner.into_iter().map(|task| local.spawn(task)).collect();
            local.block_on(join_all(all)).into_iter().sum::<u32>()
        });
        assert_eq!(executor.block_on(local), 1_225);
    });
}

/// A waker of the test's own.
#[derive(Default)]
struct Flag(AtomicUsize);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// The handle is polled with one waker, then with another: only the last is woken.
#[test]
fn the_last_waker_of_the_awaiter_is_woken() {
    watchdog::guard("last waker", || {
        let executor = executor(1);
        let (sender, receiver) = oneshot::channel();
        let mut task = pin!(executor.spawn(receiver));
        let flags: Vec<Arc<Flag>> = (0..5).map(|_| Arc::default()).collect();
        for flag in &flags {
            let waker = Waker::from(Arc::clone(flag));
            let polled = task.as_mut().poll(&mut Context::from_waker(&waker));
            assert!(polled.is_pending());
        }
        sender.send(1).unwrap();
        until(|| flags[4].0.load(Ordering::SeqCst) > 0);
        let woken = flags.iter().map(|flag| flag.0.load(Ordering::SeqCst));
        assert!(woken.eq([0, 0, 0, 0, 1]));
        assert_eq!(executor.block_on(task), Ok(1));
    });
}

/// It moves from task to task, each of which polls it once.
#[test]
fn a_handle_moves_between_awaiters() {
    watchdog::guard("moving handle", || {
        for _ in 0..100 {
            let executor = executor(2);
            let (sender, receiver) = oneshot::channel();
            let mut task = Some(executor.spawn(receiver));
            for _ in 0..5 {
                let mut moved = task.take();
                let once = executor.spawn(poll_fn(move |cx| {
                    let _ = moved.as_mut().map(|task| Pin::new(task).poll(cx));
                    Poll::Ready(moved.take())
                }));
                task = executor.block_on(once);
            }
            let waking = thread::spawn(move || sender.send(5).unwrap());
            assert_eq!(executor.block_on(task.unwrap()), Ok(5));
            waking.join().unwrap();
        }
    });
}

/// A million wakers that are never dropped: the task lives on, and so do others.
#[test]
fn leaked_wakers() {
    let ending = child::run_leaking("leaked_wakers", || {
        let executor = executor(1);
        let counted = Counted::new(&executor);
        for _ in 0..1 << 20 {
            std::mem::forget(counted.waker.clone());
        }
        counted.end.store(true, Ordering::SeqCst);
        counted.waker.wake();
        executor.block_on(counted.task);
        assert_alive(&executor);
        // Its memory is kept, and no more than that.
        until(|| executor.metrics().live_tasks() == 1);
        executor.shutdown();
    });
    if let Some(ending) = ending {
        ending.assert_success();
    }
}
