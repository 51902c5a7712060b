//! Streams: a pipeline of four stages beside a channel for each edge, and beside
//! `buffer_unordered`, on the same executor; and how soon a pipeline is gone when it is
//! dropped.

use std::convert::Infallible;
use std::future::pending;
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use futures::{StreamExt, stream};
use tokio::sync::mpsc as channel;
use ws_core::Spawn;
use ws_executor::pipeline::{self, BoxError, Builder, PerItem, Sink};
use ws_executor::task_graph;

/// How many items may be in flight: in the pipeline, in `buffer_unordered`, and in all
/// channels together.
const IN_FLIGHT: usize = 1024;

/// In flight when a pipeline is dropped.
pub(crate) const CUT: usize = 2048;

/// A stage: next to no work, so that what is measured is the way from one to the next.
async fn stage(n: u64) -> u64 {
    black_box(n.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1))
}

async fn all_stages(n: u64) -> u64 {
    let n = stage(n).await;
    let n = stage(n).await;
    let n = stage(n).await;
    stage(n).await
}

/// Spawns a future and waits for it, on a thread that is not one of the executor's.
fn wait_for(on: &impl Spawn, future: impl Future<Output = u64> + Send + 'static) -> u64 {
    let (sender, receiver) = mpsc::channel();
    on.spawn(async move {
        sender.send(future.await).expect("the other end waits");
    });
    receiver.recv().expect("the future is run to its end")
}

/// Adds up what comes.
struct Sum(Arc<Mutex<u64>>);

impl Sink<u64> for Sum {
    async fn push(&mut self, results: Vec<u64>) -> Result<(), BoxError> {
        *self.0.lock().expect("no panic") ^= results.iter().fold(0, |sum, n| sum ^ n);
        Ok(())
    }
}

/// The same as a graph.
#[task_graph]
async fn stages(n: u64) -> u64 {
    let first = stage(n).await;
    let second = stage(first).await;
    let third = stage(second).await;
    stage(third).await
}

/// A graph on lanes.
pub(crate) fn graph<S: Spawn + Clone + Send + Sync + 'static>(
    on: &S,
    items: u64,
    ordered: bool,
) -> u64 {
    run(on, stages::bind(on, stages::Shared {}), items, ordered)
}

/// A closure on lanes.
pub(crate) fn closure<S: Spawn + Clone + Send + Sync + 'static>(
    on: &S,
    items: u64,
    ordered: bool,
) -> u64 {
    let all = |n: u64| async move { Ok::<_, Infallible>(all_stages(n).await) };
    run(on, pipeline::from_fn(on, all), items, ordered)
}

fn run<P, S>(on: &S, pipeline: Builder<P, S>, items: u64, ordered: bool) -> u64
where
    P: PerItem<Item = u64, Output = u64>,
    S: Spawn + Clone + Send + Sync + 'static,
{
    let sum = Arc::new(Mutex::new(0_u64));
    let pipeline = pipeline
        .iter(0..items)
        .in_flight(IN_FLIGHT)
        .ordered(ordered)
        .sink(Sum(sum.clone()))
        .build()
        .expect("it has a source");
    wait_for(on, async move {
        let report = pipeline.run().await.map_err(|_| "an item failed");
        assert_eq!(report.expect("none fails").done, items);
        *sum.lock().expect("no panic")
    })
}

/// A task for each stage, and a bounded channel before each.
pub(crate) fn channels(on: &impl Spawn, items: u64) -> u64 {
    let (first, mut input) = channel::channel(IN_FLIGHT / 5);
    on.spawn(async move {
        for n in 0..items {
            first.send(n).await.expect("the stage is there");
        }
    });
    for _ in 0..4 {
        let (next, output) = channel::channel(IN_FLIGHT / 5);
        let mut before = std::mem::replace(&mut input, output);
        on.spawn(async move {
            while let Some(n) = before.recv().await {
                next.send(stage(n).await).await.expect("the stage is there");
            }
        });
    }
    wait_for(on, async move {
        let mut sum = 0;
        while let Some(n) = input.recv().await {
            sum ^= n;
        }
        sum
    })
}

/// One task that polls all items.
pub(crate) fn buffered(on: &impl Spawn, items: u64, ordered: bool) -> u64 {
    let futures = stream::iter(0..items).map(all_stages);
    if ordered {
        let results = futures.buffered(IN_FLIGHT);
        wait_for(on, results.fold(0, |sum, n| async move { sum ^ n }))
    } else {
        let results = futures.buffer_unordered(IN_FLIGHT);
        wait_for(on, results.fold(0, |sum, n| async move { sum ^ n }))
    }
}

/// Notes when the last one is gone.
struct Last {
    live: Arc<AtomicUsize>,
    gone: mpsc::Sender<Instant>,
}

impl Drop for Last {
    fn drop(&mut self) {
        if self.live.fetch_sub(1, Ordering::AcqRel) == 1 {
            let _ = self.gone.send(Instant::now());
        }
    }
}

/// From the drop of a pipeline to that of the last of its futures.
pub(crate) fn cancel<S: Spawn + Clone + Send + Sync + 'static>(on: &S) -> Duration {
    let live = Arc::new(AtomicUsize::new(0));
    let (gone, last) = mpsc::channel();
    let begun = live.clone();
    let running = pipeline::from_fn(on, move |_: u64| {
        begun.fetch_add(1, Ordering::AcqRel);
        let last = Last {
            live: begun.clone(),
            gone: gone.clone(),
        };
        async move {
            pending::<()>().await;
            drop(last);
            Ok::<_, ()>(())
        }
    })
    .iter(0..)
    .in_flight(CUT)
    .build()
    .expect("it has a source")
    .start();
    while live.load(Ordering::Acquire) < CUT {
        std::thread::yield_now();
    }
    let start = Instant::now();
    drop(running);
    last.recv().expect("all futures are dropped") - start
}
