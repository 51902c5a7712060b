//! A long chain of tasks, each of which owns the handle of the next: to drop the first
//! one drops them all, and must not use a stack frame for each.

use std::future::{Future, pending, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tests::census::stress_items;
use tests::child;
use tests::exec::{executor, hold, until};
use ws_executor::{Executor, LocalExecutor, Task};

/// How long the chain is.
fn links() -> usize {
    usize::try_from(stress_items(1_000_000)).unwrap()
}

/// Counts the links that are gone.
struct Link {
    _next: Task<()>,
    gone: Arc<AtomicUsize>,
}

impl Drop for Link {
    fn drop(&mut self) {
        self.gone.fetch_add(1, Ordering::Relaxed);
    }
}

/// Spawns the chain, by `spawn`, and returns its first link.
fn chain(
    gone: &Arc<AtomicUsize>,
    mut spawn: impl FnMut(Pin<Box<dyn Future<Output = ()> + Send>>) -> Task<()>,
) -> Task<()> {
    let last = spawn(Box::pin(pending()));
    (0..links()).fold(last, |next, _| {
        let link = Link {
            _next: next,
            gone: Arc::clone(gone),
        };
        spawn(Box::pin(async move {
            let _link = link;
            pending().await
        }))
    })
}

fn waiting_chain(executor: &Executor, gone: &Arc<AtomicUsize>) -> Task<()> {
    let first = chain(gone, |future| executor.spawn(future));
    // Each was polled once, and there is nothing else to poll.
    until(|| executor.metrics().polls() > links() as u64);
    first
}

fn assert_gone(gone: &Arc<AtomicUsize>) {
    until(|| gone.load(Ordering::Relaxed) == links());
}

#[test]
fn cancelled_while_they_wait() {
    child::survives("chain::cancelled_while_they_wait", || {
        let (executor, gone) = (executor(2), Arc::default());
        drop(waiting_chain(&executor, &gone));
        assert_gone(&gone);
    });
}

#[test]
fn shut_down_while_they_wait() {
    child::survives("chain::shut_down_while_they_wait", || {
        let (executor, gone) = (executor(2), Arc::default());
        let first = waiting_chain(&executor, &gone);
        executor.shutdown();
        assert_eq!(gone.load(Ordering::Relaxed), links());
        drop(first);
    });
}

/// The handle goes first, so the workers are at it when the executor is shut down.
#[test]
fn shut_down_while_they_are_cancelled() {
    child::survives("chain::shut_down_while_they_are_cancelled", || {
        let (executor, gone) = (executor(2), Arc::default());
        drop(waiting_chain(&executor, &gone));
        executor.shutdown();
        assert_eq!(gone.load(Ordering::Relaxed), links());
    });
}

#[test]
fn shut_down_while_they_are_queued() {
    child::survives("chain::shut_down_while_they_are_queued", || {
        let (executor, gone) = (executor(1), Arc::default());
        let held = hold(&executor);
        let first = chain(&gone, |future| executor.spawn(future));
        assert_eq!(executor.metrics().injector_depth(), links() + 1);
        held.until_closed(executor.handle());
        executor.shutdown();
        assert_eq!(gone.load(Ordering::Relaxed), links());
        drop(first);
    });
}

/// A worker drops the chain itself: it is in its ring, and in its pinned queue.
#[test]
fn shut_down_on_a_worker() {
    child::survives("chain::shut_down_on_a_worker", || {
        let (mut executor, gone) = (Some(executor(1)), Arc::default());
        let first = waiting_chain(executor.as_ref().unwrap(), &gone);
        let handle = executor.as_ref().map(Executor::handle).unwrap();
        let executor = executor.take().unwrap();
        // Inside a task of its own, so that the worker closes it.
        handle.spawn(async move { executor.shutdown() }).detach();
        assert_gone(&gone);
        drop(first);
    });
}

#[test]
fn pinned() {
    child::survives("chain::pinned", || {
        for cancel in [true, false] {
            let (executor, gone) = (executor(1), Arc::default());
            let handle = executor.handle();
            let first = chain(&gone, |future| handle.spawn_pinned(0, || future));
            until(|| executor.metrics().polls() > links() as u64);
            if cancel {
                drop(first);
                assert_gone(&gone);
            } else {
                executor.shutdown();
                assert_eq!(gone.load(Ordering::Relaxed), links());
            }
        }
    });
}

#[test]
fn local() {
    child::survives("chain::local", || {
        for cancel in [true, false] {
            let (executor, gone) = (LocalExecutor::new(), Arc::default());
            let first = chain(&gone, |future| executor.spawn(future));
            while executor.try_tick() {}
            if cancel {
                drop(first);
                while executor.try_tick() {}
            } else {
                drop(executor);
            }
            assert_eq!(gone.load(Ordering::Relaxed), links());
        }
    });
}

/// Each awaits the next one: the end travels through all of them.
#[test]
fn awaited() {
    child::survives("chain::awaited", || {
        let executor = executor(2);
        let (sender, receiver) = futures::channel::oneshot::channel::<()>();
        let last = executor.spawn(async { receiver.await.unwrap() });
        let first = (0..links()).fold(last, |next, _| executor.spawn(next));
        sender.send(()).unwrap();
        executor.block_on(first);
        executor.block_on(executor.spawn(ready(())));
    });
}
