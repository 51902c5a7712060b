//! async-std's I/O.
//!
//! async-std is discontinued, but there is code on it. Its sockets and timers are
//! async-io's, so they run on tasks of the executor that [`executor`] makes, as smol's
//! do; see [`smol`](crate::smol) for what runs where. Its files use a pool of threads
//! and need no reactor.
//!
//! Its `task::spawn` does not know of us: what it spawns runs on async-std's own
//! threads. [`ws_executor::Handle::spawn`] takes its place.

pub use crate::smol::executor;
