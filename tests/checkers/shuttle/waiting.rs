//! Calls that wait: `block_on`, nested or not, and scopes.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use ws_core::sync::thread;
use ws_executor::{Handle, yield_now};

use super::kit::{Count, Event, builder, pair, single, start};
use super::scenario::Scenario;

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "waiting.nested_outside",
        about: "`block_on` in `block_on` on a thread that is no worker: no token is stolen",
        faults: &[39],
        body: nested_outside,
    },
    Scenario {
        name: "waiting.nested_on_single",
        about: "a task blocks on its child, and its only worker runs that on top",
        faults: &[41],
        body: nested_on_single,
    },
    Scenario {
        name: "waiting.nested_twice",
        about: "a task blocks on one that blocks, as deep as there is room on one worker",
        faults: &[41],
        body: nested_twice,
    },
    Scenario {
        name: "waiting.nested_too_deep",
        about: "more calls, one inside the other, than two workers have room for: a panic",
        faults: &[41],
        body: nested_too_deep,
    },
    Scenario {
        name: "waiting.nested_woken_from_outside",
        about: "a worker waits inside a poll for a thread, and runs others meanwhile",
        faults: &[39, 41],
        body: nested_woken_from_outside,
    },
    Scenario {
        name: "waiting.nested_then_blocks",
        about: "a task that yielded during a nested wait runs although the waiting poll blocks",
        faults: &[25, 41],
        body: nested_then_blocks,
    },
    Scenario {
        name: "waiting.nested_yields",
        about: "a future that yields on the only worker lets a task, and then a pinned one, run",
        faults: &[29, 41],
        body: nested_yields,
    },
    Scenario {
        name: "waiting.nested_yields_at_the_end",
        about: "the same after a shutdown: a future that is queued there is dropped",
        faults: &[29, 40],
        body: nested_yields_at_the_end,
    },
    Scenario {
        name: "waiting.scope",
        about: "a scope from outside: its tasks borrow, and are gone when it returns",
        faults: &[49],
        body: scope,
    },
    Scenario {
        name: "waiting.scope_panics",
        about: "a task of a scope panics: the others end first, then the scope panics",
        faults: &[9],
        body: scope_panics,
    },
    Scenario {
        name: "waiting.scope_on_worker",
        about: "a scope inside a task of a single worker",
        faults: &[41, 49],
        body: scope_on_worker,
    },
];

fn nested_outside() {
    let executor = pair();
    let event = Event::new();
    let setting = {
        let event = event.clone();
        executor.spawn(async move { event.set() })
    };
    executor.block_on(async {
        let inner = executor.block_on(executor.spawn(async { 1 }));
        assert_eq!(inner, 1);
        event.wait().await;
        setting.await;
    });
}

fn nested_on_single() {
    let executor = single();
    let handle = executor.handle();
    let task = executor.spawn(async move { handle.block_on(handle.spawn(async { 1 })) });
    assert_eq!(executor.block_on(task), 1);
}

/// Each call waits for a task that calls, and so on. Counts those that end without a panic.
///
/// Panics are caught where they come from: all threads are one to the lock of a shuttle, and
/// one that unwinds in the midst of others would poison theirs.
fn nest(handle: Handle, depth: u32) -> u32 {
    if depth == 0 {
        return 0;
    }
    let inner = handle.clone();
    let task = handle.spawn(async move { nest(inner, depth - 1) });
    unless_too_deep(|| handle.block_on(task)).map_or(0, |calls| calls + 1)
}

/// Runs `code`, which may panic because it is nested too deeply.
fn unless_too_deep<R>(code: impl FnOnce() -> R) -> Option<R> {
    let payload = match catch_unwind(AssertUnwindSafe(code)) {
        Ok(result) => return Some(result),
        Err(payload) => payload,
    };
    let text = payload.downcast_ref::<String>();
    if !text.is_some_and(|text| text.contains("nested too deeply")) {
        resume_unwind(payload);
    }
    None
}

fn nested_twice() {
    let executor = pair();
    let handle = executor.handle();
    let task = executor.spawn(async move { nest(handle, 2) });
    assert_eq!(executor.block_on(task), 2);
}

fn nested_too_deep() {
    // Spare threads would take the calls that are too many.
    let executor = start(builder().workers(2).spares(0));
    let handle = executor.handle();
    // There is room for two on each worker. Which one is too many depends on who comes first:
    // a task may run before the call that is going to wait for it.
    let task = executor.spawn(async move { nest(handle, 6) });
    assert!(executor.block_on(task) < 6);
    executor.block_on(executor.spawn(async {}));
}

fn nested_woken_from_outside() {
    let executor = pair();
    let event = Event::new();
    let waiting = {
        let (handle, event) = (executor.handle(), event.clone());
        executor.spawn(async move { handle.block_on(event.wait()) })
    };
    let other = thread::spawn(move || event.set());
    let plain = executor.spawn(async {});
    executor.block_on(async {
        plain.await;
        waiting.await;
    });
    other.join().unwrap();
}

fn nested_then_blocks() {
    let executor = pair();
    let (gate, done) = (Event::new(), Event::new());
    let waiting = {
        let (handle, gate, done) = (executor.handle(), gate.clone(), done.clone());
        executor.spawn(async move {
            handle.block_on(gate.wait());
            done.block();
        })
    };
    let yielding = executor.spawn(async move {
        gate.set();
        yield_now().await;
        done.set();
    });
    executor.block_on(async {
        yielding.await;
        waiting.await;
    });
}

/// Looks again and again, as what polls a flag does.
async fn yield_until(event: &Event) {
    while !event.is_set() {
        yield_now().await;
    }
}

fn nested_yields() {
    let executor = single();
    let handle = executor.handle();
    let task = executor.spawn(async move {
        let (first, second) = (Event::new(), Event::new());
        let sets = first.clone();
        handle.spawn(async move { sets.set() }).detach();
        handle.block_on(yield_until(&first));
        let sets = second.clone();
        let pinned = handle.spawn_pinned(0, || async move { sets.set() });
        handle.block_on(yield_until(&second));
        pinned.await;
    });
    executor.block_on(task);
}

/// Sets its event when it is dropped.
struct SetsOnDrop(Event);

impl Drop for SetsOnDrop {
    fn drop(&mut self) {
        self.0.set();
    }
}

fn nested_yields_at_the_end() {
    let executor = single();
    let (handle, ended) = (executor.handle(), Event::new());
    let end = ended.clone();
    executor
        .handle()
        .spawn(async move {
            let event = Event::new();
            let sets = SetsOnDrop(event.clone());
            // The thread that closes the executor does not drop what is pinned.
            let queued = handle.spawn_pinned(0, || async move {
                let _sets = sets;
                std::future::pending::<()>().await;
            });
            executor.shutdown();
            handle.block_on(yield_until(&event));
            drop(queued);
            end.set();
        })
        .detach();
    ended.block();
}

fn scope() {
    let executor = pair();
    let (counts, drops) = ([Count::new(), Count::new()], Count::new());
    let sum = executor.scope(|scope| {
        let tasks = counts.each_ref().map(|count| {
            let carried = drops.on_drop();
            scope.spawn(async move {
                yield_now().await;
                count.add();
                drop(carried);
                1
            })
        });
        let [first, second] = tasks;
        drop(second);
        executor.block_on(first)
    });
    assert_eq!(sum, 1);
    assert_eq!(drops.get(), 2, "a task outlives its scope");
    assert_eq!(counts.map(|count| count.get()), [1, 1]);
}

fn scope_panics() {
    let executor = pair();
    let drops = Count::new();
    let ended = catch_unwind(AssertUnwindSafe(|| {
        executor.scope(|scope| {
            for panics in [true, false] {
                let carried = drops.on_drop();
                scope.spawn(async move {
                    yield_now().await;
                    if panics {
                        // Without the panic hook, which is shuttle's here.
                        resume_unwind(Box::new("planned"));
                    }
                    drop(carried);
                });
            }
        });
    }));
    let payload = ended.expect_err("the panic goes on");
    assert_eq!(payload.downcast_ref(), Some(&"planned"));
    assert_eq!(drops.get(), 2, "a task outlives its scope");
}

fn scope_on_worker() {
    let executor = single();
    let handle = executor.handle();
    let task = executor.spawn(async move {
        let count = Count::new();
        handle.scope(|scope| {
            for _ in 0..2 {
                scope.spawn(async {
                    yield_now().await;
                    count.add();
                });
            }
        });
        count.get()
    });
    assert_eq!(executor.block_on(task), 2);
}
