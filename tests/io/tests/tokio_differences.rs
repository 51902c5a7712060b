//! What differs from tokio's own runtime; the list in the documentation of the adapter.
#![cfg(target_os = "linux")]

use std::pin::pin;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use futures::poll;
use io_tests::tokio_kinds::{both, runtime, start};
use tests::watchdog::guard;
use tokio::sync::{Mutex, Semaphore, broadcast, mpsc, oneshot};
use tokio::task::block_in_place;
use tokio::time::{advance, pause, sleep};
use ws_executor::{Executor, coop};
use ws_io_adapters::tokio::attach;

const SECOND: Duration = Duration::from_secs(1);

/// `advance` yields once, and a yield of tokio's does not turn the reactor here.
#[test]
fn advance_may_return_before_timers_have_fired() {
    guard("advance", || {
        let returns_early = || {
            let executor = start(1);
            executor.block_on(executor.spawn(async {
                pause();
                let mut timer = pin!(sleep(SECOND));
                let _ = poll!(&mut timer);
                advance(2 * SECOND).await;
                poll!(&mut timer).is_pending()
            }))
        };
        // A look at the reactor may come in between, now and then.
        while !returns_early() {}
    });
}

#[test]
fn a_sleep_of_zero_waits_for_the_timers() {
    async fn advance_and_sleep() {
        pause();
        let mut timer = pin!(sleep(SECOND));
        let _ = poll!(&mut timer);
        advance(2 * SECOND).await;
        sleep(Duration::ZERO).await;
        assert!(poll!(&mut timer).is_ready());
    }

    guard("sleep of zero", || {
        for workers in [1, 2] {
            let executor = start(workers);
            executor.block_on(executor.spawn(advance_and_sleep()));
            start(workers).block_on(advance_and_sleep());
        }
    });
}

/// tokio moves a paused clock when its runtime has nothing to do, and knows nothing of what
/// other threads do.
#[test]
fn a_paused_clock_moves_beside_busy_threads() {
    guard("paused clock", || {
        let executor = start(2);
        executor.block_on(async {
            pause();
            let sleeps = executor.spawn(sleep(3600 * SECOND));
            // On a runtime of tokio's this would take for ever.
            tests::exec::until(|| sleeps.is_finished());
        });
    });
}

/// Where tokio's own tasks panic, they block the thread.
#[test]
fn blocking_calls_block_the_worker() {
    both("blocking calls", |executor| {
        let task = executor.spawn(async {
            let (sender, mut receiver) = mpsc::channel(1);
            let sends = thread::spawn(move || (0..3).all(|n| sender.blocking_send(n).is_ok()));
            (0..3).for_each(|n| assert_eq!(receiver.blocking_recv(), Some(n)));
            assert!(sends.join().unwrap());

            let (sender, mut receiver) = mpsc::channel(1);
            let receives =
                thread::spawn(move || (0..3).all(|n| receiver.blocking_recv() == Some(n)));
            (0..3).for_each(|n| sender.blocking_send(n).unwrap());
            assert!(receives.join().unwrap());

            let (sender, receiver) = oneshot::channel();
            let sends = thread::spawn(move || sender.send(1));
            assert_eq!(receiver.blocking_recv(), Ok(1));
            sends.join().unwrap().unwrap();

            let (sender, mut receiver) = broadcast::channel(1);
            let sends = thread::spawn(move || sender.send(1));
            assert_eq!(receiver.blocking_recv(), Ok(1));
            sends.join().unwrap().unwrap();

            let semaphore = Arc::new(Semaphore::new(0));
            let adds = Arc::clone(&semaphore);
            let adds = thread::spawn(move || adds.add_permits(1));
            drop(semaphore.blocking_acquire().unwrap());
            adds.join().unwrap();

            drop(Mutex::new(()).blocking_lock());
        });
        executor.block_on(task);
    });
}

#[test]
fn blocking_calls_panic_in_tasks_of_tokio() {
    both("blocking calls of tokio", |executor| {
        let task = executor.spawn(async {
            let receives = tokio::spawn(async {
                let (_sender, mut receiver) = mpsc::channel::<()>(1);
                receiver.blocking_recv()
            });
            assert!(receives.await.unwrap_err().is_panic());
            let acquires = tokio::spawn(async {
                drop(Semaphore::new(1).blocking_acquire());
            });
            assert!(acquires.await.unwrap_err().is_panic());
        });
        executor.block_on(task);
    });
}

/// The runtime of an executor is a current-thread one.
#[test]
fn block_in_place_panics_in_tasks_of_tokio() {
    guard("in place", || {
        let in_tasks = |executor: &Executor| {
            executor.block_on(executor.spawn(async {
                assert_eq!(block_in_place(|| 1), 1, "in a task of ours");
                tokio::spawn(async { block_in_place(|| 2) }).await
            }))
        };
        assert!(in_tasks(&start(2)).unwrap_err().is_panic());
        let runtime = runtime();
        let builder = Executor::builder().workers(2);
        let attached = attach(builder, runtime.handle().clone()).unwrap();
        assert_eq!(in_tasks(&attached).unwrap(), 2);
    });
}

/// The budget of `ws_executor` is for tasks alone.
#[test]
fn our_own_budget_has_no_end_in_block_on() {
    both("our own budget", |executor| {
        executor.block_on(async {
            let consumes = async {
                for _ in 0..10_000 {
                    coop::consume().await;
                }
            };
            assert!(poll!(pin!(consumes)).is_ready(), "in a single poll");
        });
        let task = executor.spawn(async {
            let consumes = async {
                for _ in 0..10_000 {
                    coop::consume().await;
                }
            };
            poll!(pin!(consumes)).is_ready()
        });
        assert!(!executor.block_on(task));
    });
}
