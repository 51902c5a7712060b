//! What threads do at their end: wakes, spawns and waits in the destructors of
//! thread-locals, some of which run when the executor's own are gone.

use std::cell::{Cell, RefCell};
use std::sync::mpsc;
use std::task::Waker;
use std::thread;

use futures::channel::oneshot;
use tests::exec::{assert_alive, executor};
use tests::watchdog;
use ws_executor::{Executor, Handle, LocalExecutor};

/// Calls a function when its thread ends.
#[derive(Default)]
struct AtEnd(Cell<Option<Box<dyn FnOnce()>>>);

impl Drop for AtEnd {
    fn drop(&mut self) {
        if let Some(code) = self.0.take() {
            code();
        }
    }
}

thread_local! {
    // Destructors run in one order of first use or the other: used before and after
    // the executor's, one of each comes last.
    static BEFORE: AtEnd = AtEnd::default();
    static AFTER: AtEnd = AtEnd::default();
}

/// Runs `code` at the end of a thread that has used an executor, once before and once
/// after the thread's own data of that are gone.
fn at_the_end_of_a_thread(executor: &Executor, code: impl Fn() + Clone + Send + 'static) {
    let handle = executor.handle();
    let uses_it = thread::spawn(move || {
        BEFORE.with(|end| end.0.set(Some(Box::new(code.clone()))));
        handle.block_on(async { handle.block_on(handle.spawn(async {})) });
        AFTER.with(|end| end.0.set(Some(Box::new(code))));
    });
    uses_it.join().unwrap();
}

#[test]
fn wakes() {
    watchdog::guard("wakes at the end", || {
        let executor = executor(2);
        let (sender, receiver) = mpsc::channel();
        let task = executor.spawn({
            let mut polls = 0;
            std::future::poll_fn(move |cx| {
                polls += 1;
                let _ = sender.send(cx.waker().clone());
                if polls == 3 {
                    std::task::Poll::Ready(polls)
                } else {
                    std::task::Poll::Pending
                }
            })
        });
        let receiver = std::sync::Arc::new(std::sync::Mutex::new(receiver));
        at_the_end_of_a_thread(&executor, move || {
            let waker: Waker = receiver.lock().unwrap().recv().unwrap();
            waker.wake();
        });
        assert_eq!(executor.block_on(task), 3);
        assert_alive(&executor);
    });
}

#[test]
fn spawns_and_cancels() {
    watchdog::guard("spawns at the end", || {
        let executor = executor(2);
        let (sender, receiver) = mpsc::channel();
        let handle = executor.handle();
        at_the_end_of_a_thread(&executor, move || {
            let sender = sender.clone();
            handle
                .spawn(async move { sender.send(Handle::current().workers()).unwrap() })
                .detach();
            drop(handle.spawn(std::future::pending::<()>()));
            handle.spawn_pinned(1, || async {}).detach();
            drop(handle.spawn_many((0..10).map(|_| async {})));
        });
        assert_eq!(receiver.iter().collect::<Vec<_>>(), [2, 2]);
        assert_alive(&executor);
    });
}

#[test]
fn waits() {
    watchdog::guard("waits at the end", || {
        let executor = executor(2);
        let (sender, receiver) = mpsc::channel();
        let handle = executor.handle();
        at_the_end_of_a_thread(&executor, move || {
            let mut borrowed = 0;
            handle.scope(|scope| {
                scope.spawn(async { borrowed = 1 });
            });
            let one = handle.block_on(handle.spawn(async { 1 }));
            let two = handle.block_on(handle.spawn_blocking(|| 2));
            let local = LocalExecutor::new();
            let four = local.block_on(local.spawn(async { 4 }));
            sender.send(borrowed + one + two + four).unwrap();
        });
        assert_eq!(receiver.iter().collect::<Vec<i32>>(), [8, 8]);
    });
}

/// The last owner of an executor is a thread-local.
#[test]
fn shuts_down() {
    thread_local! {
        static OWNER: RefCell<Option<Executor>> = const { RefCell::new(None) };
    }

    watchdog::guard("shuts down at the end", || {
        let executor = executor(2);
        let handle = executor.handle();
        let waits = executor.spawn(std::future::pending::<()>());
        let owner = thread::spawn(move || {
            OWNER.with(|owner| owner.replace(Some(executor)));
        });
        owner.join().unwrap();
        assert!(handle.is_shut_down());
        assert_eq!(handle.block_on(waits.fallible()), None);
    });
}

/// A worker's thread-locals, dropped when it has ended.
#[test]
fn of_a_worker() {
    thread_local! {
        static LOCAL: AtEnd = AtEnd::default();
    }

    watchdog::guard("end of a worker", || {
        let executor = executor(1);
        let other = tests::exec::executor(1);
        let (sender, receiver) = oneshot::channel();
        let woken = other.spawn(receiver);
        let (refused, late) = mpsc::channel();
        let (mine, theirs) = (executor.handle(), other.handle());
        let task = executor.spawn(async move {
            LOCAL.with(|local| {
                local.0.set(Some(Box::new(move || {
                    // Its own executor is closed, another one is not.
                    let task = mine.spawn(async {}).fallible();
                    refused.send(mine.block_on(task)).unwrap();
                    let number = theirs.block_on(theirs.spawn(async { 7 }));
                    sender.send(number).unwrap();
                })));
            });
        });
        executor.block_on(task);
        executor.shutdown();
        assert_eq!(late.recv(), Ok(None));
        assert_eq!(other.block_on(woken), Ok(7));
    });
}
