//! Values, futures and wakers of graphs and pipelines that panic when they are dropped or
//! woken: one by one, so that no two panics meet; and nothing outlives its run.

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::Duration;

use futures::StreamExt;
use futures::executor::block_on;
use tests::exec::{executor, until};
use tests::watchdog::guard;
use ws_core::Spawn;
use ws_executor::graph::{DynGraph, ThreadTimer, Timer};
use ws_executor::{pipeline, task_graph, yield_now};

/// A value whose drop panics.
#[derive(Debug)]
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("a bomb");
    }
}

/// A panic in a sink is an error, and ends the run; so is one in the drop of what it takes.
#[test]
fn of_results_that_nobody_takes() {
    guard("discarded", || {
        let executor = executor(2);
        let bombs = |n: u32| async move { Ok::<_, String>((n > 500).then(|| Bomb)) };
        let pipeline = pipeline::from_fn(&executor.handle(), bombs).iter(0..2000);
        let error = block_on(pipeline.build().unwrap().run()).unwrap_err();
        assert!(error.to_string().contains("a bomb"), "{error}");
    });
}

#[test]
fn of_results_that_a_sink_has_when_the_run_is_cancelled() {
    guard("forwarded", || {
        let executor = executor(2);
        let (sender, mut receiver) = futures::channel::mpsc::channel(1);
        let bombs = |_: u32| async { Ok::<_, ()>(Bomb) };
        let pipeline = pipeline::from_fn(&executor.handle(), bombs).iter(0..);
        let pipeline = pipeline.in_flight(100).sink(pipeline::forward(sender));
        let running = pipeline.build().unwrap().start();
        until(|| running.progress().items >= 100);
        for _ in 0..2 {
            // Time for the sink to have more than one of them.
            thread::sleep(Duration::from_millis(100));
            std::mem::forget(block_on(receiver.next()));
        }
        thread::sleep(Duration::from_millis(100));
        let report = block_on(running.cancel()).unwrap();
        assert!(report.cancelled > 2, "{report}");
        // What has arrived does not go off.
        while let Some(bomb) = block_on(receiver.next()) {
            std::mem::forget(bomb);
        }
    });
}

#[test]
fn of_values_of_a_dynamic_graph() {
    guard("dynamic", || {
        let executor = executor(2);
        let mut graph = DynGraph::new();
        let (one, two) = (graph.source(|| Bomb), graph.source(|| Bomb));
        let both = graph.join(&one, &two, |_, _| 3);
        drop((one, two));
        block_on(graph.run(&executor.handle()));
        assert_eq!(both.take(), 3);
    });
}

/// A value that takes its time to go.
struct Slow(Arc<AtomicUsize>);

impl Drop for Slow {
    fn drop(&mut self) {
        thread::sleep(Duration::from_millis(50));
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[task_graph]
async fn makes(live: Arc<AtomicUsize>, #[shared] began: &AtomicBool) -> Result<u32, ()> {
    #[node(blocking)]
    let made: Slow = make(live, began);
    let checked: u32 = refuse(began).await?;
    drop(made);
    Ok(checked)
}

fn make(live: Arc<AtomicUsize>, began: &AtomicBool) -> Slow {
    live.fetch_add(1, Ordering::SeqCst);
    began.store(true, Ordering::SeqCst);
    thread::sleep(Duration::from_millis(300));
    Slow(live)
}

async fn refuse(began: &AtomicBool) -> Result<u32, ()> {
    while !began.load(Ordering::SeqCst) {
        yield_now().await;
    }
    Err(())
}

#[test]
fn the_value_of_blocking_code_does_not_outlive_its_run() {
    guard("blocking", || {
        let executor = executor(2);
        let live = Arc::new(AtomicUsize::new(0));
        let run = makes::on(&executor.handle()).run(Arc::clone(&live), Arc::default());
        assert!(block_on(run).is_err());
        assert_eq!(live.load(Ordering::SeqCst), 0);
    });
}

type Boxed = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;

/// Keeps what it should run.
#[derive(Clone, Default)]
struct Keeps(Arc<Mutex<Vec<Boxed>>>);

impl Spawn for Keeps {
    fn spawn<F>(&self, future: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.0.lock().unwrap().push(Box::pin(future));
    }

    fn parallelism(&self) -> usize {
        1
    }
}

#[test]
fn a_node_that_was_never_polled_does_not_outlive_its_run() {
    guard("unpolled", || {
        let keeps = Keeps::default();
        let live = Arc::new(AtomicUsize::new(1));
        let mut graph = DynGraph::new();
        let slow = Slow(Arc::clone(&live));
        let _value = graph.source_async(move || async move {
            let _slow = slow;
            std::future::pending::<()>().await;
        });
        let (on, seen) = (keeps.clone(), Arc::clone(&live));
        let run = thread::spawn(move || {
            let run = AssertUnwindSafe(|| block_on(graph.run(&on)));
            assert!(catch_unwind(run).is_err(), "a run that is lost");
            seen.load(Ordering::SeqCst)
        });
        until(|| keeps.0.lock().unwrap().len() == 1);
        let kept = std::mem::take(&mut *keeps.0.lock().unwrap());
        drop(kept);
        assert_eq!(run.join().unwrap(), 0);
    });
}

/// A waker whose panic carries something that panics again.
struct Cursed;

impl Wake for Cursed {
    fn wake(self: Arc<Self>) {
        panic_any(Bomb);
    }
}

#[test]
fn the_timer_survives_any_waker() {
    guard("timer", || {
        let waker = Waker::from(Arc::new(Cursed));
        let mut cx = Context::from_waker(&waker);
        // Another one, if this thread stood still until it was over.
        let _sleep = loop {
            let mut sleep = ThreadTimer.sleep(Duration::from_millis(10));
            if sleep.as_mut().poll(&mut cx).is_pending() {
                break sleep;
            }
        };
        // One after the other: the second is due after the first.
        for _ in 0..2 {
            block_on(ThreadTimer.sleep(Duration::from_millis(50)));
        }
    });
}
