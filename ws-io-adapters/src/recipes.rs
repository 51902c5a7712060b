//! Libraries that have their own trait for executors, in ten lines each.
//!
//! No feature is needed, and this module has no code: each of these traits is small, and a
//! dependency on its library would be large. The examples compile with the versions that
//! are named. They are not among the tests.
//!
//! # libp2p (libp2p-swarm 0.47)
//!
//! The trait is `libp2p::swarm::Executor`. Every closure that takes a future implements it.
//! Everything else that libp2p's transports need comes from [`tokio`](crate::tokio).
//!
//! ```ignore
//! use libp2p::swarm::Config;
//! use ws_executor::Handle;
//!
//! /// A swarm of this configuration drives every connection in a task of ours.
//! fn config(handle: Handle) -> Config {
//!     Config::with_executor(move |future| handle.spawn(future).detach())
//! }
//! ```
//!
//! # OpenDAL (opendal 0.55)
//!
//! The trait is `opendal::Execute`; OpenDAL spawns for concurrent reads and writes.
//!
//! ```ignore
//! use opendal::raw::BoxedStaticFuture;
//! use opendal::{Execute, Executor, Operator};
//! use ws_executor::Handle;
//!
//! struct OnWorkers(Handle);
//!
//! impl Execute for OnWorkers {
//!     fn execute(&self, future: BoxedStaticFuture<()>) {
//!         self.0.spawn(future).detach();
//!     }
//! }
//!
//! fn on_workers(operator: &Operator, handle: Handle) {
//!     operator.update_executor(|_| Executor::with(OnWorkers(handle)));
//! }
//! ```
//!
//! # Arti (tor-rtcompat 0.47)
//!
//! A runtime of Arti's is put together from parts. Sockets, timers and TLS are those of Arti's
//! tokio runtime, which every task of an executor of [`tokio`](crate::tokio) can use. Tasks and
//! blocking calls run on our executor. (Arti's trait says that a blocking call continues when
//! its handle is dropped. Here that holds only if the call has already begun.)
//!
//! ```ignore
//! use futures::task::{FutureObj, Spawn, SpawnError};
//! use tor_rtcompat::{Blocking, CompoundRuntime, Runtime, tokio::TokioRustlsRuntime};
//! use ws_executor::{Handle, Task};
//!
//! #[derive(Clone)]
//! struct Tasks(Handle);
//!
//! impl Spawn for Tasks {
//!     fn spawn_obj(&self, future: FutureObj<'static, ()>) -> Result<(), SpawnError> {
//!         self.0.spawn_obj(future)
//!     }
//! }
//!
//! impl Blocking for Tasks {
//!     type ThreadHandle<T: Send + 'static> = Task<T>;
//!
//!     fn spawn_blocking<F, T>(&self, call: F) -> Task<T>
//!     where
//!         F: FnOnce() -> T + Send + 'static,
//!         T: Send + 'static,
//!     {
//!         self.0.spawn_blocking(call)
//!     }
//!
//!     fn reenter_block_on<F>(&self, future: F) -> F::Output
//!     where
//!         F: Future,
//!         F::Output: Send + 'static,
//!     {
//!         self.0.block_on(future)
//!     }
//! }
//!
//! /// To be called on a task, or in `block_on`.
//! fn runtime() -> std::io::Result<impl Runtime> {
//!     let io = TokioRustlsRuntime::current()?;
//!     let tasks = Tasks(Handle::current());
//!     let [sleep, clock, tcp, unix, tls, udp] = [(); 6].map(|()| io.clone());
//!     Ok(CompoundRuntime::new(tasks, sleep, clock, tcp, unix, tls, udp))
//! }
//! ```
