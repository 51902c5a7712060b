//! While joins or computations keep all workers busy, a spare thread polls tasks. It is not a
//! worker.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::task::Poll;
use std::thread;

use futures::channel::oneshot;
use futures::task::AtomicWaker;
use tests::exec::{assert_alive, payload_of, until};
use tests::watchdog;
use ws_executor::{Executor, Task, join};

use super::fib;

/// What keeps the workers busy.
#[derive(Clone, Copy, Debug)]
enum Load {
    /// A tree of joins for each worker, each in a poll that does not end.
    Trees,
    /// One tree whose leaves keep all workers, in one poll.
    Leaves,
    Computations,
}

/// All workers compute, until this is stopped.
struct Busy {
    stop: Arc<AtomicBool>,
    tasks: Vec<Task<()>>,
}

/// With spare threads, unlike [`tests::exec::executor`].
fn executor(workers: usize) -> Executor {
    Executor::builder().workers(workers).build().unwrap()
}

impl Busy {
    /// Returns when all workers are at it.
    fn start(executor: &Executor, load: Load) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (begins, begun) = mpsc::channel();
        let workers = executor.workers();
        let code = || {
            let (stop, begins) = (Arc::clone(&stop), begins.clone());
            move || {
                begins.send(()).unwrap();
                while !stop.load(Ordering::Relaxed) {
                    assert_eq!(fib(10), 55);
                }
            }
        };
        fn leaves(mut codes: Vec<impl FnOnce() + Send>) {
            match codes.pop() {
                None => {}
                Some(last) if codes.is_empty() => last(),
                Some(last) => drop(join(|| leaves(codes), last)),
            }
        }
        let tasks = match load {
            Load::Trees => {
                let task = |_| {
                    let code = code();
                    executor.spawn(async move { join(code, || ()).0 })
                };
                (0..workers).map(task).collect()
            }
            Load::Leaves => {
                let codes: Vec<_> = (0..workers).map(|_| code()).collect();
                vec![executor.spawn(async move { leaves(codes) })]
            }
            Load::Computations => {
                let task = |_| executor.handle().compute(code());
                (0..workers).map(task).collect()
            }
        };
        for _ in 0..workers {
            begun.recv().unwrap();
        }
        Self { stop, tasks }
    }

    fn stop(self, executor: &Executor) {
        self.stop.store(true, Ordering::Relaxed);
        for task in self.tasks {
            executor.block_on(task);
        }
    }
}

/// Woken again and again from outside, it is polled each time.
#[test]
fn a_task_that_is_woken_from_outside_is_polled() {
    watchdog::guard("woken from outside", || {
        for workers in [1, 2] {
            for load in [Load::Trees, Load::Leaves, Load::Computations] {
                let executor = executor(workers);
                let (waker, wakes) = (Arc::new(AtomicWaker::new()), Arc::new(AtomicU64::new(0)));
                let (answers, answered) = mpsc::channel();
                let task = {
                    let (waker, wakes) = (Arc::clone(&waker), Arc::clone(&wakes));
                    executor.spawn(poll_fn(move |cx| {
                        waker.register(cx.waker());
                        let seen = wakes.load(Ordering::SeqCst);
                        let _ = answers.send(seen);
                        if seen == 100 {
                            return Poll::Ready(());
                        }
                        Poll::Pending
                    }))
                };
                assert_eq!(answered.recv(), Ok(0));
                let busy = Busy::start(&executor, load);
                for number in 1..=100 {
                    wakes.store(number, Ordering::SeqCst);
                    waker.wake();
                    // The load goes on until this comes, so nobody but a spare thread polls.
                    while answered.recv().unwrap() < number {}
                }
                executor.block_on(task);
                let polls = executor.metrics().spare_polls();
                assert!(
                    polls >= 100,
                    "{polls} by the spare thread, {load:?}, {workers} workers"
                );
                busy.stop(&executor);
                assert_alive(&executor);
            }
        }
    });
}

/// Tasks that are spawned, that spawn, that wake each other, and that panic.
#[test]
fn all_that_tasks_do_goes_on() {
    watchdog::guard("goes on", || {
        let executor = executor(2);
        let busy = Busy::start(&executor, Load::Trees);
        let handle = executor.handle();
        let sum = executor.spawn(async move {
            let mut sum = 0;
            for number in 0..10 {
                let (sends, receives) = oneshot::channel();
                let child = handle.spawn(async move { receives.await.unwrap() + 1 });
                ws_executor::yield_now().await;
                sends.send(number).unwrap();
                sum += child.await;
            }
            sum
        });
        assert_eq!(executor.block_on(sum), 55);
        let panics = executor.spawn(async { panic!("on the spare thread") });
        let payload = payload_of(|| executor.block_on(panics));
        assert_eq!(payload.downcast_ref(), Some(&"on the spare thread"));
        busy.stop(&executor);
        assert_alive(&executor);
    });
}

/// A join in a task that the spare thread polls runs on a worker, with all joins inside it. On
/// the spare thread, each of these joins would be one more task to wait for.
#[test]
fn a_join_on_a_spare_thread_waits_for_a_worker() {
    fn names(depth: u32) -> Vec<String> {
        if depth == 0 {
            let thread = thread::current();
            return vec![thread.name().unwrap_or("none").to_owned()];
        }
        let (mut a, b) = join(|| names(depth - 1), || names(depth - 1));
        a.extend(b);
        a
    }

    watchdog::guard("join on the spare thread", || {
        for load in [Load::Trees, Load::Computations] {
            let executor = executor(2);
            let busy = Busy::start(&executor, load);
            let (names_of, names_are) = mpsc::channel();
            executor
                .spawn(async move {
                    names_of.send(names(0)).unwrap();
                    names_of.send(names(6)).unwrap();
                })
                .detach();
            assert_eq!(names_are.recv().unwrap(), ["ws-spare"]);
            // Other tasks are polled meanwhile: by another spare thread.
            for number in 0..10 {
                assert_eq!(
                    executor.block_on(executor.spawn(async move { number })),
                    number
                );
            }
            until(|| {
                assert!(names_are.try_recv().is_err(), "no worker is free");
                executor.metrics().computations_waiting() == 1
            });
            busy.stop(&executor);
            let names = names_are.recv().unwrap();
            assert_eq!(names.len(), 64);
            assert!(
                names.iter().all(|name| name.starts_with("ws-worker-")),
                "{names:?}"
            );
        }
    });
}
