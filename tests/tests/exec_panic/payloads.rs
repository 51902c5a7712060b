//! Payloads of panics whose own drop panics.

use std::mem;
use std::panic::panic_any;
use std::sync::atomic::{AtomicUsize, Ordering};

use tests::child;
use tests::exec::{assert_alive, executor, until};
use ws_executor::LocalExecutor;

/// How many bombs went off.
static BANGS: AtomicUsize = AtomicUsize::new(0);

/// A payload whose drop panics, with a payload of the same kind.
pub(crate) struct Bomb(u32);

impl Bomb {
    pub(crate) fn new() -> Self {
        Self(2)
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        BANGS.fetch_add(1, Ordering::SeqCst);
        match self.0 {
            0 => {}
            more => panic_any(Bomb(more - 1)),
        }
    }
}

/// Waits for one more bang than there were before, at least.
fn await_bang(before: usize) {
    until(|| BANGS.load(Ordering::SeqCst) > before);
}

// The payload of such a payload is leaked, lest it goes on for ever.

#[test]
fn of_tasks_that_nobody_awaits() {
    let ending = child::run_leaking("payloads::of_tasks_that_nobody_awaits", || {
        let executor = executor(2);
        let handle = executor.handle();
        let bangs = || BANGS.load(Ordering::SeqCst);

        let before = bangs();
        executor.spawn(async { panic_any(Bomb::new()) }).detach();
        await_bang(before);
        let before = bangs();
        handle
            .spawn_pinned(0, || async { panic_any(Bomb::new()) })
            .detach();
        await_bang(before);
        let before = bangs();
        handle.spawn_blocking(|| panic_any(Bomb::new())).detach();
        await_bang(before);

        // Dropped with its handle, here; and by a cancel that nobody awaits.
        let before = bangs();
        let task = executor.spawn(async { panic_any(Bomb::new()) });
        until(|| task.is_finished());
        drop(task);
        assert!(bangs() > before);
        let before = bangs();
        let task = executor.spawn(async { panic_any(Bomb::new()) });
        until(|| task.is_finished());
        drop(task.cancel());
        assert!(bangs() > before);

        let local = LocalExecutor::new();
        let before = bangs();
        local.spawn(async { panic_any(Bomb::new()) }).detach();
        assert!(local.try_tick());
        assert!(bangs() > before);

        assert_alive(&executor);
    });
    if let Some(ending) = ending {
        ending.assert_success();
    }
}

/// The awaiter gets the first; the second has to go somewhere.
#[test]
fn of_two_tasks_of_a_scope() {
    let ending = child::run_leaking("payloads::of_two_tasks_of_a_scope", || {
        let executor = executor(2);
        for closure_panics in [false, true] {
            let payload = crate::payload_of(|| {
                executor.scope(|scope| {
                    scope.spawn(async { panic_any(Bomb::new()) });
                    scope.spawn(async { panic_any(Bomb::new()) });
                    if closure_panics {
                        panic_any(Bomb::new());
                    }
                });
            });
            assert!(payload.is::<Bomb>());
            mem::forget(payload);
        }
        assert_alive(&executor);
    });
    if let Some(ending) = ending {
        ending.assert_success();
    }
}

/// In the drop of a future, and of an output.
#[test]
fn of_drops() {
    struct Drops;

    impl Drop for Drops {
        fn drop(&mut self) {
            panic_any(Bomb::new());
        }
    }

    let ending = child::run_leaking("payloads::of_drops", || {
        let executor = executor(1);
        let before = BANGS.load(Ordering::SeqCst);
        executor.spawn(async { Drops }).detach();
        await_bang(before);
        let before = BANGS.load(Ordering::SeqCst);
        let task = executor.spawn(async {
            let _drops = Drops;
            std::future::pending::<()>().await;
        });
        executor.block_on(executor.spawn(async {}));
        executor.block_on(task.cancel());
        assert!(BANGS.load(Ordering::SeqCst) > before);
        let waits = executor.spawn(async {
            let _drops = Drops;
            std::future::pending::<()>().await;
        });
        executor.block_on(executor.spawn(async {}));
        assert_alive(&executor);
        let before = BANGS.load(Ordering::SeqCst);
        executor.shutdown();
        assert!(BANGS.load(Ordering::SeqCst) > before);
        drop(waits);
    });
    if let Some(ending) = ending {
        ending.assert_success();
    }
}
