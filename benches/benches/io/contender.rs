//! Who takes part, and how each spawns.

use std::fmt;
use std::sync::OnceLock;

use benches::options::write_name;
use clap::ValueEnum;
use ws_executor::{Executor, Handle};

/// How many workers each has.
pub(crate) const WORKERS: usize = 2;

/// A runtime and its I/O types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    #[value(name = "ws + smol I/O")]
    WsSmol,
    Smol,
    #[value(name = "ws + tokio I/O")]
    WsTokio,
    Tokio,
}

impl Kind {
    /// The runtime that the same I/O types were made for.
    pub(crate) fn native(self) -> Self {
        match self {
            Self::WsSmol | Self::Smol => Self::Smol,
            Self::WsTokio | Self::Tokio => Self::Tokio,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_name(self, f)
    }
}

/// Spawns tasks and forgets them.
pub(crate) trait Spawner: Clone + Send + Sync + 'static {
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static);
}

impl Spawner for Handle {
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        Handle::spawn(self, task).detach();
    }
}

/// smol's own global executor.
#[derive(Clone)]
pub(crate) struct Smol;

impl Spawner for Smol {
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        smol::spawn(task).detach();
    }
}

impl Spawner for tokio::runtime::Handle {
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.spawn(task);
    }
}

/// The runtime of tokio's contender, for ever.
pub(crate) fn tokio_runtime() -> tokio::runtime::Handle {
    static RUNTIME: OnceLock<tokio::runtime::Runtime> = OnceLock::new();
    let start = || {
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(WORKERS)
            .enable_all()
            .build()
            .expect("the runtime starts")
    };
    RUNTIME.get_or_init(start).handle().clone()
}

/// The executor of one of ours, for ever.
pub(crate) fn keep(executor: Executor) -> Handle {
    static EXECUTOR: OnceLock<Executor> = OnceLock::new();
    EXECUTOR.get_or_init(|| executor).handle()
}
