//! Spawning, waking, yielding, cancelling: every task is polled when it is due.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::task::Poll;

use ws_core::sync::thread;
use ws_executor::{Handle, yield_now};

use super::kit::{Count, Event, pair, single};
use super::scenario::Scenario;

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "tasks.one_at_a_time",
        about: "a task is submitted when the workers go to sleep, again and again",
        faults: &[33],
        body: one_at_a_time,
    },
    Scenario {
        name: "tasks.two_spawners",
        about: "two threads spawn while the workers fall asleep or search",
        faults: &[33, 34],
        body: two_spawners,
    },
    Scenario {
        name: "tasks.children",
        about: "a task spawns three and awaits them",
        faults: &[33, 34],
        body: children,
    },
    Scenario {
        name: "tasks.many_at_once",
        about: "four tasks in one publication, which wait for each other in pairs",
        faults: &[37],
        body: many_at_once,
    },
    Scenario {
        name: "tasks.wake_during_poll",
        about: "a task is woken from outside while it is being polled, or before, or after",
        faults: &[15],
        body: wake_during_poll,
    },
    Scenario {
        name: "tasks.wake_after_end",
        about: "a waker is used after its task has ended",
        faults: &[13, 14],
        body: wake_after_end,
    },
    Scenario {
        name: "tasks.ping_pong",
        about: "two tasks wake each other, a third one has its turn as well",
        faults: &[23],
        body: ping_pong,
    },
    Scenario {
        name: "tasks.yields",
        about: "tasks that yield run beside one from outside",
        faults: &[22, 29],
        body: yields,
    },
    Scenario {
        name: "tasks.cancel",
        about: "a task is cancelled while it is polled, woken, or waits",
        faults: &[48],
        body: cancel,
    },
    Scenario {
        name: "tasks.panic",
        about: "a task panics: who awaits it gets that, and its worker goes on",
        faults: &[1],
        body: panic,
    },
    Scenario {
        name: "tasks.two_executors",
        about: "a task of one executor wakes one of another",
        faults: &[47],
        body: two_executors,
    },
];

fn one_at_a_time() {
    let executor = pair();
    for number in 0..4 {
        let task = executor.spawn(async move { number });
        assert_eq!(executor.block_on(task), number);
    }
}

fn two_spawners() {
    let executor = pair();
    let spawn_two = |handle: Handle| {
        let tasks = [handle.spawn(async { 1 }), handle.spawn(async { 2 })];
        handle.block_on(async {
            let mut sum = 0;
            for task in tasks {
                sum += task.await;
            }
            sum
        })
    };
    let handle = executor.handle();
    let other = thread::spawn(move || spawn_two(handle));
    assert_eq!(spawn_two(executor.handle()), 3);
    assert_eq!(other.join().unwrap(), 3);
}

fn children() {
    let executor = pair();
    let parent = executor.spawn(async {
        let handle = Handle::current();
        let children = [1, 2, 3].map(|number| handle.spawn(async move { number }));
        let mut sum = 0;
        for child in children {
            sum += child.await;
        }
        sum
    });
    assert_eq!(executor.block_on(parent), 6);
}

fn many_at_once() {
    let executor = pair();
    let events = [Event::new(), Event::new()];
    let tasks = (0..4).map(|number| {
        let event = events[number / 2].clone();
        async move {
            // The even ones wait for the odd ones.
            if number % 2 == 0 {
                event.wait().await;
            } else {
                event.set();
            }
            number
        }
    });
    let tasks = executor.spawn_many(tasks);
    executor.block_on(async {
        for (number, task) in tasks.into_iter().enumerate() {
            assert_eq!(task.await, number);
        }
    });
}

fn wake_during_poll() {
    let executor = pair();
    let (first, second) = (Event::new(), Event::new());
    let task = {
        let (first, second) = (first.clone(), second.clone());
        executor.spawn(async move {
            first.wait().await;
            second.wait().await;
        })
    };
    let other = thread::spawn(move || first.set());
    second.set();
    executor.block_on(task);
    other.join().unwrap();
}

fn wake_after_end() {
    let executor = pair();
    let event = Event::new();
    let task = {
        let event = event.clone();
        executor.spawn(async move { event.wait().await })
    };
    let late = {
        let event = event.clone();
        thread::spawn(move || {
            let waker = event.waiter();
            event.set();
            waker
        })
    };
    executor.block_on(task);
    let waker = late.join().unwrap();
    waker.iter().for_each(std::task::Waker::wake_by_ref);
    // The executor still works, and the waker outlives it.
    assert_eq!(executor.block_on(executor.spawn(async { 1 })), 1);
    executor.shutdown();
    drop(waker);
}

fn ping_pong() {
    let executor = single();
    let (ping, pong) = (Event::new(), Event::new());
    let one = {
        let (ping, pong) = (ping.clone(), pong.clone());
        executor.spawn(async move {
            ping.set();
            pong.wait().await;
        })
    };
    let two = executor.spawn(async move {
        ping.wait().await;
        pong.set();
    });
    let third = executor.spawn(async {});
    executor.block_on(async {
        one.await;
        two.await;
        third.await;
    });
}

fn yields() {
    let executor = pair();
    let polls = Count::new();
    let yielding = [(); 2].map(|()| {
        let polls = polls.clone();
        executor.spawn(async move {
            for _ in 0..2 {
                polls.add();
                yield_now().await;
            }
        })
    });
    let plain = executor.spawn(async {});
    executor.block_on(async {
        plain.await;
        for task in yielding {
            task.await;
        }
    });
    assert_eq!(polls.get(), 4);
}

fn cancel() {
    let executor = pair();
    let (event, drops) = (Event::new(), Count::new());
    let task = {
        let (event, carried) = (event.clone(), drops.on_drop());
        executor.spawn(async move {
            event.wait().await;
            drop(carried);
        })
    };
    let other = thread::spawn(move || event.set());
    let ended = executor.block_on(task.cancel());
    // Ended or not: the future is gone when `cancel` says so.
    assert_eq!(drops.get(), 1, "cancelled with {ended:?}");
    other.join().unwrap();
}

fn panic() {
    let executor = single();
    let mut panicking = executor.spawn(async {
        yield_now().await;
        // Without the panic hook, which is shuttle's here.
        resume_unwind(Box::new("planned"));
    });
    let plain = executor.spawn(async {});
    // Caught right there: other threads must not run while this one unwinds, because to
    // the standard library shuttle's threads are one, and all of them would panic.
    let ended = executor.block_on(poll_fn(|cx| {
        let poll = || Pin::new(&mut panicking).poll(cx);
        match catch_unwind(AssertUnwindSafe(poll)) {
            Ok(pending) => pending.map(Ok),
            Err(payload) => Poll::Ready(Err(payload)),
        }
    }));
    let payload = ended.expect_err("the panic goes on");
    assert_eq!(payload.downcast_ref(), Some(&"planned"));
    executor.block_on(plain);
}

fn two_executors() {
    let (here, there) = (single(), single());
    let event = Event::new();
    let waiting = {
        let event = event.clone();
        here.spawn(async move {
            event.wait().await;
            Handle::current().spawn(async { 1 }).await
        })
    };
    let waking = there.spawn(async move { event.set() });
    assert_eq!(there.block_on(waiting), 1);
    here.block_on(waking);
}
