//! A work-stealing async executor over [`ws_core`]'s queues.
//!
//! ```
//! let total = ws_executor::block_on(async {
//!     let tasks: Vec<_> = (1..=10).map(|n| ws_executor::spawn(async move { n * n })).collect();
//!     let mut total = 0;
//!     for task in tasks {
//!         total += task.await;
//!     }
//!     total
//! });
//! assert_eq!(total, 385);
//! ```
//!
//! [`block_on()`] and [`spawn`] use one executor for the whole process; [`Executor::builder`]
//! makes others. A [`Handle`] spawns from any thread, and is `futures::task::Spawn` for code
//! that takes one. A [`Task`] is a future of its output; dropping it cancels the task.
//!
//! On the same workers, [`join`], [`scope()`], [`par`], [`install`] and [`compute`] run code
//! that computes. [`task_graph`] makes a parallel graph of an async function ([`graph`]), and
//! [`pipeline`] runs such a graph for every item of a stream.
//!
//! # How it works
//!
//! Each worker thread has queues of its own, and looks for work in one fixed order
//! (module `worker`). Spawning and waking on a worker touch no memory that other workers
//! write. A worker that finds nothing parks, without a timeout: an idle executor makes
//! no system calls. The module `sleep` argues why no task is forgotten then, and the protocol
//! is model-checked. While workers run, a monitor looks after tasks whose worker is kept busy
//! by a poll (module `monitor`).
//!
//! # What is guaranteed
//!
//! - A task that is woken is polled, as long as its executor is not shut down. If a poll blocks
//!   the task's worker, an idle worker runs the task: within about a millisecond if a task
//!   was queued when the monitor looked last, and within some milliseconds otherwise. If every
//!   worker is kept busy, a [spare thread](Builder::spares) polls the task, within about 20
//!   milliseconds.
//! - A task from outside is polled after a bounded number of polls of other tasks, whatever
//!   those do. A task that always wakes itself does not keep others from running.
//! - A panic of a future ends in its task, and is re-raised where the task is awaited. It does
//!   not end a worker; nor do panics in the drop of a future or an output, in hooks, and in
//!   foreign wakers. (A panic during the unwinding of another one aborts the process; that is
//!   Rust's rule.)
//! - Every future is dropped exactly once, by the end of the executor's shutdown at the
//!   latest, unless the future or the executor is leaked.
//!
//! # What it does not do
//!
//! - It has no I/O and no timers. Reactors with a thread of their own work unchanged.
//!   `ws-io-adapters` puts smol's or tokio's reactor under the workers; [`Builder::driver`] and
//!   [`Builder::host`] do so for any other reactor.
//! - It does not preempt: a poll that does not return keeps its worker.
//! - Wakers and handles must not be used in signal handlers: they allocate and take
//!   locks. Let the handler write to a pipe, an eventfd or a socket. A thread that reads from
//!   it, or a task of a reactor, can then wake the task.
//! - Wakers and handles must not be used in the child of a `fork` without `exec`, because the
//!   workers do not exist there (debug builds panic).

pub mod graph;
pub mod pipeline;

mod api;
mod scheduler;
mod task;

mod base;

pub use api::builder::{BuildError, Builder};
pub use api::executor::Executor;
pub use api::global::{block_on, compute, install, join, scope, spawn, spawn_blocking, spawn_many};
pub use api::handle::{Handle, TryCurrentError};
pub use api::join_handle::JoinHandle;
pub use api::local::LocalExecutor;
pub use api::metrics::{Metrics, WorkerMetrics};
pub use api::par;
pub use api::scope::{Scope, ScopedTask};
pub use api::task::{FallibleTask, Task};
pub use base::coop;
pub use base::yield_now::{YieldNow, yield_now};
pub use scheduler::driver::DriverHandoff;
pub use scheduler::monitor::look::Stall;
pub use scheduler::worker::hosted::HostedWorker;
pub use task::abort::AbortHandle;
pub use task::join_error::JoinError;
/// See [`graph`].
#[doc(inline)]
pub use ws_macros::task_graph;

/// The parts with a protocol, for the model checkers alone.
#[cfg(any(ws_loom, ws_shuttle))]
#[doc(hidden)]
pub mod model {
    pub use crate::api::scope::{ScopeGuard, ScopeState};
    pub use crate::base::tuning::set_short_polls;
    pub use crate::scheduler::driver::SharedDriver;
    pub use crate::scheduler::fork::job::{Fork, StackJob};
    pub use crate::scheduler::fork::latch::{CountLatch, OnceLatch};
    pub use crate::scheduler::injector::Injector;
    pub use crate::scheduler::inside::Inside;
    pub use crate::scheduler::monitor::state::{MonitorCall, MonitorState};
    pub use crate::scheduler::quiet::Quiet;
    pub use crate::scheduler::refused::Refused;
    pub use crate::scheduler::sleep::{Parking, Searching, Sleeper, Sleepers as Sleep};
    pub use crate::task::abort::{AbortSlot, Wait};
    pub use crate::task::registry::{Registry, RegistryKey};
    pub use crate::task::task_count::TaskCount;
}

/// Compiles and runs the example in the crate's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
