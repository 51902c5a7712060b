//! An aborted task is not polled again; its future is dropped soon, where it would have been
//! polled, and never in `abort` itself.

use std::future::{Future, pending, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::task::{Context, Poll, Waker};
use std::thread::{self, ThreadId};

use futures::channel::oneshot;
use tests::census::stress_rounds;
use tests::drops::Drops;
use tests::exec::{Gate, assert_alive, executor, hold, payload_of, until};
use tests::watchdog::guard;
use ws_executor::{AbortHandle, Executor, LocalExecutor, Task, block_on, yield_now};

/// Notes the thread of its drop.
struct Witness(Arc<Mutex<Vec<ThreadId>>>);

impl Witness {
    fn new() -> (Self, impl Fn() -> Vec<ThreadId>) {
        let threads: Arc<Mutex<Vec<ThreadId>>> = Arc::default();
        let seen = Arc::clone(&threads);
        (Self(threads), move || seen.lock().unwrap().clone())
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        self.0.lock().unwrap().push(thread::current().id());
    }
}

/// The two ways to abort a task.
const WAYS: [fn(&Task<()>); 2] = [|task| task.abort(), |task| task.abort_handle().abort()];

#[test]
fn a_task_that_waits() {
    guard("waiting", || {
        let executor = executor(2);
        for way in WAYS {
            let (witness, dropped_on) = Witness::new();
            let polled = Gate::new();
            let (polls, opens) = (Arc::new(AtomicU64::new(0)), polled.clone());
            let counts = Arc::clone(&polls);
            let task = executor.spawn(async move {
                let _witness = witness;
                poll_fn(|_| {
                    counts.fetch_add(1, Ordering::Relaxed);
                    opens.open();
                    Poll::<()>::Pending
                })
                .await;
            });
            polled.wait();
            way(&task);
            assert_eq!(block_on(task.fallible()), None);
            assert_eq!(polls.load(Ordering::Relaxed), 1);
            let threads = dropped_on();
            assert_eq!(threads.len(), 1);
            assert_ne!(threads[0], thread::current().id());
        }
        assert_alive(&executor);
    });
}

/// Before its first poll, and in the queue of a worker that is blocked.
#[test]
fn a_task_that_is_queued() {
    guard("queued", || {
        let executor = executor(2);
        for way in WAYS {
            let held = hold(&executor);
            let (witness, dropped_on) = Witness::new();
            let task = executor.spawn(async move {
                let _witness = witness;
                unreachable!("it was aborted before");
            });
            way(&task);
            assert!(!task.is_finished());
            assert!(dropped_on().is_empty(), "dropped in the call");
            drop(held);
            assert_eq!(block_on(task.fallible()), None);
            assert_ne!(dropped_on()[0], thread::current().id());
        }
    });
}

/// The poll goes on; what follows from it does not.
#[test]
fn a_task_that_is_being_polled() {
    guard("polled", || {
        let executor = executor(1);
        for way in WAYS {
            let (begun, gate) = (Gate::new(), Gate::new());
            let (begins, opened) = (begun.clone(), gate.clone());
            let task = executor.spawn(async move {
                begins.open();
                opened.wait();
                yield_now().await;
                unreachable!("it was aborted before");
            });
            begun.wait();
            way(&task);
            gate.open();
            assert_eq!(block_on(task.fallible()), None);
            // The same, and it waits at the end of this first poll.
            let (begun, gate) = (Gate::new(), Gate::new());
            let (begins, opened) = (begun.clone(), gate.clone());
            let task = executor.spawn(async move {
                begins.open();
                opened.wait();
                pending::<()>().await;
            });
            begun.wait();
            way(&task);
            gate.open();
            assert_eq!(block_on(task.fallible()), None);
        }
    });
}

/// A task that ends in the poll in which it was aborted keeps its output, and so does one
/// that had ended before.
#[test]
fn a_task_that_ends_keeps_its_output() {
    guard("output", || {
        let executor = executor(1);
        let (begun, gate) = (Gate::new(), Gate::new());
        let (begins, opened) = (begun.clone(), gate.clone());
        let task = executor.spawn(async move {
            begins.open();
            opened.wait();
            7
        });
        begun.wait();
        let handle = task.abort_handle();
        task.abort();
        assert!(!handle.is_finished());
        gate.open();
        until(|| task.is_finished());
        assert!(handle.is_finished());
        handle.abort();
        task.abort();
        assert_eq!(block_on(task), 7);
        let panics = executor
            .spawn(async { panic!("as ever") })
            .into_join_handle();
        until(|| panics.is_finished());
        panics.abort();
        assert!(block_on(panics).unwrap_err().is_panic());
    });
}

#[test]
fn every_handle_says_so() {
    guard("handles", || {
        let executor = executor(2);
        let task = executor.spawn(pending::<()>());
        task.abort();
        let payload = payload_of(|| block_on(task));
        let text = payload.downcast_ref::<&str>().expect("a text");
        assert!(text.contains("the task was aborted"), "{text}");
        let task = executor.spawn(pending::<()>());
        task.abort();
        assert_eq!(block_on(task.cancel()), None);
        let task = executor.spawn(pending::<()>());
        let handle = task.abort_handle();
        let task = task.into_join_handle();
        assert!(!task.is_finished() && !handle.is_finished());
        task.abort();
        task.abort();
        assert!(block_on(task).unwrap_err().is_cancelled());
        assert!(handle.is_finished());
        let mut ended = executor.spawn(async {}).into_join_handle();
        block_on(&mut ended).unwrap();
        ended.abort();
        assert!(ended.abort_handle().is_finished());
    });
}

/// A handle works without the task's own, and as long as it likes.
#[test]
fn detached_tasks() {
    guard("detached", || {
        let executor = executor(2);
        for _ in 0..20 {
            let drops = Drops::of(2);
            let (first, second) = (drops.item(0), drops.item(1));
            let waits = |item| async move {
                let _item = item;
                pending::<()>().await;
            };
            let task = executor.spawn(waits(first));
            let handles = [task.abort_handle(), task.abort_handle()];
            task.detach();
            let joined = executor.spawn(waits(second)).into_join_handle();
            let other = joined.abort_handle();
            drop(joined);
            let clones: Vec<AbortHandle> = handles.iter().chain([&other]).cloned().collect();
            drop(handles);
            clones.iter().for_each(AbortHandle::abort);
            until(|| clones.iter().all(AbortHandle::is_finished));
            drops.assert_each_once();
            drop(executor.spawn(async {}));
            clones.iter().for_each(AbortHandle::abort);
        }
        executor.wait_idle();
    });
}

#[test]
fn tasks_of_every_kind() {
    guard("kinds", || {
        let executor = executor(2);
        let handle = executor.handle();
        // Many.
        let tasks = executor.spawn_many((0..10).map(|_| pending::<()>()));
        tasks.iter().for_each(Task::abort);
        for task in tasks {
            assert_eq!(block_on(task.fallible()), None);
        }
        // Large ones are boxed.
        let large = [1_u8; 10_000];
        let task = executor.spawn(async move {
            pending::<()>().await;
            large.len()
        });
        task.abort();
        assert_eq!(block_on(task.fallible()), None);
        // Pinned: what is not `Send` is dropped on its worker.
        let (made_on, witness) = (Arc::new(Mutex::new(None)), Witness::new());
        let (notes, begun) = (Arc::clone(&made_on), Gate::new());
        let begins = begun.clone();
        let (local, dropped_on) = witness;
        let task = handle.spawn_pinned(1, move || {
            *notes.lock().unwrap() = Some(thread::current().id());
            let local = Rc::new(local);
            begins.open();
            async move {
                pending::<()>().await;
                drop(local);
            }
        });
        begun.wait();
        task.abort();
        assert_eq!(block_on(task.fallible()), None);
        assert_eq!(dropped_on(), [made_on.lock().unwrap().unwrap()]);
        // Pinned, before it is made.
        let held = hold(&executor);
        let task = handle.spawn_pinned(0, || async { unreachable!("it was aborted before") });
        task.abort();
        drop(held);
        assert_eq!(block_on(task.fallible()), None::<()>);
        // A computation, before it begins, and after.
        let held = hold(&executor);
        let task = handle.compute(|| unreachable!("it was aborted before"));
        task.abort();
        drop(held);
        assert_eq!(block_on(task.fallible()), None::<()>);
        let (begun, gate) = (Gate::new(), Gate::new());
        let (begins, opened) = (begun.clone(), gate.clone());
        let task = handle.compute(move || {
            begins.open();
            opened.wait();
            1
        });
        begun.wait();
        task.abort();
        gate.open();
        assert_eq!(block_on(task), 1);
    });
}

/// Code that blocks is aborted if it has not begun.
#[test]
fn blocking_code() {
    guard("blocking", || {
        let executor = executor(1);
        let (begun, gate) = (Gate::new(), Gate::new());
        let (begins, opened) = (begun.clone(), gate.clone());
        let task = executor.handle().spawn_blocking(move || {
            begins.open();
            opened.wait();
            1
        });
        begun.wait();
        let handle = task.abort_handle();
        handle.abort();
        gate.open();
        assert_eq!(block_on(task), 1);
        assert!(handle.is_finished());
        // Whether it begins first is the system's business. If not, its closure is dropped.
        for _ in 0..stress_rounds(100) {
            let drops = Drops::of(1);
            let item = drops.item(0);
            let task = executor.handle().spawn_blocking(move || drop(item));
            task.abort();
            let _ = block_on(task.fallible());
            drops.assert_each_once();
        }
    });
}

#[test]
fn tasks_of_a_local_executor() {
    guard("local", || {
        let local = LocalExecutor::new();
        let drops = Drops::of(3);
        let waits = |item| async move {
            let local = Rc::new(item);
            pending::<()>().await;
            drop(local);
        };
        // It waits, and is aborted by another thread; the output is not `Send`.
        let task = local.spawn({
            let waits = waits(drops.item(0));
            async move {
                waits.await;
                Rc::new(1)
            }
        });
        assert!(local.try_tick());
        let handle = task.abort_handle();
        thread::spawn(move || handle.abort()).join().unwrap();
        assert_eq!(drops.count(0), 0, "dropped by another thread");
        assert!(
            local
                .block_on(task.into_join_handle())
                .unwrap_err()
                .is_cancelled()
        );
        // It waits, with an abort handle from before.
        let task = local.spawn(waits(drops.item(1)));
        let handle = task.abort_handle();
        assert!(local.try_tick());
        handle.abort();
        assert_eq!(local.block_on(task.fallible()), None);
        assert!(handle.is_finished());
        // It was not polled.
        let task = local.spawn(waits(drops.item(2)));
        task.abort();
        assert_eq!(local.block_on(task.fallible()), None);
        assert!(local.is_empty());
        drops.assert_each_once();
    });
}

/// A task aborts itself, and one of another executor.
#[test]
fn in_tasks() {
    guard("in tasks", || {
        let (executor, other) = (executor(1), executor(2));
        let (sender, receiver) = oneshot::channel::<AbortHandle>();
        let polls = Arc::new(AtomicU64::new(0));
        let counts = Arc::clone(&polls);
        let task = executor.spawn(async move {
            let me = receiver.await.unwrap();
            me.abort();
            counts.fetch_add(1, Ordering::Relaxed);
            yield_now().await;
            counts.fetch_add(1, Ordering::Relaxed);
        });
        assert!(sender.send(task.abort_handle()).is_ok());
        assert_eq!(block_on(task.fallible()), None);
        assert_eq!(polls.load(Ordering::Relaxed), 1);
        let victim = executor.spawn(pending::<()>());
        let handle = victim.abort_handle();
        other.block_on(other.spawn(async move { handle.abort() }));
        assert_eq!(block_on(victim.fallible()), None);
    });
}

/// Nothing is left to abort.
#[test]
fn after_the_shutdown() {
    guard("shut down", || {
        let executor = executor(2);
        let handle = executor.handle();
        let waits = executor.spawn(pending::<()>());
        let early = waits.abort_handle();
        executor.shutdown();
        let never = handle.spawn(async {});
        let pinned = handle.spawn_pinned(0, || async {});
        assert!(early.is_finished());
        for task in [waits, never, pinned] {
            let handle = task.abort_handle();
            assert!(handle.is_finished() && task.is_finished());
            handle.abort();
            task.abort();
            let error = block_on(task.into_join_handle()).unwrap_err();
            assert!(error.is_cancelled());
        }
        early.abort();
    });
}

/// A future whose drop takes a lock that the aborting thread holds.
struct Locked {
    lock: Arc<Mutex<u64>>,
    wakers: Arc<Mutex<Vec<Waker>>>,
}

impl Future for Locked {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.wakers.lock().unwrap().push(cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        *self.lock.lock().unwrap() += 1;
    }
}

/// Whatever the task does at that moment, `abort` neither waits nor drops.
#[test]
fn under_a_lock_that_the_future_takes() {
    guard("lock", || {
        let executor = executor(2);
        let local = LocalExecutor::new();
        for round in 0..stress_rounds(200) {
            let lock = Arc::new(Mutex::new(0));
            let wakers: Arc<Mutex<Vec<Waker>>> = Arc::default();
            let future = || Locked {
                lock: Arc::clone(&lock),
                wakers: Arc::clone(&wakers),
            };
            let tasks = [
                executor.spawn(future()),
                executor.handle().spawn_pinned(1, {
                    let future = future();
                    || future
                }),
                local.spawn(future()),
            ];
            if round % 2 == 0 {
                local.try_tick();
                until(|| wakers.lock().unwrap().len() == 3);
            }
            let held = lock.lock().unwrap();
            tasks.iter().for_each(Task::abort);
            wakers.lock().unwrap().drain(..).for_each(Waker::wake);
            assert_eq!(*held, 0);
            drop(held);
            for task in tasks {
                assert_eq!(local.block_on(task.fallible()), None);
            }
            assert_eq!(*lock.lock().unwrap(), 3);
        }
    });
}

/// What races with an abort.
#[derive(Clone, Copy, Debug)]
enum Rival {
    FirstPoll,
    Wake,
    Completion,
    Cancel,
    Abort,
    Shutdown,
}

/// Each future is dropped once, each task ends, whoever comes first.
#[test]
fn races() {
    use Rival::{Abort, Cancel, Completion, FirstPoll, Shutdown, Wake};
    guard("races", || {
        for rival in [FirstPoll, Wake, Completion, Cancel, Abort, Shutdown] {
            let mut running = executor(2);
            let (mut outputs, mut aborts) = (0, 0);
            for _ in 0..stress_rounds(300) {
                let drops = Drops::of(1);
                match race(&mut running, rival, &drops) {
                    Some(()) => outputs += 1,
                    None => aborts += 1,
                }
                drops.assert_each_once();
            }
            println!("{rival:?}: {outputs} outputs, {aborts} aborted");
            running.wait_idle();
            assert_alive(&running);
        }
    });
}

fn race(executor: &mut Executor, rival: Rival, drops: &Drops) -> Option<()> {
    let item = drops.item(0);
    let (sender, receiver) = oneshot::channel::<()>();
    let completes = matches!(rival, Rival::Completion);
    let polled = Arc::new(AtomicBool::new(false));
    let notes = Arc::clone(&polled);
    let mut receiver = Some(receiver);
    let waker = Arc::new(Mutex::new(None));
    let leaves = Arc::clone(&waker);
    let future = poll_fn(move |cx| {
        let _keep = &item;
        *leaves.lock().unwrap() = Some(cx.waker().clone());
        notes.store(true, Ordering::Relaxed);
        let receiver = receiver.as_mut().expect("polled until its end");
        if !completes {
            return Poll::Pending;
        }
        Pin::new(receiver).poll(cx).map(drop)
    });
    let start = Barrier::new(2);
    let mut task = Some(executor.spawn(future));
    let handle = task.as_ref().map(Task::abort_handle).expect("it is there");
    if !matches!(rival, Rival::FirstPoll) {
        until(|| polled.load(Ordering::Relaxed));
    }
    let rivals = executor.handle();
    thread::scope(|threads| {
        let aborts = handle.clone();
        let aborts = threads.spawn({
            let start = &start;
            move || {
                start.wait();
                aborts.abort();
            }
        });
        start.wait();
        match rival {
            Rival::FirstPoll => {}
            Rival::Wake => {
                let waker = waker.lock().unwrap().clone();
                waker.into_iter().for_each(Waker::wake);
            }
            Rival::Completion => drop(sender.send(())),
            Rival::Cancel => drop(task.take()),
            Rival::Abort => handle.abort(),
            Rival::Shutdown => {
                let ended = std::mem::replace(executor, tests::exec::executor(2));
                ended.shutdown();
                assert!(rivals.is_shut_down());
            }
        }
        aborts.join().unwrap();
    });
    until(|| handle.is_finished());
    task.and_then(|task| block_on(task.fallible()))
}
