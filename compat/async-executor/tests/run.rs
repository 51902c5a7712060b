//! Running: any number of `run`s and `tick`s, on any threads, dropped at any time.

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Poll, Wake, Waker};
use std::thread;

use async_executor::{Executor, LocalExecutor};
use common::{CountWakes, WakerPlace, poll};
use futures_lite::FutureExt;
use futures_lite::future::{self, block_on, pending, yield_now};

/// An executor that its own tasks can use.
fn shared() -> &'static Executor<'static> {
    Box::leak(Box::default())
}

#[test]
fn a_panic_ends_in_its_task() {
    let executor = Executor::new();
    let task = executor.spawn(async { panic!("in the task") });
    assert!(executor.try_tick());
    assert!(block_on(task.catch_unwind()).is_err());
    assert!(executor.is_empty());
}

#[test]
fn a_panic_in_the_iterator_of_spawn_many_leaves_the_executor_usable() {
    let executor = Executor::new();
    let spawned = catch_unwind(|| {
        let mut handles = Vec::new();
        let futures = (0..100).map(|n| {
            if n == 70 {
                panic!("70")
            } else {
                future::ready(n)
            }
        });
        executor.spawn_many(futures, &mut handles);
    });
    assert!(spawned.is_err());
    let task = executor.spawn(future::ready(7));
    assert_eq!(block_on(executor.run(task)), 7);
    // The panic dropped handles. The tasks of these handles are cancelled and dropped.
    while executor.try_tick() {}
    assert!(executor.is_empty());
}

#[test]
fn many_tasks_overflow_the_rings_and_all_run() {
    const TASKS: usize = 10_000;
    let executor = Executor::new();
    let mut tasks = Vec::new();
    executor.spawn_many((0..TASKS).map(future::ready), &mut tasks);
    let sum = executor.run(async {
        let mut sum = 0;
        for task in tasks {
            sum += task.await;
        }
        // These go into the ring, from inside.
        let inside: Vec<_> = (0..TASKS)
            .map(|n| executor.spawn(async move { n }))
            .collect();
        for task in inside {
            sum += task.await;
        }
        sum
    });
    assert_eq!(block_on(sum), TASKS * (TASKS - 1));
    assert!(executor.is_empty());
}

#[test]
fn spawn_many_is_for_local_executors_too() {
    let executor = LocalExecutor::new();
    let mut tasks = Vec::new();
    executor.spawn_many(
        (0..1_000).map(|n| async move { std::rc::Rc::new(n) }),
        &mut tasks,
    );
    let sum = executor.run(async {
        let mut sum = 0;
        for task in tasks {
            sum += *task.await;
        }
        sum
    });
    assert_eq!(block_on(sum), 499_500);
}

#[test]
fn a_tick_polls_exactly_one_task_once() {
    let polls = AtomicUsize::new(0);
    let executor = Executor::new();
    for _ in 0..3 {
        let task = executor.spawn(async {
            polls.fetch_add(1, Ordering::Relaxed);
            yield_now().await;
            polls.fetch_add(1, Ordering::Relaxed);
        });
        task.detach();
    }
    for expected in 1..=6 {
        assert!(executor.try_tick());
        assert_eq!(polls.load(Ordering::Relaxed), expected);
    }
    assert!(!executor.try_tick());
}

#[test]
fn two_executors_on_one_thread_keep_their_tasks_apart() {
    let (first, second) = (LocalExecutor::new(), LocalExecutor::new());
    let mut run_first = Box::pin(first.run(pending::<()>()));
    let mut run_second = Box::pin(second.run(pending::<()>()));
    let waker = Waker::noop();
    assert!(poll(run_first.as_mut(), waker).is_pending());
    assert!(poll(run_second.as_mut(), waker).is_pending());

    let task = first.spawn(async {});
    assert!(poll(run_second.as_mut(), waker).is_pending());
    assert!(!task.is_finished());
    assert!(poll(run_first.as_mut(), waker).is_pending());
    assert!(task.is_finished());

    // Also from inside a `run` of the other one.
    let mut spawned = None;
    block_on(second.run(async { spawned = Some(first.spawn(async {})) }));
    let task = spawned.expect("it was spawned");
    assert!(!task.is_finished());
    assert!(first.try_tick());
    assert!(task.is_finished());
}

#[test]
fn executors_may_be_nested_in_themselves_and_in_others() {
    let (outer, inner) = (shared(), shared());
    let task = outer.spawn(async move {
        let first = inner.spawn(async move {
            // Back on the outer one, from inside the inner one.
            block_on(outer.run(outer.spawn(async { 1 })))
        });
        let second = outer.spawn(async { 2 });
        block_on(inner.run(first)) + block_on(outer.run(second))
    });
    assert_eq!(block_on(outer.run(task)), 3);
    assert!(outer.is_empty() && inner.is_empty());
}

#[test]
fn a_tick_inside_a_task_does_not_strand_what_it_wakes() {
    let executor = shared();
    let outer = executor.spawn(async move {
        let inner = executor.spawn(async {
            yield_now().await;
        });
        // The first tick polls the inner task, which yields; the second finishes it.
        assert!(executor.try_tick());
        assert!(executor.try_tick());
        inner.is_finished()
    });
    assert!(block_on(executor.run(outer)));
}

#[test]
fn what_a_dropped_run_had_is_run_by_another() {
    const TASKS: usize = 300;
    let executor = shared();
    let done = Arc::new(AtomicUsize::new(0));
    let mut first = Box::pin(executor.run(async {
        for _ in 0..TASKS {
            let done = Arc::clone(&done);
            let task = executor.spawn(async move {
                done.fetch_add(1, Ordering::Relaxed);
            });
            task.detach();
        }
        pending::<()>().await;
    }));
    // It polls some, and the host has its turn.
    assert!(poll(first.as_mut(), Waker::noop()).is_pending());
    assert!((1..TASKS).contains(&done.load(Ordering::Relaxed)));
    drop(first);
    let mut second = Box::pin(executor.run(pending::<()>()));
    while !executor.is_empty() {
        assert!(poll(second.as_mut(), Waker::noop()).is_pending());
    }
    assert_eq!(done.load(Ordering::Relaxed), TASKS);
}

#[test]
fn a_notification_is_handed_on_when_its_run_is_dropped() {
    let executor = Executor::new();
    let (first_wakes, second_wakes) = (
        Arc::new(CountWakes::default()),
        Arc::new(CountWakes::default()),
    );
    let (first_waker, second_waker) = (
        Arc::clone(&first_wakes).into(),
        Arc::clone(&second_wakes).into(),
    );
    let mut first = Box::pin(executor.run(pending::<()>()));
    let mut second = Box::pin(executor.tick());
    assert!(poll(second.as_mut(), &second_waker).is_pending());
    assert!(poll(first.as_mut(), &first_waker).is_pending());

    // Only the sleeper that came last is notified.
    let task = executor.spawn(async {});
    assert_eq!((first_wakes.count(), second_wakes.count()), (1, 0));
    drop(first);
    assert_eq!(second_wakes.count(), 1);
    assert!(poll(second.as_mut(), &second_waker).is_ready());
    assert!(task.is_finished());
}

#[test]
fn a_run_that_slept_and_leaves_is_notified_no_more() {
    let executor = Executor::new();
    let wakes = Arc::new(CountWakes::default());
    let waker = Arc::clone(&wakes).into();
    let place = WakerPlace::default();
    let mut ready = false;
    let mut run = Box::pin(executor.run(future::poll_fn(|_| {
        if std::mem::replace(&mut ready, true) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })));
    assert!(poll(run.as_mut(), &waker).is_pending());
    assert!(poll(run.as_mut(), &waker).is_ready());
    executor.spawn(place.wait()).detach();
    assert_eq!(wakes.count(), 0);
    drop(run);
    assert_eq!(wakes.count(), 0);
}

#[test]
fn the_waker_of_the_last_poll_is_the_one_that_is_woken() {
    let executor = Executor::new();
    let (old, new) = (
        Arc::new(CountWakes::default()),
        Arc::new(CountWakes::default()),
    );
    let mut run = Box::pin(executor.run(pending::<()>()));
    assert!(poll(run.as_mut(), &Arc::clone(&old).into()).is_pending());
    assert!(poll(run.as_mut(), &Arc::clone(&new).into()).is_pending());
    executor.spawn(async {}).detach();
    assert_eq!((old.count(), new.count()), (0, 1));
}

#[test]
fn a_run_may_be_polled_on_one_thread_after_the_other() {
    let executor = Executor::new();
    let mut run = Box::pin(executor.run(pending::<()>()));
    for round in 0..4 {
        let task = executor.spawn(async {
            yield_now().await;
        });
        thread::scope(|scope| {
            let run = &mut run;
            scope.spawn(move || assert!(poll(run.as_mut(), Waker::noop()).is_pending()));
        });
        assert!(task.is_finished(), "round {round}");
    }
}

#[test]
fn the_futures_are_send_and_sync() {
    fn check<T: Send + Sync>(_: &T) {}
    let executor = Executor::new();
    check(&executor);
    check(&executor.run(pending::<()>()));
    check(&executor.tick());
}

#[test]
fn a_waker_that_panics_harms_only_its_run() {
    struct Panicking;
    impl std::task::Wake for Panicking {
        fn wake(self: Arc<Self>) {
            panic!("in a waker");
        }
    }
    let executor = Executor::new();
    let mut run = Box::pin(executor.run(pending::<()>()));
    assert!(poll(run.as_mut(), &Arc::new(Panicking).into()).is_pending());
    let task = executor.spawn(async { 5 });
    drop(run);
    assert_eq!(block_on(executor.run(task)), 5);
}

/// Goes to sleep as one more `tick` while it is polled, yields, and is gone after `polls`.
async fn sleep_beside(executor: &Executor<'_>, wakes: Arc<CountWakes>, polls: usize) {
    // Nobody has seen this task yet when it yields for the first time, so that it is not
    // found by the tick.
    let mut tick = Box::pin(executor.tick());
    assert!(poll(tick.as_mut(), &wakes.into()).is_pending());
    for _ in 0..polls {
        yield_now().await;
    }
}

#[test]
fn a_task_in_a_ring_is_announced_before_the_host_has_its_turn() {
    let executor = shared();
    let wakes = Arc::new(CountWakes::default());
    let mut run = Box::pin(executor.run(pending::<()>()));
    let task = executor.spawn(sleep_beside(executor, Arc::clone(&wakes), 10_000));
    assert!(poll(run.as_mut(), Waker::noop()).is_pending());
    assert!(!task.is_finished());
    // While it was the next one that the `run` would poll, it concerned nobody.
    assert_eq!(wakes.count(), 1);
}

#[test]
fn a_task_that_yields_in_a_nested_tick_is_announced() {
    let executor = shared();
    let wakes = Arc::new(CountWakes::default());
    let seen = Arc::clone(&wakes);
    let outer = executor.spawn(async move {
        let inner = executor.spawn(sleep_beside(executor, Arc::clone(&seen), 1));
        assert!(executor.try_tick());
        assert!(!inner.is_finished());
        seen.count()
    });
    assert_eq!(block_on(executor.run(outer)), 1);
}

/// A waker that runs some code when it is cloned: between the last search and the sleep.
mod on_clone {
    use std::ptr;
    use std::task::{RawWaker, RawWakerVTable, Waker};

    static TABLE: RawWakerVTable = RawWakerVTable::new(clone, nothing, nothing, nothing);

    pub(crate) type Hook = Box<dyn Fn() + Send + Sync>;

    pub(crate) fn waker(hook: Hook) -> Waker {
        let hook: &'static Hook = Box::leak(Box::new(hook));
        // SAFETY: the functions of the table keep the contract for data that lives for ever.
        unsafe { Waker::from_raw(RawWaker::new(ptr::from_ref(hook).cast(), &TABLE)) }
    }

    fn clone(data: *const ()) -> RawWaker {
        // SAFETY: `data` came out of a `&'static Hook`.
        let hook: &Hook = unsafe { &*data.cast::<Hook>() };
        hook();
        RawWaker::new(data, &TABLE)
    }

    fn nothing(_: *const ()) {}
}

#[test]
fn a_task_between_the_last_search_and_the_sleep_is_seen() {
    let executor = shared();
    let runs = Arc::new(AtomicUsize::new(0));
    let (seen, spawned) = (Arc::clone(&runs), AtomicUsize::new(0));
    let waker = on_clone::waker(Box::new(move || {
        if spawned.fetch_add(1, Ordering::Relaxed) == 0 {
            let runs = Arc::clone(&seen);
            let task = executor.spawn(async move {
                runs.fetch_add(1, Ordering::Relaxed);
            });
            task.detach();
        }
    }));
    // The list is empty when the task is spawned, so no `run` is notified.
    let mut tick = Box::pin(executor.tick());
    assert!(poll(tick.as_mut(), &waker).is_ready());
    assert_eq!(runs.load(Ordering::Relaxed), 1);
}

/// A `run` that slept and is polled again no longer sleeps: a task that its own future spawns
/// notifies another `run`.
#[test]
fn what_the_future_of_a_run_spawns_wakes_another_run() {
    let executor = shared();
    let other = Arc::new(CountWakes::default());
    let count = Arc::clone(&other);
    let own = Waker::noop();
    let mut polls = 0;
    let mut first = Box::pin(executor.run(future::poll_fn(move |_| {
        polls += 1;
        if polls == 1 {
            return Poll::Pending;
        }
        executor.spawn(async {}).detach();
        Poll::Ready(count.count())
    })));
    assert!(poll(first.as_mut(), own).is_pending());
    // On a thread of its own, because a run of the same thread is woken first.
    let second = thread::spawn(move || {
        let mut second = Box::pin(executor.run(pending::<()>()));
        assert!(poll(second.as_mut(), &Waker::from(other)).is_pending());
        second
    });
    let second = second.join().unwrap();
    assert_eq!(poll(first.as_mut(), own), Poll::Ready(1));
    drop(second);
}

/// A waker whose drop panics: the run that leaves the list does so once.
#[test]
fn a_waker_that_panics_in_its_drop_hides_no_push() {
    struct Bad;

    impl Wake for Bad {
        fn wake(self: Arc<Self>) {
            std::mem::forget(self);
        }
    }

    impl Drop for Bad {
        fn drop(&mut self) {
            panic!("in the drop of a waker");
        }
    }

    let executor = shared();
    let mut first = Box::pin(executor.run(pending::<()>()));
    // The list keeps the last of its clones.
    assert!(poll(first.as_mut(), &Waker::from(Arc::new(Bad))).is_pending());
    let count = Arc::new(CountWakes::default());
    let mut second = Box::pin(executor.run(pending::<()>()));
    assert!(poll(second.as_mut(), &Waker::from(Arc::clone(&count))).is_pending());
    executor.spawn(async {}).detach();
    assert_eq!(count.count(), 1, "the last to fall asleep is woken");
    let polled = catch_unwind(AssertUnwindSafe(|| {
        poll(first.as_mut(), Waker::noop()).is_pending()
    }));
    assert!(polled.is_err(), "the waker in the list is dropped");
    drop((first, second));

    let count = Arc::new(CountWakes::default());
    let mut third = Box::pin(executor.run(pending::<()>()));
    assert!(poll(third.as_mut(), &Waker::from(Arc::clone(&count))).is_pending());
    executor.spawn(async {}).detach();
    assert_eq!(count.count(), 1, "a push is hidden");
}
