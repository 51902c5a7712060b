//! Fork-join: joins, closures of scopes, and computations, on two workers.
//!
//! A fork that nobody steals is taken back, so what could go wrong is a wait that does not
//! end: for a thief, for a helper that sleeps, for a task that was not handed over. shuttle
//! reports that as a deadlock. Panics are left to the tests with real threads: shuttle's
//! threads share one, so that all of them seem to panic while one of them unwinds.

use ws_core::sync::thread;
use ws_executor::{Executor, Handle, join};

use super::kit::{Count, Event, pair, single};
use super::scenario::Scenario;

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "forks.join",
        about: "a join in a task: both closures run once, and their results are there",
        faults: &[],
        body: in_a_task,
    },
    Scenario {
        name: "forks.tree",
        about: "joins in joins, two levels deep",
        faults: &[],
        body: tree,
    },
    Scenario {
        name: "forks.must_be_stolen",
        about: "the first closure waits for the second, which only a thief can run",
        faults: &[],
        body: must_be_stolen,
    },
    Scenario {
        name: "forks.helper_must_wake",
        about: "a worker waits for its fork, asleep, while the thief forks and needs it",
        faults: &[],
        body: helper_must_wake,
    },
    Scenario {
        name: "forks.two_joins",
        about: "two tasks join at the same time",
        faults: &[],
        body: two_joins,
    },
    Scenario {
        name: "forks.outside",
        about: "two threads outside call join",
        faults: &[],
        body: outside,
    },
    Scenario {
        name: "forks.install",
        about: "a thread outside installs a closure while the executor is shut down",
        faults: &[42],
        body: install,
    },
    Scenario {
        name: "forks.hands_over",
        about: "a join waits for a task that its worker had in the LIFO slot",
        faults: &[25],
        body: hands_over,
    },
    Scenario {
        name: "forks.scope",
        about: "closures of a scope in a task, one of which runs one more",
        faults: &[49],
        body: scope,
    },
    Scenario {
        name: "forks.scope_outside",
        about: "closures of a scope on a thread that is no worker",
        faults: &[49],
        body: scope_outside,
    },
    Scenario {
        name: "forks.scope_of_tasks_and_closures",
        about: "a task of a scope runs a closure of that scope",
        faults: &[49],
        body: scope_of_tasks_and_closures,
    },
    Scenario {
        name: "forks.nested_block_on",
        about: "a closure of a join blocks on a task, on a single worker",
        faults: &[41],
        body: nested_block_on,
    },
    Scenario {
        name: "forks.compute",
        about: "two computations, one of which is cancelled",
        faults: &[],
        body: compute,
    },
    Scenario {
        name: "forks.shutdown",
        about: "a shutdown while a join runs and a computation waits",
        faults: &[42, 43],
        body: shutdown,
    },
    Scenario {
        name: "forks.drain",
        about: "a drain while a task joins, and a computation waits: both end first",
        faults: &[],
        body: drain,
    },
];

/// Runs `code` in a task of `executor`.
fn run<R: Send + 'static>(executor: &Executor, code: impl FnOnce() -> R + Send + 'static) -> R {
    executor.block_on(executor.spawn(async move { code() }))
}

fn in_a_task() {
    let count = Count::new();
    let executor = pair();
    let sum = {
        let count = count.clone();
        run(&executor, move || {
            let one = || {
                count.add();
                1
            };
            join(one, one)
        })
    };
    assert_eq!(sum, (1, 1));
    assert_eq!(count.get(), 2);
}

fn tree() {
    fn leaves(depth: u32) -> u32 {
        if depth == 0 {
            return 1;
        }
        let (left, right) = join(|| leaves(depth - 1), || leaves(depth - 1));
        left + right
    }

    assert_eq!(run(&pair(), || leaves(2)), 4);
}

fn must_be_stolen() {
    let executor = pair();
    run(&executor, || {
        let event = Event::new();
        join(|| event.block(), || event.set());
    });
}

fn helper_must_wake() {
    let executor = pair();
    run(&executor, || {
        let (stolen, inner) = (Event::new(), Event::new());
        join(
            || stolen.block(),
            || {
                stolen.set();
                // The other worker waits for this one, and has to steal from it.
                join(|| inner.block(), || inner.set());
            },
        );
    });
}

fn two_joins() {
    let executor = pair();
    let tasks = [1, 2].map(|n| executor.spawn(async move { join(|| n, || n * 10) }));
    let [one, two] = tasks;
    let results = executor.block_on(async { (one.await, two.await) });
    assert_eq!(results, ((1, 10), (2, 20)));
}

fn outside() {
    let executor = pair();
    let handle = executor.handle();
    let other = thread::spawn(move || handle.join(|| 1, || 2));
    assert_eq!(executor.join(|| 3, || 4), (3, 4));
    assert_eq!(other.join().unwrap(), (1, 2));
}

fn install() {
    let executor = single();
    let count = Count::new();
    let other = {
        let (handle, count) = (executor.handle(), count.clone());
        thread::spawn(move || {
            handle.install(|| {
                count.add();
                // A call, on the worker; on this thread, if that is where the closure runs.
                handle.install(|| count.add());
            });
        })
    };
    executor.shutdown();
    other.join().unwrap();
    assert_eq!(count.get(), 2, "a closure ran never, or twice");
}

fn hands_over() {
    let executor = pair();
    run(&executor, || {
        let event = Event::new();
        let setting = event.clone();
        Handle::current()
            .spawn(async move { setting.set() })
            .detach();
        join(|| event.block(), || ());
    });
}

fn scope() {
    let count = Count::new();
    let executor = pair();
    let handle = executor.handle();
    let counting = count.clone();
    run(&executor, move || {
        let borrowed = &counting;
        handle.scope(|s| {
            s.run(|s| {
                borrowed.add();
                s.run(|_| borrowed.add());
            });
            s.run(|_| borrowed.add());
        });
        assert_eq!(borrowed.get(), 3);
    });
    assert_eq!(count.get(), 3);
}

fn scope_outside() {
    let count = Count::new();
    pair().scope(|s| {
        s.run(|s| {
            count.add();
            s.run(|_| count.add());
        });
        s.run(|_| count.add());
    });
    assert_eq!(count.get(), 3);
}

fn scope_of_tasks_and_closures() {
    let count = Count::new();
    let executor = pair();
    let handle = executor.handle();
    let counting = count.clone();
    run(&executor, move || {
        let borrowed = &counting;
        handle.scope(|s| {
            s.spawn(async move { s.run(|_| borrowed.add()) });
            s.run(|_| borrowed.add());
        });
    });
    assert_eq!(count.get(), 2);
}

fn nested_block_on() {
    let executor = single();
    let handle = executor.handle();
    let sum = run(&executor, move || {
        join(|| handle.block_on(handle.spawn(async { 1 })), || 2)
    });
    assert_eq!(sum, (1, 2));
}

fn compute() {
    let count = Count::new();
    let executor = pair();
    let handle = executor.handle();
    let (first, second) = (count.clone(), count.clone());
    executor.block_on(async {
        let cancelled = handle.compute(move || first.add());
        let kept = handle.compute(move || {
            second.add();
            5
        });
        drop(cancelled);
        assert_eq!(kept.await, 5);
    });
    drop(executor);
    assert!((1..=2).contains(&count.get()));
}

fn shutdown() {
    let (ended, dropped) = (Count::new(), Count::new());
    let executor = pair();
    let handle = executor.handle();
    let task = {
        let ended = ended.clone();
        executor.spawn(async move {
            join(|| (), || ());
            ended.add();
        })
    };
    let token = dropped.on_drop();
    let computation = handle.compute(move || drop(token));
    executor.shutdown();
    assert_eq!(dropped.get(), 1, "the computation is gone, run or not");
    assert!(ended.get() <= 1);
    drop((task, computation));
    assert_eq!(handle.join(|| 1, || 2), (1, 2), "without workers");
}

fn drain() {
    let count = Count::new();
    let executor = pair();
    let handle = executor.handle();
    let (joining, computing) = (count.clone(), count.clone());
    executor
        .spawn(async move {
            join(|| joining.add(), || joining.add());
        })
        .detach();
    handle.compute(move || computing.add()).detach();
    executor.drain();
    assert_eq!(count.get(), 3);
}
