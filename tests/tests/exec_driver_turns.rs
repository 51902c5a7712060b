//! What a driver may do in its turn and around it, and what happens while every worker is kept.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Wake, Waker};
use std::thread;
use std::time::Duration;

use tests::exec::until;
use tests::timers::Timers;
use tests::watchdog::guard;
use ws_core::Driver;
use ws_executor::{DriverHandoff, Executor, Handle};

/// Every worker blocks until a timer of the driver has fired.
#[test]
fn a_spare_thread_turns_the_driver_while_every_worker_is_kept() {
    guard("kept", || {
        for workers in [1, 2] {
            for handoff in [DriverHandoff::Monitor, DriverHandoff::Eager] {
                let timers = Timers::default();
                let builder = Executor::builder().workers(workers);
                let builder = builder.driver(timers.clone()).driver_handoff(handoff);
                let executor = builder.build().unwrap();
                let (opens, gates): (Vec<_>, Vec<_>) =
                    (0..workers).map(|_| mpsc::channel::<()>()).unzip();
                let (begin, begun) = mpsc::channel();
                let timer = executor.spawn(async move {
                    timers.sleep(Duration::from_millis(30)).await;
                    drop(opens);
                });
                let blocks = gates.into_iter().map(|gate| {
                    let begin = begin.clone();
                    executor.spawn(async move {
                        begin.send(()).unwrap();
                        let _ = gate.recv();
                    })
                });
                let blocks: Vec<_> = blocks.collect();
                (0..workers).for_each(|_| begun.recv().unwrap());
                executor.block_on(timer);
                blocks.into_iter().for_each(|it| executor.block_on(it));
            }
        }
    });
}

/// Spawns a task when it is woken.
struct Spawns {
    handle: Handle,
    many: bool,
    ran: Mutex<mpsc::Sender<()>>,
}

impl Wake for Spawns {
    fn wake(self: Arc<Self>) {
        let ran = self.ran.lock().unwrap().clone();
        let task = async move { ran.send(()).unwrap() };
        if self.many {
            let tasks = self.handle.spawn_many([task]);
            tasks.into_iter().for_each(|task| task.detach());
        } else {
            self.handle.spawn(task).detach();
        }
    }
}

/// The turn ends, so that the worker itself runs the task: the monitor need not help.
#[test]
fn a_task_that_is_spawned_in_a_turn_ends_it() {
    const ROUNDS: usize = 30;
    guard("spawned in a turn", || {
        for many in [false, true] {
            let timers = Timers::default();
            let builder = Executor::builder().workers(2).driver(timers.clone());
            let executor = builder.build().unwrap();
            for _ in 0..ROUNDS {
                until(|| executor.metrics().parked_workers() == 2);
                let (ran, runs) = mpsc::channel();
                let spawns = Spawns {
                    handle: executor.handle(),
                    many,
                    ran: Mutex::new(ran),
                };
                timers.wake_inside(Waker::from(Arc::new(spawns)));
                runs.recv().unwrap();
            }
            // A worker that is held up on its way out of the turn is helped.
            let rescued = executor.metrics().tasks_rescued();
            assert!(rescued < ROUNDS as u64 / 2, "{rescued} of {ROUNDS}");
        }
    });
}

/// One of its workers enters late.
struct SlowToEnter {
    timers: Timers,
    entered: AtomicUsize,
    gate: Mutex<mpsc::Receiver<()>>,
}

impl Driver for SlowToEnter {
    fn enter(&self, life: &mut dyn FnMut()) {
        if self.entered.fetch_add(1, Ordering::SeqCst) == 1 {
            let _ = self.gate.lock().unwrap().recv();
        }
        life();
    }

    fn turn(&self, timeout: Option<Duration>) {
        self.timers.turn(timeout);
    }

    fn wake(&self) {
        self.timers.wake();
    }
}

#[test]
fn a_worker_that_has_not_entered_yet_hides_no_task() {
    guard("slow to enter", || {
        let (open, gate) = mpsc::channel::<()>();
        let driver = SlowToEnter {
            timers: Timers::default(),
            entered: AtomicUsize::new(0),
            gate: Mutex::new(gate),
        };
        let builder = Executor::builder().workers(2).driver(driver);
        let executor = builder.build().unwrap();
        until(|| executor.metrics().parked_workers() == 1);
        for _ in 0..10 {
            executor.block_on(executor.spawn(async {}));
            thread::sleep(Duration::from_millis(1));
        }
        drop(open);
        until(|| executor.metrics().parked_workers() == 2);
    });
}

/// Its `poll_scope` forgets what it was given.
struct Forgets(Timers);

impl Driver for Forgets {
    fn turn(&self, timeout: Option<Duration>) {
        self.0.turn(timeout);
    }

    fn wake(&self) {
        self.0.wake();
    }

    fn poll_scope(&self, _: &mut dyn FnMut()) {}
}

#[test]
fn a_task_is_polled_although_the_driver_forgets_to() {
    guard("forgets", || {
        let builder = Executor::builder().workers(2);
        let executor = builder.driver(Forgets(Timers::default())).build().unwrap();
        assert_eq!(executor.block_on(executor.spawn(async { 7 })), 7);
    });
}
