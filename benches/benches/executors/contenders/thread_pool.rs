//! futures' `ThreadPool`.
//!
//! It polls a task that wakes itself again at once, in place: a yield lets nobody
//! else run. So it cannot be in cases whose tasks yield until something else has
//! happened, and where yields are what is timed it is shown, but no peer.
//!
//! It has no function of its own for a yield; futures-lite's does what any must:
//! wake the task and return once.

use futures::executor::{ThreadPool, block_on};
use futures::future::RemoteHandle;
use futures::task::SpawnExt;

use crate::contender::{Contender, Kind, Spawn};

pub(crate) struct Pool {
    pool: ThreadPool,
    workers: usize,
}

impl Spawn for ThreadPool {
    type Join<T: Send + 'static> = RemoteHandle<T>;

    fn spawn<F>(&self, future: F) -> RemoteHandle<F::Output>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        self.spawn_with_handle(future)
            .expect("the pool is not shut down")
    }

    fn detach<F>(&self, future: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.spawn_ok(future);
    }
}

impl Spawn for Pool {
    type Join<T: Send + 'static> = RemoteHandle<T>;

    fn spawn<F>(&self, future: F) -> RemoteHandle<F::Output>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        Spawn::spawn(&self.pool, future)
    }

    fn detach<F>(&self, future: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.pool.detach(future);
    }
}

impl Contender for Pool {
    const KIND: Kind = Kind::ThreadPool;

    /// A reference-counted clone: the pool offers no other way into a task.
    type Inside = ThreadPool;

    fn new(workers: usize) -> Self {
        let pool = ThreadPool::builder()
            .pool_size(workers)
            .create()
            .expect("threads can be started");
        Self { pool, workers }
    }

    fn workers(&self) -> usize {
        self.workers
    }

    fn inside(&self) -> ThreadPool {
        self.pool.clone()
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        block_on(future)
    }

    fn yield_now() -> impl Future<Output = ()> + Send + 'static {
        futures_lite::future::yield_now()
    }
}
