//! `spawn_pinned`: futures that are made, polled and dropped on one worker.

use std::cell::Cell;
use std::future::{pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Poll, Waker};
use std::thread::{self, ThreadId};

use futures::FutureExt;
use futures::channel::oneshot;
use tests::exec::{assert_alive, executor, hold, until};
use tests::watchdog;
use ws_executor::{Executor, Handle, yield_now};

/// Not `Send`, and made, used and dropped on one thread.
struct Homebody {
    thread: ThreadId,
    moves: Rc<Cell<u32>>,
    drops: Arc<AtomicUsize>,
}

impl Homebody {
    fn new(drops: &Arc<AtomicUsize>) -> Self {
        Self {
            thread: thread::current().id(),
            moves: Rc::default(),
            drops: Arc::clone(drops),
        }
    }

    fn use_it(&self) -> u32 {
        assert_eq!(thread::current().id(), self.thread, "used on its thread");
        self.moves.set(self.moves.get() + 1);
        self.moves.get()
    }
}

impl Drop for Homebody {
    fn drop(&mut self) {
        // Not an assertion: a panic in a drop is contained.
        if thread::current().id() == self.thread {
            self.drops.fetch_add(1, Ordering::SeqCst);
        }
    }
}

fn named(workers: usize) -> Executor {
    Executor::builder()
        .spares(0)
        .workers(workers)
        .thread_name(|worker| format!("pinned-{worker}"))
        .build()
        .unwrap()
}

#[test]
fn it_runs_on_the_worker_that_was_asked_for() {
    watchdog::guard("pinned worker", || {
        let executor = named(4);
        for worker in [2, 0, 3, 1, 1] {
            let name = executor.handle().spawn_pinned(worker, || async {
                let local = Rc::new(thread::current().name().map(str::to_owned));
                yield_now().await;
                assert_eq!(thread::current().name(), local.as_deref());
                (*local).clone()
            });
            assert_eq!(executor.block_on(name), Some(format!("pinned-{worker}")));
        }
    });
}

/// All workers are idle, and it is woken by foreign threads again and again.
#[test]
fn it_stays_there_however_it_is_woken() {
    watchdog::guard("pinned and woken", || {
        let executor = executor(4);
        let drops = Arc::new(AtomicUsize::new(0));
        let (task, wakers) = {
            let (sender, wakers) = mpsc::channel::<Waker>();
            let drops = Arc::clone(&drops);
            let task = executor.handle().spawn_pinned(3, move || {
                let body = Homebody::new(&drops);
                poll_fn(move |cx| {
                    if body.use_it() == 1_000 {
                        return Poll::Ready(body.moves.get());
                    }
                    sender.send(cx.waker().clone()).unwrap();
                    Poll::Pending
                })
            });
            (task, wakers)
        };
        let waking = thread::spawn(move || wakers.iter().for_each(Waker::wake));
        assert_eq!(executor.block_on(task), 1_000);
        waking.join().unwrap();
        until(|| drops.load(Ordering::SeqCst) == 1);
    });
}

#[test]
fn every_worker_pins_tasks_to_every_other() {
    watchdog::guard("pinned crosswise", || {
        const WORKERS: usize = 3;
        let executor = named(WORKERS);
        let handle = executor.handle();
        let all = (0..WORKERS).flat_map(|from| (0..WORKERS).map(move |to| (from, to)));
        let tasks: Vec<_> = all
            .map(|(from, to)| {
                let inner = handle.clone();
                let task = handle.spawn_pinned(from, move || async move {
                    let name = || async { thread::current().name().map(str::to_owned) };
                    inner.spawn_pinned(to, name).await
                });
                (to, task)
            })
            .collect();
        for (to, task) in tasks {
            assert_eq!(executor.block_on(task), Some(format!("pinned-{to}")));
        }
    });
}

#[test]
#[should_panic(expected = "worker 2 does not exist: this executor has workers 0 to 1")]
fn there_must_be_such_a_worker() {
    let executor = executor(2);
    executor.handle().spawn_pinned(2, || async {}).detach();
}

#[test]
fn panics_reach_the_awaiter() {
    watchdog::guard("pinned panics", || {
        let executor = executor(2);
        let handle = executor.handle();
        let in_build = handle.spawn_pinned(1, || -> std::future::Ready<()> { panic!("build") });
        let in_poll = handle.spawn_pinned(1, || async { panic!("poll") });
        for (task, text) in [(in_build, "build"), (in_poll, "poll")] {
            let payload = catch_unwind(AssertUnwindSafe(|| executor.block_on(task))).unwrap_err();
            assert_eq!(payload.downcast_ref::<&str>(), Some(&text));
        }
        assert_alive(&executor);
    });
}

/// Where a pinned future is when its end comes.
#[derive(Clone, Copy, Debug)]
enum Place {
    Waiting,
    Running,
}

/// How its end comes.
#[derive(Clone, Copy, Debug)]
enum End {
    Drop,
    Cancel,
    Shutdown,
}

#[test]
fn it_is_dropped_on_its_worker() {
    watchdog::guard("pinned drops", || {
        for place in [Place::Waiting, Place::Running] {
            for end in [End::Drop, End::Cancel, End::Shutdown] {
                check_drop(place, end);
            }
        }
    });
}

fn check_drop(place: Place, end: End) {
    let executor = executor(2);
    let handle = executor.handle();
    let drops = Arc::new(AtomicUsize::new(0));
    let ending = Arc::new(AtomicBool::new(false));
    let (polled, polls) = mpsc::channel();
    let task = {
        let (drops, ending) = (Arc::clone(&drops), Arc::clone(&ending));
        handle.spawn_pinned(1, move || {
            let body = Homebody::new(&drops);
            poll_fn(move |_| {
                body.use_it();
                polled.send(()).unwrap();
                if let Place::Running = place {
                    // The end comes from another thread, during this poll.
                    until(|| ending.load(Ordering::SeqCst));
                }
                Poll::<()>::Pending
            })
        })
    };
    polls.recv().unwrap();
    if let Place::Waiting = place {
        // Behind that poll, as a task of the same worker.
        executor.block_on(handle.spawn_pinned(1, || async {}));
    }
    match end {
        End::Drop => {
            drop(task);
            ending.store(true, Ordering::SeqCst);
        }
        End::Cancel => {
            let mut cancel = Box::pin(task.cancel());
            let first = (&mut cancel).now_or_never();
            ending.store(true, Ordering::SeqCst);
            let output = first.unwrap_or_else(|| executor.block_on(cancel));
            assert_eq!(output, None);
            assert_eq!(drops.load(Ordering::SeqCst), 1, "{place:?}, {end:?}");
        }
        End::Shutdown => {
            let closed = handle.clone();
            let release = thread::spawn(move || {
                until(|| closed.is_shut_down());
                ending.store(true, Ordering::SeqCst);
            });
            executor.shutdown();
            assert_eq!(drops.load(Ordering::SeqCst), 1, "{place:?}, {end:?}");
            assert_eq!(handle.block_on(task.fallible()), None);
            release.join().unwrap();
        }
    }
    until(|| drops.load(Ordering::SeqCst) == 1);
}

/// The closure, which is `Send`, may be dropped anywhere, but is not called.
#[test]
fn what_was_not_built_is_not_built_any_more() {
    watchdog::guard("pinned, not built", || {
        let called = Arc::new(AtomicBool::new(false));
        let build = |called: &Arc<AtomicBool>| {
            let called = Arc::clone(called);
            move || {
                called.store(true, Ordering::SeqCst);
                pending::<()>()
            }
        };
        let executor = executor(1);
        let handle = executor.handle();
        let held = hold(&executor);
        let queued = handle.spawn_pinned(0, build(&called)).fallible();
        drop(handle.spawn_pinned(0, build(&called)));
        held.until_closed(handle.clone());
        executor.shutdown();
        let late = handle.spawn_pinned(0, build(&called)).fallible();
        assert_eq!(handle.block_on(queued), None);
        assert_eq!(handle.block_on(late), None);
        assert_eq!(Arc::strong_count(&called), 1);
        assert!(!called.load(Ordering::SeqCst));
    });
}

/// Wakes of a foreign thread race with the shutdown; the futures must not be dropped by
/// that thread.
#[test]
fn it_is_dropped_on_its_worker_in_a_race_with_wakes() {
    const ROUNDS: usize = 6_000;
    const TASKS: usize = 4;

    watchdog::guard("pinned race", || {
        let drops = Arc::new(AtomicUsize::new(0));
        let (parcels, parcel) = mpsc::channel::<(Handle, Vec<Waker>)>();
        let foreign = thread::spawn(move || {
            for (handle, wakers) in parcel {
                // At any moment until the end, and a bit longer.
                while !handle.is_shut_down() {
                    wakers.iter().for_each(Waker::wake_by_ref);
                }
                wakers.into_iter().for_each(Waker::wake);
            }
        });
        for round in 1..=ROUNDS {
            let executor = executor(1);
            let (started, wakers) = mpsc::channel();
            for _ in 0..TASKS {
                let (drops, started) = (Arc::clone(&drops), started.clone());
                let task = executor.handle().spawn_pinned(0, move || {
                    let body = Homebody::new(&drops);
                    let mut started = Some(started);
                    poll_fn(move |cx| {
                        body.use_it();
                        if let Some(started) = started.take() {
                            started.send(cx.waker().clone()).unwrap();
                        }
                        Poll::<()>::Pending
                    })
                });
                task.detach();
            }
            drop(started);
            let wakers = wakers.iter().collect();
            parcels.send((executor.handle(), wakers)).unwrap();
            executor.shutdown();
            assert_eq!(drops.load(Ordering::SeqCst), round * TASKS);
        }
        drop(parcels);
        foreign.join().unwrap();
    });
}

/// A pinned task is at home in its executor like any other.
#[test]
fn it_knows_its_executor_and_waits_for_others() {
    watchdog::guard("pinned and others", || {
        let executor = executor(2);
        let (sender, receiver) = oneshot::channel();
        let task = executor.handle().spawn_pinned(0, move || async move {
            let local = Rc::new(1);
            let two = Handle::current().spawn(async { 2 });
            *local + two.await + receiver.await.unwrap()
        });
        executor
            .spawn(async move { sender.send(4).unwrap() })
            .detach();
        assert_eq!(executor.block_on(task), 7);
    });
}
