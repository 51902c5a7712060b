//! Workers that are futures, hosted by a loop that polls them.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake};

use ws_core::sync::thread::{self, ThreadId};
use ws_core::sync::{Condvar, Mutex};
use ws_executor::{Executor, Handle, HostedWorker, yield_now};

use super::kit::{Count, Event, OnDrop, builder, start};
use super::scenario::Scenario;

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "hosted.tasks",
        about: "tasks are spawned one at a time, from outside and inside",
        faults: &[33],
        body: tasks,
    },
    Scenario {
        name: "hosted.blocked",
        about: "a poll blocks over its child, which another hosted worker runs",
        faults: &[24, 25],
        body: blocked,
    },
    Scenario {
        name: "hosted.blocks_between_polls",
        about: "a host blocks between two polls of its worker over a task that yielded there, alone",
        faults: &[25],
        body: blocks_between_polls,
    },
    Scenario {
        name: "hosted.waits_inside",
        about: "a task waits in a nested `block_on` for a thread, which wakes its worker",
        faults: &[33],
        body: waits_inside,
    },
    Scenario {
        name: "hosted.spare",
        about: "a poll blocks the only worker over a task: a spare thread polls that in the context of a host",
        faults: &[26],
        body: spare,
    },
    Scenario {
        name: "hosted.shutdown",
        about: "a shutdown meets hosted workers that sleep or fall asleep",
        faults: &[38, 42],
        body: shutdown,
    },
    Scenario {
        name: "hosted.drain",
        about: "what is due runs, then hosted workers end",
        faults: &[],
        body: drain,
    },
    Scenario {
        name: "hosted.drain_beside_dropped",
        about: "a host gives its worker up during a drain: the other one ends the drain",
        faults: &[],
        body: drain_beside_dropped,
    },
    Scenario {
        name: "hosted.dropped_early",
        about: "a host gives its worker up: the other one runs everything",
        faults: &[33],
        body: dropped_early,
    },
    Scenario {
        name: "hosted.pinned_beside_dropped",
        about: "a pinned task comes when its worker is given up; its drop spawns another one",
        faults: &[],
        body: pinned_beside_dropped,
    },
];

/// What a host sleeps on.
struct Bell {
    host: ThreadId,
    state: Mutex<BellState>,
    changed: Condvar,
}

#[derive(Default)]
struct BellState {
    is_rung: bool,
    /// Whether the host's own thread rang it: its worker has more to do.
    is_rung_inside: bool,
}

impl Bell {
    /// A bell for the calling thread.
    fn new() -> Self {
        Self {
            host: thread::current().id(),
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// Waits until it is rung.
    fn wait(&self) {
        let mut state = self.state.lock().unwrap();
        while !state.is_rung {
            state = self.changed.wait(state).unwrap();
        }
        *state = BellState::default();
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        let mut state = self.state.lock().unwrap();
        state.is_rung = true;
        state.is_rung_inside |= thread::current().id() == self.host;
        self.changed.notify_one();
    }
}

/// Polls the worker until it ends, or returns `Pending` the `patience`th time.
fn host(worker: HostedWorker, patience: usize) {
    host_beside(worker, patience, || ());
}

/// As [`host`], with something that the host does while its worker has more to do.
fn host_beside(worker: HostedWorker, patience: usize, beside: impl Fn()) {
    let bell = Arc::new(Bell::new());
    let waker = Arc::clone(&bell).into();
    let mut worker = pin!(worker);
    for _ in 0..patience {
        if worker.as_mut().poll(&mut Context::from_waker(&waker)) == Poll::Ready(()) {
            return;
        }
        let is_turn = bell.state.lock().unwrap().is_rung_inside;
        if is_turn {
            beside();
        }
        bell.wait();
    }
}

fn hosted() -> Executor {
    let builder = builder().workers(2);
    start(builder.host(|worker| host(worker, usize::MAX)))
}

fn tasks() {
    let executor = hosted();
    for number in 0..2 {
        let task =
            executor.spawn(async move { Handle::current().spawn(async move { number }).await });
        assert_eq!(executor.block_on(task), number);
    }
}

fn blocked() {
    let executor = hosted();
    let event = Event::new();
    let task = executor.spawn(async move {
        let child = event.clone();
        Handle::current().spawn(async move { child.set() }).detach();
        event.block();
    });
    executor.block_on(task);
}

/// More often than a hosted worker polls tasks before its host has its turn.
const YIELDS: usize = 100;

/// The first host that has its turn although its worker has more to do blocks.
fn blocks_between_polls() {
    let (done, once) = (Event::new(), Mutex::new(true));
    let builder = {
        let done = done.clone();
        builder().workers(2).host(move |worker| {
            host_beside(worker, usize::MAX, || {
                if std::mem::take(&mut *once.lock().unwrap()) {
                    done.block();
                }
            });
        })
    };
    let executor = start(builder);
    let task = executor.spawn(async move {
        for _ in 0..YIELDS {
            yield_now().await;
        }
        done.set();
    });
    executor.block_on(task);
}

fn waits_inside() {
    let executor = hosted();
    let event = Event::new();
    let task = executor.spawn({
        let event = event.clone();
        async move { Handle::current().block_on(event.wait()) }
    });
    let other = thread::spawn(move || event.set());
    executor.block_on(task);
    other.join().unwrap();
}

fn spare() {
    let hosts = Arc::new(Mutex::new(Vec::new()));
    let builder = {
        let hosts = Arc::clone(&hosts);
        builder().workers(1).host(move |worker| {
            hosts.lock().unwrap().push(thread::current().id());
            host(worker, usize::MAX);
        })
    };
    let executor = start(builder);
    let event = Event::new();
    let blocking = {
        let event = event.clone();
        executor.spawn(async move { event.block() })
    };
    let setting = executor.spawn(async move {
        event.set();
        hosts.lock().unwrap().contains(&thread::current().id())
    });
    let is_in_host = executor.block_on(async {
        blocking.await;
        setting.await
    });
    assert!(is_in_host, "a task was polled outside of a host");
}

fn shutdown() {
    let executor = hosted();
    let (event, drops) = (Event::new(), Count::new());
    let carried = drops.on_drop();
    let task = {
        let event = event.clone();
        executor.spawn(async move {
            event.wait().await;
            drop(carried);
        })
    };
    let other = thread::spawn(move || event.set());
    executor.shutdown();
    other.join().unwrap();
    assert!(task.is_finished());
    assert_eq!(drops.get(), 1, "the future was not dropped, or twice");
}

fn drain() {
    let executor = hosted();
    let runs = Count::new();
    for _ in 0..2 {
        let runs = runs.clone();
        executor
            .spawn(async move {
                runs.add();
                Handle::current().spawn(async move { runs.add() }).detach();
            })
            .detach();
    }
    executor.drain();
    assert_eq!(runs.get(), 4, "a task that was due did not run");
}

/// One of the two hosts gives up after the first `Pending`.
fn half_hosted() -> Executor {
    let first = Mutex::new(true);
    start(builder().workers(2).host(move |worker| {
        let impatient = std::mem::take(&mut *first.lock().unwrap());
        host(worker, if impatient { 1 } else { usize::MAX });
    }))
}

fn drain_beside_dropped() {
    half_hosted().drain();
}

fn dropped_early() {
    let executor = half_hosted();
    for number in 0..3 {
        let task = executor.spawn(async move { number });
        // A task that the lost worker had is cancelled with it.
        let outcome = executor.block_on(task.fallible());
        assert!(matches!(outcome, None | Some(_)));
    }
}

/// Spawns a task in its drop.
struct Spawns(Handle, Option<OnDrop>);

impl Drop for Spawns {
    fn drop(&mut self) {
        let carried = self.1.take();
        self.0.spawn(async move { drop(carried) }).detach();
    }
}

fn pinned_beside_dropped() {
    let executor = half_hosted();
    let drops = Count::new();
    for worker in [0, 1, 0, 1, 0, 1] {
        let spawns = Spawns(executor.handle(), Some(drops.on_drop()));
        let pinned = move || {
            drop(spawns);
            async {}
        };
        executor.handle().spawn_pinned(worker, pinned).detach();
    }
    executor.shutdown();
    assert_eq!(drops.get(), 6, "futures were not dropped, or twice");
}
