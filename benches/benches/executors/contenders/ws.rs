//! Ours.
//!
//! Tasks reach the executor by a reference to a leaked handle, as they do with
//! async-executor: what a program does that keeps its executor in a static.

use ws_executor::{Executor, Handle, Task};

use crate::contender::{Contender, Kind, Spawn};

pub(crate) struct Ws {
    executor: Executor,
    inside: Inside,
}

#[derive(Clone)]
pub(crate) struct Inside(&'static Handle);

impl Spawn for Inside {
    type Join<T: Send + 'static> = Task<T>;

    fn spawn<F>(&self, future: F) -> Task<F::Output>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        self.0.spawn(future)
    }

    fn detach<F>(&self, future: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.0.spawn(future).detach();
    }

    fn spawn_many<F>(&self, futures: impl Iterator<Item = F>) -> Vec<Task<F::Output>>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        self.0.spawn_many(futures)
    }
}

impl Spawn for Ws {
    type Join<T: Send + 'static> = Task<T>;

    fn spawn<F>(&self, future: F) -> Task<F::Output>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        self.executor.spawn(future)
    }

    fn detach<F>(&self, future: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.executor.spawn(future).detach();
    }

    fn spawn_many<F>(&self, futures: impl Iterator<Item = F>) -> Vec<Task<F::Output>>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        self.executor.spawn_many(futures)
    }
}

impl Contender for Ws {
    const KIND: Kind = Kind::Ws;

    type Inside = Inside;

    fn new(workers: usize) -> Self {
        let executor = Executor::builder()
            .workers(workers)
            .build()
            .expect("threads can be started");
        let inside = Inside(Box::leak(Box::new(executor.handle())));
        Self { executor, inside }
    }

    fn workers(&self) -> usize {
        self.executor.workers()
    }

    fn inside(&self) -> Inside {
        self.inside.clone()
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.executor.block_on(future)
    }

    fn yield_now() -> impl Future<Output = ()> + Send + 'static {
        ws_executor::yield_now()
    }
}
