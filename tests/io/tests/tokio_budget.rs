//! tokio's cooperative budget in `block_on`: a loop over resources that are always ready ends
//! when the timeout around it says so.
#![cfg(target_os = "linux")]

use std::convert::Infallible;
use std::future::poll_fn;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc as std_mpsc;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use io_tests::tokio_kinds::{both, runtime, start};
use tests::watchdog::guard;
use tokio::runtime::Builder;
use tokio::sync::{Mutex, Semaphore, broadcast, mpsc, watch};
use tokio::task::coop::{has_budget_remaining, poll_proceed};
use tokio::task::{LocalSet, block_in_place};
use tokio::time::timeout;
use ws_executor::{Executor, Handle, LocalExecutor};

const SOON: Duration = Duration::from_millis(5);

async fn receive_for_ever() -> Infallible {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    loop {
        sender.send(()).unwrap();
        receiver.recv().await.unwrap();
    }
}

async fn listen_for_ever() -> Infallible {
    let (sender, mut receiver) = broadcast::channel(2);
    loop {
        sender.send(()).unwrap();
        receiver.recv().await.unwrap();
    }
}

async fn watch_for_ever() -> Infallible {
    let (sender, mut receiver) = watch::channel(());
    loop {
        sender.send(()).unwrap();
        receiver.changed().await.unwrap();
    }
}

async fn acquire_for_ever() -> Infallible {
    let semaphore = Semaphore::new(1);
    loop {
        drop(semaphore.acquire().await.unwrap());
    }
}

async fn lock_for_ever() -> Infallible {
    let mutex = Mutex::new(());
    loop {
        drop(mutex.lock().await);
    }
}

/// Is ready when the timer has fired, if the loop lets it.
async fn cut_off() {
    assert!(timeout(SOON, receive_for_ever()).await.is_err());
}

/// More than one poll has the budget for; nothing but the budget wakes it.
async fn receive_many() {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    for n in 0..1000 {
        sender.send(n).unwrap();
        assert_eq!(receiver.recv().await, Some(n));
    }
}

/// Uses the budget up, and counts; gives up where it seems to have no end.
fn use_up() -> usize {
    let mut cx = Context::from_waker(Waker::noop());
    let mut units = 0;
    while units < 1000 {
        match poll_proceed(&mut cx) {
            Poll::Ready(unit) => unit.made_progress(),
            Poll::Pending => break,
        }
        units += 1;
    }
    units
}

/// What an ordinary thread has.
const NO_END: usize = 1000;

/// How much a future can do in each of three polls.
async fn units_of_polls() -> Vec<usize> {
    let mut units = Vec::new();
    poll_fn(|cx| {
        assert!(has_budget_remaining());
        units.push(use_up());
        assert!(!has_budget_remaining());
        cx.waker().wake_by_ref();
        match units.len() {
            3 => Poll::Ready(()),
            _ => Poll::Pending,
        }
    })
    .await;
    units
}

#[test]
fn a_timeout_ends_a_loop_over_ready_resources() {
    both("resources", |executor| {
        executor.block_on(async {
            assert!(timeout(SOON, receive_for_ever()).await.is_err());
            assert!(timeout(SOON, listen_for_ever()).await.is_err());
            assert!(timeout(SOON, watch_for_ever()).await.is_err());
            assert!(timeout(SOON, acquire_for_ever()).await.is_err());
            assert!(timeout(SOON, lock_for_ever()).await.is_err());
        });
    });
}

#[test]
fn every_poll_has_the_budget_of_a_task() {
    both("units", |executor| {
        let outside = executor.block_on(units_of_polls());
        let nested = executor.block_on(async { executor.block_on(units_of_polls()) });
        let in_a_task = executor.block_on(executor.spawn(units_of_polls()));
        let handle = executor.handle();
        let nested_in_a_task = executor.spawn(async move { handle.block_on(units_of_polls()) });
        let nested_in_a_task = executor.block_on(nested_in_a_task);
        for units in [outside, nested, in_a_task, nested_in_a_task] {
            assert_eq!(units, [127; 3]);
        }
        let theirs = executor.block_on(async { tokio::spawn(units_of_polls()).await.unwrap() });
        assert_eq!(theirs, [128; 3]);
    });
}

#[test]
fn a_thread_has_its_own_budget_back() {
    both("afterwards", |executor| {
        executor.block_on(units_of_polls());
        assert_eq!(use_up(), NO_END);
        let panics = || executor.block_on(async { panic!("after {} units", use_up()) });
        catch_unwind(AssertUnwindSafe(panics)).unwrap_err();
        assert_eq!(use_up(), NO_END);
        // What is left to the outer future is not what the inner one has used.
        let left = executor.block_on(poll_fn(|cx| {
            for _ in 0..27 {
                let _ = poll_proceed(cx).map(|unit| unit.made_progress());
            }
            executor.block_on(units_of_polls());
            Poll::Ready(use_up())
        }));
        assert_eq!(left, 100);
    });
}

#[test]
fn nested_calls() {
    both("nested", |executor| {
        executor.block_on(async {
            executor.block_on(async { executor.block_on(cut_off()) });
            cut_off().await;
        });
        let handle = executor.handle();
        let task = executor.spawn(async move {
            handle.block_on(cut_off());
            handle.block_on(async { handle.block_on(cut_off()) });
            cut_off().await;
        });
        executor.block_on(task);
    });
}

#[test]
fn threads_of_the_program() {
    both("threads", |executor| {
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| (0..3).for_each(|_| executor.block_on(cut_off())));
            }
        });
    });
}

#[test]
fn after_a_panic() {
    both("panic", |executor| {
        for _ in 0..3 {
            let panics = || {
                executor.block_on(async {
                    cut_off().await;
                    executor.block_on(async { panic!("after {} units", use_up()) })
                })
            };
            catch_unwind(AssertUnwindSafe(panics)).unwrap_err();
            executor.block_on(cut_off());
        }
    });
}

#[test]
fn executors_in_turns() {
    guard("in turns", || {
        let (one, runtime) = (start(1), runtime());
        let builder = Executor::builder().workers(1);
        let two = ws_io_adapters::tokio::attach(builder, runtime.handle().clone()).unwrap();
        for _ in 0..3 {
            one.block_on(cut_off());
            two.block_on(cut_off());
            one.block_on(async {
                two.block_on(async {
                    one.block_on(cut_off());
                    cut_off().await;
                });
                cut_off().await;
            });
        }
        // What a thread has keeps no executor.
        drop(one);
        two.block_on(cut_off());
    });
}

/// The only worker computes, so that a spare thread polls the task that waits.
#[test]
fn on_a_spare_thread() {
    guard("spare thread", || {
        let executor = start(1);
        let handle = executor.handle();
        let (computes, is_computing) = std_mpsc::channel();
        let (end, ends) = std_mpsc::channel::<()>();
        let computation = executor.handle().compute(move || {
            computes.send(()).unwrap();
            ends.recv().unwrap();
        });
        is_computing.recv().unwrap();
        let (done, is_done) = std_mpsc::channel();
        let task = executor.spawn(async move {
            let name = thread::current().name().map(str::to_owned);
            let units = handle.block_on(units_of_polls());
            handle.block_on(cut_off());
            done.send((name, units)).unwrap();
        });
        let (name, units) = is_done.recv().unwrap();
        assert_eq!(name.as_deref(), Some("ws-spare"));
        assert_eq!(units, [127; 3]);
        end.send(()).unwrap();
        executor.block_on(async { (task.await, computation.await) });
    });
}

/// Where a runtime runs on the thread, no other one can be entered, and what has used its budget
/// up is woken only when that runtime goes on.
#[test]
fn inside_runtimes_of_the_program() {
    both("runtimes", |executor| {
        let single = Builder::new_current_thread().enable_all().build().unwrap();
        let check = || {
            executor.block_on(receive_many());
            executor.block_on(cut_off());
            assert_eq!(executor.block_on(units_of_polls()), [127; 3]);
            executor.block_on(async { executor.block_on(cut_off()) });
        };
        single.block_on(async { check() });
        single.handle().block_on(async { check() });
        single.block_on(LocalSet::new().run_until(async { check() }));
        let units = single.block_on(poll_fn(|cx| {
            for _ in 0..28 {
                let _ = poll_proceed(cx).map(|unit| unit.made_progress());
            }
            check();
            Poll::Ready(use_up())
        }));
        assert_eq!(units, 100, "what the runtime's future has left");

        let multi = runtime();
        multi.block_on(async { check() });
        let handle = executor.handle();
        let check = move || {
            handle.block_on(receive_many());
            handle.block_on(cut_off());
            assert_eq!(handle.block_on(units_of_polls()), [127; 3]);
        };
        let again = check.clone();
        multi
            .block_on(multi.spawn(async move { again() }))
            .expect("in a task");
        let again = check.clone();
        let handle = executor.handle();
        let yields = move || handle.block_on(tokio::task::yield_now());
        multi
            .block_on(multi.spawn(async move { block_in_place(|| (again(), yields())) }))
            .expect("in place");
        multi
            .block_on(multi.spawn_blocking(check))
            .expect("on a thread for blocking");
    });
}

/// An executor that knows nothing of tokio, called inside one that does.
#[test]
fn executors_without_a_driver_inside() {
    both("inside", |executor| {
        let plain = Executor::builder().workers(1).build().unwrap();
        executor.block_on(async {
            assert_eq!(use_up(), 127);
            let local = LocalExecutor::new();
            local.block_on(cut_off());
            local.block_on(local.spawn(cut_off()));
            assert_eq!(local.block_on(units_of_polls()), [127; 3]);
            plain.block_on(cut_off());
            plain.block_on(async { local.block_on(cut_off()) });
            assert_eq!(plain.block_on(units_of_polls()), [127; 3]);
            ws_executor::block_on(cut_off());
            assert_eq!(use_up(), 0, "the outer future's is as it was");
        });
    });
}

/// Calls the closure when its thread ends.
struct AtTheEnd(Option<Box<dyn FnOnce()>>);

impl Drop for AtTheEnd {
    fn drop(&mut self) {
        if let Some(call) = self.0.take() {
            call();
        }
    }
}

thread_local! {
    static AT_THE_END: std::cell::RefCell<AtTheEnd> = const { std::cell::RefCell::new(AtTheEnd(None)) };
}

fn at_the_end(call: impl FnOnce() + 'static) {
    AT_THE_END.with(|end| end.borrow_mut().0 = Some(Box::new(call)));
}

/// Counts panics with this text, from now on, on all threads.
fn count_panics(text: &'static str) -> Arc<AtomicUsize> {
    let count = Arc::new(AtomicUsize::new(0));
    let counts = Arc::clone(&count);
    let hook = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if info.to_string().contains(text) {
            counts.fetch_add(1, Ordering::Relaxed);
        }
        hook(info);
    }));
    count
}

#[test]
fn at_the_end_of_a_thread() {
    let without_context = count_panics("context thread-local variable has been destroyed");
    both("thread end", |executor| {
        let (send, receive) = std_mpsc::channel();
        let call = |handle: Handle, send: std_mpsc::Sender<_>| {
            move || {
                handle.block_on(receive_many());
                let has_context = handle.block_on(async {
                    let has_context = tokio::runtime::Handle::try_current().is_ok();
                    if has_context {
                        cut_off().await;
                    }
                    has_context
                });
                send.send(has_context).unwrap();
            }
        };
        // Thread-locals end in the order in which they were first used, or in the reverse one,
        // as the system likes.
        let (handle, first) = (executor.handle(), send.clone());
        thread::spawn(move || {
            at_the_end(call(handle.clone(), first));
            handle.block_on(cut_off());
        });
        let (handle, last) = (executor.handle(), send.clone());
        thread::spawn(move || {
            handle.block_on(cut_off());
            at_the_end(call(handle, last));
        });
        let (handle, only) = (executor.handle(), send.clone());
        thread::spawn(move || at_the_end(call(handle, only)));
        // tokio may have a context without what a budget is made with.
        let handle = executor.handle();
        thread::spawn(move || {
            let _ = tokio::runtime::Handle::try_current();
            at_the_end(move || {
                handle.block_on(receive_many());
                send.send(true).unwrap();
            });
            drop(LocalSet::new());
        });
        assert_eq!(receive.iter().count(), 4);
    });
    // Contained or not, it would be the program's panic hook that hears of it.
    assert_eq!(without_context.load(Ordering::Relaxed), 0);
}

/// The loop and the timer are side by side, and the timer is a task.
#[test]
fn a_loop_beside_others() {
    both("beside", |executor| {
        executor.block_on(async {
            let mut ended = pin!(executor.spawn(tokio::time::sleep(SOON)));
            let mut endless = pin!(receive_for_ever());
            poll_fn(|cx| match ended.as_mut().poll(cx) {
                Poll::Ready(()) => Poll::Ready(()),
                Poll::Pending => endless.as_mut().poll(cx).map(|never| match never {}),
            })
            .await;
        });
    });
}
