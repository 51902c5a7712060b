//! The adapters, as worlds.
//!
//! What they do is the same, word for word, but the types have no traits in common that
//! would cover it: so there is one macro, and the types are its arguments.

use std::convert::identity;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use tokio::runtime::Runtime;
use ws_executor::{Builder, Executor};
use ws_io_adapters::tokio::compat::{Compat, TokioAsyncReadCompatExt};

use crate::world::World;

const LOOPBACK: (&str, u16) = ("127.0.0.1", 0);

/// A world over sockets of the types given. `adapt` makes futures-io of a connection.
macro_rules! world {
    (
        $(#[$doc:meta])* $world:ident,
        build: $keep:ty = $build:expr,
        tcp: $listener:ty, $connection:ty => $stream:ty,
        unix: $unix_listener:ty = $bind_unix:expr, $unix_connection:ty => $unix_stream:ty,
        udp: $udp:ty,
        adapt: $adapt:expr,
        sleep: $sleep:expr,
    ) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $world;

        impl World for $world {
            type Listener = $listener;
            type Stream = $stream;
            type UnixListener = $unix_listener;
            type UnixStream = $unix_stream;
            type Udp = $udp;
            type Keep = $keep;

            fn build(builder: Builder) -> (Executor, $keep) {
                $build(builder)
            }

            async fn bind() -> io::Result<(Self::Listener, SocketAddr)> {
                let listener = <$listener>::bind(LOOPBACK).await?;
                let address = listener.local_addr()?;
                Ok((listener, address))
            }

            async fn accept(listener: &Self::Listener) -> io::Result<Self::Stream> {
                Ok($adapt(listener.accept().await?.0))
            }

            async fn connect(address: SocketAddr) -> io::Result<Self::Stream> {
                Ok($adapt(<$connection>::connect(address).await?))
            }

            fn bind_unix(path: &Path) -> io::Result<Self::UnixListener> {
                $bind_unix(path)
            }

            async fn accept_unix(listener: &Self::UnixListener) -> io::Result<Self::UnixStream> {
                Ok($adapt(listener.accept().await?.0))
            }

            async fn connect_unix(path: &Path) -> io::Result<Self::UnixStream> {
                Ok($adapt(<$unix_connection>::connect(path).await?))
            }

            async fn udp() -> io::Result<(Self::Udp, SocketAddr)> {
                let socket = <$udp>::bind(LOOPBACK).await?;
                let address = socket.local_addr()?;
                Ok((socket, address))
            }

            async fn send_to(socket: &Self::Udp, data: &[u8], to: SocketAddr) -> io::Result<usize> {
                socket.send_to(data, to).await
            }

            async fn receive_from(
                socket: &Self::Udp,
                data: &mut [u8],
            ) -> io::Result<(usize, SocketAddr)> {
                socket.recv_from(data).await
            }

            async fn sleep(duration: Duration) {
                $sleep(duration).await;
            }
        }
    };
}

/// smol's I/O; only the executor differs.
macro_rules! smol_world {
    ($(#[$doc:meta])* $world:ident, $build:expr) => {
        world! {
            $(#[$doc])* $world,
            build: () = |builder| ($build(builder).expect("the executor starts"), ()),
            tcp: async_net::TcpListener, async_net::TcpStream => async_net::TcpStream,
            unix: async_net::unix::UnixListener = async_net::unix::UnixListener::bind,
                async_net::unix::UnixStream => async_net::unix::UnixStream,
            udp: async_net::UdpSocket,
            adapt: identity,
            sleep: async_io::Timer::after,
        }
    };
}

smol_world! {
    /// smol's I/O on an executor that knows nothing of it: async-io's own thread drives.
    Unaware, Builder::build
}

smol_world! {
    /// smol's I/O under its adapter.
    Smol, ws_io_adapters::smol::executor
}

world! {
    /// async-std's I/O under its adapter.
    AsyncStd,
    build: () = |builder| {
        let executor = ws_io_adapters::async_std::executor(builder);
        (executor.expect("the executor starts"), ())
    },
    tcp: async_std::net::TcpListener, async_std::net::TcpStream => async_std::net::TcpStream,
    unix: async_std::os::unix::net::UnixListener = |path: &Path| {
        let listener = std::os::unix::net::UnixListener::bind(path)?;
        listener.set_nonblocking(true)?;
        Ok(listener.into())
    }, async_std::os::unix::net::UnixStream => async_std::os::unix::net::UnixStream,
    udp: async_std::net::UdpSocket,
    adapt: identity,
    sleep: async_std::task::sleep,
}

/// tokio's I/O; only the executor differs.
macro_rules! tokio_world {
    ($(#[$doc:meta])* $world:ident, $keep:ty, $build:expr) => {
        world! {
            $(#[$doc])* $world,
            build: $keep = $build,
            tcp: tokio::net::TcpListener, tokio::net::TcpStream => Compat<tokio::net::TcpStream>,
            unix: tokio::net::UnixListener = tokio::net::UnixListener::bind,
                tokio::net::UnixStream => Compat<tokio::net::UnixStream>,
            udp: tokio::net::UdpSocket,
            adapt: TokioAsyncReadCompatExt::compat,
            sleep: tokio::time::sleep,
        }
    };
}

tokio_world! {
    /// tokio's I/O under its adapter.
    Tokio, (), |builder| {
        let executor = ws_io_adapters::tokio::executor(builder);
        (executor.expect("the executor starts"), ())
    }
}

tokio_world! {
    /// tokio's I/O on an executor that is attached to a runtime with threads of its own.
    Attached, Runtime, |builder| {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("the runtime starts");
        let executor = ws_io_adapters::tokio::attach(builder, runtime.handle().clone());
        (executor.expect("the executor starts"), runtime)
    }
}
