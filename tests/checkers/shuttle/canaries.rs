//! Programs with a planted flaw, each of which the portfolio must find.
//!
//! The flaws are in what the executor is given: a parker, a driver, a future. They
//! are the classical ones, and as well hidden as those of an executor would be.

use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;

use ws_core::sync::atomic::{AtomicBool, Ordering::SeqCst};
use ws_core::sync::{Mutex, thread};
use ws_core::{Driver, Park, ThreadParker, ThreadUnparker, Unpark};

use super::driver::Reactor;
use super::kit::{Count, builder, pair, start};
use super::scenario::Scenario;

pub(crate) const CANARIES: &[Scenario] = &[
    Scenario {
        name: "canary.unpark_looks_first",
        about: "an unparker gives its token only to a thread that has announced its sleep",
        faults: &[],
        body: unpark_looks_first,
    },
    Scenario {
        name: "canary.wake_is_forgotten",
        about: "a driver forgets a wake that comes between two turns",
        faults: &[],
        body: wake_is_forgotten,
    },
    Scenario {
        name: "canary.looks_then_registers",
        about: "a future looks for its event, and leaves its waker only then",
        faults: &[],
        body: looks_then_registers,
    },
    Scenario {
        name: "canary.counts_in_two_steps",
        about: "tasks raise a counter by a load and a store",
        faults: &[],
        body: counts_in_two_steps,
    },
];

/// A parker that loses the token of an unpark that comes early.
struct Forgetful {
    parker: ThreadParker,
    parked: Arc<AtomicBool>,
}

#[derive(Clone)]
struct LooksFirst {
    unparker: ThreadUnparker,
    parked: Arc<AtomicBool>,
}

impl Park for Forgetful {
    type Unparker = LooksFirst;

    fn unparker(&self) -> LooksFirst {
        LooksFirst {
            unparker: self.parker.unparker(),
            parked: Arc::clone(&self.parked),
        }
    }

    fn park(&self) {
        self.parked.store(true, SeqCst);
        self.parker.park();
        self.parked.store(false, SeqCst);
    }

    fn park_timeout(&self, timeout: Duration) {
        self.parker.park_timeout(timeout);
    }
}

impl Unpark for LooksFirst {
    fn unpark(&self) {
        if self.parked.load(SeqCst) {
            self.unparker.unpark();
        }
    }
}

fn unpark_looks_first() {
    let executor = start(builder().workers(2).parker(|_| Forgetful {
        parker: ThreadParker::new(),
        parked: Arc::default(),
    }));
    for _ in 0..2 {
        executor.block_on(executor.spawn(async {}));
    }
}

/// A driver whose wakes reach only the turn under way.
struct ShortMemory {
    reactor: Reactor,
    turning: AtomicBool,
}

impl Driver for ShortMemory {
    fn turn(&self, timeout: Option<Duration>) {
        self.turning.store(true, SeqCst);
        self.reactor.turn(timeout);
        self.turning.store(false, SeqCst);
    }

    fn wake(&self) {
        if self.turning.load(SeqCst) {
            self.reactor.wake();
        }
    }
}

fn wake_is_forgotten() {
    let executor = start(builder().workers(1).driver(ShortMemory {
        reactor: Reactor::new(0),
        turning: AtomicBool::new(false),
    }));
    for _ in 0..2 {
        executor.block_on(executor.spawn(async {}));
    }
}

fn looks_then_registers() {
    let executor = pair();
    let happened = Arc::new(AtomicBool::new(false));
    let waiting = Arc::new(Mutex::new(None::<Waker>));
    let task = {
        let (happened, waiting) = (Arc::clone(&happened), Arc::clone(&waiting));
        executor.spawn(std::future::poll_fn(move |cx| {
            if happened.load(SeqCst) {
                return Poll::Ready(());
            }
            *waiting.lock().unwrap() = Some(cx.waker().clone());
            Poll::Pending
        }))
    };
    let other = thread::spawn(move || {
        happened.store(true, SeqCst);
        let waker = waiting.lock().unwrap().take();
        waker.into_iter().for_each(Waker::wake);
    });
    executor.block_on(task);
    other.join().unwrap();
}

fn counts_in_two_steps() {
    let executor = pair();
    let total = Arc::new(ws_core::sync::atomic::AtomicU32::new(0));
    let ends = Count::new();
    let tasks = [(); 2].map(|()| {
        let (total, ends) = (Arc::clone(&total), ends.clone());
        executor.spawn(async move {
            let before = total.load(SeqCst);
            total.store(before + 1, SeqCst);
            ends.add();
        })
    });
    executor.block_on(async {
        for task in tasks {
            task.await;
        }
    });
    assert_eq!(total.load(SeqCst), ends.get(), "an update is lost");
}
