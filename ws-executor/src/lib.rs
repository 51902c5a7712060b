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

#[cfg_attr(any(ws_loom, ws_shuttle), path = "clock_model.rs")]
mod clock;
#[cfg_attr(any(ws_loom, ws_shuttle), path = "stack_model.rs")]
mod stack;
#[cfg_attr(any(ws_loom, ws_shuttle), path = "tuning_model.rs")]
mod tuning;

#[allow(unreachable_pub, reason = "public for the model checkers, see `model`")]
mod injector;
#[allow(unreachable_pub, reason = "public for the model checkers, see `model`")]
mod inside;
mod shield;
#[allow(unreachable_pub, reason = "public for the model checkers, see `model`")]
mod sleep;
mod task;

mod driver;
mod fork;
mod monitor;
mod pinned;
#[allow(unreachable_pub, reason = "public for the model checkers, see `model`")]
mod quiet;
#[allow(unreachable_pub, reason = "public for the model checkers, see `model`")]
mod refused;
mod shared;
mod thread_number;
mod threads;
mod until;
mod worker;

mod block_on;
mod blocking;
mod builder;
mod context;
pub mod coop;
mod executor;
mod futures_traits;
mod global;
pub mod graph;
mod handle;
mod local;
mod metrics;
pub mod par;
pub mod pipeline;
mod scope;
mod yield_now;

pub use builder::{BuildError, Builder};
pub use driver::DriverHandoff;
pub use executor::Executor;
pub use global::{block_on, compute, install, join, scope, spawn, spawn_blocking, spawn_many};
pub use handle::{Handle, TryCurrentError};
pub use local::LocalExecutor;
pub use metrics::{Metrics, WorkerMetrics};
pub use monitor::look::Stall;
pub use scope::{Scope, ScopedTask};
pub use task::{AbortHandle, FallibleTask, JoinError, JoinHandle, Task};
pub use worker::hosted::HostedWorker;
/// See [`graph`].
#[doc(inline)]
pub use ws_macros::task_graph;
pub use yield_now::{YieldNow, yield_now};

/// The parts with a protocol, for the model checkers alone.
#[cfg(any(ws_loom, ws_shuttle))]
#[doc(hidden)]
pub mod model {
    pub use crate::driver::DriverSeat;
    pub use crate::fork::job::{Fork, StackJob};
    pub use crate::fork::latch::{CountLatch, OnceLatch};
    pub use crate::injector::Injector;
    pub use crate::inside::Inside;
    pub use crate::monitor::state::{MonitorCall, MonitorState};
    pub use crate::quiet::Quiet;
    pub use crate::refused::Refused;
    pub use crate::scope::{Guard as ScopeGuard, State as ScopeState};
    pub use crate::sleep::{Parking, Searching, Sleep, Sleeper};
    pub use crate::task::abort::{AbortSlot, Wait};
    pub use crate::task::home::Population;
    pub use crate::task::registry::{Registry, Seat};
    pub use crate::tuning::set_short_polls;
}

/// Compiles and runs the example in the crate's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
