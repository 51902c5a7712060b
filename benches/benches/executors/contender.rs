//! What every executor has to do here, and which ones there are.
//!
//! A case is written once, over these two traits; an adapter (`contenders/`) maps
//! them to what the executor's own users would write. An adapter adds no
//! allocation, no lock and no reference count to that.

use std::fmt;

use benches::options::write_name;
use clap::ValueEnum;

/// A way to start tasks: from outside (the executor itself is one), or from a
/// task ([`Contender::Inside`] is one).
pub(crate) trait Spawn {
    /// What is awaited for the task's output. Cases never drop one before its task
    /// is done, as that cancels the task on some executors and detaches it on
    /// others.
    type Join<T: Send + 'static>: Future<Output = T> + Send + 'static;

    /// Starts a task whose output is awaited.
    fn spawn<F>(&self, future: F) -> Self::Join<F::Output>
    where
        F: Future<Output: Send + 'static> + Send + 'static;

    /// Starts a task that nobody awaits.
    fn detach<F>(&self, future: F)
    where
        F: Future<Output = ()> + Send + 'static;

    /// Starts many tasks: by one call if the executor has one for that, else one
    /// by one.
    fn spawn_many<F>(&self, futures: impl Iterator<Item = F>) -> Vec<Self::Join<F::Output>>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        futures.map(|future| self.spawn(future)).collect()
    }
}

/// An executor with its workers.
pub(crate) trait Contender: Spawn + Send + Sync + Sized + 'static {
    const KIND: Kind;

    /// What a task holds to start further ones, and what is used inside of
    /// [`block_on`](Self::block_on).
    type Inside: Spawn + Clone + Send + Sync + 'static;

    /// Starts an executor with that many worker threads. Dropping it ends them.
    fn new(workers: usize) -> Self;

    fn workers(&self) -> usize;

    fn inside(&self) -> Self::Inside;

    /// Runs a future on the calling thread, which is none of the workers.
    fn block_on<F: Future>(&self, future: F) -> F::Output;

    /// Lets other tasks run first, by the executor's own function where it has
    /// one.
    fn yield_now() -> impl Future<Output = ()> + Send + 'static;
}

/// Which executor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    Ws,
    Tokio,
    AsyncExecutor,
    StaticExecutor,
    ThreadPool,
    /// No executor, but what none can be faster than.
    Floor,
}

impl Kind {
    pub(crate) fn is_peer(self) -> bool {
        !matches!(self, Kind::Ws | Kind::Floor)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_name(self, f)
    }
}

/// Evaluates an expression in which `$contender` is the contender's type.
macro_rules! with_contender {
    ($kind:expr, $contender:ident => $code:expr) => {
        with_contender!($kind, $contender => $code;
            Ws Tokio AsyncExecutor StaticExecutor ThreadPool Floor)
    };
    ($kind:expr, $contender:ident => $code:expr; $($name:ident)*) => {
        match $kind {
            $(Kind::$name => {
                type $contender = crate::contenders::$name;
                $code
            })*
        }
    };
}
pub(crate) use with_contender;
