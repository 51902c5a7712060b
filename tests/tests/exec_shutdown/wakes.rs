//! A wake never drops a future: not on a worker, not on a foreign thread, not while the
//! executor is being shut down. Whoever wakes may hold the lock that the future's drop takes.

use std::cell::Cell;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use tests::exec::{executor, until};
use tests::watchdog::guard;
use ws_executor::{AbortHandle, Executor, Handle, LocalExecutor, Task};

/// How often each pair is shut down.
const ROUNDS: usize = 200;

/// Two tasks, and their wakers under one lock.
type Pair = Arc<Mutex<[Option<Waker>; 2]>>;

/// Waits for ever; its drop locks the pair and wakes the other one, as HTTP/2's streams do.
struct Partner {
    pair: Pair,
    number: usize,
    polled: mpsc::Sender<()>,
}

impl Partner {
    fn pair() -> ([Self; 2], Pair, mpsc::Receiver<()>) {
        let (polled, polls) = mpsc::channel();
        let pair = Pair::default();
        let partner = |number| Self {
            pair: Arc::clone(&pair),
            number,
            polled: polled.clone(),
        };
        ([partner(0), partner(1)], pair, polls)
    }
}

impl Future for Partner {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.pair.lock().unwrap()[self.number] = Some(cx.waker().clone());
        let _ = self.polled.send(());
        Poll::Pending
    }
}

impl Drop for Partner {
    fn drop(&mut self) {
        let wakers = self.pair.lock().unwrap();
        if let Some(other) = &wakers[1 - self.number] {
            other.wake_by_ref();
        }
    }
}

type Start = fn(&Handle, Partner) -> Task<()>;
type End = fn(Executor);

const STARTS: [Start; 3] = [
    |handle, partner| handle.spawn(partner),
    |handle, partner| handle.spawn_pinned(0, || partner),
    |handle, partner| {
        let last = handle.workers() - 1;
        handle.spawn_pinned(last, || partner)
    },
];

const ENDS: [End; 4] = [
    Executor::shutdown,
    drop,
    |executor| assert!(executor.shutdown_timeout(Duration::MAX)),
    Executor::drain,
];

fn hosted(workers: usize) -> Executor {
    let builder = Executor::builder().spares(0).workers(workers);
    let host = |worker| futures::executor::block_on(worker);
    builder.host(host).build().unwrap()
}

/// Waits until both have left their wakers.
fn await_polls(polls: &mpsc::Receiver<()>) {
    polls.recv().unwrap();
    polls.recv().unwrap();
}

#[test]
fn two_tasks_that_wake_each_other_in_their_drops() {
    guard("partners", || {
        for build in [executor, hosted] {
            for workers in [1, 2] {
                for (start, end) in STARTS.iter().flat_map(|start| ENDS.map(|end| (start, end))) {
                    for _ in 0..ROUNDS / 20 {
                        let executor = build(workers);
                        let ([first, second], pair, polls) = Partner::pair();
                        start(&executor.handle(), first).detach();
                        executor.spawn(second).detach();
                        await_polls(&polls);
                        end(executor);
                        // The wakers are in the pair; nobody else has it.
                        assert_eq!(Arc::strong_count(&pair), 1);
                    }
                }
            }
        }
    });
}

/// The executor ends inside one of its own tasks, where nobody waits for its threads.
#[test]
fn two_tasks_that_wake_each_other_and_a_shutdown_inside() {
    guard("partners inside", || {
        for workers in [1, 2] {
            for _ in 0..ROUNDS {
                let executor = executor(workers);
                let (partners, pair, polls) = Partner::pair();
                for partner in partners {
                    executor.spawn(partner).detach();
                }
                await_polls(&polls);
                let handle = executor.handle();
                handle.spawn(async move { executor.shutdown() }).detach();
                until(|| Arc::strong_count(&pair) == 1);
            }
        }
    });
}

#[test]
fn two_tasks_of_a_local_executor() {
    guard("local partners", || {
        let executor = LocalExecutor::new();
        let (partners, pair, polls) = Partner::pair();
        for partner in partners {
            executor.spawn(partner).detach();
        }
        while executor.try_tick() {}
        await_polls(&polls);
        drop(executor);
        assert_eq!(Arc::strong_count(&pair), 1);
    });
}

/// A foreign thread that wakes both under the lock, all the time.
struct Foreign {
    over: Arc<AtomicBool>,
    thread: thread::JoinHandle<()>,
}

impl Foreign {
    fn start(pair: &Pair) -> Self {
        let (pair, over) = (Arc::clone(pair), Arc::new(AtomicBool::new(false)));
        let is_over = Arc::clone(&over);
        let thread = thread::spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                let wakers = pair.lock().unwrap();
                wakers.iter().flatten().for_each(Waker::wake_by_ref);
            }
        });
        Self { over, thread }
    }

    fn stop(self) {
        self.over.store(true, Ordering::Relaxed);
        self.thread.join().unwrap();
    }
}

#[test]
fn two_tasks_of_a_local_executor_that_are_woken_under_their_lock() {
    guard("local, woken under the lock", || {
        for _ in 0..ROUNDS {
            let executor = LocalExecutor::new();
            let (partners, pair, polls) = Partner::pair();
            for partner in partners {
                executor.spawn(partner).detach();
            }
            while executor.try_tick() {}
            await_polls(&polls);
            let foreign = Foreign::start(&pair);
            drop(executor);
            foreign.stop();
            assert_eq!(Arc::strong_count(&pair), 1);
        }
    });
}

#[test]
fn two_tasks_that_are_woken_under_their_lock() {
    guard("woken under the lock", || {
        for round in 0..ROUNDS {
            let executor = if round % 4 == 3 {
                hosted(2)
            } else {
                executor(1 + round % 2)
            };
            let ([first, second], pair, polls) = Partner::pair();
            STARTS[round % STARTS.len()](&executor.handle(), first).detach();
            executor.spawn(second).detach();
            await_polls(&polls);
            let foreign = Foreign::start(&pair);
            ENDS[round % 3](executor);
            foreign.stop();
            assert_eq!(Arc::strong_count(&pair), 1);
        }
    });
}

/// A foreign thread aborts them under the lock: an abort is a wake, too.
#[test]
fn two_tasks_that_are_aborted_under_their_lock() {
    guard("aborted under the lock", || {
        for round in 0..ROUNDS {
            let executor = executor(1 + round % 2);
            let (partners, pair, polls) = Partner::pair();
            let aborts = partners.map(|partner| {
                let task = executor.spawn(partner);
                let abort = task.abort_handle();
                task.detach();
                abort
            });
            await_polls(&polls);
            let foreign = {
                let pair = Arc::clone(&pair);
                thread::spawn(move || {
                    let _wakers = pair.lock().unwrap();
                    aborts.iter().for_each(AbortHandle::abort);
                })
            };
            ENDS[round % ENDS.len()](executor);
            foreign.join().unwrap();
            assert_eq!(Arc::strong_count(&pair), 1);
        }
    });
}

/// A scope on a worker waits for its tasks while the executor is shut down, and a foreign
/// thread wakes them under the lock that their drops take.
#[test]
fn two_tasks_of_a_scope_that_are_woken_under_their_lock() {
    guard("scope", || {
        for round in 0..ROUNDS {
            let executor = executor(1 + round % 2);
            let handle = executor.handle();
            let (partners, pair, polls) = Partner::pair();
            let scoped = executor.spawn(async move {
                handle.scope(|s| {
                    for partner in partners {
                        drop(s.spawn(partner));
                    }
                    s.run(|_| ());
                });
            });
            await_polls(&polls);
            let foreign = Foreign::start(&pair);
            ENDS[round % 3](executor);
            foreign.stop();
            assert!(scoped.is_finished());
            assert_eq!(Arc::strong_count(&pair), 1);
        }
    });
}

thread_local! {
    static WAKING: Cell<bool> = const { Cell::new(false) };
}

/// Calls `wake`, and notes that this thread does.
fn waking(wake: impl FnOnce()) {
    WAKING.set(true);
    wake();
    WAKING.set(false);
}

/// Counts the drops that happen inside of a wake.
struct Witness(Arc<AtomicUsize>);

impl Drop for Witness {
    fn drop(&mut self) {
        self.0
            .fetch_add(usize::from(WAKING.get()), Ordering::Relaxed);
    }
}

/// Waits, leaves its waker, and now and then yields.
fn witnessed(
    wakers: &Arc<Mutex<Vec<Waker>>>,
    dropped: &Arc<AtomicUsize>,
) -> impl Future<Output = ()> + Send + 'static {
    let (wakers, witness) = (Arc::clone(wakers), Witness(Arc::clone(dropped)));
    let mut polls = 0;
    poll_fn(move |cx| {
        let _witness = &witness;
        wakers.lock().unwrap().push(cx.waker().clone());
        polls += 1;
        if polls % 3 == 0 {
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    })
}

/// Tasks in all places, woken by foreign threads and by tasks, while the executor ends.
#[test]
fn no_future_is_dropped_inside_of_a_wake() {
    guard("witnesses", || {
        let dropped = Arc::new(AtomicUsize::new(0));
        for round in 0..ROUNDS {
            let workers = 1 + round % 3;
            let executor = if round % 5 == 4 {
                hosted(workers)
            } else {
                executor(workers)
            };
            let wakers: Arc<Mutex<Vec<Waker>>> = Arc::default();
            let handle = executor.handle();
            for number in 0..8 {
                let task = witnessed(&wakers, &dropped);
                match number % 4 {
                    0 => handle.spawn_pinned(number % workers, || task).detach(),
                    1 => handle.spawn_many([task]).into_iter().for_each(Task::detach),
                    _ => handle.spawn(task).detach(),
                }
            }
            let take = |wakers: &Mutex<Vec<Waker>>| std::mem::take(&mut *wakers.lock().unwrap());
            until(|| wakers.lock().unwrap().len() >= 8);
            let over = Arc::new(AtomicBool::new(false));
            let foreign: Vec<_> = (0..2)
                .map(|_| {
                    let (wakers, over) = (Arc::clone(&wakers), Arc::clone(&over));
                    thread::spawn(move || {
                        while !over.load(Ordering::Relaxed) {
                            for waker in take(&wakers) {
                                waking(|| waker.wake());
                            }
                            thread::yield_now();
                        }
                    })
                })
                .collect();
            // A task that wakes on a worker.
            let by_task = Arc::clone(&wakers);
            handle
                .spawn(poll_fn(move |cx| {
                    for waker in take(&by_task) {
                        waking(|| waker.wake());
                    }
                    cx.waker().wake_by_ref();
                    Poll::<()>::Pending
                }))
                .detach();
            ENDS[round % 3](executor);
            over.store(true, Ordering::Relaxed);
            foreign
                .into_iter()
                .for_each(|thread| thread.join().unwrap());
        }
        assert_eq!(dropped.load(Ordering::Relaxed), 0, "drops inside of a wake");
    });
}
