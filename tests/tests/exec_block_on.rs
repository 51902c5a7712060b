//! `block_on`: runs any future on the calling thread, wherever that is.

#[path = "exec_block_on/deep.rs"]
mod deep;
#[path = "exec_block_on/nested.rs"]
mod nested;
#[path = "exec_block_on/shutdown.rs"]
mod shutdown;
#[path = "exec_block_on/thread_end.rs"]
mod thread_end;
#[path = "exec_block_on/two.rs"]
mod two;
#[path = "exec_block_on/yielding.rs"]
mod yielding;

use std::cell::Cell;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::mpsc;
use std::task::{Poll, Waker};
use std::thread;

use futures::channel::oneshot;
use tests::exec::executor;
use tests::watchdog;
use ws_executor::{Executor, yield_now};

#[test]
fn the_future_may_borrow_and_need_not_be_send() {
    watchdog::guard("borrowing", || {
        let executor = executor(1);
        let (local, borrowed) = (Rc::new(Cell::new(1)), &mut [0; 3]);
        let output = executor.block_on(async {
            let kept = Rc::clone(&local);
            yield_now().await;
            kept.set(executor.spawn(async { 5 }).await);
            borrowed[1] = kept.get();
            &local
        });
        assert_eq!(output.get(), 5);
        assert_eq!(*borrowed, [0, 5, 0]);
    });
}

#[test]
fn it_runs_on_the_calling_thread() {
    watchdog::guard("calling thread", || {
        let (executor, here) = (executor(1), thread::current().id());
        executor.block_on(async {
            for _ in 0..3 {
                assert_eq!(thread::current().id(), here);
                let there = executor.spawn(async { thread::current().id() });
                assert_ne!(there.await, here);
            }
        });
        let task = executor.spawn(async {
            let here = thread::current().id();
            ws_executor::block_on(async {
                yield_now().await;
                assert_eq!(thread::current().id(), here);
            });
        });
        executor.block_on(task);
    });
}

/// Woken by foreign threads, 2,000 times, at any moment: during the poll, before the
/// thread sleeps, and while it does.
#[test]
fn foreign_wakes_are_not_lost() {
    fn many_wakes(block_on: impl FnOnce(&mut dyn FnMut(&Waker) -> bool)) {
        const WAKES: u32 = 2_000;
        let (wakers, woken) = mpsc::channel::<Waker>();
        let waking = thread::spawn(move || {
            for (number, waker) in woken.iter().enumerate() {
                if number % 3 == 0 {
                    thread::yield_now();
                }
                waker.wake();
            }
        });
        let mut polls = 0;
        block_on(&mut move |waker| {
            polls += 1;
            if polls <= WAKES {
                wakers.send(waker.clone()).unwrap();
            }
            polls > WAKES
        });
        waking.join().unwrap();
    }

    watchdog::guard("foreign wakes", || {
        let executor = executor(2);
        let ready = |done: bool| if done { Poll::Ready(()) } else { Poll::Pending };
        many_wakes(|poll| executor.block_on(poll_fn(|cx| ready(poll(cx.waker())))));
        // And on a worker, where others run meanwhile.
        let task = executor.spawn(async move {
            many_wakes(|poll| ws_executor::block_on(poll_fn(|cx| ready(poll(cx.waker())))));
        });
        executor.block_on(task);
    });
}

/// A waker that is kept from one call wakes nobody in the next, or in vain.
#[test]
fn wakers_of_past_calls_do_no_harm() {
    watchdog::guard("past wakers", || {
        let executor = executor(1);
        let mut past = Vec::new();
        for round in 0..100 {
            let (sender, receiver) = oneshot::channel();
            let mut receiver = Box::pin(receiver);
            let waking = thread::spawn(move || sender.send(round).unwrap());
            let mut wakers = Vec::new();
            let output = executor.block_on(poll_fn(|cx| {
                past.iter().for_each(Waker::wake_by_ref);
                wakers.push(cx.waker().clone());
                receiver.as_mut().poll(cx)
            }));
            assert_eq!(output, Ok(round));
            past = wakers;
            waking.join().unwrap();
        }
        past.into_iter().for_each(Waker::wake);
        assert_eq!(executor.block_on(async { 1 }), 1);
    });
}

#[test]
fn many_threads_at_once() {
    watchdog::guard("many threads", || {
        let executor = executor(2);
        thread::scope(|threads| {
            for thread in 0..16 {
                let executor = &executor;
                threads.spawn(move || {
                    for round in 0..50 {
                        let task = executor.spawn(async move { (thread, round) });
                        assert_eq!(executor.block_on(task), (thread, round));
                    }
                });
            }
        });
    });
}

#[test]
fn it_works_without_its_executor() {
    watchdog::guard("without executor", || {
        let executor = executor(1);
        let handle = executor.handle();
        executor.shutdown();
        let (sender, receiver) = oneshot::channel();
        let waking = thread::spawn(move || sender.send(1).unwrap());
        assert_eq!(handle.block_on(receiver), Ok(1));
        waking.join().unwrap();
        assert_eq!(handle.block_on(handle.spawn(async {}).fallible()), None);
    });
}

/// The budget is for tasks: what `block_on` polls has no end of it.
#[test]
fn it_has_no_budget() {
    watchdog::guard("no budget", || {
        let executor = Executor::builder()
            .spares(0)
            .workers(1)
            .budget(2)
            .build()
            .unwrap();
        executor.block_on(async {
            for _ in 0..1_000 {
                assert!(ws_executor::coop::has_budget());
                ws_executor::coop::consume().await;
            }
        });
        let task = executor.spawn(async {
            ws_executor::coop::consume().await;
            ws_executor::block_on(async {
                for _ in 0..1_000 {
                    assert!(ws_executor::coop::has_budget());
                    ws_executor::coop::consume().await;
                }
            });
            ws_executor::coop::consume().await;
            // What was left of the task's own is left.
            ws_executor::coop::has_budget()
        });
        assert!(!executor.block_on(task));
    });
}
