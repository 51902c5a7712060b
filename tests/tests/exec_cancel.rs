//! A cancelled task is not polled again, and its future is dropped, once.

#[path = "exec_cancel/chain.rs"]
mod chain;
#[path = "exec_cancel/inside.rs"]
mod inside;
#[path = "exec_cancel/order.rs"]
mod order;

use std::future::{Future, pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll};

use futures::FutureExt;
use tests::drops::{Drops, Item};
use tests::exec::{Gate, assert_alive, executor, hold, until};
use tests::watchdog;
use ws_executor::Executor;

/// Waits for ever, counts its polls, and tells when it was polled first.
struct Waits {
    _item: Item,
    polls: Arc<AtomicUsize>,
    polled: Option<mpsc::Sender<()>>,
}

impl Waits {
    fn new(item: Item) -> (Self, Arc<AtomicUsize>, mpsc::Receiver<()>) {
        let (polled, first_poll) = mpsc::channel();
        let polls = Arc::new(AtomicUsize::new(0));
        let waits = Self {
            _item: item,
            polls: Arc::clone(&polls),
            polled: Some(polled),
        };
        (waits, polls, first_poll)
    }
}

impl Future for Waits {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        self.polls.fetch_add(1, Ordering::SeqCst);
        if let Some(polled) = self.polled.take() {
            polled.send(()).unwrap();
        }
        Poll::Pending
    }
}

#[test]
fn dropping_the_handle_of_a_task_that_waits() {
    watchdog::guard("drop, waiting", || {
        let executor = executor(2);
        let drops = Drops::of(1);
        let (waits, polls, first_poll) = Waits::new(drops.item(0));
        let task = executor.spawn(waits);
        first_poll.recv().unwrap();
        assert!(!task.is_finished());
        drop(task);
        until(|| drops.count(0) == 1);
        assert_eq!(polls.load(Ordering::SeqCst), 1);
        assert_alive(&executor);
    });
}

#[test]
fn dropping_the_handle_of_a_task_that_is_queued() {
    watchdog::guard("drop, queued", || {
        let executor = executor(2);
        let drops = Drops::of(1);
        let held = hold(&executor);
        let (waits, polls, _) = Waits::new(drops.item(0));
        drop(executor.spawn(waits));
        drop(held);
        until(|| drops.count(0) == 1);
        assert_eq!(polls.load(Ordering::SeqCst), 0, "it never ran");
    });
}

#[test]
fn dropping_the_handle_of_a_task_that_runs() {
    watchdog::guard("drop, running", || {
        let executor = executor(2);
        let drops = Drops::of(1);
        let (item, gate) = (drops.item(0), Gate::new());
        let (polled, polls) = mpsc::channel();
        let task = executor.spawn({
            let gate = gate.clone();
            poll_fn(move |cx| {
                let _item = &item;
                polled.send(()).unwrap();
                gate.wait();
                // Too late: it is cancelled.
                cx.waker().wake_by_ref();
                Poll::<()>::Pending
            })
        });
        polls.recv().unwrap();
        drop(task);
        assert_eq!(drops.count(0), 0, "it is being polled");
        gate.open();
        until(|| drops.count(0) == 1);
        assert!(polls.try_recv().is_err(), "it is not polled again");
    });
}

#[test]
fn dropping_the_handle_of_a_task_that_has_ended_drops_the_output() {
    watchdog::guard("drop, ended", || {
        let executor = executor(2);
        let drops = Drops::of(1);
        let item = drops.item(0);
        let task = executor.spawn(async move { item });
        until(|| task.is_finished());
        assert_eq!(drops.count(0), 0, "the output waits for its reader");
        drop(task);
        drops.assert_each_once();
    });
}

#[test]
fn a_detached_task_runs_to_its_end() {
    watchdog::guard("detach", || {
        let executor = executor(2);
        let drops = Drops::of(2);
        let (sender, receiver) = futures::channel::oneshot::channel();
        let [first, second] = [0, 1].map(|number| drops.item(number));
        executor
            .spawn(async move {
                receiver.await.unwrap();
                first
            })
            .detach();
        executor.spawn(async move { second }).fallible().detach();
        until(|| drops.count(1) == 1);
        assert_eq!(drops.count(0), 0, "the other one waits");
        sender.send(()).unwrap();
        until(|| drops.count(0) == 1);
    });
}

#[test]
fn cancel_returns_when_the_future_is_gone() {
    watchdog::guard("cancel", || {
        let executor = executor(2);
        for round in 0..500 {
            let drops = Drops::of(1);
            let (waits, polls, first_poll) = Waits::new(drops.item(0));
            let task = executor.spawn(waits);
            if round % 2 == 0 {
                first_poll.recv().unwrap();
            }
            assert_eq!(executor.block_on(task.cancel()), None);
            drops.assert_each_once();
            assert!(polls.load(Ordering::SeqCst) <= 1);
        }
    });
}

#[test]
fn cancel_waits_for_the_poll_under_way() {
    watchdog::guard("cancel, running", || {
        let executor = executor(2);
        let drops = Drops::of(1);
        let (item, gate) = (drops.item(0), Gate::new());
        let (polled, polls) = mpsc::channel();
        let task = executor.spawn({
            let gate = gate.clone();
            async move {
                let _item = item;
                polled.send(()).unwrap();
                gate.wait();
                pending::<()>().await;
            }
        });
        polls.recv().unwrap();
        let mut cancel = Box::pin(task.cancel());
        assert_eq!((&mut cancel).now_or_never(), None);
        assert_eq!(drops.count(0), 0);
        gate.open();
        assert_eq!(executor.block_on(cancel), None);
        drops.assert_each_once();
    });
}

#[test]
fn cancel_returns_an_output_that_was_there() {
    watchdog::guard("cancel, ended", || {
        let executor = executor(1);
        let task = executor.spawn(async { 5 });
        until(|| task.is_finished());
        assert_eq!(executor.block_on(task.cancel()), Some(5));
        let task = executor.spawn(async { 6 }).fallible();
        until(|| task.is_finished());
        assert_eq!(executor.block_on(task.cancel()), Some(6));
    });
}

/// The poll that was under way finishes the task. Whether `cancel` then returns the output
/// or drops it is not promised; that it is dropped once, is.
#[test]
fn cancel_during_the_last_poll_loses_nothing() {
    watchdog::guard("cancel, last poll", || {
        let executor = executor(2);
        let drops = Drops::of(1);
        let (item, gate) = (drops.item(0), Gate::new());
        let (polled, polls) = mpsc::channel();
        let task = executor.spawn({
            let gate = gate.clone();
            async move {
                polled.send(()).unwrap();
                gate.wait();
                item
            }
        });
        polls.recv().unwrap();
        let mut cancel = Box::pin(task.cancel());
        assert!((&mut cancel).now_or_never().is_none());
        gate.open();
        drop(executor.block_on(cancel));
        until(|| drops.count(0) == 1);
        drop(executor);
        drops.assert_each_once();
    });
}

#[test]
fn cancel_re_raises_a_panic_that_was_there() {
    watchdog::guard("cancel, panicked", || {
        let executor = executor(1);
        let task = executor.spawn(async { panic!("before") });
        until(|| task.is_finished());
        let cancel = AssertUnwindSafe(|| executor.block_on(task.cancel()));
        let payload = catch_unwind(cancel).unwrap_err();
        assert_eq!(payload.downcast_ref::<&str>(), Some(&"before"));
        assert_alive(&executor);
    });
}

/// The future that `cancel` returns does nothing before it is polled; dropped then,
/// it has the handle in it.
#[test]
fn dropping_the_future_of_cancel_cancels() {
    watchdog::guard("cancel, dropped", || {
        let executor = executor(2);
        let drops = Drops::of(2);
        for number in 0..2 {
            let (waits, _, first_poll) = Waits::new(drops.item(number));
            let task = executor.spawn(waits);
            first_poll.recv().unwrap();
            let mut cancel = Box::pin(task.cancel());
            if number == 1 {
                let _ = (&mut cancel).now_or_never();
            }
            drop(cancel);
            until(|| drops.count(number) == 1);
        }
        drops.assert_each_once();
    });
}

#[test]
fn awaiting_a_cancelled_task_panics_and_fallible_does_not() {
    watchdog::guard("await, cancelled", || {
        let executor = executor(1);
        let handle = executor.handle();
        let [task, fallible] = [0, 1].map(|_| executor.spawn(pending::<()>()));
        drop(executor);
        assert!(task.is_finished() && fallible.is_finished());
        assert_eq!(handle.block_on(fallible.fallible()), None);
        let payload = catch_unwind(AssertUnwindSafe(|| handle.block_on(task))).unwrap_err();
        let text = payload.downcast_ref::<&str>().unwrap();
        assert!(text.starts_with("the task was cancelled"), "{text}");
    });
}

/// Thousands of tasks in every state, cancelled from eight threads.
#[test]
fn nothing_is_lost_in_a_storm() {
    const TASKS: usize = 4_000;

    watchdog::guard("cancel storm", || {
        let executor = executor(2);
        let drops = Drops::of(TASKS);
        std::thread::scope(|threads| {
            for thread in 0..8 {
                let (executor, drops) = (&executor, &drops);
                threads.spawn(move || {
                    for number in (thread..TASKS).step_by(8) {
                        cancel_somehow(executor, drops.item(number));
                    }
                });
            }
        });
        until(|| (0..TASKS).all(|number| drops.count(number) >= 1));
        until(|| executor.metrics().live_tasks() == 0);
        drop(executor);
        drops.assert_each_once();
    });
}

fn cancel_somehow(executor: &Executor, item: Item) {
    let number = item.number / 8;
    let task = executor.spawn(async move {
        let item = item;
        for _ in 0..number % 5 {
            ws_executor::yield_now().await;
        }
        if number % 3 == 0 {
            pending::<()>().await;
        }
        item
    });
    match number % 4 {
        0 => drop(task),
        1 => drop(executor.block_on(task.cancel())),
        2 => drop(task.fallible()),
        _ => {
            let mut task = task.fallible();
            let _ = (&mut task).now_or_never();
        }
    }
}
