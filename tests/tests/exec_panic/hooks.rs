//! Panics of what the builder was given: hooks, names, parkers.

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tests::exec::assert_alive;
use tests::{child, watchdog};
use ws_core::ThreadParker;
use ws_executor::{Builder, Executor};

use crate::payloads::Bomb;

/// Builds, which must fail by a panic that says `text`; and all that the threads had,
/// `token` being part of it, must be gone then.
fn assert_build_panics(builder: Builder, token: &Arc<()>, text: &str) {
    let error = builder.build().expect_err("a panic is an error");
    assert!(error.is_panic() && !error.is_thread() && !error.is_invalid());
    assert!(error.to_string().contains(text), "{error}");
    assert!(std::error::Error::source(&error).is_none());
    assert_eq!(Arc::strong_count(token), 1, "all threads have ended");
}

#[test]
fn in_on_thread_start() {
    watchdog::guard("on_thread_start", || {
        for workers in [1, 2, 8] {
            for culprit in 0..workers {
                let token = Arc::new(());
                let kept = Arc::clone(&token);
                let builder = Executor::builder()
                    .spares(0)
                    .workers(workers)
                    .on_thread_start(move |worker| {
                        let _kept = &kept;
                        assert!(worker != culprit, "worker {worker} does not like it");
                    });
                assert_build_panics(builder, &token, "does not like it");
            }
        }
    });
}

#[test]
fn in_on_thread_start_of_all() {
    watchdog::guard("on_thread_start of all", || {
        let token = Arc::new(());
        let kept = Arc::clone(&token);
        let builder = Executor::builder()
            .spares(0)
            .workers(8)
            .on_thread_start(move |worker| {
                let _kept = &kept;
                panic!("worker {worker}");
            });
        assert_build_panics(builder, &token, "worker ");
    });
}

#[test]
fn in_on_thread_stop() {
    watchdog::guard("on_thread_stop", || {
        let ends: [fn(Executor); 3] = [Executor::shutdown, Executor::drain, |executor| {
            assert!(executor.shutdown_timeout(Duration::MAX))
        }];
        for end in ends {
            let stops = Arc::new(AtomicUsize::new(0));
            let counted = Arc::clone(&stops);
            let executor = Executor::builder()
                .spares(0)
                .workers(3)
                .on_thread_stop(move |worker| {
                    counted.fetch_add(1, Ordering::SeqCst);
                    panic!("worker {worker} stops");
                })
                .build()
                .unwrap();
            assert_alive(&executor);
            end(executor);
            assert_eq!(stops.load(Ordering::SeqCst), 3);
        }
    });
}

#[test]
fn in_the_names() {
    watchdog::guard("thread_name", || {
        let token = Arc::new(());
        for culprit in 0..3 {
            let (kept, started) = (Arc::clone(&token), Arc::new(AtomicUsize::new(0)));
            let starts = Arc::clone(&started);
            let builder = Executor::builder()
                .spares(0)
                .workers(3)
                .thread_name(move |worker| {
                    let _kept = &kept;
                    assert!(worker != culprit, "worker {worker} has no name");
                    String::from("a name")
                })
                .on_thread_start(move |_| {
                    starts.fetch_add(1, Ordering::SeqCst);
                });
            assert_build_panics(builder, &token, "has no name");
            assert_eq!(
                started.load(Ordering::SeqCst),
                0,
                "names come before threads"
            );
        }
    });
}

#[test]
fn in_the_parkers() {
    watchdog::guard("parker", || {
        let token = Arc::new(());
        for culprit in 0..3 {
            let kept = Arc::clone(&token);
            let builder = Executor::builder()
                .spares(0)
                .workers(3)
                .parker(move |worker| {
                    let _kept = &kept;
                    assert!(worker != culprit, "worker {worker} has no bed");
                    ThreadParker::new()
                });
            assert_build_panics(builder, &token, "has no bed");
        }
    });
}

/// The payload's own drop panics: it is still an error, and no more.
#[test]
fn with_payloads_that_panic() {
    let ending = child::run_leaking("hooks::with_payloads_that_panic", || {
        let builders = [
            Executor::builder()
                .spares(0)
                .on_thread_start(|_| panic_any(Bomb::new())),
            Executor::builder()
                .spares(0)
                .thread_name(|_| panic_any(Bomb::new())),
            Executor::builder()
                .spares(0)
                .parker(|_| -> ThreadParker { panic_any(Bomb::new()) }),
        ];
        for builder in builders {
            let built = catch_unwind(AssertUnwindSafe(|| builder.workers(2).build()));
            let error = match built {
                Ok(built) => built.expect_err("a panic is an error"),
                Err(payload) => {
                    std::mem::forget(payload);
                    panic!("a payload got out of `build`");
                }
            };
            assert!(error.is_panic(), "{error}");
        }
        let executor = Executor::builder()
            .spares(0)
            .workers(2)
            .on_thread_stop(|_| panic_any(Bomb::new()))
            .build()
            .unwrap();
        assert!(executor.shutdown_timeout(Duration::MAX));
    });
    if let Some(ending) = ending {
        ending.assert_success();
    }
}
