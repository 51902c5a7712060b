//! No task is stranded: while one worker is free, a task that is due runs, whatever the other
//! workers are blocked in and wherever the task is queued.
//!
//! All workers but one are blocked in polls, until one more task has gone through its script.
//! The blocked ones give up after [`PATIENCE`]: that is a stranded task.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

use futures::channel::oneshot;
use tests::census::{stress_items, stress_rounds};
use tests::watchdog::guard;
use ws_core::{Driver, FastRand};
use ws_executor::{Builder, DriverHandoff, Executor, Handle, yield_now};

/// Far beyond what a machine may take from a thread, and a rescue takes a millisecond.
const PATIENCE: Duration = Duration::from_secs(20);

const SLICE: Duration = Duration::from_millis(100);

/// Opened once; those that wait for it in vain give up.
#[derive(Clone, Default)]
struct End(Arc<(Mutex<bool>, Condvar)>);

impl End {
    fn come(&self) {
        *self.0.0.lock().unwrap() = true;
        self.0.1.notify_all();
    }

    /// Blocks; whether it has come. In many short waits, so that a machine that stood still
    /// for long is no reason to give up.
    fn wait(&self) -> bool {
        let mut open = self.0.0.lock().unwrap();
        for _ in 0..PATIENCE.as_millis() / SLICE.as_millis() {
            let waited = self.0.1.wait_timeout_while(open, SLICE, |open| !*open);
            open = waited.unwrap().0;
            if *open {
                break;
            }
        }
        *open
    }
}

/// A task yields again and again; then two others block two of the three workers.
#[test]
fn a_task_that_yields_is_not_stranded_behind_a_blocked_poll() {
    guard("yields", || {
        let rounds = stress_rounds(50);
        for round in 0..rounds {
            let executor = tests::exec::executor(3);
            let yields = Arc::new(AtomicUsize::new(0));
            let over = Arc::new(AtomicBool::new(false));
            let yielding = executor.spawn({
                let (yields, over) = (Arc::clone(&yields), Arc::clone(&over));
                async move {
                    while !over.load(Ordering::Relaxed) {
                        yields.fetch_add(1, Ordering::Relaxed);
                        yield_now().await;
                    }
                }
            });
            tests::exec::until(|| yields.load(Ordering::Relaxed) > 100);
            let (entered, enters) = mpsc::channel();
            let end = End::default();
            let blockers: Vec<_> = (0..2)
                .map(|_| {
                    let (entered, end) = (entered.clone(), end.clone());
                    executor.spawn(async move {
                        entered.send(()).unwrap();
                        end.wait()
                    })
                })
                .collect();
            enters.recv().unwrap();
            enters.recv().unwrap();
            // Both are inside: the third worker is free.
            let before = yields.load(Ordering::Relaxed);
            let watch = {
                let (yields, end) = (Arc::clone(&yields), end.clone());
                thread::spawn(move || {
                    while yields.load(Ordering::Relaxed) < before + 10 && !*end.0.0.lock().unwrap()
                    {
                        thread::yield_now();
                    }
                    end.come();
                })
            };
            for blocker in blockers {
                assert!(
                    executor.block_on(blocker),
                    "stranded in round {round} of {rounds}"
                );
            }
            over.store(true, Ordering::Relaxed);
            executor.block_on(yielding);
            watch.join().unwrap();
        }
    });
}

/// A reactor without events of its own: other threads fire wakers through it.
#[derive(Default)]
struct Reactor {
    state: Mutex<(Vec<Waker>, bool)>,
    changed: Condvar,
}

struct Shared(Arc<Reactor>);

impl Driver for Shared {
    fn turn(&self, timeout: Option<Duration>) {
        let idle = |state: &mut (Vec<Waker>, bool)| state.0.is_empty() && !state.1;
        let state = self.0.state.lock().unwrap();
        let timeout = timeout.unwrap_or(Duration::from_secs(3600));
        let waited = self.0.changed.wait_timeout_while(state, timeout, idle);
        let mut state = waited.unwrap().0;
        state.1 = false;
        let fired = std::mem::take(&mut state.0);
        drop(state);
        fired.into_iter().for_each(Waker::wake);
    }

    fn wake(&self) {
        self.0.state.lock().unwrap().1 = true;
        self.0.changed.notify_all();
    }
}

/// What an executor is built as.
struct Mode {
    name: &'static str,
    build: fn(Builder, &Arc<Reactor>) -> Builder,
}

const MODES: [Mode; 6] = [
    Mode {
        name: "plain",
        build: |builder, _| builder,
    },
    Mode {
        name: "without the LIFO slot",
        build: |builder, _| builder.lifo_slot(false),
    },
    Mode {
        name: "hosted",
        build: |builder, _| builder.host(futures::executor::block_on),
    },
    Mode {
        name: "driver, left to a monitor",
        build: |builder, reactor| builder.driver(Shared(Arc::clone(reactor))),
    },
    Mode {
        name: "driver, handed off at once",
        build: |builder, reactor| {
            builder
                .driver(Shared(Arc::clone(reactor)))
                .driver_handoff(DriverHandoff::Eager)
        },
    },
    Mode {
        name: "driver, not handed off",
        build: |builder, reactor| {
            builder
                .driver(Shared(Arc::clone(reactor)))
                .driver_handoff(DriverHandoff::Off)
        },
    },
];

/// A step of the script.
#[derive(Clone, Copy, Debug)]
enum Step {
    Yield,
    Spawn,
    SpawnMany,
    /// A task sends to this one and ends.
    Event,
    /// Another thread does.
    Outside,
    /// The reactor does, if it is looked after.
    Reactor,
    Join,
    Compute,
    NestedBlockOn,
    Scope,
}

const STEPS: [Step; 10] = [
    Step::Yield,
    Step::Spawn,
    Step::SpawnMany,
    Step::Event,
    Step::Outside,
    Step::Reactor,
    Step::Join,
    Step::Compute,
    Step::NestedBlockOn,
    Step::Scope,
];

impl Step {
    /// Whether it runs other tasks on top of this one: if one of them blocks until the script
    /// is over, that is a deadlock of the program's own.
    fn runs_tasks_on_top(self) -> bool {
        matches!(self, Self::NestedBlockOn | Self::Scope)
    }
}

/// When a script begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    First,
    InTask,
    Last,
    /// After all others have blocked their workers.
    Behind,
}

/// What scripts need besides their executor.
#[derive(Clone)]
struct World {
    handle: Handle,
    /// A thread that sends what it gets.
    outside: mpsc::Sender<oneshot::Sender<()>>,
    /// Fires wakers through the reactor, or just wakes them.
    reactor: Option<Arc<Reactor>>,
}

impl World {
    async fn go(&self, step: Step) {
        let handle = &self.handle;
        match step {
            Step::Yield => yield_now().await,
            Step::Spawn => handle.spawn(yield_now()).await,
            Step::SpawnMany => {
                for task in handle.spawn_many([yield_now(), yield_now(), yield_now()]) {
                    task.await;
                }
            }
            Step::Event => {
                let (sender, receiver) = oneshot::channel::<()>();
                handle.spawn(async move { drop(sender) }).detach();
                let _ = receiver.await;
            }
            Step::Outside => {
                let (sender, receiver) = oneshot::channel::<()>();
                self.outside.send(sender).unwrap();
                let _ = receiver.await;
            }
            Step::Reactor => self.wait_for_reactor().await,
            Step::Join => drop(handle.join(|| 1, || 2)),
            Step::Compute => handle.compute(|| ()).await,
            Step::NestedBlockOn => handle.block_on(handle.spawn(yield_now())),
            Step::Scope => handle.scope(|s| {
                drop(s.spawn(yield_now()));
                s.run(|_| ());
            }),
        }
    }

    /// Pending once, until the reactor says so.
    async fn wait_for_reactor(&self) {
        let mut fired = false;
        poll_fn(|cx| {
            if std::mem::replace(&mut fired, true) {
                return Poll::Ready(());
            }
            let Some(reactor) = &self.reactor else {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            };
            reactor.state.lock().unwrap().0.push(cx.waker().clone());
            reactor.changed.notify_all();
            Poll::Pending
        })
        .await;
    }
}

/// Many rounds of random scripts on one executor.
fn random_scripts(mode: &Mode, workers: usize, rounds: u64, seed: u64) {
    let reactor = Arc::new(Reactor::default());
    let builder = Executor::builder().spares(0).workers(workers).seed(seed);
    let executor = (mode.build)(builder, &reactor).build().unwrap();
    let (outside, requests) = mpsc::channel::<oneshot::Sender<()>>();
    let foreign = thread::spawn(move || requests.iter().for_each(drop));
    let world = World {
        handle: executor.handle(),
        outside,
        // Without a hand-off a reactor may wait for its worker, which is blocked.
        reactor: (mode.name.contains("monitor") || mode.name.contains("at once"))
            .then_some(reactor),
    };
    let mut rand = FastRand::new(seed);
    for round in 0..rounds {
        // Before the others, in a task or from outside, or when all of them block.
        let start =
            [Start::First, Start::InTask, Start::Last, Start::Behind][rand.below(4) as usize];
        let script: Vec<Step> = (0..1 + rand.below(12))
            .map(|_| STEPS[rand.below(STEPS.len() as u32) as usize])
            .filter(|step| start == Start::Behind || !step.runs_tasks_on_top())
            .collect();
        let end = End::default();
        let scripted = {
            let (world, end, script) = (world.clone(), end.clone(), script.clone());
            async move {
                for step in script {
                    world.go(step).await;
                }
                end.come();
            }
        };
        let (entered, enters) = mpsc::channel();
        let blocked = (1..workers).map(|_| {
            let (end, entered) = (end.clone(), entered.clone());
            async move {
                let _ = entered.send(());
                end.wait()
            }
        });
        let mut scripted = Some(scripted);
        let mut begin = |now: bool| {
            if let Some(scripted) = scripted.take_if(|_| now) {
                let handle = world.handle.clone();
                if start == Start::InTask {
                    let inner = handle.clone();
                    handle
                        .spawn(async move { inner.spawn(scripted).detach() })
                        .detach();
                } else {
                    handle.spawn(scripted).detach();
                }
            }
        };
        begin(start == Start::First);
        let tasks: Vec<_> = blocked.map(|task| world.handle.spawn(task)).collect();
        if start == Start::Behind {
            (1..workers).for_each(|_| enters.recv().unwrap());
        }
        begin(true);
        for task in tasks {
            assert!(
                executor.block_on(task),
                "{}, {workers} workers, seed {seed}, round {round}: {script:?} was stranded: {:#?}",
                mode.name,
                executor.metrics()
            );
        }
    }
    drop(world);
    executor.shutdown();
    foreign.join().unwrap();
}

/// In each mode; `WS_STRESS_ITEMS` is the number of rounds of all together.
#[test]
fn a_task_with_a_random_script_is_not_stranded_behind_blocked_polls() {
    let sizes = [2, 3, 4];
    let runs = (MODES.len() * sizes.len()) as u64;
    let rounds = stress_items(1_800).div_ceil(runs);
    for (number, mode) in MODES.iter().enumerate() {
        for workers in sizes {
            guard(mode.name, || {
                random_scripts(mode, workers, rounds, 1 + number as u64);
            });
        }
    }
}
