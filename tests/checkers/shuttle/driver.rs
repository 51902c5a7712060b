//! Workers that sleep in a driver: a fake one, with events that threads fire.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;

use ws_core::sync::{Condvar, Mutex, thread};
use ws_core::{Driver, Park, ThreadParker, ThreadUnparker, Unpark};
use ws_executor::{DriverHandoff, Executor, Handle, yield_now};

use super::kit::{Event, builder, start};
use super::scenario::Scenario;

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "driver.event",
        about: "a task waits for an event that a thread fires",
        faults: &[67],
        body: event,
    },
    Scenario {
        name: "driver.spawn",
        about: "a task is spawned while the only worker sleeps in the driver, or goes there",
        faults: &[33, 67],
        body: spawn,
    },
    Scenario {
        name: "driver.nested_block_on",
        about: "a worker sleeps in the driver inside a nested `block_on`, and is woken from it",
        faults: &[39, 41],
        body: nested_block_on,
    },
    Scenario {
        name: "driver.left_alone",
        about: "a poll blocks over an event: the monitor sends another worker to the driver",
        faults: &[24],
        body: left_alone,
    },
    Scenario {
        name: "driver.left_alone_eager",
        about: "a poll blocks over an event: another worker has taken the driver over",
        faults: &[24],
        body: left_alone_eager,
    },
    Scenario {
        name: "driver.left_alone_after_turns",
        about: "a busy worker turns the driver now and then, before its poll blocks over an event",
        faults: &[24],
        body: left_alone_after_turns,
    },
    Scenario {
        name: "driver.left_alone_after_turns_eager",
        about: "the same without the monitor",
        faults: &[24],
        body: left_alone_after_turns_eager,
    },
    Scenario {
        name: "driver.left_alone_again_eager",
        about: "polls block over events while the other worker goes to sleep: it takes the driver over",
        faults: &[24],
        body: left_alone_again_eager,
    },
    Scenario {
        name: "driver.missed_while_parking",
        about: "the driver is left for a poll that blocks over an event, while the other worker parks again and again",
        faults: &[24],
        body: missed_while_parking,
    },
    Scenario {
        name: "driver.left_by_a_searcher",
        about: "the worker that is called to the driver finds a task that blocks: a third one goes",
        faults: &[24],
        body: left_by_a_searcher,
    },
    Scenario {
        name: "driver.left_by_a_searcher_eager",
        about: "the same with an eager handoff",
        faults: &[24],
        body: left_by_a_searcher_eager,
    },
    Scenario {
        name: "driver.called_for_work",
        about: "the driver is left again and again, and the other worker gets a task that blocks over its LIFO slot",
        faults: &[24],
        body: called_for_work,
    },
    Scenario {
        name: "driver.two_events",
        about: "of two tasks that a turn woke, one blocks over the other",
        faults: &[25],
        body: two_events,
    },
    Scenario {
        name: "driver.left_by_all",
        about: "polls block both workers over an event: a spare thread turns the driver",
        faults: &[24, 26],
        body: left_by_all,
    },
    Scenario {
        name: "driver.yielded_behind_turn",
        about: "a turn between two polls runs what blocks over a task that yielded, alone",
        faults: &[25],
        body: yielded_behind_turn,
    },
    Scenario {
        name: "driver.shutdown",
        about: "a shutdown meets workers in, before and after the driver",
        faults: &[38],
        body: shutdown,
    },
];

/// A reactor whose events are fired by hand.
#[derive(Clone, Default)]
pub(crate) struct Reactor(Arc<Inner>, Option<Trap>);

#[derive(Default)]
struct Inner {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    woken: bool,
    /// Events that happened and that no turn has seen.
    fired: VecDeque<usize>,
    /// Who waits for each event; `None` if it was seen.
    waiting: Vec<Option<Waker>>,
    seen: Vec<bool>,
}

impl Reactor {
    pub(crate) fn new(events: usize) -> Self {
        let reactor = Self::default();
        let mut state = reactor.0.state.lock().unwrap();
        state.waiting.resize_with(events, || None);
        state.seen.resize(events, false);
        drop(state);
        reactor
    }

    /// Makes an event happen; the next turn will see it.
    pub(crate) fn fire(&self, event: usize) {
        self.0.state.lock().unwrap().fired.push_back(event);
        self.0.changed.notify_one();
    }

    /// Waits until a turn has seen the event.
    pub(crate) async fn event(&self, event: usize) {
        std::future::poll_fn(|cx| {
            let mut state = self.0.state.lock().unwrap();
            if state.seen[event] {
                return Poll::Ready(());
            }
            let old = state.waiting[event].replace(cx.waker().clone());
            drop(state);
            drop(old);
            Poll::Pending
        })
        .await;
    }
}

impl Driver for Reactor {
    fn turn(&self, timeout: Option<Duration>) {
        let mut state = self.0.state.lock().unwrap();
        // A turn with a timeout is one look: its time passes for the others, below.
        while timeout.is_none() && !state.woken && state.fired.is_empty() {
            state = self.0.changed.wait(state).unwrap();
        }
        state.woken = false;
        let mut wakers = Vec::new();
        while let Some(event) = state.fired.pop_front() {
            state.seen[event] = true;
            wakers.extend(state.waiting[event].take());
        }
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
        if timeout.is_some() {
            thread::yield_now();
        }
    }

    fn wake(&self) {
        self.0.state.lock().unwrap().woken = true;
        self.0.changed.notify_one();
        self.1.iter().for_each(Trap::enter);
    }
}

/// Keeps the monitor's thread inside its first notification: then the workers must see to
/// the driver without the monitor.
#[derive(Clone, Default)]
struct Trap {
    is_sprung: Event,
    is_over: Event,
}

impl Trap {
    fn enter(&self) {
        if thread::current().name() == Some("ws-monitor") {
            self.is_sprung.set();
            self.is_over.block();
        }
    }
}

/// The monitor is kept until this is dropped: before the executor, which waits for its threads.
struct KeptMonitor(Trap);

impl Drop for KeptMonitor {
    fn drop(&mut self) {
        self.0.is_over.set();
    }
}

/// A parker whose notifications enter the trap.
struct TrapParker(ThreadParker, Trap);

#[derive(Clone)]
struct TrapUnparker(ThreadUnparker, Trap);

impl Park for TrapParker {
    type Unparker = TrapUnparker;

    fn unparker(&self) -> TrapUnparker {
        TrapUnparker(self.0.unparker(), self.1.clone())
    }

    fn park(&self) {
        self.0.park();
    }

    fn park_timeout(&self, timeout: Duration) {
        self.0.park_timeout(timeout);
        thread::yield_now();
    }
}

impl Unpark for TrapUnparker {
    fn unpark(&self) {
        self.0.unpark();
        self.1.enter();
    }
}

/// An executor of two workers over a reactor, with an eager handoff and without the monitor. Polls count as
/// long, because small backlogs are left to the monitor.
fn driven_eagerly(events: usize) -> (Executor, Reactor, KeptMonitor) {
    ws_executor::model::set_short_polls(false);
    let trap = Trap::default();
    let mut reactor = Reactor::new(events);
    reactor.1 = Some(trap.clone());
    let in_parker = trap.clone();
    let builder = builder()
        .workers(2)
        .parker(move |_| TrapParker(ThreadParker::new(), in_parker.clone()))
        .driver(reactor.clone())
        .driver_handoff(DriverHandoff::Eager);
    let executor = start(builder);
    while !trap.is_sprung.is_set() {
        // The monitor shares the child, or sees the driver left, and notifies the other worker.
        let sprung = trap.is_sprung.clone();
        executor.block_on(executor.spawn(async move {
            let event = Event::new();
            let child = event.clone();
            Handle::current().spawn(async move { child.set() }).detach();
            for _ in 0..PAUSES {
                if event.is_set() || sprung.is_set() {
                    break;
                }
                thread::yield_now();
            }
        }));
    }
    (executor, reactor, KeptMonitor(trap))
}

/// An executor over a reactor with this many events.
fn driven(workers: usize, events: usize, handoff: DriverHandoff) -> (Executor, Reactor) {
    let reactor = Reactor::new(events);
    let builder = builder()
        .workers(workers)
        .driver(reactor.clone())
        .driver_handoff(handoff);
    (start(builder), reactor)
}

fn event() {
    let (executor, reactor) = driven(2, 1, DriverHandoff::Monitor);
    let task = {
        let reactor = reactor.clone();
        executor.spawn(async move { reactor.event(0).await })
    };
    let other = thread::spawn(move || reactor.fire(0));
    executor.block_on(task);
    other.join().unwrap();
}

fn spawn() {
    let (executor, _) = driven(1, 0, DriverHandoff::Monitor);
    for number in 0..3 {
        assert_eq!(
            executor.block_on(executor.spawn(async move { number })),
            number
        );
    }
}

fn nested_block_on() {
    let (executor, _) = driven(1, 0, DriverHandoff::Monitor);
    let event = Event::new();
    let waiting = {
        let (handle, event) = (executor.handle(), event.clone());
        executor.spawn(async move { handle.block_on(event.wait()) })
    };
    let other = thread::spawn(move || event.set());
    executor.block_on(waiting);
    other.join().unwrap();
}

/// One task yields some times, and blocks until another has seen an event.
fn block_over_event(executor: &Executor, reactor: &Reactor, yields: usize) {
    let done = Event::new();
    let waiting = {
        let (reactor, done) = (reactor.clone(), done.clone());
        executor.spawn(async move {
            reactor.event(0).await;
            done.set();
        })
    };
    // Pinned: while it lines up again, no one else sees anything to do or to watch.
    let blocking = executor.handle().spawn_pinned(0, move || async move {
        for _ in 0..yields {
            yield_now().await;
        }
        done.block();
    });
    let reactor = reactor.clone();
    let other = thread::spawn(move || reactor.fire(0));
    executor.block_on(async {
        waiting.await;
        blocking.await;
    });
    other.join().unwrap();
}

fn left_alone() {
    let (executor, reactor) = driven(2, 1, DriverHandoff::Monitor);
    block_over_event(&executor, &reactor, 0);
}

fn left_alone_eager() {
    let (executor, reactor, _kept) = driven_eagerly(1);
    block_over_event(&executor, &reactor, 0);
}

/// So often that the driver has its turn.
const YIELDS: usize = 5;

/// How often a thread lets others go on before it does what they must notice.
const PAUSES: usize = 20;

/// How often a program repeats what seldom meets.
const ROUNDS: usize = 5;

fn left_alone_after_turns() {
    let (executor, reactor) = driven(2, 1, DriverHandoff::Monitor);
    block_over_event(&executor, &reactor, YIELDS);
}

fn left_alone_after_turns_eager() {
    let (executor, reactor, _kept) = driven_eagerly(1);
    block_over_event(&executor, &reactor, YIELDS);
}

/// Worker 0 turns the driver between two polls of a pinned task, and calls the monitor each
/// time. What worker 1 gets at any moment blocks when worker 0 is about to park, or parked.
fn called_for_work() {
    let (executor, _) = driven(2, 0, DriverHandoff::Monitor);
    let turned = Event::new();
    let turning = {
        let turned = turned.clone();
        executor.handle().spawn_pinned(0, || async move {
            for _ in 0..YIELDS {
                yield_now().await;
            }
            turned.set();
        })
    };
    let blocking = executor.handle().spawn_pinned(1, || async move {
        turned.block();
        (0..PAUSES).for_each(|_| thread::yield_now());
        let event = Event::new();
        let child = event.clone();
        Handle::current().spawn(async move { child.set() }).detach();
        event.block();
    });
    executor.block_on(async {
        turning.await;
        blocking.await;
    });
}

/// Again and again: the other worker has to be just before its sleep when the driver is left.
fn left_alone_again_eager() {
    let (executor, reactor, _kept) = driven_eagerly(ROUNDS);
    for round in 0..ROUNDS {
        let (waits, done) = (Event::new(), Event::new());
        let waiting = {
            let (reactor, waits, done) = (reactor.clone(), waits.clone(), done.clone());
            executor.spawn(async move {
                waits.set();
                reactor.event(round).await;
                done.set();
            })
        };
        waits.block();
        (0..PAUSES).for_each(|_| thread::yield_now());
        let blocking = executor
            .handle()
            .spawn_pinned(0, move || async move { done.block() });
        (0..PAUSES).for_each(|_| thread::yield_now());
        reactor.fire(round);
        executor.block_on(async {
            waiting.await;
            blocking.await;
        });
    }
}

/// Again and again: one worker parks after an empty task, and finds the driver taken. Meanwhile
/// the other one leaves the driver for a task that blocks, and finds no worker parked.
fn missed_while_parking() {
    let (executor, reactor, _kept) = driven_eagerly(2 * ROUNDS);
    for round in 0..ROUNDS {
        let (begun, done) = (Event::new(), Event::new());
        let waits = [Event::new(), Event::new()];
        let blocking = {
            let (reactor, waits) = (reactor.clone(), waits[0].clone());
            let (begun, done) = (begun.clone(), done.clone());
            executor.spawn(async move {
                waits.set();
                reactor.event(2 * round).await;
                begun.set();
                done.block();
            })
        };
        let setting = {
            let (reactor, waits) = (reactor.clone(), waits[1].clone());
            executor.spawn(async move {
                waits.set();
                reactor.event(2 * round + 1).await;
                done.set();
            })
        };
        waits.iter().for_each(Event::block);
        executor.handle().spawn_pinned(1, || async {}).detach();
        reactor.fire(2 * round);
        begun.block();
        reactor.fire(2 * round + 1);
        executor.block_on(async {
            setting.await;
            blocking.await;
        });
    }
}

/// A task waits for an event, and then for another one. Meanwhile two tasks that block come
/// from outside: one worker of three is left, and has to be in the driver.
fn block_two_of_three(executor: &Executor, reactor: &Reactor) {
    let done = Event::new();
    let waiting = {
        let (reactor, done) = (reactor.clone(), done.clone());
        executor.spawn(async move {
            reactor.event(0).await;
            reactor.event(1).await;
            done.set();
        })
    };
    (0..PAUSES).for_each(|_| thread::yield_now());
    reactor.fire(0);
    let blocking = [(); 2].map(|()| {
        let (entered, done) = (Event::new(), done.clone());
        let task = executor.spawn({
            let entered = entered.clone();
            async move {
                entered.set();
                done.block();
            }
        });
        (task, entered)
    });
    blocking.iter().for_each(|(_, entered)| entered.block());
    reactor.fire(1);
    executor.block_on(async {
        waiting.await;
        for (task, _) in blocking {
            task.await;
        }
    });
}

fn left_by_a_searcher() {
    let (executor, reactor) = driven(3, 2, DriverHandoff::Monitor);
    block_two_of_three(&executor, &reactor);
}

fn left_by_a_searcher_eager() {
    let (executor, reactor) = driven(3, 2, DriverHandoff::Eager);
    block_two_of_three(&executor, &reactor);
}

fn two_events() {
    let (executor, reactor) = driven(2, 2, DriverHandoff::Monitor);
    let done = Event::new();
    let first = {
        let (reactor, done) = (reactor.clone(), done.clone());
        executor.spawn(async move {
            reactor.event(0).await;
            done.block();
        })
    };
    let second = {
        let reactor = reactor.clone();
        executor.spawn(async move {
            reactor.event(1).await;
            done.set();
        })
    };
    let other = thread::spawn(move || {
        reactor.fire(0);
        reactor.fire(1);
    });
    executor.block_on(async {
        second.await;
        first.await;
    });
    other.join().unwrap();
}

fn shutdown() {
    let (executor, reactor) = driven(2, 1, DriverHandoff::Monitor);
    let task = {
        let reactor = reactor.clone();
        executor.spawn(async move { reactor.event(0).await })
    };
    let other = thread::spawn(move || reactor.fire(0));
    executor.shutdown();
    assert!(task.is_finished());
    other.join().unwrap();
}

fn left_by_all() {
    let (executor, reactor) = driven(2, 1, DriverHandoff::Monitor);
    let done = Event::new();
    let waiting = {
        let (reactor, done) = (reactor.clone(), done.clone());
        executor.spawn(async move {
            reactor.event(0).await;
            done.set();
        })
    };
    let blocking = [(); 2].map(|()| {
        let done = done.clone();
        executor.spawn(async move { done.block() })
    });
    let other = thread::spawn(move || reactor.fire(0));
    executor.block_on(async {
        waiting.await;
        for blocking in blocking {
            blocking.await;
        }
    });
    other.join().unwrap();
}

/// A reactor that runs something of its own in a turn without waiting: it blocks until an
/// event has happened, if a task says that it will.
struct Busy {
    reactor: Reactor,
    promised: Event,
    kept: Event,
}

impl Driver for Busy {
    fn turn(&self, timeout: Option<Duration>) {
        if timeout.is_some() && self.promised.is_set() {
            self.kept.block();
        }
        self.reactor.turn(timeout);
    }

    fn wake(&self) {
        self.reactor.wake();
    }
}

fn yielded_behind_turn() {
    let (promised, kept) = (Event::new(), Event::new());
    let busy = Busy {
        reactor: Reactor::new(0),
        promised: promised.clone(),
        kept: kept.clone(),
    };
    // Without a handoff nobody calls the monitor when the driver is left.
    let builder = builder()
        .workers(2)
        .driver(busy)
        .driver_handoff(DriverHandoff::Off);
    let executor = start(builder);
    let yielding = executor.spawn(async move {
        for _ in 0..YIELDS {
            yield_now().await;
        }
        promised.set();
        for _ in 0..YIELDS {
            yield_now().await;
        }
        kept.set();
    });
    executor.block_on(yielding);
}
