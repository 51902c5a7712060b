//! The end of an executor: every future is dropped, once, before its drop returns.

mod common;

use std::cell::Cell;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::thread;

use async_executor::{Executor, LocalExecutor, Task};
use common::{Drops, WakerPlace, Watchdog, poll};
use futures_lite::future;

#[test]
fn dropping_the_executor_drops_waiting_and_queued_futures() {
    let (drops, place) = (Drops::default(), WakerPlace::default());
    let executor = Executor::new();
    let (guard, wait) = (drops.guard(), place.clone().wait());
    let waiting = executor.spawn(async move {
        let _guard = guard;
        wait.await;
    });
    future::block_on(executor.tick());
    let guard = drops.guard();
    let queued = executor.spawn(async move { drop(guard) });
    assert_eq!(drops.count(), 0);

    drop(executor);
    assert_eq!(drops.count(), 2);
    for task in [waiting, queued] {
        assert!(catch_unwind(AssertUnwindSafe(|| future::block_on(task))).is_err());
    }
    // The waker outlives the executor, and does nothing.
    place.get().expect("it was polled").wake();
    assert_eq!(drops.count(), 2);
}

#[test]
fn a_leaked_executor_leaks_its_tasks() {
    let (drops, place) = (Drops::default(), WakerPlace::default());
    let executor = Executor::new();
    let (guard, wait) = (drops.guard(), place.clone().wait());
    let task = executor.spawn(async move {
        let _guard = guard;
        wait.await;
    });
    future::block_on(executor.tick());
    mem::forget(executor);

    place.get().expect("it was polled").wake();
    assert!(future::block_on(future::poll_once(task)).is_none());
    assert_eq!(drops.count(), 0);
}

#[test]
fn an_output_outlives_the_executor() {
    let text = String::from("hello");
    let executor = Executor::new();
    let task: Task<&str> = executor.spawn(async { &*text });
    assert!(executor.try_tick());
    drop(executor);
    assert_eq!(future::block_on(task), "hello");
}

#[test]
fn an_output_is_dropped_with_its_handle() {
    for executor_first in [true, false] {
        let drops = Drops::default();
        let executor = Executor::new();
        let task = executor.spawn(future::ready(drops.guard()));
        assert!(executor.try_tick());
        let mut executor = Some(executor);
        if executor_first {
            executor.take();
        }
        assert_eq!(drops.count(), 0);
        drop(task);
        assert_eq!(drops.count(), 1);
        drop(executor);
        assert_eq!(drops.count(), 1);
    }
}

#[test]
fn a_leaked_run_keeps_nothing_from_being_run_or_dropped() {
    const TASKS: usize = 250;
    let drops = Drops::default();
    let executor = Executor::new();
    let mut run = Box::pin(executor.run(async {
        // Into the ring of this `run`.
        for _ in 0..TASKS {
            let guard = drops.guard();
            executor.spawn(async move { drop(guard) }).detach();
        }
        future::pending::<()>().await;
    }));
    // It gives its host a turn, with some of them in its ring.
    assert!(poll(run.as_mut(), Waker::noop()).is_pending());
    let run_by_it = drops.count();
    assert!((1..TASKS).contains(&run_by_it));
    mem::forget(run);

    // Other `run`s steal from that ring, and the end empties it.
    assert!(executor.try_tick());
    assert_eq!(drops.count(), run_by_it + 1);
    drop(executor);
    assert_eq!(drops.count(), TASKS);
}

#[test]
fn a_moved_executor_goes_on() {
    let executor = Executor::new();
    let place = WakerPlace::default();
    let wait = place.clone().wait();
    let task = executor.spawn(future::or(wait, async {
        future::yield_now().await;
    }));
    assert!(executor.try_tick());
    let moved = Box::new(executor);
    assert!(moved.try_tick());
    assert!(task.is_finished());
}

#[test]
fn dropping_a_future_may_wake_and_drop_others() {
    struct WakeOnDrop(WakerPlace);
    impl Drop for WakeOnDrop {
        fn drop(&mut self) {
            self.0.get().into_iter().for_each(Waker::wake);
        }
    }
    let (drops, place) = (Drops::default(), WakerPlace::default());
    let executor = Executor::new();
    let (guard, wait) = (drops.guard(), place.clone().wait());
    let inner = executor.spawn(async move {
        let _guard = guard;
        wait.await;
    });
    let waking = WakeOnDrop(place);
    let guard = drops.guard();
    let outer = executor.spawn(async move {
        let _all = (waking, guard);
        inner.await;
    });
    assert!(executor.try_tick());
    assert!(executor.try_tick());
    drop(executor);
    assert_eq!(drops.count(), 2);
    drop(outer);
}

/// The wakers of two futures.
type Wakers = Arc<Mutex<[Option<Waker>; 2]>>;

/// One of two futures that wait for ever. When it is dropped, it wakes the other one under
/// the lock that both of them take.
struct Partner {
    number: usize,
    wakers: Wakers,
    _guard: Box<dyn Send>,
}

impl Partner {
    fn pair(wakers: &Wakers, drops: &Drops) -> [Self; 2] {
        [0, 1].map(|number| Self {
            number,
            wakers: Arc::clone(wakers),
            _guard: Box::new(drops.guard()),
        })
    }
}

impl Future for Partner {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.wakers.lock().unwrap()[self.number] = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for Partner {
    fn drop(&mut self) {
        let mut wakers = self.wakers.lock().unwrap();
        wakers[1 - self.number]
            .take()
            .into_iter()
            .for_each(Waker::wake);
    }
}

/// A wake must not drop a future, because it may be called under the lock that the drop
/// takes.
#[test]
fn futures_that_wake_each_other_under_a_lock_are_dropped() {
    let _watchdog = Watchdog::new("futures_that_wake_each_other_under_a_lock_are_dropped");
    for polls in 0..=2 {
        let (wakers, drops) = (Wakers::default(), Drops::default());
        let executor = Executor::new();
        for partner in Partner::pair(&wakers, &drops) {
            executor.spawn(partner).detach();
        }
        (0..polls).for_each(|_| assert!(executor.try_tick()));
        drop(executor);
        assert_eq!(drops.count(), 2);

        let local = LocalExecutor::new();
        for partner in Partner::pair(&wakers, &drops) {
            local.spawn(partner).detach();
        }
        (0..polls).for_each(|_| assert!(local.try_tick()));
        drop(local);
        assert_eq!(drops.count(), 4);
    }
}

#[test]
fn futures_that_another_thread_wakes_under_their_lock_are_dropped() {
    let _watchdog = Watchdog::new("futures_that_another_thread_wakes_under_their_lock_are_dropped");
    for _ in 0..200 {
        let (wakers, drops) = (Wakers::default(), Drops::default());
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            let executor = Executor::new();
            let tasks = Partner::pair(&wakers, &drops).map(|partner| executor.spawn(partner));
            while executor.try_tick() {}
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let wakers = wakers.lock().unwrap();
                    wakers.iter().flatten().for_each(Waker::wake_by_ref);
                }
            });
            let [cancelled, detached] = tasks;
            detached.detach();
            scope.spawn(move || drop(cancelled));
            // Its ring has tasks that were woken, when it is dropped.
            let mut run = Box::pin(executor.run(future::pending::<()>()));
            assert!(poll(run.as_mut(), Waker::noop()).is_pending());
            drop(run);
            drop(executor);
            assert_eq!(drops.count(), 2);
            is_over.store(true, Ordering::Relaxed);
        });
    }
}

/// The futures might borrow what ends right after the executor. Instead of touching freed
/// memory they check that they are not dropped later.
#[test]
fn wakes_during_the_end_leave_no_future_behind() {
    for _ in 0..if cfg!(debug_assertions) { 500 } else { 5_000 } {
        let alive = Arc::new(AtomicBool::new(true));
        let drops = Drops::default();
        let places: Vec<WakerPlace> = (0..4).map(|_| WakerPlace::default()).collect();
        let wakers: Vec<Waker> = {
            let executor = Executor::new();
            for place in &places {
                let check = CheckOnDrop(Arc::clone(&alive), drops.guard());
                let wait = place.clone().wait();
                let task = executor.spawn(async move {
                    let _check = check;
                    wait.await;
                });
                task.detach();
            }
            while executor.try_tick() {}
            let wakers: Vec<_> = places.iter().filter_map(WakerPlace::get).collect();
            let threads: Vec<_> = wakers
                .iter()
                .map(|waker| {
                    let waker = waker.clone();
                    thread::spawn(move || waker.wake())
                })
                .collect();
            drop(executor);
            assert_eq!(drops.count(), 4);
            alive.store(false, Ordering::SeqCst);
            for thread in threads {
                thread.join().unwrap();
            }
            wakers
        };
        wakers.into_iter().for_each(Waker::wake);
        assert_eq!(drops.count(), 4);
    }
}

struct CheckOnDrop<T>(Arc<AtomicBool>, T);

impl<T> Drop for CheckOnDrop<T> {
    fn drop(&mut self) {
        assert!(self.0.load(Ordering::SeqCst), "dropped after the end");
    }
}

#[test]
fn a_handle_may_be_dropped_on_another_thread_during_the_end() {
    for _ in 0..500 {
        let drops = Drops::default();
        let executor = Executor::new();
        let guard = drops.guard();
        let task = executor.spawn(async move {
            let _guard = guard;
            future::pending::<()>().await;
        });
        assert!(executor.try_tick());
        let cancelling = thread::spawn(move || drop(task));
        drop(executor);
        assert_eq!(drops.count(), 1);
        cancelling.join().unwrap();
    }
}

#[test]
fn local_futures_are_dropped_on_their_thread_though_others_wake_them() {
    for _ in 0..200 {
        let place = WakerPlace::default();
        let dropped_on = Rc::new(Cell::new(None));
        struct Note(Rc<Cell<Option<thread::ThreadId>>>);
        impl Drop for Note {
            fn drop(&mut self) {
                self.0.set(Some(thread::current().id()));
            }
        }
        let executor = LocalExecutor::new();
        let (note, wait) = (Note(Rc::clone(&dropped_on)), place.clone().wait());
        let task = executor.spawn(async move {
            let _note = note;
            wait.await;
        });
        task.detach();
        assert!(executor.try_tick());
        let waker = place.get().expect("it was polled");
        let waking = thread::spawn(move || waker.wake());
        drop(executor);
        assert_eq!(dropped_on.get(), Some(thread::current().id()));
        waking.join().unwrap();
    }
}
