//! A task that never has to wait lets others run all the same: its budget is finite.
//!
//! All with one worker, where the number of polls is known.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::task::Poll;

use tests::watchdog;
use ws_executor::coop::{consume, has_budget};
use ws_executor::{Executor, LocalExecutor, Task, block_on, yield_now};

/// The budget of a poll unless the builder says otherwise.
const DEFAULT: u32 = 128;

fn one_worker() -> Executor {
    Executor::builder().spares(0).workers(1).build().unwrap()
}

/// Polls `future`, and returns how many polls that took.
async fn count_polls(future: impl Future) -> u32 {
    let mut future = pin!(future);
    let mut polls = 0;
    poll_fn(|cx| {
        polls += 1;
        future.as_mut().poll(cx).map(drop)
    })
    .await;
    polls
}

async fn consume_units(units: u32) {
    for _ in 0..units {
        consume().await;
    }
}

/// How many units there are in the current poll.
async fn units_left() -> u32 {
    let mut units = 0;
    while has_budget() {
        consume().await;
        units += 1;
    }
    units
}

#[test]
fn a_poll_has_128_units() {
    watchdog::guard("default budget", || {
        let executor = one_worker();
        let left = executor.spawn(async {
            let first = units_left().await;
            // The next poll has as many again.
            consume().await;
            (first, units_left().await)
        });
        assert_eq!(executor.block_on(left), (DEFAULT, DEFAULT - 1));
    });
}

#[test]
fn consuming_more_takes_another_poll() {
    watchdog::guard("polls", || {
        for budget in [1, 2, 10, DEFAULT, 5_000] {
            let executor = Executor::builder().spares(0).workers(1).budget(budget);
            let executor = executor.build().unwrap();
            for units in [1, 2, 9, 10, 11, 127, 128, 129, 1_000] {
                let polls = executor.spawn(count_polls(consume_units(units)));
                let polls = executor.block_on(polls);
                assert_eq!(polls, units.div_ceil(budget), "{units} of {budget}");
            }
        }
    });
}

#[test]
fn no_budget_at_all_is_an_error() {
    let error = Executor::builder()
        .spares(0)
        .workers(1)
        .budget(0)
        .build()
        .unwrap_err();
    assert!(error.is_invalid(), "{error}");
}

#[test]
fn outside_of_tasks_it_has_no_end() {
    watchdog::guard("outside", || {
        let executor = one_worker();
        assert!(has_budget());
        let polls = executor.block_on(count_polls(consume_units(10 * DEFAULT)));
        assert_eq!(polls, 1);
        assert_eq!(block_on(count_polls(consume_units(10 * DEFAULT))), 1);
        assert!(has_budget());
    });
}

/// Code that a task calls and that blocks has no budget; the task's is as it was.
#[test]
fn a_nested_block_on_has_none_and_leaves_that_of_the_task() {
    watchdog::guard("nested", || {
        let executor = one_worker();
        let handle = executor.handle();
        let left = executor.spawn(async move {
            consume_units(28).await;
            // Other tasks run on this worker meanwhile, with budgets of their own.
            let other = handle.spawn(async { units_left().await });
            let polls = handle.block_on(count_polls(consume_units(10 * DEFAULT)));
            assert_eq!(polls, 1);
            let other = handle.block_on(other);
            (other, units_left().await)
        });
        assert_eq!(executor.block_on(left), (DEFAULT, DEFAULT - 28));
    });
}

#[test]
fn pinned_and_local_and_scoped_tasks_have_one() {
    watchdog::guard("other kinds", || {
        let executor = one_worker();
        let pinned = executor.handle().spawn_pinned(0, units_left);
        assert_eq!(executor.block_on(pinned), DEFAULT);

        let local = LocalExecutor::new();
        let task = local.spawn(units_left());
        assert_eq!(local.block_on(task), DEFAULT);

        let mut scoped = 0;
        executor.scope(|s| {
            s.spawn(async { scoped = units_left().await });
        });
        assert_eq!(scoped, DEFAULT);
    });
}

/// Tasks that have ended, so that awaiting one is always ready.
fn ended(executor: &Executor, count: usize) -> Vec<Task<()>> {
    let tasks = executor.spawn_many((0..count).map(|_| async {}));
    while !tasks.iter().all(Task::is_finished) {
        std::thread::yield_now();
    }
    tasks
}

#[test]
fn awaiting_a_task_takes_a_unit() {
    watchdog::guard("awaiting", || {
        let executor = one_worker();
        let tasks = ended(&executor, 1_000);
        let polls = executor.spawn(count_polls(async move {
            for task in tasks {
                task.await;
            }
        }));
        assert_eq!(executor.block_on(polls), 1_000_u32.div_ceil(DEFAULT));
        let tasks = ended(&executor, 1_000);
        let polls = executor.spawn(count_polls(async move {
            for task in tasks {
                assert_eq!(task.fallible().await, Some(()));
            }
        }));
        assert_eq!(executor.block_on(polls), 1_000_u32.div_ceil(DEFAULT));
    });
}

/// One that is not ready costs nothing: the unit is for what was done.
#[test]
fn awaiting_in_vain_takes_none() {
    watchdog::guard("in vain", || {
        let executor = one_worker();
        let handle = executor.handle();
        let left = executor.spawn(async move {
            let mut never = handle.spawn(std::future::pending::<()>());
            let once = poll_fn(|cx| Poll::Ready(std::pin::Pin::new(&mut never).poll(cx)));
            assert!(once.await.is_pending());
            units_left().await
        });
        assert_eq!(executor.block_on(left), DEFAULT);
    });
}

/// The point of it: the other task runs as often as the greedy one is polled.
#[test]
fn others_run_beside_one_that_awaits_ready_tasks() {
    watchdog::guard("greedy", || {
        let executor = one_worker();
        let tasks = ended(&executor, 100 * DEFAULT as usize);
        let turns = Arc::new(AtomicU64::new(0));
        let over = Arc::new(AtomicU32::new(0));
        let handle = executor.handle();
        let greedy = executor.spawn({
            let (turns, over) = (Arc::clone(&turns), Arc::clone(&over));
            async move {
                let modest = handle.spawn({
                    let (turns, over) = (Arc::clone(&turns), Arc::clone(&over));
                    async move {
                        while over.load(Ordering::Relaxed) == 0 {
                            turns.fetch_add(1, Ordering::Relaxed);
                            yield_now().await;
                        }
                    }
                });
                for task in tasks {
                    task.await;
                }
                let turns = turns.load(Ordering::Relaxed);
                over.store(1, Ordering::Relaxed);
                modest.await;
                turns
            }
        });
        let turns = executor.block_on(greedy);
        // Once for each budget, but for a few where the injector had its turn first.
        assert!(turns >= 90, "the other task had {turns} turns");
    });
}

/// The same for a loop that only consumes, and for one from outside.
#[test]
fn others_run_beside_one_that_consumes_for_ever() {
    watchdog::guard("for ever", || {
        let executor = one_worker();
        let greedy = executor.spawn(async {
            loop {
                consume().await;
            }
        });
        for n in 0..100 {
            assert_eq!(executor.block_on(executor.spawn(async move { n })), n);
        }
        drop::<Task<()>>(greedy);
    });
}
