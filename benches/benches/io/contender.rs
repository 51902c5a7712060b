//! Who takes part, and how each spawns.

use std::sync::OnceLock;

use ws_executor::{Executor, Handle};

/// How many workers each has.
pub(crate) const WORKERS: usize = 2;

/// A runtime and its I/O types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    WsSmol,
    Smol,
    WsTokio,
    Tokio,
}

impl Kind {
    pub(crate) const ALL: [Self; 4] = [Self::WsSmol, Self::Smol, Self::WsTokio, Self::Tokio];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::WsSmol => "ws + smol I/O",
            Self::Smol => "smol",
            Self::WsTokio => "ws + tokio I/O",
            Self::Tokio => "tokio",
        }
    }

    /// The runtime that the same I/O types were made for.
    pub(crate) fn native(self) -> Self {
        match self {
            Self::WsSmol | Self::Smol => Self::Smol,
            Self::WsTokio | Self::Tokio => Self::Tokio,
        }
    }

    pub(crate) fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
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
