//! However a run of a graph ends, a wake drops nothing of it: nodes whose drops take a lock and
//! wake each other under it, and which a foreign thread wakes under the same lock.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use futures::executor::block_on;
use tests::exec::{executor, until};
use tests::watchdog::guard;
use ws_executor::graph::DynGraph;
use ws_executor::{Executor, task_graph};

/// How often runs of each kind are ended.
const ROUNDS: usize = 60;

thread_local! {
    /// Whether this thread is inside of a wake, and so has the lock of a circle.
    static WAKING: Cell<bool> = const { Cell::new(false) };
}

/// The nodes of a run that wait, and their wakers under one lock.
#[derive(Default)]
struct Circle {
    wakers: Mutex<[Option<Waker>; 3]>,
    polled: AtomicUsize,
    /// Lets the last node end the run.
    ends: AtomicBool,
    /// Drops inside of wakes.
    faults: AtomicUsize,
}

impl Circle {
    fn wake_all(&self) {
        let wakers = self.wakers.lock().unwrap();
        WAKING.set(true);
        wakers.iter().flatten().for_each(Waker::wake_by_ref);
        WAKING.set(false);
    }

    /// Waits for ever.
    async fn wait(self: &Arc<Self>, number: usize) -> Result<u32, ()> {
        let circle = Arc::clone(self);
        CircleMember { circle, number }.await;
        Ok(0)
    }

    /// Waits, and then ends the run.
    async fn end(self: &Arc<Self>, how: How) -> Result<u32, ()> {
        self.wait(2).await?;
        if how == How::Panic {
            panic!("the end of the run");
        }
        Err(())
    }
}

/// Waits; its drop takes the lock and wakes all others under it, as HTTP/2's streams do.
struct CircleMember {
    circle: Arc<Circle>,
    number: usize,
}

impl Future for CircleMember {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let circle = &self.circle;
        let old = circle.wakers.lock().unwrap()[self.number].replace(cx.waker().clone());
        if old.is_none() {
            circle.polled.fetch_add(1, Ordering::Relaxed);
        }
        if self.number == 2 && circle.ends.load(Ordering::Relaxed) {
            return Poll::Ready(());
        }
        Poll::Pending
    }
}

impl Drop for CircleMember {
    fn drop(&mut self) {
        if WAKING.get() {
            // This thread has the lock: the drop would never return.
            self.circle.faults.fetch_add(1, Ordering::Relaxed);
        } else {
            self.circle.wake_all();
        }
    }
}

/// How a run ends.
#[derive(Clone, Copy, Debug, PartialEq)]
enum How {
    Error,
    Panic,
    /// Its future is dropped, which is a task of the same executor.
    DropTask,
    /// Its future is dropped by a foreign thread, which has polled it.
    DropHere,
    /// The executor is shut down.
    Shutdown,
    /// The same, and a foreign thread waits for the run.
    ShutdownElsewhere,
}

const HOWS: [How; 6] = [
    How::Error,
    How::Panic,
    How::DropTask,
    How::DropHere,
    How::Shutdown,
    How::ShutdownElsewhere,
];

#[task_graph]
async fn three(circle: Arc<Circle>, how: How) -> Result<u32, ()> {
    let a = circle.wait(0).await?;
    let b = circle.wait(1).await?;
    let c = circle.end(how).await?;
    Ok(a + b + c)
}

const ENDS: [fn(Executor); 4] = [
    Executor::shutdown,
    drop,
    |executor| assert!(executor.shutdown_timeout(Duration::MAX)),
    Executor::drain,
];

/// Starts a run and ends it, while foreign threads wake its nodes under their lock.
fn check<R, F>(round: usize, how: How, run: impl Fn(&Executor, &Arc<Circle>) -> R, fails: F)
where
    R: Future + Send + 'static,
    R::Output: Send,
    F: Fn(R::Output) -> bool,
{
    let executor = executor(1 + round % 3);
    let circle = Arc::<Circle>::default();
    let run = run(&executor, &circle);
    let end = ENDS[round % ENDS.len()];
    let all_wait = || circle.polled.load(Ordering::Relaxed) == 3;
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    circle.wake_all();
                    thread::yield_now();
                }
            });
        }
        match how {
            How::Error | How::Panic => {
                circle.ends.store(true, Ordering::Relaxed);
                let output = catch_unwind(AssertUnwindSafe(|| executor.block_on(run)));
                assert!(output.map_or(how == How::Panic, fails), "{how:?}");
                end(executor);
            }
            How::DropTask => {
                let task = executor.spawn(run);
                until(all_wait);
                drop(task);
                end(executor);
            }
            How::DropHere => {
                {
                    let mut run = pin!(run);
                    let mut cx = Context::from_waker(Waker::noop());
                    assert!(run.as_mut().poll(&mut cx).is_pending());
                    until(all_wait);
                }
                end(executor);
            }
            How::Shutdown => {
                executor.spawn(run).detach();
                until(all_wait);
                end(executor);
            }
            How::ShutdownElsewhere => {
                let waits = scope.spawn(|| {
                    let lost = catch_unwind(AssertUnwindSafe(|| block_on(run)));
                    assert!(lost.is_err(), "the executor lost a branch");
                });
                until(all_wait);
                end(executor);
                waits.join().unwrap();
            }
        }
        over.store(true, Ordering::Relaxed);
    });
    let faults = circle.faults.load(Ordering::Relaxed);
    assert_eq!(faults, 0, "drops inside of a wake: {how:?}");
    // The wakers are in the circle; nothing of the run has it.
    assert_eq!(Arc::strong_count(&circle), 1, "{how:?}");
}

#[test]
fn nodes_of_a_run_that_wake_each_other_in_their_drops() {
    guard("graph", || {
        for round in 0..ROUNDS {
            for how in HOWS {
                let run = |executor: &Executor, circle: &Arc<Circle>| {
                    three::on(&executor.handle()).run(Arc::clone(circle), how)
                };
                check(round, how, run, |result| result.is_err());
            }
        }
    });
}

#[test]
fn nodes_of_a_dynamic_graph_that_wake_each_other_in_their_drops() {
    guard("dynamic graph", || {
        // A dynamic graph has no errors.
        for how in HOWS.into_iter().filter(|how| *how != How::Error) {
            for round in 0..ROUNDS {
                let run = |executor: &Executor, circle: &Arc<Circle>| {
                    let (mut graph, handle) = (DynGraph::new(), executor.handle());
                    for number in 0..2 {
                        let circle = Arc::clone(circle);
                        let wait = move || async move { circle.wait(number).await };
                        drop(graph.source_async(wait));
                    }
                    let circle = Arc::clone(circle);
                    drop(graph.source_async(move || async move { circle.end(how).await }));
                    async move { graph.run(&handle).await }
                };
                check(round, how, run, |()| false);
            }
        }
    });
}
