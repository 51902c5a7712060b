//! The executor under smol, async-std and tokio I/O.
//!
//! Sockets and timers need a reactor, which asks the operating system what is ready. The
//! cheapest thread for that is a worker that has nothing else to do. Each adapter here puts the
//! reactor of one runtime under the workers of a [`ws_executor::Executor`]. The runtime's types,
//! and the libraries written for them, then run on tasks of that executor:
//!
//! | module, feature | reactor | for code that uses |
//! |---|---|---|
//! | `smol` | async-io's, one for the process | smol, async-io, async-net, zbus … |
//! | `async_std`, feature `async-std` | the same | async-std's I/O types |
//! | `tokio` | a tokio runtime's, one for each executor | tokio, hyper, axum, reqwest, sqlx … |
//! | `hyper` | none | hyper's traits for executors and timers |
//! | `quinn` | none | quinn's trait for runtimes |
//!
//! [`recipes`] has a few lines for each library with a trait of its own: libp2p, OpenDAL, Arti.
//! No feature is on by default, and all features may be on together. Every adapter is one call:
//!
//! ```
//! # #[cfg(feature = "smol")] {
//! use std::time::Duration;
//! use ws_executor::Executor;
//!
//! let executor = ws_io_adapters::smol::executor(Executor::builder())?;
//! executor.block_on(executor.spawn(async {
//!     async_io::Timer::after(Duration::from_millis(1)).await;
//! }));
//! # }
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

#[cfg(feature = "async-std")]
pub mod async_std;
#[cfg(feature = "hyper")]
pub mod hyper;
#[cfg(feature = "quinn")]
pub mod quinn;
pub mod recipes;
#[cfg(feature = "smol")]
pub mod smol;
#[cfg(feature = "tokio")]
pub mod tokio;

// Used by some of the adapters only.
use ws_core as _;
use ws_executor as _;

/// Compiles and runs the example in the crate's README.
#[cfg(all(doctest, feature = "smol", feature = "tokio"))]
#[doc = include_str!("../README.md")]
struct Readme;
