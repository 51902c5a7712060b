//! async-std's I/O.
//!
//! async-std is discontinued, but there is code that uses it. Its sockets and timers are
//! async-io's. So they work in tasks of the executor that [`executor`] makes, as smol's
//! do; see [`smol`](crate::smol) for what runs where. async-std's files use a pool of
//! threads and need no reactor.
//!
//! async-std's `task::spawn` puts tasks on async-std's own threads. Use
//! [`ws_executor::Handle::spawn`] instead. Where that is not possible,
//! `compat/async-executor` in this repository can be used: with two lines in the
//! `Cargo.toml` of the program, async-std's and smol's threads use this workspace's queues.

pub use crate::smol::executor;
