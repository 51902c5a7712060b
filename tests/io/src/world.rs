//! What a test needs of an adapter: an executor, and the types of its I/O.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use futures::future::{self, Either};
use futures::io::{AsyncRead, AsyncWrite};
use std::pin::pin;
use ws_executor::{Builder, Executor};

/// A stream of bytes, both ways.
pub trait Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> Stream for S {}

/// One adapter.
pub trait World: 'static {
    /// A socket that accepts connections.
    type Listener: Send + Sync + 'static;
    /// A connection.
    type Stream: Stream;
    /// As the listener, for addresses in the file system.
    type UnixListener: Send + Sync + 'static;
    /// As the stream, for addresses in the file system.
    type UnixStream: Stream;
    /// A datagram socket.
    type Udp: Send + Sync + 'static;
    /// What has to live as long as the executor.
    type Keep: Send;

    /// Builds an executor over the adapter.
    fn build(builder: Builder) -> (Executor, Self::Keep);

    /// Listens on a free port of the loopback.
    fn bind() -> impl Future<Output = io::Result<(Self::Listener, SocketAddr)>> + Send;
    /// Waits for a connection.
    fn accept(listener: &Self::Listener) -> impl Future<Output = io::Result<Self::Stream>> + Send;
    /// Connects.
    fn connect(address: SocketAddr) -> impl Future<Output = io::Result<Self::Stream>> + Send;

    /// Listens on a path.
    fn bind_unix(path: &Path) -> io::Result<Self::UnixListener>;
    /// Waits for a connection.
    fn accept_unix(
        listener: &Self::UnixListener,
    ) -> impl Future<Output = io::Result<Self::UnixStream>> + Send;
    /// Connects.
    fn connect_unix(path: &Path) -> impl Future<Output = io::Result<Self::UnixStream>> + Send;

    /// A socket on a free port of the loopback.
    fn udp() -> impl Future<Output = io::Result<(Self::Udp, SocketAddr)>> + Send;
    /// Sends a datagram.
    fn send_to(
        socket: &Self::Udp,
        data: &[u8],
        to: SocketAddr,
    ) -> impl Future<Output = io::Result<usize>> + Send;
    /// Receives a datagram.
    fn receive_from(
        socket: &Self::Udp,
        data: &mut [u8],
    ) -> impl Future<Output = io::Result<(usize, SocketAddr)>> + Send;

    /// Waits for so long.
    fn sleep(duration: Duration) -> impl Future<Output = ()> + Send;

    /// The output of `future`, unless it takes longer than that.
    fn timeout<F: Future + Send>(
        duration: Duration,
        future: F,
    ) -> impl Future<Output = Option<F::Output>> + Send
    where
        F::Output: Send,
    {
        async move {
            let (future, sleep) = (pin!(future), pin!(Self::sleep(duration)));
            match future::select(future, sleep).await {
                Either::Left((output, _)) => Some(output),
                Either::Right(((), _)) => None,
            }
        }
    }

    /// An executor with so many workers.
    fn start(workers: usize) -> (Executor, Self::Keep) {
        Self::build(Executor::builder().workers(workers))
    }
}
