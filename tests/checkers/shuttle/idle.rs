//! `wait_idle`: returns when no task is left, and not before.

use ws_core::sync::thread;
use ws_executor::{Handle, yield_now};

use super::kit::{Count, Event, pair, single};
use super::scenario::Scenario;

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "idle.nothing",
        about: "there is no task, and the workers sleep or fall asleep",
        faults: &[],
        body: nothing,
    },
    Scenario {
        name: "idle.children",
        about: "a task spawns one, which yields: both have ended",
        faults: &[],
        body: children,
    },
    Scenario {
        name: "idle.shared",
        about: "tasks are in the monitor's hands when the poll that spawned them ends: the wait is for them",
        faults: &[24],
        body: shared,
    },
    Scenario {
        name: "idle.waiting_task",
        about: "a task waits for a thread: the wait is for that task, too",
        faults: &[],
        body: waiting_task,
    },
    Scenario {
        name: "idle.pinned",
        about: "a pinned task is woken by another one",
        faults: &[],
        body: pinned,
    },
    Scenario {
        name: "idle.two_waiters",
        about: "two threads spawn and wait, again and again: each one's own task has ended",
        faults: &[],
        body: two_waiters,
    },
    Scenario {
        name: "idle.cancelled",
        about: "the handle of a task that waits is dropped meanwhile",
        faults: &[],
        body: cancelled,
    },
    Scenario {
        name: "idle.shutdown",
        about: "the executor is shut down while a task waits for ever",
        faults: &[],
        body: shutdown,
    },
    Scenario {
        name: "idle.shutdown_waits_for_the_waiter",
        about: "the drop of a task waits for the thread that waits for the tasks",
        faults: &[],
        body: shutdown_waits_for_the_waiter,
    },
];

fn nothing() {
    let executor = pair();
    executor.wait_idle();
    executor.block_on(executor.spawn(async {}));
    executor.wait_idle();
}

fn children() {
    let executor = pair();
    let ends = Count::new();
    let parent = ends.clone();
    executor
        .spawn(async move {
            let child = parent.clone();
            let spawned = async move {
                yield_now().await;
                child.add();
            };
            Handle::current().spawn(spawned).detach();
            parent.add();
        })
        .detach();
    executor.wait_idle();
    assert_eq!(ends.get(), 2, "the wait was over too early");
}

/// As `drain.shared`.
fn shared() {
    const CHILDREN: u32 = 16;
    const LOOKS: usize = 4;
    let executor = pair();
    let ends = Count::new();
    let children: Vec<_> = (0..CHILDREN).map(|_| ends.clone()).collect();
    executor
        .spawn(async move {
            for child in children {
                Handle::current().spawn(async move { child.add() }).detach();
            }
            (0..LOOKS).for_each(|_| thread::yield_now());
        })
        .detach();
    executor.wait_idle();
    assert_eq!(ends.get(), CHILDREN, "the wait was over too early");
}

fn waiting_task() {
    let executor = single();
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
    let other = thread::spawn(move || event.set());
    executor.wait_idle();
    assert_eq!(ends.get(), 1, "the wait was over too early");
    other.join().unwrap();
}

fn pinned() {
    let executor = pair();
    let (event, ends) = (Event::new(), Count::new());
    {
        let (event, ends) = (event.clone(), ends.clone());
        let waits = move || async move {
            event.wait().await;
            ends.add();
        };
        executor.handle().spawn_pinned(1, waits).detach();
    }
    executor.spawn(async move { event.set() }).detach();
    executor.wait_idle();
    assert_eq!(ends.get(), 1, "the wait was over too early");
}

fn two_waiters() {
    let executor = single();
    let wait = |handle: Handle| {
        for _ in 0..3 {
            let ends = Count::new();
            let end = ends.clone();
            handle.spawn(async move { end.add() }).detach();
            handle.wait_idle();
            assert_eq!(ends.get(), 1, "the wait was over too early");
        }
    };
    let handle = executor.handle();
    let other = thread::spawn(move || wait(handle));
    wait(executor.handle());
    other.join().unwrap();
}

fn cancelled() {
    let executor = single();
    let (event, drops) = (Event::new(), Count::new());
    let task = {
        let (event, carried) = (event.clone(), drops.on_drop());
        executor.spawn(async move {
            event.wait().await;
            drop(carried);
        })
    };
    let other = thread::spawn(move || drop(task));
    executor.wait_idle();
    assert_eq!(drops.get(), 1, "the wait was over too early");
    other.join().unwrap();
}

fn shutdown() {
    let executor = pair();
    let event = Event::new();
    let waits = event.clone();
    executor.spawn(async move { waits.wait().await }).detach();
    let handle = executor.handle();
    let other = thread::spawn(move || handle.wait_idle());
    executor.shutdown();
    other.join().unwrap();
}

/// Waits for a thread in its drop.
struct Joins(Option<thread::JoinHandle<()>>);

impl Drop for Joins {
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(|it| it.join().unwrap());
    }
}

fn shutdown_waits_for_the_waiter() {
    let executor = single();
    let handle = executor.handle();
    let joins = Joins(Some(thread::spawn(move || handle.wait_idle())));
    executor
        .spawn(async move {
            let _joins = joins;
            std::future::pending::<()>().await;
        })
        .detach();
    executor.shutdown();
}
