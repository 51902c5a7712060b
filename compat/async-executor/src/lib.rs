//! async-executor's interface, on the queues of [`ws_core`].
//!
//! smol, async-std and all other libraries that spawn through async-executor 1.14 run on
//! this scheduler, unmodified, with two lines in the `Cargo.toml` of the program:
//!
//! ```toml
//! [patch.crates-io]
//! async-executor = { path = "../ws/compat/async-executor" }
//! ```
//!
//! The path is that of this directory. If a lock file names an older version, `cargo
//! update -p async-executor` lets the patch take effect. The names, the signatures and
//! the promises are those of [async-executor](https://docs.rs/async-executor/1.14); its
//! docs are the reference. This crate is never published. Programs on smol and async-std
//! are among the tests. bevy_tasks 0.16, with its feature `async_executor`, was tried.
//!
//! ```
//! use async_executor::Executor;
//! use futures_lite::future;
//!
//! let numbers = vec![1, 2, 3];
//! let executor = Executor::new();
//! // Tasks may borrow what outlives the executor.
//! let sum = executor.spawn(async { numbers.iter().sum::<i32>() });
//! assert_eq!(future::block_on(executor.run(sum)), 6);
//! ```
//!
//! # What differs from async-executor
//!
//! - **Queues.** If a task is spawned or woken while a `run` is polled on the same thread,
//!   the task goes into the ring of that `run`, without a lock. async-executor sends every
//!   task through one queue. An idle `run` steals half of another `run`'s ring. Tasks that
//!   are woken on other threads, and the overflow of rings, go to the injector.
//! - **Sleeping.** The rules of ws-executor apply, except those that need threads of the
//!   executor. A push notifies one sleeper, unless a `run` is already searching. The last
//!   searcher that finds a task notifies the next sleeper (module `sleepers`).
//! - **`run`** polls its future first, as the original does. But if the `run` was notified of
//!   a task, it polls one task before that, because the future may block.
//! - **`tick` and `try_tick`** also find tasks in the rings of concurrent `run`s.
//! - **Dropping** an executor waits until every future is dropped, also if another thread
//!   is waking its task at that moment. The futures in the ring of a `run` that was leaked
//!   are dropped, too.
//! - **No code of the caller's runs under a lock**: no iterator, waker, or destructor.
//!
//! # What is the same
//!
//! - If a future panics when it is dropped during cancellation, the process aborts:
//!   [`Task`] is async-task's, as in the original.
//! - A `run` or `tick` that another thread has woken must be polled or dropped. Otherwise it
//!   keeps the notification, and others may sleep although there is work. The thread that
//!   wakes it may wait instead of polling its own `run`.
//!
//! # How it is made
//!
//! | module | what it is |
//! |---|---|
//! | `executor`, `local`, `static_executors` | the types of the interface |
//! | `state` | what these types share; spawning, ticking, the end |
//! | `runner` | one `run`: its ring, and where it searches for tasks |
//! | `current` | the `run` that is being polled on a thread |
//! | `sleepers`, `seat` | which `run`s sleep, and which of them a push notifies; the part of one `run` in that |
//! | `injector`, `rings` | the queue that all `run`s share; the rings of all `run`s |
//! | `thread_number` | a number for each thread |
//! | `registry` | the tasks that are not finished, so that the end finds them |
//! | `task` | making a task of a future that borrows, without async-task's checks; why that is sound |

mod current;
mod executor;
mod injector;
mod local;
mod registry;
mod rings;
mod runner;
#[allow(unreachable_pub, reason = "public for the model checker, see `model`")]
mod seat;
#[allow(unreachable_pub, reason = "public for the model checker, see `model`")]
mod sleepers;
mod state;
#[cfg(feature = "static")]
mod static_executors;
mod task;
#[cfg_attr(ws_loom, path = "thread_number_loom.rs")]
mod thread_number;

#[doc(no_inline)]
pub use async_task::{FallibleTask, Task};
pub use executor::Executor;
pub use local::LocalExecutor;
#[cfg(feature = "static")]
pub use static_executors::{StaticExecutor, StaticLocalExecutor};

/// The protocol, for the model checker alone.
#[cfg(ws_loom)]
#[doc(hidden)]
pub mod model {
    pub use crate::seat::{Parked, Queues, Seat};
    pub use crate::sleepers::Sleepers;
}
