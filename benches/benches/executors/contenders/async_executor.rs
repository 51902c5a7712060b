//! async-executor's two executors, each run by as many threads as there are to be
//! workers, as in its own benchmark.
//!
//! Its users, and its benchmark, keep the executor in a static, so that tasks
//! reach it without a reference count. Here there is a fresh one for every case:
//! a leaked one, which tasks reach in the same way.

use std::thread::{self, JoinHandle};

use async_channel::{Receiver, Sender};
use async_executor::Task;
use futures_lite::future;

use crate::contender::{Contender, Kind, Spawn};

/// With support for borrowing tasks, and for dropping the executor.
pub(crate) type AsyncExecutor = Runners<async_executor::Executor<'static>>;
/// For a static: tasks are not registered.
pub(crate) type StaticExecutor = Runners<async_executor::StaticExecutor>;

/// What both have in common; they share no trait.
pub(crate) trait Executor: Default + Send + Sync + 'static {
    const KIND: Kind;

    fn spawn<F>(&'static self, future: F) -> Task<F::Output>
    where
        F: Future<Output: Send + 'static> + Send + 'static;

    fn spawn_many<F>(&'static self, futures: impl Iterator<Item = F>) -> Vec<Task<F::Output>>
    where
        F: Future<Output: Send + 'static> + Send + 'static;

    /// Runs tasks on the calling thread until the channel is closed.
    fn run_until(&'static self, closed: Receiver<()>);
}

impl Executor for async_executor::Executor<'static> {
    const KIND: Kind = Kind::AsyncExecutor;

    fn spawn<F>(&'static self, future: F) -> Task<F::Output>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        self.spawn(future)
    }

    fn spawn_many<F>(&'static self, futures: impl Iterator<Item = F>) -> Vec<Task<F::Output>>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        let mut tasks = Vec::new();
        self.spawn_many(futures, &mut tasks);
        tasks
    }

    fn run_until(&'static self, closed: Receiver<()>) {
        let _ = future::block_on(self.run(closed.recv()));
    }
}

impl Executor for async_executor::StaticExecutor {
    const KIND: Kind = Kind::StaticExecutor;

    fn spawn<F>(&'static self, future: F) -> Task<F::Output>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        self.spawn(future)
    }

    /// It has no call for many.
    fn spawn_many<F>(&'static self, futures: impl Iterator<Item = F>) -> Vec<Task<F::Output>>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        futures.map(|future| self.spawn(future)).collect()
    }

    fn run_until(&'static self, closed: Receiver<()>) {
        let _ = future::block_on(self.run(closed.recv()));
    }
}

/// An executor and the threads that run it.
pub(crate) struct Runners<E: 'static> {
    inside: Inside<E>,
    stop: Sender<()>,
    threads: Vec<JoinHandle<()>>,
}

pub(crate) struct Inside<E: 'static>(&'static E);

impl<E> Clone for Inside<E> {
    fn clone(&self) -> Self {
        Self(self.0)
    }
}

impl<E: Executor> Spawn for Inside<E> {
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

impl<E: Executor> Spawn for Runners<E> {
    type Join<T: Send + 'static> = Task<T>;

    fn spawn<F>(&self, future: F) -> Task<F::Output>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        self.inside.spawn(future)
    }

    fn detach<F>(&self, future: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.inside.detach(future);
    }

    fn spawn_many<F>(&self, futures: impl Iterator<Item = F>) -> Vec<Task<F::Output>>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        self.inside.spawn_many(futures)
    }
}

impl<E: Executor> Contender for Runners<E> {
    const KIND: Kind = E::KIND;

    type Inside = Inside<E>;

    fn new(workers: usize) -> Self {
        let executor: &'static E = Box::leak(Box::default());
        let (stop, closed) = async_channel::bounded(1);
        let runner = |_| {
            let closed = closed.clone();
            thread::spawn(move || executor.run_until(closed))
        };
        Self {
            inside: Inside(executor),
            threads: (0..workers).map(runner).collect(),
            stop,
        }
    }

    fn workers(&self) -> usize {
        self.threads.len()
    }

    fn inside(&self) -> Inside<E> {
        self.inside.clone()
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        future::block_on(future)
    }

    fn yield_now() -> impl Future<Output = ()> + Send + 'static {
        future::yield_now()
    }
}

impl<E> Drop for Runners<E> {
    fn drop(&mut self) {
        self.stop.close();
        for thread in self.threads.drain(..) {
            thread.join().expect("no task of a benchmark panics");
        }
    }
}
