//! Draining: what is due runs, and all that follows from it, then the executor ends.

use ws_core::sync::thread;
use ws_executor::{Handle, yield_now};

use super::kit::{Count, Event, pair, single};
use super::scenario::Scenario;

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "drain.children",
        about: "a task that is due spawns one, which spawns another: all run",
        faults: &[],
        body: children,
    },
    Scenario {
        name: "drain.one_child",
        about: "a worker that is about to sleep finds the task, and it spawns another",
        faults: &[],
        body: one_child,
    },
    Scenario {
        name: "drain.idle",
        about: "nothing is due any more, and the workers sleep or fall asleep",
        faults: &[38],
        body: idle,
    },
    Scenario {
        name: "drain.wakes",
        about: "tasks that wake each other and yield run to their ends",
        faults: &[],
        body: wakes,
    },
    Scenario {
        name: "drain.pinned",
        about: "pinned tasks that are due run",
        faults: &[],
        body: pinned,
    },
    Scenario {
        name: "drain.nested_block_on",
        about: "a poll that waits for a thread goes on, and what it spawns then runs",
        faults: &[41],
        body: nested_block_on,
    },
    Scenario {
        name: "drain.shared",
        about: "tasks are in the monitor's hands when the poll that spawned them ends: all run",
        faults: &[24],
        body: shared,
    },
    Scenario {
        name: "drain.beside_spare",
        about: "a spare thread polls a task that spawns one when the workers have nothing left: both run",
        faults: &[26],
        body: beside_spare,
    },
    Scenario {
        name: "drain.waiting_tasks",
        about: "tasks that wait are dropped once, beside a wake",
        faults: &[],
        body: waiting_tasks,
    },
    Scenario {
        name: "drain.during_spawn",
        about: "a thread spawns during the drain: each future is dropped once",
        faults: &[42, 43],
        body: during_spawn,
    },
];

/// How often a poll lets others go on.
const PAUSES: usize = 20;

fn children() {
    let executor = pair();
    let runs = Count::new();
    for _ in 0..2 {
        let runs = runs.clone();
        executor
            .spawn(async move {
                runs.add();
                let child = runs.clone();
                Handle::current()
                    .spawn(async move {
                        child.add();
                        let grandchild = child.clone();
                        Handle::current()
                            .spawn(async move { grandchild.add() })
                            .detach();
                    })
                    .detach();
            })
            .detach();
    }
    executor.drain();
    assert_eq!(runs.get(), 6, "a task that was due did not run");
}

fn one_child() {
    let executor = pair();
    let runs = Count::new();
    let child = runs.clone();
    executor
        .spawn(async move {
            Handle::current().spawn(async move { child.add() }).detach();
        })
        .detach();
    executor.drain();
    assert_eq!(runs.get(), 1, "a task that was due did not run");
}

fn idle() {
    let executor = pair();
    executor.block_on(executor.spawn(async {}));
    executor.drain();
}

fn wakes() {
    let executor = pair();
    let (event, ends) = (Event::new(), Count::new());
    {
        let (event, ends) = (event.clone(), ends.clone());
        executor
            .spawn(async move {
                event.wait().await;
                ends.add();
            })
            .detach();
    }
    {
        let ends = ends.clone();
        executor
            .spawn(async move {
                yield_now().await;
                event.set();
                ends.add();
            })
            .detach();
    }
    executor.drain();
    assert_eq!(ends.get(), 2, "a task that was due did not run");
}

fn pinned() {
    let executor = pair();
    let runs = Count::new();
    for worker in [0, 1] {
        let runs = runs.clone();
        executor
            .handle()
            .spawn_pinned(worker, move || async move {
                yield_now().await;
                runs.add();
            })
            .detach();
    }
    executor.drain();
    assert_eq!(runs.get(), 2, "a task that was due did not run");
}

fn nested_block_on() {
    let executor = pair();
    let (begun, event, runs) = (Event::new(), Event::new(), Count::new());
    {
        let (handle, runs) = (executor.handle(), runs.clone());
        let (begun, event) = (begun.clone(), event.clone());
        executor
            .spawn(async move {
                begun.set();
                handle.block_on(event.wait());
                handle.spawn(async move { runs.add() }).detach();
            })
            .detach();
    }
    let other = thread::spawn(move || {
        begun.block();
        event.set();
    });
    executor.drain();
    other.join().unwrap();
    assert_eq!(runs.get(), 1, "the executor ended in the middle of a poll");
}

/// The monitor takes half of these tasks, one by one. Meanwhile the poll ends, and the worker
/// runs the other half.
const CHILDREN: u32 = 16;

/// After so many pauses of a poll the monitor shares what its worker has queued.
const LOOKS: usize = 4;

fn shared() {
    let executor = pair();
    let runs = Count::new();
    let children: Vec<_> = (0..CHILDREN).map(|_| runs.clone()).collect();
    executor
        .spawn(async move {
            for child in children {
                Handle::current().spawn(async move { child.add() }).detach();
            }
            (0..LOOKS).for_each(|_| thread::yield_now());
        })
        .detach();
    executor.drain();
    assert_eq!(runs.get(), CHILDREN, "a task that was due did not run");
}

fn beside_spare() {
    let executor = single();
    let (event, runs) = (Event::new(), Count::new());
    {
        let event = event.clone();
        executor.spawn(async move { event.block() }).detach();
    }
    let child = runs.clone();
    executor
        .spawn(async move {
            event.set();
            (0..PAUSES).for_each(|_| thread::yield_now());
            Handle::current().spawn(async move { child.add() }).detach();
        })
        .detach();
    executor.drain();
    assert_eq!(runs.get(), 1, "the executor ended in the middle of a poll");
}

fn waiting_tasks() {
    let executor = single();
    let (events, drops) = ([Event::new(), Event::new()], Count::new());
    for event in &events {
        let (event, carried) = (event.clone(), drops.on_drop());
        executor
            .spawn(async move {
                event.wait().await;
                drop(carried);
            })
            .detach();
    }
    let other = thread::spawn(move || events[0].set());
    executor.drain();
    other.join().unwrap();
    assert_eq!(drops.get(), 2, "futures were not dropped, or twice");
}

fn during_spawn() {
    let executor = pair();
    let (runs, drops) = (Count::new(), Count::new());
    let other = {
        let (handle, runs, drops) = (executor.handle(), runs.clone(), drops.clone());
        thread::spawn(move || {
            for _ in 0..2 {
                let (runs, carried) = (runs.clone(), drops.on_drop());
                handle
                    .spawn(async move {
                        runs.add();
                        drop(carried);
                    })
                    .detach();
            }
        })
    };
    executor.drain();
    other.join().unwrap();
    assert_eq!(drops.get(), 2, "futures were not dropped, or twice");
    assert!(runs.get() <= 2);
}
