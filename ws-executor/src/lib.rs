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
//! [`block_on()`] and [`spawn`] use an executor that the whole process shares;
//! [`Executor::builder`] makes others. A [`Handle`] spawns from anywhere, and is
//! `futures::task::Spawn` for code that is written for that. A [`Task`] is a future of
//! its output; dropping it cancels.
//!
//! On the same workers, [`join`], [`scope()`], [`par`], [`install`] and [`compute`] run code
//! that computes; [`task_graph`] makes a parallel graph of an async function ([`graph`]), and
//! [`pipeline`] runs one for every item of a stream.
//!
//! # How it works
//!
//! Each worker thread has queues of its own, and looks for work in one fixed order
//! (module `worker`). Spawning and waking on a worker touch no memory that other workers
//! write. A worker that finds nothing parks, without a timeout: an idle executor makes
//! no system calls. That no task is forgotten then is argued in the module `sleep`, and
//! model-checked. While workers run, a monitor looks after tasks whose worker is kept by a
//! poll (module `monitor`).
//!
//! # What is guaranteed
//!
//! - A task that is woken is polled, as long as its executor is not shut down. If its worker is
//!   kept by a poll that blocks, an idle worker runs it: within about a millisecond if a task
//!   was queued when the monitor looked last, and within some milliseconds otherwise. If every
//!   worker is kept, a [spare thread](Builder::spares) polls it, within about 20 milliseconds.
//! - A task from outside is polled after a bounded number of polls of others, whatever
//!   they do; and one that always wakes itself does not keep others from running.
//! - Panics of a future end in its task, and are re-raised where that is awaited. They
//!   do not end a worker. That includes panics in the drop of a future or an output, in
//!   hooks, and in foreign wakers. (A panic during the unwinding of another one aborts
//!   the process; that is Rust's rule.)
//! - Every future is dropped exactly once, by the end of the executor's shutdown at the
//!   latest, unless it or the executor is leaked.
//!
//! # What it does not do
//!
//! - It has no I/O and no timers. Reactors with their own thread work as they are;
//!   `ws-io-adapters` puts smol's or tokio's under the workers, and [`Builder::driver`] and
//!   [`Builder::host`] any other.
//! - It does not preempt: a poll that does not return keeps its worker.
//! - Wakers and handles must not be used in signal handlers: they allocate and take
//!   locks. Let the handler write to a pipe, an eventfd or a socket, and a thread, or a
//!   task of a reactor, that reads it do the waking.
//! - Nor must they be used in the child of a `fork` without `exec`, where the workers do
//!   not exist (debug builds panic there).

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
