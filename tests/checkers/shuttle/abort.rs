//! Aborting: no task waits for ever afterwards, and each future is dropped once.

use ws_core::sync::{Mutex, thread};
use ws_executor::{LocalExecutor, yield_now};

use super::kit::{Count, Event, OnDrop, pair, single};
use super::scenario::Scenario;

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "abort.first_poll",
        about: "a task is aborted before, during or after its first poll, and then would wait",
        faults: &[],
        body: first_poll,
    },
    Scenario {
        name: "abort.waiting",
        about: "a task that waits is aborted, while it is woken",
        faults: &[],
        body: waiting,
    },
    Scenario {
        name: "abort.detached",
        about: "a detached task is aborted by two handles, one of them made late",
        faults: &[],
        body: detached,
    },
    Scenario {
        name: "abort.completion",
        about: "a task is aborted while it ends: it keeps its output, or is cancelled",
        faults: &[],
        body: completion,
    },
    Scenario {
        name: "abort.pinned",
        about: "a pinned task is aborted from outside",
        faults: &[],
        body: pinned,
    },
    Scenario {
        name: "abort.local",
        about: "a task of a local executor is aborted from another thread",
        faults: &[],
        body: local,
    },
    Scenario {
        name: "abort.shutdown",
        about: "a task is aborted while its executor is shut down",
        faults: &[42, 43],
        body: shutdown,
    },
    Scenario {
        name: "abort.under_a_lock",
        about: "the aborting thread holds a lock that the future takes in its drop",
        faults: &[],
        body: under_a_lock,
    },
];

/// Waits for ever.
async fn wait(_carried: OnDrop) {
    Event::new().wait().await;
}

fn first_poll() {
    let executor = single();
    let drops = Count::new();
    let task = executor.spawn(wait(drops.on_drop()));
    task.abort();
    assert_eq!(executor.block_on(task.fallible()), None);
    assert_eq!(drops.get(), 1);
}

fn waiting() {
    let executor = pair();
    let (event, drops) = (Event::new(), Count::new());
    let task = {
        let (event, carried) = (event.clone(), drops.on_drop());
        executor.spawn(async move {
            event.wait().await;
            yield_now().await;
            wait(carried).await;
        })
    };
    let other = thread::spawn(move || event.set());
    let handle = task.abort_handle();
    handle.abort();
    assert_eq!(executor.block_on(task.fallible()), None);
    assert!(handle.is_finished());
    assert_eq!(drops.get(), 1);
    other.join().unwrap();
}

fn detached() {
    let executor = single();
    let drops = Count::new();
    let task = executor.spawn(wait(drops.on_drop()));
    let early = task.abort_handle();
    executor.block_on(executor.spawn(async {}));
    let late = task.abort_handle();
    task.detach();
    let other = thread::spawn(move || early.abort());
    late.abort();
    executor.wait_idle();
    assert_eq!(drops.get(), 1, "the task was not aborted");
    other.join().unwrap();
}

fn completion() {
    let executor = pair();
    let ends = Count::new();
    let end = ends.clone();
    let task = executor.spawn(async move {
        yield_now().await;
        end.add();
    });
    let handle = task.abort_handle();
    let other = thread::spawn(move || handle.abort());
    let output = executor.block_on(task.fallible());
    assert_eq!(output.is_some(), ends.get() == 1);
    other.join().unwrap();
}

fn pinned() {
    let executor = pair();
    let drops = Count::new();
    let carried = drops.on_drop();
    let task = executor.handle().spawn_pinned(1, || wait(carried));
    task.abort();
    assert_eq!(executor.block_on(task.fallible()), None);
    assert_eq!(drops.get(), 1);
}

fn local() {
    let executor = LocalExecutor::new();
    let drops = Count::new();
    let task = executor.spawn(wait(drops.on_drop()));
    let handle = task.abort_handle();
    let other = thread::spawn(move || handle.abort());
    assert_eq!(executor.block_on(task.fallible()), None);
    assert_eq!(drops.get(), 1);
    other.join().unwrap();
}

fn shutdown() {
    let executor = single();
    let drops = Count::new();
    let task = executor.spawn(wait(drops.on_drop()));
    let handle = task.abort_handle();
    let other = thread::spawn(move || handle.abort());
    executor.shutdown();
    other.join().unwrap();
    assert!(task.is_finished());
    assert_eq!(drops.get(), 1, "the future was not dropped, or twice");
}

/// Takes a lock in its drop.
struct Takes(std::sync::Arc<Mutex<u32>>);

impl Drop for Takes {
    fn drop(&mut self) {
        *self.0.lock().unwrap() += 1;
    }
}

fn under_a_lock() {
    let executor = single();
    let lock = std::sync::Arc::new(Mutex::new(0));
    let (event, takes) = (Event::new(), Takes(lock.clone()));
    let task = executor.spawn(async move {
        event.wait().await;
        drop(takes);
    });
    let held = lock.lock().unwrap();
    task.abort();
    drop(held);
    assert_eq!(executor.block_on(task.fallible()), None);
    assert_eq!(*lock.lock().unwrap(), 1);
}
