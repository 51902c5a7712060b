//! The end of an executor: every future is dropped, exactly once, and threads end.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use ws_core::sync::{Mutex, thread};
use ws_executor::{Executor, Handle, Task, yield_now};

use super::kit::{Count, Event, pair, single};
use super::scenario::Scenario;

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "shutdown.while_parking",
        about: "a shutdown meets workers that start, search, and fall asleep",
        faults: &[38],
        body: while_parking,
    },
    Scenario {
        name: "shutdown.during_spawn",
        about: "two threads spawn during a shutdown",
        faults: &[42, 43],
        body: during_spawn,
    },
    Scenario {
        name: "shutdown.during_wake",
        about: "two tasks wait, and are woken during the shutdown and after it",
        faults: &[14, 42],
        body: during_wake,
    },
    Scenario {
        name: "shutdown.during_children",
        about: "tasks spawn tasks while the executor is shut down",
        faults: &[42, 43],
        body: during_children,
    },
    Scenario {
        name: "shutdown.awaited",
        about: "someone awaits a task whose executor is shut down",
        faults: &[42],
        body: awaited,
    },
    Scenario {
        name: "shutdown.inside",
        about: "the executor is dropped in one of its own tasks",
        faults: &[40],
        body: inside,
    },
    Scenario {
        name: "shutdown.inside_beside_wake",
        about: "the same beside a thread that wakes another task: that is dropped",
        faults: &[40],
        body: inside_beside_wake,
    },
    Scenario {
        name: "shutdown.inside_beside_monitor",
        about: "the executor is dropped in a task while the monitor shares the slot of its worker: that task is dropped",
        faults: &[40],
        body: inside_beside_monitor,
    },
    Scenario {
        name: "shutdown.nested_block_on",
        about: "a task waits for its child in a nested `block_on` during a shutdown",
        faults: &[41, 42],
        body: nested_block_on,
    },
    Scenario {
        name: "shutdown.nested_block_on_pinned",
        about: "a task waits for one that is pinned to its own worker during a shutdown",
        faults: &[41, 42],
        body: nested_block_on_pinned,
    },
    Scenario {
        name: "shutdown.nested_block_on_waiting",
        about: "a task waits for one that waits for ever, in a nested `block_on`",
        faults: &[41, 42],
        body: nested_block_on_waiting,
    },
    Scenario {
        name: "shutdown.nested_block_on_yields",
        about: "the same for one that waits after it has yielded",
        faults: &[41, 42],
        body: nested_block_on_yields,
    },
    Scenario {
        name: "shutdown.nested_twice",
        about: "the same at a depth that only waits",
        faults: &[41, 42],
        body: nested_twice,
    },
    Scenario {
        name: "shutdown.wake_in_drop",
        about: "two tasks wait; the drop of each locks what they share and wakes the other one",
        faults: &[42],
        body: wake_in_drop,
    },
    Scenario {
        name: "shutdown.wake_into_full_ring",
        about: "a task is woken under a lock into a full ring, whose tasks take that lock in their drops",
        faults: &[42],
        body: wake_into_full_ring,
    },
    Scenario {
        name: "shutdown.drop_blocks",
        about: "the drop of a task blocks until another one is gone, which it cancels",
        faults: &[42],
        body: drop_blocks,
    },
    Scenario {
        name: "shutdown.drop_blocks_for_another",
        about: "the drop of a task blocks until another one is gone, which nobody cancels",
        faults: &[42],
        body: drop_blocks_for_another,
    },
    Scenario {
        name: "shutdown.drop_blocks_in_a_queue",
        about: "the same for tasks that the only worker has not polled yet",
        faults: &[42],
        body: drop_blocks_in_a_queue,
    },
    Scenario {
        name: "shutdown.woken_under_a_lock",
        about: "a thread wakes the same tasks meanwhile, under their lock",
        faults: &[42],
        body: woken_under_a_lock,
    },
    Scenario {
        name: "shutdown.scope",
        about: "a scope meets a shutdown: its tasks end or are cancelled, the scope returns",
        faults: &[42, 49],
        body: scope,
    },
    Scenario {
        name: "shutdown.beside_spare",
        about: "a spare thread polls while the executor is shut down: all threads end, and each future is dropped once",
        faults: &[38, 42],
        body: beside_spare,
    },
];

fn while_parking() {
    let executor = pair();
    let task = executor.spawn(async {});
    executor.shutdown();
    assert!(task.is_finished());
}

/// Spawns two tasks that carry something, and lets go of them.
fn spawn_two(handle: &Handle, drops: &Count) {
    for _ in 0..2 {
        let carried = drops.on_drop();
        handle
            .spawn(async move {
                yield_now().await;
                drop(carried);
            })
            .detach();
    }
}

fn during_spawn() {
    let executor = pair();
    let drops = Count::new();
    let spawners = [(); 2].map(|()| {
        let (handle, drops) = (executor.handle(), drops.clone());
        thread::spawn(move || spawn_two(&handle, &drops))
    });
    executor.shutdown();
    for spawner in spawners {
        spawner.join().unwrap();
    }
    assert_eq!(drops.get(), 4, "futures were not dropped, or twice");
}

fn during_wake() {
    let executor = pair();
    let drops = Count::new();
    let events = [Event::new(), Event::new()];
    for event in &events {
        let (event, carried) = (event.clone(), drops.on_drop());
        executor
            .spawn(async move {
                event.wait().await;
                drop(carried);
            })
            .detach();
    }
    let [first, second] = events;
    let other = thread::spawn(move || first.set());
    executor.shutdown();
    other.join().unwrap();
    assert_eq!(drops.get(), 2, "futures were not dropped, or twice");
    second.set();
}

fn during_children() {
    let executor = pair();
    let (made, drops) = (Count::new(), Count::new());
    for _ in 0..2 {
        let (made, drops) = (made.clone(), drops.clone());
        executor
            .spawn(async move {
                for _ in 0..2 {
                    made.add();
                    let carried = drops.on_drop();
                    Handle::current()
                        .spawn(async move { drop(carried) })
                        .detach();
                    yield_now().await;
                }
            })
            .detach();
    }
    executor.shutdown();
    assert_eq!(drops.get(), made.get(), "children were not dropped");
}

fn awaited() {
    let executor = pair();
    let task = executor.spawn(async {
        yield_now().await;
        1
    });
    let handle = executor.handle();
    let other = thread::spawn(move || handle.block_on(task.fallible()));
    executor.shutdown();
    let outcome = other.join().unwrap();
    assert!(matches!(outcome, None | Some(1)));
}

fn inside() {
    let executor = pair();
    let drops = Count::new();
    let (event, carried) = (Event::new(), drops.on_drop());
    executor
        .spawn({
            let event = event.clone();
            async move {
                event.wait().await;
                drop(carried);
            }
        })
        .detach();
    let handle = executor.handle();
    let task = handle.spawn(async move { drop(executor) });
    handle.block_on(task.fallible());
    event.set();
    // The threads end by themselves: shuttle reports those that do not.
}

fn inside_beside_wake() {
    let executor = single();
    let (event, gone) = (Event::new(), Event::new());
    let (woken, sets) = (event.clone(), Sets(gone.clone()));
    executor
        .spawn(async move {
            let _sets = sets;
            woken.wait().await;
            std::future::pending::<()>().await;
        })
        .detach();
    let handle = executor.handle();
    let other = thread::spawn(move || event.set());
    handle.spawn(async move { drop(executor) }).detach();
    other.join().unwrap();
    gone.block();
}

/// How often a poll lets the monitor go on: its child is in the monitor's hands at the end of
/// one of these pauses.
const PAUSES: usize = 5;

fn inside_beside_monitor() {
    for pauses in 1..PAUSES {
        let executor = pair();
        let gone = Event::new();
        let sets = Sets(gone.clone());
        let handle = executor.handle();
        handle
            .spawn(async move {
                Handle::current().spawn(async move { drop(sets) }).detach();
                (0..pauses).for_each(|_| thread::yield_now());
                drop(executor);
            })
            .detach();
        gone.block();
    }
}

/// Runs `program` in a task, beside a shutdown.
fn beside_shutdown(executor: Executor, program: impl FnOnce(Handle) -> bool + Send + 'static) {
    let handle = executor.handle();
    let task: Task<bool> = executor.spawn(async move { program(handle) });
    executor.shutdown();
    assert!(task.is_finished());
}

fn nested_block_on() {
    beside_shutdown(single(), |handle| {
        let child = handle.spawn(async {});
        handle.block_on(child.fallible()).is_some()
    });
}

fn nested_block_on_pinned() {
    beside_shutdown(single(), |handle| {
        let pinned = handle.spawn_pinned(0, || async {});
        handle.block_on(pinned.fallible()).is_some()
    });
}

fn nested_block_on_waiting() {
    beside_shutdown(single(), |handle| {
        let waiting = handle.spawn(std::future::pending::<()>());
        handle.block_on(waiting.fallible()).is_some()
    });
}

fn nested_block_on_yields() {
    beside_shutdown(single(), |handle| {
        let waiting = handle.spawn(async {
            yield_now().await;
            std::future::pending::<()>().await;
        });
        handle.block_on(waiting.fallible()).is_some()
    });
}

fn nested_twice() {
    fn nest(handle: Handle, depth: u32) -> bool {
        let inner = handle.clone();
        let task = handle.spawn(async move { depth == 0 || nest(inner, depth - 1) });
        handle.block_on(task.fallible()).is_some()
    }

    beside_shutdown(pair(), |handle| nest(handle, 1));
}

/// Two tasks, and their wakers under one lock.
type Wakers = Arc<Mutex<[Option<Waker>; 2]>>;

/// Waits for ever; its drop wakes the other one, under the lock.
struct Partner {
    wakers: Wakers,
    number: usize,
    dropped: Count,
}

impl Future for Partner {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.wakers.lock().unwrap()[self.number] = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for Partner {
    fn drop(&mut self) {
        let wakers = self.wakers.lock().unwrap();
        wakers[1 - self.number].iter().for_each(Waker::wake_by_ref);
        self.dropped.add();
    }
}

/// Shuts an executor with two such tasks down, beside `foreign`.
fn with_partners(foreign: impl FnOnce(Wakers) + Send + 'static) {
    let executor = pair();
    let (wakers, dropped) = (Wakers::default(), Count::new());
    for number in 0..2 {
        let (wakers, dropped) = (Arc::clone(&wakers), dropped.clone());
        executor
            .spawn(Partner {
                wakers,
                number,
                dropped,
            })
            .detach();
    }
    let foreign = thread::spawn({
        let wakers = Arc::clone(&wakers);
        move || foreign(wakers)
    });
    executor.shutdown();
    assert_eq!(dropped.get(), 2, "futures were not dropped, or twice");
    foreign.join().unwrap();
}

fn wake_in_drop() {
    with_partners(drop);
}

/// Takes a lock in its drop.
struct Locks(Arc<Mutex<()>>, Count);

impl Drop for Locks {
    fn drop(&mut self) {
        let _locked = self.0.lock().unwrap();
        self.1.add();
    }
}

/// As many tasks as a ring has room for.
const FULL: u32 = 256;

/// The wake evicts a task from the LIFO slot, for which there is no room. So half of the ring
/// goes to the injector, which may just have been closed.
fn wake_into_full_ring() {
    let executor = single();
    let (woken, is_full, drops) = (Event::new(), Event::new(), Count::new());
    let waits = woken.clone();
    executor.spawn(async move { waits.wait().await }).detach();
    let (fills, dropped) = (is_full.clone(), drops.clone());
    let filling = executor.spawn(async move {
        let (handle, lock) = (Handle::current(), Arc::new(Mutex::new(())));
        let locks = (0..FULL).map(|_| Locks(Arc::clone(&lock), dropped.clone()));
        let tasks = handle.spawn_many(locks.map(|locks| async move { drop(locks) }));
        tasks.into_iter().for_each(Task::detach);
        fills.set();
        let _locked = lock.lock().unwrap();
        handle.spawn(async {}).detach();
        woken.set();
    });
    filling.detach();
    is_full.block();
    executor.shutdown();
    assert_eq!(drops.get(), FULL, "futures were not dropped, or twice");
}

/// Cancels a task in its drop, and blocks the thread until that one is gone.
struct Blocks(Mutex<Option<Task<()>>>, Event);

impl Drop for Blocks {
    fn drop(&mut self) {
        let child = self.0.get_mut().unwrap().take();
        drop(child);
        self.1.block();
    }
}

/// Sets an event in its drop.
struct Sets(Event);

impl Drop for Sets {
    fn drop(&mut self) {
        self.0.set();
    }
}

fn drop_blocks() {
    drop_that_blocks(Some);
}

fn drop_blocks_for_another() {
    drop_that_blocks(|child| {
        child.detach();
        None
    });
}

fn drop_that_blocks(cancelled: fn(Task<()>) -> Option<Task<()>>) {
    let executor = single();
    let (gone, drops) = (Event::new(), Count::new());
    let blocks = Arc::new(Blocks(Mutex::new(None), gone.clone()));
    let (parent, carried) = (Arc::clone(&blocks), drops.on_drop());
    executor
        .spawn(async move {
            let _both = (parent, carried);
            std::future::pending::<()>().await;
        })
        .detach();
    let sets = Sets(gone);
    let child = executor.spawn(async move {
        let _sets = sets;
        std::future::pending::<()>().await;
    });
    *blocks.0.lock().unwrap() = cancelled(child);
    drop(blocks);
    executor.shutdown();
    assert_eq!(drops.get(), 1, "the future was not dropped, or twice");
}

fn drop_blocks_in_a_queue() {
    beside_shutdown(single(), |handle| {
        let gone = Event::new();
        let blocks = Arc::new(Blocks(Mutex::new(None), gone.clone()));
        let parent = Arc::clone(&blocks);
        let waits = async move {
            let _parent = parent;
            std::future::pending::<()>().await;
        };
        handle.spawn(waits).detach();
        let sets = Sets(gone);
        let child = handle.spawn(async move { drop(sets) });
        // Both are in the ring now, in this order.
        handle.spawn(async {}).detach();
        *blocks.0.lock().unwrap() = Some(child);
        true
    });
}

fn woken_under_a_lock() {
    with_partners(|wakers| {
        for _ in 0..2 {
            let wakers = wakers.lock().unwrap();
            wakers.iter().flatten().for_each(Waker::wake_by_ref);
        }
    });
}

fn scope() {
    let executor = pair();
    let drops = Count::new();
    let other = {
        let (handle, drops) = (executor.handle(), drops.clone());
        thread::spawn(move || {
            handle.scope(|scope| {
                for _ in 0..2 {
                    let carried = drops.on_drop();
                    scope.spawn(async move {
                        yield_now().await;
                        drop(carried);
                    });
                }
            });
            drops.get()
        })
    };
    executor.shutdown();
    assert_eq!(other.join().unwrap(), 2, "a task outlives its scope");
}

fn beside_spare() {
    let executor = single();
    let (event, drops) = (Event::new(), Count::new());
    // The last one is polled once more after the shutdown, or not at all.
    for _ in 0..3 {
        let (event, carried) = (event.clone(), drops.on_drop());
        executor
            .spawn(async move {
                event.block();
                yield_now().await;
                drop(carried);
            })
            .detach();
    }
    let other = thread::spawn(move || event.set());
    executor.shutdown();
    other.join().unwrap();
    assert_eq!(drops.get(), 3, "futures were not dropped, or twice");
}
