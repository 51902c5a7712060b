//! Tasks that stay on one worker.

use std::rc::Rc;

use ws_core::sync::thread;

use super::kit::{Count, Event, pair, single};
use super::scenario::Scenario;

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "pinned.spawn",
        about: "a task for a worker that is asleep, falls asleep, or is awake",
        faults: &[33],
        body: spawn,
    },
    Scenario {
        name: "pinned.woken",
        about: "a pinned task is woken by a thread, and stays where it is",
        faults: &[33],
        body: woken,
    },
    Scenario {
        name: "pinned.shutdown",
        about: "a shutdown beside a wake: the future is dropped once, on its worker",
        faults: &[14, 42],
        body: shutdown,
    },
    Scenario {
        name: "pinned.shutdown_of_two",
        about: "the same beside another worker, which must not drop it",
        faults: &[14, 42],
        body: shutdown_of_two,
    },
    Scenario {
        name: "pinned.cancel",
        about: "a pinned task is cancelled beside a wake and a shutdown",
        faults: &[14, 42],
        body: cancel,
    },
];

fn spawn() {
    let executor = pair();
    let tasks = [0, 1].map(|worker| {
        executor
            .handle()
            .spawn_pinned(worker, move || async move { worker })
    });
    executor.block_on(async {
        for (worker, task) in tasks.into_iter().enumerate() {
            assert_eq!(task.await, worker);
        }
    });
}

fn woken() {
    let executor = pair();
    let event = Event::new();
    let task = {
        let event = event.clone();
        executor.handle().spawn_pinned(1, move || async move {
            let here = (Rc::new(1), thread::current().id());
            event.wait().await;
            assert_eq!(thread::current().id(), here.1, "it moved");
            *here.0
        })
    };
    let other = thread::spawn(move || event.set());
    assert_eq!(executor.block_on(task), 1);
    other.join().unwrap();
}

/// A future's content that must be dropped on the thread that made it.
struct Homebound {
    thread: thread::ThreadId,
    strays: Count,
    drops: Count,
}

impl Homebound {
    fn new(strays: Count, drops: Count) -> Self {
        Self {
            thread: thread::current().id(),
            strays,
            drops,
        }
    }
}

impl Drop for Homebound {
    fn drop(&mut self) {
        self.drops.add();
        if thread::current().id() != self.thread {
            self.strays.add();
        }
    }
}

/// A pinned task that waits for an event, and what becomes of its content.
struct Pinned {
    event: Event,
    built: Count,
    strays: Count,
    drops: Count,
}

impl Pinned {
    fn spawn(executor: &ws_executor::Executor) -> (Self, ws_executor::Task<()>) {
        let pinned = Self {
            event: Event::new(),
            built: Count::new(),
            strays: Count::new(),
            drops: Count::new(),
        };
        let (event, built) = (pinned.event.clone(), pinned.built.clone());
        let (strays, drops) = (pinned.strays.clone(), pinned.drops.clone());
        let waits = Event::new();
        let begun = waits.clone();
        let task = executor.handle().spawn_pinned(0, move || {
            built.add();
            let content = Homebound::new(strays, drops);
            async move {
                begun.set();
                event.wait().await;
                drop(content);
            }
        });
        // From here on its future is on its worker.
        waits.block();
        (pinned, task)
    }

    fn check(&self) {
        assert_eq!(self.drops.get(), self.built.get(), "not dropped once");
        assert_eq!(self.strays.get(), 0, "dropped on another thread");
    }
}

fn shutdown() {
    shut_down(single());
}

/// The last worker that ends drops what is refused: here, most likely the other one.
fn shutdown_of_two() {
    shut_down(pair());
}

fn shut_down(executor: ws_executor::Executor) {
    let (pinned, task) = Pinned::spawn(&executor);
    let event = pinned.event.clone();
    let other = thread::spawn(move || event.set());
    executor.shutdown();
    assert!(task.is_finished());
    other.join().unwrap();
    pinned.check();
}

fn cancel() {
    let executor = single();
    let (pinned, task) = Pinned::spawn(&executor);
    let event = pinned.event.clone();
    let other = thread::spawn(move || {
        drop(task);
        event.set();
    });
    executor.shutdown();
    other.join().unwrap();
    pinned.check();
}
