//! `scope`: tasks that borrow, and are gone when the call returns.

use std::future::pending;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use futures::channel::oneshot;
use futures::future::join_all;
use tests::drops::{Drops, Item};
use tests::exec::{assert_alive, executor, hold};
use tests::{child, watchdog};
use ws_executor::{Executor, yield_now};

/// Yields often enough for the scope to look whether it may end.
async fn linger() {
    for _ in 0..100 {
        yield_now().await;
    }
}

fn panic_of<R>(code: impl FnOnce() -> R) -> String {
    let payload = match catch_unwind(AssertUnwindSafe(code)) {
        Ok(_) => panic!("the scope should have panicked"),
        Err(payload) => payload,
    };
    match payload.downcast::<&str>() {
        Ok(text) => (*text).to_owned(),
        Err(payload) => *payload.downcast::<String>().expect("a text"),
    }
}

#[test]
fn tasks_borrow_and_change() {
    watchdog::guard("scope", || {
        for workers in [1, 2, 4] {
            let executor = executor(workers);
            let mut numbers = vec![0; 1_000];
            let words = String::from("borrowed");
            let length = executor.scope(|scope| {
                for (index, number) in numbers.iter_mut().enumerate() {
                    scope.spawn(async move {
                        yield_now().await;
                        *number = index;
                    });
                }
                let task = scope.spawn(async { &words });
                executor.block_on(task).len()
            });
            assert_eq!(length, 8);
            assert!(numbers.into_iter().eq(0..1_000));
        }
    });
}

#[test]
fn tasks_spawn_into_their_scope() {
    watchdog::guard("scope in tasks", || {
        let executor = executor(2);
        let count = AtomicUsize::new(0);
        executor.scope(|scope| {
            for _ in 0..10 {
                scope.spawn(async {
                    linger().await;
                    let inner = (0..10).map(|_| {
                        scope.spawn(async {
                            linger().await;
                            count.fetch_add(1, Ordering::Relaxed)
                        })
                    });
                    // Half are awaited, half are not.
                    join_all(inner.step_by(2)).await;
                });
            }
        });
        assert_eq!(count.load(Ordering::Relaxed), 100);
    });
}

/// In a task, on the only worker, three deep.
#[test]
fn scopes_nest_on_a_worker() {
    watchdog::guard("nested scopes", || {
        for workers in [1, 2] {
            let executor = executor(workers);
            let handle = executor.handle();
            let task = executor.spawn(async move {
                let mut leaves = [0; 8];
                handle.scope(|outer| {
                    for half in leaves.chunks_mut(4) {
                        outer.spawn(async {
                            handle.scope(|middle| {
                                for pair in half.chunks_mut(2) {
                                    middle.spawn(async {
                                        handle.scope(|inner| {
                                            for leaf in pair {
                                                inner.spawn(async { *leaf += 1 });
                                            }
                                        });
                                    });
                                }
                            });
                        });
                    }
                });
                leaves
            });
            assert_eq!(executor.block_on(task), [1; 8]);
        }
    });
}

/// Takes its time, and says when it has ended.
async fn work(item: Item, ended: &mut bool) {
    linger().await;
    *ended = true;
    drop(item);
}

#[test]
fn a_task_that_nobody_awaits_still_ends_first() {
    watchdog::guard("unawaited", || {
        let executor = executor(2);
        let drops = Drops::of(2);
        let mut ended = [false; 2];
        executor.scope(|scope| {
            let [dropped, kept] = &mut ended;
            drop(scope.spawn(work(drops.item(0), dropped)));
            let _kept = scope.spawn(work(drops.item(1), kept));
        });
        assert_eq!(ended, [true; 2]);
        drops.assert_each_once();
    });
}

#[test]
fn a_panic_of_the_closure_waits_for_all_tasks() {
    watchdog::guard("closure panics", || {
        let executor = executor(2);
        let mut done = [false; 10];
        let text = panic_of(|| {
            executor.scope(|scope| {
                for done in &mut done {
                    scope.spawn(async {
                        linger().await;
                        *done = true;
                    });
                }
                panic!("the closure");
            })
        });
        assert_eq!(text, "the closure");
        assert_eq!(done, [true; 10]);
        assert_alive(&executor);
    });
}

#[test]
fn a_panic_of_a_task_waits_for_all_others() {
    watchdog::guard("task panics", || {
        for workers in [1, 2] {
            let executor = executor(workers);
            for culprit in 0..5 {
                let mut done = [0; 5];
                let text = panic_of(|| {
                    executor.scope(|scope| {
                        for (number, done) in done.iter_mut().enumerate() {
                            scope.spawn(async move {
                                assert!(number != culprit, "task {number}");
                                linger().await;
                                *done = 1;
                            });
                        }
                    })
                });
                assert_eq!(text, format!("task {culprit}"));
                assert_eq!(done.iter().sum::<i32>(), 4);
            }
            assert_alive(&executor);
        }
    });
}

#[test]
fn the_first_panic_wins_and_that_of_the_closure_before_all() {
    watchdog::guard("first panic", || {
        // On one worker they come one after the other.
        let executor = executor(1);
        let panics = |drops: &Drops, closure_panics: bool| {
            let two = AssertUnwindSafe(|| {
                executor.scope(|scope| {
                    for number in 0..2 {
                        let item = drops.item(number);
                        scope.spawn(async move { panic_any(item) });
                        executor.block_on(executor.spawn(async {}));
                    }
                    if closure_panics {
                        panic_any(drops.item(2));
                    }
                });
            });
            let payload = catch_unwind(two).unwrap_err();
            let item = payload.downcast::<Item>().unwrap();
            item.number
        };
        let drops = Drops::of(2);
        assert_eq!(panics(&drops, false), 0);
        drops.assert_each_once();
        let drops = Drops::of(3);
        assert_eq!(panics(&drops, true), 2);
        drops.assert_each_once();
    });
}

#[test]
fn an_awaited_panic_is_the_awaiters() {
    watchdog::guard("awaited panic", || {
        let executor = executor(2);
        let text = executor.scope(|scope| {
            let task = scope.spawn(async { panic!("awaited") });
            panic_of(|| executor.block_on(task))
        });
        assert_eq!(text, "awaited");
        // By a sister, who lets it pass.
        let text = panic_of(|| {
            executor.scope(|scope| {
                let task = scope.spawn(async { panic!("passed on") });
                scope.spawn(task);
            })
        });
        assert_eq!(text, "passed on");
    });
}

#[test]
fn outputs_that_nobody_takes_are_dropped_before_the_end() {
    watchdog::guard("outputs", || {
        let executor = executor(2);
        let drops = Drops::of(3);
        executor.scope(|scope| {
            drop(scope.spawn(async { drops.item(0) }));
            let kept = scope.spawn(async { drops.item(1) });
            drop(executor.block_on(scope.spawn(async { drops.item(2) })));
            assert_eq!(drops.count(2), 1);
            drop(kept);
        });
        drops.assert_each_once();
        let text =
            panic_of(|| executor.scope(|scope| drop(scope.spawn(async { drops.panicking(0) }))));
        assert_eq!(text, "item 0 panics in its drop");
        assert_alive(&executor);
    });
}

/// The future is gone when the scope ends, whatever its drop does.
#[test]
fn a_panic_in_the_drop_of_a_future_does_not_keep_the_scope() {
    watchdog::guard("future's drop", || {
        let executor = executor(2);
        let drops = Drops::of(1);
        executor.scope(|scope| {
            let item = drops.panicking(0);
            // The item is the future's, and dropped with it after its end.
            scope.spawn(futures::future::poll_fn(move |_| {
                let _kept = &item;
                std::task::Poll::Ready(())
            }));
        });
        drops.assert_each_once();
        assert_alive(&executor);
    });
}

#[test]
fn on_an_executor_that_was_shut_down_the_futures_are_dropped() {
    watchdog::guard("scope, shut down", || {
        let executor = executor(2);
        let handle = executor.handle();
        executor.shutdown();
        let drops = Drops::of(2);
        let text = panic_of(|| {
            handle.scope(|scope| {
                let [first, second] = [0, 1].map(|number| drops.item(number));
                scope.spawn(async { drop(first) });
                let task = scope.spawn(async { drop(second) });
                handle.block_on(task);
            })
        });
        assert!(text.contains("its executor was shut down"), "{text}");
        drops.assert_each_once();
    });
}

/// Tasks that wait, that are queued, and one that is being polled.
#[test]
fn a_shutdown_ends_the_scope() {
    watchdog::guard("scope and shutdown", || {
        for workers in [1, 2] {
            let mut executor = Some(executor(workers));
            let handle = executor.as_ref().map(Executor::handle).unwrap();
            let drops = Drops::of(20);
            handle.scope(|scope| {
                for number in 0..10 {
                    let item = drops.item(number);
                    scope.spawn(async move {
                        let _item = item;
                        pending::<()>().await;
                    });
                }
                handle.block_on(handle.spawn(async {}));
                let held = hold(executor.as_ref().unwrap());
                for number in 10..20 {
                    let item = drops.item(number);
                    scope.spawn(async move { drop(item) });
                }
                held.until_closed(handle.clone());
                executor.take().into_iter().for_each(Executor::shutdown);
            });
            drops.assert_each_once();
        }
    });
}

/// A scope that waits on a thread outside, for tasks that foreign threads wake.
#[test]
fn a_scope_waits_for_foreign_wakes() {
    watchdog::guard("scope and wakes", || {
        let executor = executor(2);
        let sum = Mutex::new(0);
        let (senders, receivers): (Vec<_>, Vec<_>) =
            (0..100).map(|_| oneshot::channel::<u32>()).unzip();
        let waking = thread::spawn(move || {
            for (number, sender) in (0..).zip(senders) {
                sender.send(number).unwrap();
            }
        });
        executor.scope(|scope| {
            for receiver in receivers {
                scope.spawn(async {
                    let number = receiver.await.unwrap();
                    *sum.lock().unwrap() += number;
                });
            }
        });
        waking.join().unwrap();
        assert_eq!(sum.into_inner().unwrap(), 4950);
    });
}

/// What is borrowed is freed right after the scope, whose handles are leaked: the tasks
/// must not come back to it. For the address sanitizer.
#[test]
fn leaked_handles_do_not_end_it_early() {
    let ending = child::run_leaking("scope::leaked_handles_do_not_end_it_early", || {
        let executor = executor(2);
        for round in 0..500 {
            let mut numbers: Vec<Box<usize>> = (0..8).map(Box::new).collect();
            let panics = round % 4 == 0;
            let result = catch_unwind(AssertUnwindSafe(|| {
                executor.scope(|scope| {
                    for number in &mut numbers {
                        mem::forget(scope.spawn(async {
                            yield_now().await;
                            **number += 1;
                            number
                        }));
                    }
                    if panics {
                        resume_unwind(Box::new(round));
                    }
                });
            }));
            assert_eq!(result.is_err(), panics);
            assert_eq!(numbers.into_iter().map(|number| *number).sum::<usize>(), 36);
        }
    });
    if let Some(ending) = ending {
        ending.assert_success();
    }
}
