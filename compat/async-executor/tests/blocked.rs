//! A poll that blocks: before the poll begins, another `run` is notified of the tasks that
//! wait for it.
//!
//! No poll blocks here. Where a poll might block, the tests check whether a `run` that sleeps
//! on another thread was woken. A `run` is polled by hand, on a thread of its own.

mod common;

use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::Pin;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Poll, RawWaker, RawWakerVTable, Waker};
use std::thread;

use async_executor::Executor;
use common::{CountWakes, poll};
use futures_lite::future::{pending, yield_now};

/// A `run` or a `tick` under a host that counts its wakes.
struct Hosted<'e> {
    future: Pin<Box<dyn Future<Output = ()> + Send + 'e>>,
    wakes: Arc<CountWakes>,
}

impl<'e> Hosted<'e> {
    fn new(future: impl Future<Output = ()> + Send + 'e) -> Self {
        Self {
            future: Box::pin(future),
            wakes: Arc::default(),
        }
    }

    /// A `run` that sleeps, and was last polled on this thread.
    fn asleep_here(executor: &'e Executor<'_>) -> Self {
        let mut run = Self::new(executor.run(pending()));
        run.poll_here();
        run
    }

    /// A `run` that sleeps, and was last polled on another thread.
    fn asleep_elsewhere(executor: &'e Executor<'_>) -> Self {
        let mut run = Self::new(executor.run(pending()));
        run.poll_elsewhere();
        run
    }

    fn poll_here(&mut self) {
        let waker = Waker::from(Arc::clone(&self.wakes));
        assert!(poll(self.future.as_mut(), &waker).is_pending());
    }

    fn poll_elsewhere(&mut self) {
        thread::scope(|scope| {
            let polled = scope.spawn(|| self.poll_here());
            polled.join().expect("it is only polled");
        });
    }

    /// Polls with a waker whose first clone calls `hook`.
    fn poll_with_hook(&mut self, hook: impl FnOnce() + 'static) {
        HOOK.set(Some(Box::new(hook)));
        let _ = poll(self.future.as_mut(), &hooked());
        assert!(HOOK.take().is_none(), "the hook was called");
    }

    fn wakes(&self) -> usize {
        self.wakes.count()
    }
}

#[test]
fn a_thread_may_wait_for_a_task_instead_of_polling_its_run() {
    let executor = Executor::new();
    for here_first in [true, false] {
        let (here, elsewhere);
        if here_first {
            here = Hosted::asleep_here(&executor);
            elsewhere = Hosted::asleep_elsewhere(&executor);
        } else {
            elsewhere = Hosted::asleep_elsewhere(&executor);
            here = Hosted::asleep_here(&executor);
        }
        executor.spawn(async {}).detach();
        assert_eq!(elsewhere.wakes(), 1);
        drop(here);
        while executor.try_tick() {}
    }
}

#[test]
fn a_thread_may_wait_for_a_second_task_too() {
    let executor = Executor::new();
    let here = Hosted::asleep_here(&executor);
    executor.spawn(async {}).detach();
    assert_eq!(here.wakes(), 1, "there is no other");
    // It has the task, and sleeps.
    let elsewhere = Hosted::asleep_elsewhere(&executor);
    assert!(executor.is_empty());
    executor.spawn(async {}).detach();
    assert_eq!(elsewhere.wakes(), 1);
}

#[test]
fn a_run_that_was_woken_and_is_dropped_passes_it_on_to_the_next_of_its_thread() {
    let executor = Executor::new();
    let first = Hosted::asleep_here(&executor);
    let second = Hosted::asleep_here(&executor);
    executor.spawn(async {}).detach();
    assert_eq!((first.wakes(), second.wakes()), (0, 1));
    drop(second);
    assert_eq!(first.wakes(), 1);
}

#[test]
fn the_future_of_a_run_may_block() {
    let (is_due, ran) = (AtomicBool::new(false), AtomicBool::new(false));
    let executor = Executor::new();
    let elsewhere = Hosted::asleep_elsewhere(&executor);
    let wakes = &*elsewhere.wakes;
    let mut run = Hosted::new(executor.run(poll_fn(|_| {
        if is_due.load(Ordering::Relaxed) {
            let is_left = !ran.load(Ordering::Relaxed);
            assert!(!is_left || wakes.count() == 1, "what it was woken for");
            executor.spawn(async {}).detach();
            assert_eq!(wakes.count(), 1, "what the future has spawned");
        }
        Poll::Pending
    })));
    run.poll_elsewhere();
    let task = executor.spawn(async { ran.store(true, Ordering::Relaxed) });
    assert_eq!((run.wakes(), elsewhere.wakes()), (1, 0));
    is_due.store(true, Ordering::Relaxed);
    run.poll_here();
    assert!(task.is_finished());
}

/// A `run` that was woken for a task polls that task. The task yields, so it is in the ring
/// again when the future of the `run` may block.
#[test]
fn what_a_run_was_woken_for_may_yield_before_its_future_blocks() {
    let seen = AtomicUsize::new(0);
    let executor = Executor::new();
    let elsewhere = Hosted::asleep_elsewhere(&executor);
    let wakes = &*elsewhere.wakes;
    let mut run = Hosted::new(executor.run(poll_fn(|_| {
        seen.store(wakes.count(), Ordering::Relaxed);
        Poll::Pending
    })));
    run.poll_elsewhere();
    let task = executor.spawn(yield_now());
    assert_eq!((run.wakes(), elsewhere.wakes()), (1, 0));
    run.poll_here();
    assert_eq!(
        seen.load(Ordering::Relaxed),
        1,
        "when the future was polled"
    );
    assert!(task.is_finished());
}

/// A `run` that was woken finds no task. While it falls asleep, two tasks are pushed. The
/// `run` still searches, so no other `run` is woken for them. Then it sees both, and runs one.
#[test]
fn of_two_tasks_that_came_while_it_fell_asleep_one_may_block() {
    type Make = for<'e> fn(&'e Executor<'static>) -> Hosted<'e>;
    let ways: [Make; 2] = [
        |executor| Hosted::new(executor.run(pending())),
        |executor| Hosted::new(executor.tick()),
    ];
    for make in ways {
        let executor = Arc::new(Executor::new());
        let elsewhere = Hosted::asleep_elsewhere(&executor);
        let mut falling = make(&executor);
        falling.poll_elsewhere();
        executor.spawn(async {}).detach();
        assert_eq!((falling.wakes(), elsewhere.wakes()), (1, 0));
        assert!(executor.try_tick(), "the task is gone again");

        let seen = Arc::new(OnceLock::new());
        let spawn_two = {
            let (executor, seen) = (Arc::clone(&executor), Arc::clone(&seen));
            let wakes = Arc::clone(&elsewhere.wakes);
            move || {
                for _ in 0..2 {
                    let (seen, wakes) = (Arc::clone(&seen), Arc::clone(&wakes));
                    let look = async move {
                        let _ = seen.set(wakes.count());
                    };
                    executor.spawn(look).detach();
                }
            }
        };
        falling.poll_with_hook(spawn_two);
        assert_eq!(seen.get(), Some(&1), "when the first of them ran");
    }
}

thread_local! {
    /// What the next clone of a [`hooked`] waker does.
    static HOOK: RefCell<Option<Box<dyn FnOnce()>>> = const { RefCell::new(None) };
}

/// A waker whose clone calls the hook of its thread. A `run` clones its waker between its
/// search and its sleep.
fn hooked() -> Waker {
    const VTABLE: RawWakerVTable = RawWakerVTable::new(
        |data| {
            let hook = HOOK.take();
            hook.into_iter().for_each(|hook| hook());
            RawWaker::new(data, &VTABLE)
        },
        |_| {},
        |_| {},
        |_| {},
    );
    // SAFETY: the functions of the table do not use the pointer, and may be called on any
    // thread.
    unsafe { Waker::new(ptr::null(), &VTABLE) }
}
