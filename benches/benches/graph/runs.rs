//! Runs on an executor: a diamond beside the same with spawns by hand.

use std::hint::black_box;
use std::pin::Pin;

use ws_core::Spawn;
use ws_executor::task_graph;

/// Some work, about as long as waking another worker takes.
fn work(n: u64) -> u64 {
    let mut n = n;
    for _ in 0..2000 {
        n = black_box(n.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
    }
    n
}

#[task_graph]
pub(crate) async fn diamond(n: u64) -> u64 {
    let top = n + 1;
    let left = work(top);
    let right = work(top);
    left ^ right
}

#[task_graph]
pub(crate) async fn small_diamond(n: u64) -> u64 {
    let top = n + 1;
    let left = black_box(top) + 1;
    let right = black_box(top) + 2;
    left ^ right
}

/// An executor whose tasks can be joined, for what is written by hand.
pub(crate) trait Joins: Spawn + Clone + Send + Sync + 'static {
    fn start(
        &self,
        future: impl Future<Output = u64> + Send + 'static,
    ) -> impl Future<Output = u64> + Send;

    /// Runs a future as a task, and waits for it on the calling thread.
    fn run(&self, future: Pin<Box<dyn Future<Output = u64> + Send>>) -> u64;
}

pub(crate) async fn diamond_by_hand(on: impl Joins, n: u64) -> u64 {
    let top = n + 1;
    let right = on.start(async move { work(top) });
    let left = work(top);
    left ^ right.await
}

pub(crate) async fn small_diamond_by_hand(on: impl Joins, n: u64) -> u64 {
    let top = n + 1;
    let right = on.start(async move { black_box(top) + 2 });
    let left = black_box(top) + 1;
    left ^ right.await
}

impl Joins for ws_executor::Handle {
    fn start(
        &self,
        future: impl Future<Output = u64> + Send + 'static,
    ) -> impl Future<Output = u64> + Send {
        ws_executor::Handle::spawn(self, future)
    }

    fn run(&self, future: Pin<Box<dyn Future<Output = u64> + Send>>) -> u64 {
        self.block_on(self.start(future))
    }
}

/// Tokio, as any executor is plugged in.
#[derive(Clone)]
pub(crate) struct Tokio(pub(crate) tokio::runtime::Handle);

impl Spawn for Tokio {
    fn spawn<F: Future<Output = ()> + Send + 'static>(&self, future: F) {
        self.0.spawn(future);
    }

    fn parallelism(&self) -> usize {
        2
    }
}

impl Joins for Tokio {
    fn start(
        &self,
        future: impl Future<Output = u64> + Send + 'static,
    ) -> impl Future<Output = u64> + Send {
        let task = self.0.spawn(future);
        async { task.await.expect("it does not panic") }
    }

    fn run(&self, future: Pin<Box<dyn Future<Output = u64> + Send>>) -> u64 {
        self.0.block_on(async { self.start(future).await })
    }
}
