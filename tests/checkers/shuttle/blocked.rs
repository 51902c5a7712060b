//! A poll that blocks its worker: what it left in each place runs elsewhere.
//!
//! The poll waits for tasks that only the other worker can run. If that one sleeps on,
//! nothing moves any more, and shuttle reports a deadlock.

use ws_core::sync::thread;
use ws_executor::{Executor, Handle, yield_now};

use super::kit::{Event, builder, pair, single, start};
use super::scenario::Scenario;

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "blocked.lifo_slot",
        about: "a poll blocks over the task in its LIFO slot: the monitor shares it",
        faults: &[24, 25],
        body: lifo_slot,
    },
    Scenario {
        name: "blocked.lifo_slot_again",
        about: "the task that the monitor shares blocks over one in its own LIFO slot",
        faults: &[24, 25],
        body: lifo_slot_again,
    },
    Scenario {
        name: "blocked.lifo_slot_woken",
        about: "the same with a task that was woken, and a worker that parks meanwhile",
        faults: &[24, 25],
        body: lifo_slot_woken,
    },
    Scenario {
        name: "blocked.ring",
        about: "a poll blocks over two tasks, one of which is in its ring",
        faults: &[25],
        body: ring,
    },
    Scenario {
        name: "blocked.no_lifo_slot",
        about: "a poll blocks over its children, without a LIFO slot",
        faults: &[25],
        body: no_lifo_slot,
    },
    Scenario {
        name: "blocked.outside",
        about: "of two tasks from outside, the first blocks over the second",
        faults: &[25, 34],
        body: outside,
    },
    Scenario {
        name: "blocked.batch",
        about: "a poll blocks over those that came out of the injector with it",
        faults: &[25],
        body: batch,
    },
    Scenario {
        name: "blocked.yielded",
        about: "a poll blocks over a task that yielded before it",
        faults: &[25],
        body: yielded,
    },
    Scenario {
        name: "blocked.yielded_beside_two",
        about: "two polls block two of three workers over a task that yields, alone",
        faults: &[25],
        body: yielded_beside_two,
    },
    Scenario {
        name: "blocked.yielded_behind_turn",
        about: "a poll in the injector's turn blocks over a task that yielded, alone, on its worker",
        faults: &[25],
        body: yielded_behind_turn,
    },
    Scenario {
        name: "blocked.yielded_behind_pinned",
        about: "a pinned poll blocks over a task that yielded, alone, on its worker",
        faults: &[25],
        body: yielded_behind_pinned,
    },
    Scenario {
        name: "blocked.yielded_behind_computation",
        about: "a computation blocks over a task that yielded, alone, on its worker",
        faults: &[25],
        body: yielded_behind_computation,
    },
    Scenario {
        name: "blocked.only_worker",
        about: "a poll blocks the only worker over a task from outside: a spare thread polls that",
        faults: &[26],
        body: only_worker,
    },
    Scenario {
        name: "blocked.all_workers",
        about: "polls block both workers over a third one: a spare thread polls that",
        faults: &[26],
        body: all_workers,
    },
    Scenario {
        name: "blocked.all_workers_over_slots",
        about: "polls block both workers over the tasks in their LIFO slots: a spare thread polls those",
        faults: &[24, 26],
        body: all_workers_over_slots,
    },
    Scenario {
        name: "blocked.all_workers_again",
        about: "the same twice, with a pause in between: the only spare thread comes again",
        faults: &[26],
        body: all_workers_again,
    },
    Scenario {
        name: "blocked.spare",
        about: "both workers and a spare thread are blocked over a task: another spare thread polls that",
        faults: &[26],
        body: spare,
    },
];

/// How often a poll lets the other worker go on before it does what that one must notice.
const PAUSES: usize = 20;

/// So often that the injector has its turn.
const YIELDS: usize = 8;

/// Spawns `children` in a task that then blocks until all of them have run.
fn block_over(handle: Handle, children: usize) -> ws_executor::Task<()> {
    handle.spawn(async move {
        let events: Vec<Event> = (0..children).map(|_| Event::new()).collect();
        for event in &events {
            let event = event.clone();
            Handle::current().spawn(async move { event.set() }).detach();
        }
        events.iter().for_each(Event::block);
    })
}

fn lifo_slot() {
    let executor = pair();
    executor.block_on(block_over(executor.handle(), 1));
}

/// The worker that the first task went to is blocked in the end: the other one must get the
/// second.
fn lifo_slot_again() {
    let executor = pair();
    let task = executor.spawn(async {
        let first = Event::new();
        let (begun, second) = (first.clone(), Event::new());
        let child = Handle::current().spawn(async move {
            let done = second.clone();
            begun.set();
            // The other worker may park before it would see the task by itself.
            (0..PAUSES).for_each(|_| thread::yield_now());
            Handle::current().spawn(async move { done.set() }).detach();
            second.block();
        });
        first.block();
        child
    });
    executor.block_on(async { task.await.await });
}

fn lifo_slot_woken() {
    let executor = pair();
    let (gate, done) = (Event::new(), Event::new());
    let waiting = {
        let (gate, done) = (gate.clone(), done.clone());
        executor.spawn(async move {
            gate.wait().await;
            done.set();
        })
    };
    let blocking = executor.spawn(async move {
        gate.set();
        done.block();
    });
    executor.block_on(async {
        blocking.await;
        waiting.await;
    });
}

fn ring() {
    let executor = pair();
    executor.block_on(block_over(executor.handle(), 2));
}

fn no_lifo_slot() {
    let executor = start(builder().workers(2).lifo_slot(false));
    executor.block_on(block_over(executor.handle(), 2));
}

fn outside() {
    let executor = pair();
    let event = Event::new();
    let blocking = {
        let event = event.clone();
        executor.spawn(async move { event.block() })
    };
    let setting = executor.spawn(async move { event.set() });
    executor.block_on(async {
        setting.await;
        blocking.await;
    });
}

fn batch() {
    let executor = pair();
    let event = Event::new();
    // Whichever comes first blocks for the last one, whoever has it.
    let tasks = (0..4).map(|number| {
        let event = event.clone();
        async move {
            match number {
                0 => event.block(),
                3 => event.set(),
                _ => {}
            }
        }
    });
    let tasks = executor.spawn_many(tasks);
    executor.block_on(async {
        for task in tasks {
            task.await;
        }
    });
}

fn yielded() {
    let executor = pair();
    let event = Event::new();
    let yielding = {
        let event = event.clone();
        executor.spawn(async move {
            yield_now().await;
            event.set();
        })
    };
    let blocking = executor.spawn(async move { event.block() });
    executor.block_on(async {
        yielding.await;
        blocking.await;
    });
}

fn yielded_beside_two() {
    let executor = start(builder().workers(3));
    let events = [Event::new(), Event::new()];
    let yielding = {
        let events = events.clone();
        executor.spawn(async move {
            for _ in 0..YIELDS {
                yield_now().await;
            }
            events.iter().for_each(Event::set);
        })
    };
    let blocking = events.map(|event| executor.spawn(async move { event.block() }));
    executor.block_on(async {
        yielding.await;
        for blocking in blocking {
            blocking.await;
        }
    });
}

/// The polls are long until the injector has its turn, and short after that: then no thief
/// takes a lone task of its own accord.
fn yielded_behind_turn() {
    ws_executor::model::set_short_polls(false);
    let executor = pair();
    let event = Event::new();
    let yielding = {
        let event = event.clone();
        executor.spawn(async move {
            for _ in 0..YIELDS {
                yield_now().await;
            }
            event.set();
        })
    };
    let blocking = executor.spawn(async move {
        ws_executor::model::set_short_polls(true);
        event.block();
    });
    executor.block_on(async {
        yielding.await;
        blocking.await;
    });
}

fn yielded_behind_pinned() {
    let executor = pair();
    let event = Event::new();
    let yielding = {
        let event = event.clone();
        executor.spawn(async move {
            yield_now().await;
            event.set();
        })
    };
    let blocking = executor
        .handle()
        .spawn_pinned(0, move || async move { event.block() });
    executor.block_on(async {
        yielding.await;
        blocking.await;
    });
}

fn yielded_behind_computation() {
    let executor = pair();
    let event = Event::new();
    let yielding = {
        let event = event.clone();
        executor.spawn(async move {
            yield_now().await;
            event.set();
        })
    };
    let blocking = executor.handle().compute(move || event.block());
    executor.block_on(async {
        yielding.await;
        blocking.await;
    });
}

/// So many tasks block over the one that comes last.
fn block_over_last(executor: &Executor, blocked: usize) {
    let event = Event::new();
    let blocking: Vec<_> = (0..blocked)
        .map(|_| {
            let event = event.clone();
            executor.spawn(async move { event.block() })
        })
        .collect();
    let setting = executor.spawn(async move { event.set() });
    executor.block_on(async {
        setting.await;
        for blocking in blocking {
            blocking.await;
        }
    });
}

fn only_worker() {
    block_over_last(&single(), 1);
}

fn all_workers() {
    block_over_last(&pair(), 2);
}

fn all_workers_over_slots() {
    let executor = pair();
    let blocking = [(); 2].map(|()| block_over(executor.handle(), 1));
    executor.block_on(async {
        for blocking in blocking {
            blocking.await;
        }
    });
}

fn all_workers_again() {
    let executor = start(builder().workers(1).spares(1));
    block_over_last(&executor, 1);
    (0..PAUSES).for_each(|_| thread::yield_now());
    block_over_last(&executor, 1);
}

fn spare() {
    block_over_last(&pair(), 3);
}
