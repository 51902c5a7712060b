//! tokio's multi-threaded scheduler.
//!
//! Without its drivers for I/O and time: nothing here needs them, no other
//! contender has one, and its workers then park by a condition variable, which is
//! cheaper than by `epoll`. All else is the default.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

use crate::contender::{Contender, Kind, Spawn};

pub(crate) struct Tokio {
    runtime: Runtime,
    workers: usize,
}

/// `tokio::spawn` finds the runtime by itself.
#[derive(Clone)]
pub(crate) struct Here;

/// A handle that yields the output instead of a `Result`, as the others do.
pub(crate) struct Joined<T>(JoinHandle<T>);

impl<T> Future for Joined<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        Pin::new(&mut self.0)
            .poll(cx)
            .map(|output| output.expect("no task of a benchmark panics"))
    }
}

impl Spawn for Here {
    type Join<T: Send + 'static> = Joined<T>;

    fn spawn<F>(&self, future: F) -> Joined<F::Output>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        Joined(tokio::spawn(future))
    }

    fn detach<F>(&self, future: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        drop(tokio::spawn(future));
    }
}

impl Spawn for Tokio {
    type Join<T: Send + 'static> = Joined<T>;

    fn spawn<F>(&self, future: F) -> Joined<F::Output>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        Joined(self.runtime.spawn(future))
    }

    fn detach<F>(&self, future: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        drop(self.runtime.spawn(future));
    }
}

impl Contender for Tokio {
    const KIND: Kind = Kind::Tokio;

    type Inside = Here;

    fn new(workers: usize) -> Self {
        let runtime = Builder::new_multi_thread()
            .worker_threads(workers)
            .build()
            .expect("threads can be started");
        Self { runtime, workers }
    }

    fn workers(&self) -> usize {
        self.workers
    }

    fn inside(&self) -> Here {
        Here
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.runtime.block_on(future)
    }

    fn yield_now() -> impl Future<Output = ()> + Send + 'static {
        tokio::task::yield_now()
    }
}
