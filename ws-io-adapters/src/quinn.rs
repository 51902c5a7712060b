//! QUIC by quinn: its trait for runtimes.
//!
//! quinn drives each endpoint and each connection in a task of its own. It takes sockets and
//! timers from a runtime: its `SmolRuntime` or its `TokioRuntime`, by the features of
//! quinn. [`Runtime`] takes them from such a runtime, too, but spawns the tasks on our executor,
//! where all workers run them. The sockets and timers work on executors of the adapter for
//! the same I/O, [`smol`](crate::smol) or [`tokio`](crate::tokio).
//!
//! The only cost is one more pointer: quinn calls any runtime through a pointer.

use std::io;
use std::net::UdpSocket;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use quinn::{AsyncTimer, AsyncUdpSocket};
use ws_executor::Handle;

/// A runtime for quinn: sockets and timers are another runtime's, tasks run on our executor.
///
/// An endpoint takes it when it is made, on a task or in `block_on` of the executor:
///
/// ```
/// # #[cfg(feature = "tokio")] {
/// use std::net::UdpSocket;
/// use std::sync::Arc;
/// use quinn::{Endpoint, EndpointConfig, TokioRuntime};
/// use ws_executor::{Executor, Handle};
/// use ws_io_adapters::quinn::Runtime;
///
/// let executor = ws_io_adapters::tokio::executor(Executor::builder().workers(1))?;
/// let endpoint = executor.block_on(async {
///     let runtime = Runtime::new(Handle::current(), TokioRuntime);
///     let socket = UdpSocket::bind("127.0.0.1:0")?;
///     Endpoint::new(EndpointConfig::default(), None, socket, Arc::new(runtime))
/// })?;
/// assert_ne!(endpoint.local_addr()?.port(), 0);
/// # }
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Runtime<R> {
    handle: Handle,
    io: R,
}

impl<R: quinn::Runtime> Runtime<R> {
    /// Spawns on the executor of `handle`; `io` has the sockets, the timers and the clock.
    #[must_use]
    pub fn new(handle: Handle, io: R) -> Self {
        Self { handle, io }
    }
}

impl<R: quinn::Runtime> quinn::Runtime for Runtime<R> {
    fn new_timer(&self, at: Instant) -> Pin<Box<dyn AsyncTimer>> {
        self.io.new_timer(at)
    }

    fn spawn(&self, future: Pin<Box<dyn Future<Output = ()> + Send>>) {
        self.handle.spawn(future).detach();
    }

    fn wrap_udp_socket(&self, socket: UdpSocket) -> io::Result<Arc<dyn AsyncUdpSocket>> {
        self.io.wrap_udp_socket(socket)
    }

    fn now(&self) -> Instant {
        self.io.now()
    }
}
