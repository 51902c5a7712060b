//! Panics in the drop of a future, and in the drop of an output.

use std::future::{Future, pending};
use std::panic;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use tests::child;
use tests::drops::{Drops, Item};
use tests::exec::{assert_alive, executor, hold, until};
use ws_executor::Executor;

/// Counts the panics that the panic hook sees.
static SEEN: AtomicUsize = AtomicUsize::new(0);

fn count_panics() {
    panic::set_hook(Box::new(|_| {
        SEEN.fetch_add(1, Ordering::SeqCst);
    }));
}

/// A future whose drop panics, since it owns such an item.
struct Panicking<T> {
    _item: Item,
    /// What it is ready with; pending without.
    output: Option<T>,
}

impl<T> Unpin for Panicking<T> {}

impl<T> Future for Panicking<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<T> {
        self.output.take().map_or(Poll::Pending, Poll::Ready)
    }
}

fn waiting(item: Item) -> Panicking<()> {
    Panicking {
        _item: item,
        output: None,
    }
}

fn ready<T>(item: Item, output: T) -> Panicking<T> {
    Panicking {
        _item: item,
        output: Some(output),
    }
}

/// Waits until the tasks that are due have run: one behind them in the queue has.
fn settle(executor: &Executor) {
    executor.block_on(executor.spawn(async {}));
}

#[test]
fn of_a_future_that_has_ended() {
    child::survives("drops::of_a_future_that_has_ended", || {
        count_panics();
        for workers in [1, 2, 4] {
            SEEN.store(0, Ordering::SeqCst);
            let executor = executor(workers);
            let drops = Drops::of(2 * workers + 2);
            for number in 0..=workers {
                // The output was there before, and is not lost.
                let task = executor.spawn(ready(drops.panicking(2 * number), number));
                assert_eq!(executor.block_on(task), number);
                let item = drops.panicking(2 * number + 1);
                executor.spawn(ready(item, ())).detach();
            }
            assert_alive(&executor);
            drop(executor);
            drops.assert_each_once();
            assert_eq!(SEEN.load(Ordering::SeqCst), 2 * workers + 2);
        }
    });
}

#[test]
fn of_a_future_that_is_cancelled() {
    child::survives("drops::of_a_future_that_is_cancelled", || {
        count_panics();
        let executor = executor(1);
        let drops = Drops::of(4);
        // Waiting.
        let [dropped, cancelled] = [0, 1].map(|n| executor.spawn(waiting(drops.panicking(n))));
        settle(&executor);
        drop(dropped);
        assert_eq!(executor.block_on(cancelled.cancel()), None);
        // Queued.
        let held = hold(&executor);
        let [dropped, cancelled] = [2, 3].map(|n| executor.spawn(waiting(drops.panicking(n))));
        drop((dropped, held));
        assert_eq!(executor.block_on(cancelled.cancel()), None);
        assert_alive(&executor);
        drops.assert_each_once();
        assert_eq!(SEEN.load(Ordering::SeqCst), 4);
    });
}

#[test]
fn of_a_future_at_the_shutdown() {
    child::survives("drops::of_a_future_at_the_shutdown", || {
        count_panics();
        let executor = executor(2);
        let handle = executor.handle();
        let drops = Drops::of(40);
        let spawn = |numbers: std::ops::Range<usize>| {
            for number in numbers {
                let item = drops.panicking(number);
                match number % 2 {
                    0 => handle.spawn(waiting(item)).detach(),
                    _ => handle
                        .spawn_pinned(number / 2 % 2, || waiting(item))
                        .detach(),
                }
            }
        };
        // Some wait, others are queued.
        spawn(0..20);
        settle(&executor);
        handle.block_on(handle.spawn_pinned(0, || async {}));
        handle.block_on(handle.spawn_pinned(1, || async {}));
        let held = hold(&executor);
        spawn(20..38);
        held.until_closed(handle.clone());
        executor.shutdown();
        // And what comes later is dropped here.
        handle.spawn(waiting(drops.panicking(38))).detach();
        let item = drops.panicking(39);
        handle.spawn_pinned(0, || waiting(item)).detach();
        drops.assert_each_once();
        assert_eq!(SEEN.load(Ordering::SeqCst), 40);
    });
}

/// The panic of the poll is what the awaiter gets; that of the drop comes after it, not
/// during its unwinding.
#[test]
fn of_a_future_that_has_panicked() {
    struct PanicsTwice(#[allow(dead_code)] Item);

    impl Future for PanicsTwice {
        type Output = ();

        fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
            panic!("poll");
        }
    }

    child::survives("drops::of_a_future_that_has_panicked", || {
        let executor = executor(1);
        let drops = Drops::of(2);
        for number in 0..2 {
            let task = executor.spawn(PanicsTwice(drops.panicking(number)));
            assert_eq!(crate::text_of(&executor, task), "poll");
        }
        assert_alive(&executor);
        drops.assert_each_once();
    });
}

#[test]
fn of_an_output_that_nobody_reads() {
    child::survives("drops::of_an_output_that_nobody_reads", || {
        count_panics();
        let executor = executor(2);
        let handle = executor.handle();
        let drops = Drops::of(6);
        let output = |number: usize| {
            let item = drops.panicking(number);
            async move { item }
        };
        // Detached, before its end and after it.
        executor.spawn(output(0)).detach();
        let task = executor.spawn(output(1));
        until(|| task.is_finished());
        task.detach();
        // The handle is dropped after the end, here.
        let task = executor.spawn(output(2));
        until(|| task.is_finished());
        drop(task);
        // By others than workers.
        let item = drops.panicking(3);
        handle.spawn_blocking(move || item).detach();
        until(|| drops.count(3) == 1);
        // After the shutdown.
        let task = executor.spawn(output(4));
        until(|| task.is_finished());
        let scoped = drops.panicking(5);
        let scope = panic::AssertUnwindSafe(|| {
            executor.scope(|scope| drop(scope.spawn(async { scoped })));
        });
        // A scope has someone to tell.
        panic::catch_unwind(scope).unwrap_err();
        assert_alive(&executor);
        drop(executor);
        drop(task);
        drops.assert_each_once();
        // On a thread for blocking code, whose end nobody awaits, the panic follows the count.
        until(|| SEEN.load(Ordering::SeqCst) >= 6);
        assert_eq!(SEEN.load(Ordering::SeqCst), 6);
    });
}

/// Cancelled while its last poll is under way: the output comes, and goes, unseen.
#[test]
fn of_an_output_that_comes_too_late() {
    child::survives("drops::of_an_output_that_comes_too_late", || {
        let executor = executor(1);
        let drops = Drops::of(1);
        let (item, gate) = (drops.panicking(0), tests::exec::Gate::new());
        let inside = tests::exec::Gate::new();
        let task = executor.spawn({
            let (gate, inside) = (gate.clone(), inside.clone());
            async move {
                inside.open();
                gate.wait();
                item
            }
        });
        inside.wait();
        drop(task);
        gate.open();
        until(|| drops.count(0) == 1);
        assert_alive(&executor);
    });
}

/// The future and what it awaits both panic in their drops, one task after the other.
#[test]
fn of_a_chain_of_futures() {
    child::survives("drops::of_a_chain_of_futures", || {
        let executor = executor(2);
        let drops = Drops::of(100);
        let last = executor.spawn(pending::<()>());
        let first = (0..100).fold(last, |next, number| {
            let item = drops.panicking(number);
            executor.spawn(async move {
                let _item = item;
                next.await;
            })
        });
        settle(&executor);
        drop(first);
        until(|| (0..100).all(|number| drops.count(number) == 1));
        assert_alive(&executor);
    });
}
