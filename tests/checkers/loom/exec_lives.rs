//! How long things live: the executor's state, and the seats of tasks that wait.
//!
//! The owner is the worker that ends or the shutdown, the thief a task elsewhere.

use std::task::{Wake, Waker};

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use ws_executor::model::{Registry, TaskCount};

use super::model::Bound::{Exhaustive, Preemptions};
use super::model::{Body, Expect, Main, Model};

pub(crate) const MODELS: &[Model] = &[
    Model {
        name: "exec.population.leave_against_unite",
        shows: "the last task goes while the last worker does: one of them releases the state",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(leave_against_unite, [130, 130]),
    },
    Model {
        name: "exec.population.two_leave_against_unite",
        shows: "two tasks go while the last worker does: the last of the three releases",
        flaws: &[],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(two_leave_against_unite, [1_100, 1_100]),
    },
    Model {
        name: "exec.population.join_against_unite",
        shows: "a task is counted, or refused, while the last worker goes",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(join_against_unite, [340, 500]),
    },
    Model {
        name: "exec.population.join_against_leave",
        shows: "a task is counted, or refused, while the last one of all goes",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(join_against_leave, [340, 500]),
    },
    Model {
        name: "exec.registry.close_against_enter",
        shows: "a task takes a seat during a shutdown: it is woken, or refused",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(close_against_enter, [130, 130]),
    },
    Model {
        name: "exec.registry.close_against_leave",
        shows: "a task ends during a shutdown, and another one takes its seat, or not",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(close_against_leave, [190, 260]),
    },
    Model {
        name: "exec.registry.two_tasks",
        shows: "two tasks take and leave seats of one shard: each has its own",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(two_tasks, [1_600, 1_600]),
    },
];

/// The state of an executor, which one thread must release, after all others' use.
struct State {
    tasks: TaskCount,
    content: UnsafeCell<usize>,
}

// SAFETY: that its end comes after all uses is what loom checks.
unsafe impl Sync for State {}
// SAFETY: as above.
unsafe impl Send for State {}

impl State {
    /// A state whose only worker has spawned `tasks` tasks.
    fn new(tasks: i64) -> Arc<Self> {
        let population = TaskCount::new(1);
        population.change_inside(0, tasks);
        let content = UnsafeCell::new(0);
        Arc::new(Self {
            tasks: population,
            content,
        })
    }

    fn use_it(&self) {
        self.content.with(|content| {
            // SAFETY: loom checks that it is not released meanwhile.
            assert_eq!(unsafe { *content }, 0, "used after its end");
        });
    }

    /// Releases the state if the caller is the last.
    fn release_if(&self, last: bool) -> usize {
        if last {
            self.content.with_mut(|content| {
                // SAFETY: loom checks that all uses are over.
                unsafe { *content += 1 }
            });
        }
        usize::from(last)
    }

    /// The end of a task outside of the workers.
    fn leave(&self) -> usize {
        self.use_it();
        self.release_if(self.tasks.leave_outside())
    }

    /// The end of the last worker.
    fn merge(&self) -> usize {
        self.use_it();
        self.release_if(self.tasks.merge())
    }

    /// A task that is spawned outside, and ends there.
    fn join_and_leave(&self) -> usize {
        if self.tasks.join_outside() {
            self.leave()
        } else {
            0
        }
    }
}

fn leave_against_unite(main: Main) {
    let state = State::new(1);
    let (worker, task) = (state.clone(), state.clone());
    let (one, two) = main.race(move || worker.merge(), move || task.leave());
    assert_eq!(one + two, 1, "released by both, or by none");
}

fn two_leave_against_unite(main: Main) {
    let state = State::new(2);
    let (worker, first, second) = (state.clone(), state.clone(), state.clone());
    let (one, two, three) = main.race_two(
        move || worker.merge(),
        move || first.leave(),
        move || second.leave(),
    );
    assert_eq!(one + two + three, 1, "released by several, or by none");
}

fn join_against_unite(main: Main) {
    let state = State::new(0);
    let (worker, task) = (state.clone(), state.clone());
    let (one, two) = main.race(move || worker.merge(), move || task.join_and_leave());
    assert_eq!(one + two, 1, "released by both, or by none");
}

fn join_against_leave(main: Main) {
    let state = State::new(1);
    assert_eq!(state.merge(), 0, "there is a task");
    let (last, new) = (state.clone(), state.clone());
    let (one, two) = main.race(move || last.leave(), move || new.join_and_leave());
    assert_eq!(one + two, 1, "released by both, or by none");
}

/// Counts how often a task is woken; loom does not see it.
#[derive(Default)]
struct Wakes(std::sync::atomic::AtomicUsize);

impl Wakes {
    fn waker(self: &std::sync::Arc<Self>) -> Waker {
        Waker::from(std::sync::Arc::clone(self))
    }

    fn get(&self) -> usize {
        self.0.load(std::sync::atomic::Ordering::Relaxed)
    }
}

impl Wake for Wakes {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
}

fn close_against_enter(main: Main) {
    let registry = Arc::new(Registry::new(1));
    let wakes = std::sync::Arc::new(Wakes::default());
    let (closer, task) = (registry.clone(), registry.clone());
    let waker = wakes.waker();
    let ((), seat) = main.race(
        move || closer.close_all(Waker::wake),
        move || task.enter(0, &waker),
    );
    assert_eq!(wakes.get(), usize::from(seat.is_some()), "left to wait");
    if let Some(seat) = seat {
        registry.leave(seat);
    }
    drop(registry);
    assert_eq!(std::sync::Arc::strong_count(&wakes), 1, "a waker is left");
}

fn close_against_leave(main: Main) {
    let registry = Arc::new(Registry::new(1));
    let (first, second) = <(std::sync::Arc<Wakes>, std::sync::Arc<Wakes>)>::default();
    let seat = registry.enter(0, &first.waker()).expect("it is open");
    let (closer, task) = (registry.clone(), registry.clone());
    let waker = second.waker();
    let ((), seat) = main.race(
        move || closer.close_all(Waker::wake),
        move || {
            task.leave(seat);
            task.enter(0, &waker)
        },
    );
    assert!(first.get() <= 1, "woken twice");
    assert_eq!(second.get(), usize::from(seat.is_some()), "left to wait");
    if let Some(seat) = seat {
        registry.leave(seat);
    }
    drop(registry);
    for wakes in [first, second] {
        assert_eq!(std::sync::Arc::strong_count(&wakes), 1, "a waker is left");
    }
}

fn two_tasks(main: Main) {
    let registry = Arc::new(Registry::new(1));
    let wakes = [(); 3].map(|()| std::sync::Arc::new(Wakes::default()));
    let stay = |registry: Arc<Registry>, short: Waker, long: Waker| {
        move || {
            let seat = registry.enter(0, &short).expect("it is open");
            registry.leave(seat);
            registry.enter(0, &long).expect("it is open")
        }
    };
    let [short, one, two] = wakes.each_ref().map(|wakes| wakes.waker());
    let seats = main.race(
        stay(registry.clone(), short.clone(), one),
        stay(registry.clone(), short, two),
    );
    registry.close_all(Waker::wake);
    let woken = wakes.each_ref().map(|wakes| wakes.get());
    assert_eq!(woken, [0, 1, 1], "a seat was shared, or is still taken");
    registry.leave(seats.0);
    registry.leave(seats.1);
}
