//! The adapters, as worlds.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use tokio::runtime::Runtime;
use ws_executor::{Builder, Executor};
use ws_io_adapters::tokio::compat::{Compat, TokioAsyncReadCompatExt};

use crate::world::World;

const LOOPBACK: (&str, u16) = ("127.0.0.1", 0);

/// Only the executor differs.
macro_rules! async_io_world {
    ($(#[$doc:meta])* $world:ident, $build:expr) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $world;

        impl World for $world {
            type Listener = async_net::TcpListener;
            type Stream = async_net::TcpStream;
            type UnixListener = async_net::unix::UnixListener;
            type UnixStream = async_net::unix::UnixStream;
            type Udp = async_net::UdpSocket;
            type Keep = ();

            fn build(builder: Builder) -> (Executor, ()) {
                ($build(builder).expect("the executor starts"), ())
            }

            async fn bind() -> io::Result<(Self::Listener, SocketAddr)> {
                let listener = async_net::TcpListener::bind(LOOPBACK).await?;
                let address = listener.local_addr()?;
                Ok((listener, address))
            }

            async fn accept(listener: &Self::Listener) -> io::Result<Self::Stream> {
                Ok(listener.accept().await?.0)
            }

            async fn connect(address: SocketAddr) -> io::Result<Self::Stream> {
                async_net::TcpStream::connect(address).await
            }

            fn bind_unix(path: &Path) -> io::Result<Self::UnixListener> {
                async_net::unix::UnixListener::bind(path)
            }

            async fn accept_unix(listener: &Self::UnixListener) -> io::Result<Self::UnixStream> {
                Ok(listener.accept().await?.0)
            }

            async fn connect_unix(path: &Path) -> io::Result<Self::UnixStream> {
                async_net::unix::UnixStream::connect(path).await
            }

            async fn udp() -> io::Result<(Self::Udp, SocketAddr)> {
                let socket = async_net::UdpSocket::bind(LOOPBACK).await?;
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
                async_io::Timer::after(duration).await;
            }
        }
    };
}

async_io_world! {
    /// smol's I/O on an executor that knows nothing of it: async-io's own thread drives.
    Unaware, Builder::build
}

async_io_world! {
    /// smol's I/O under its adapter.
    Smol, ws_io_adapters::smol::executor
}

/// async-std's I/O under its adapter.
#[derive(Debug)]
pub struct AsyncStd;

impl World for AsyncStd {
    type Listener = async_std::net::TcpListener;
    type Stream = async_std::net::TcpStream;
    type UnixListener = async_std::os::unix::net::UnixListener;
    type UnixStream = async_std::os::unix::net::UnixStream;
    type Udp = async_std::net::UdpSocket;
    type Keep = ();

    fn build(builder: Builder) -> (Executor, ()) {
        let executor = ws_io_adapters::async_std::executor(builder);
        (executor.expect("the executor starts"), ())
    }

    async fn bind() -> io::Result<(Self::Listener, SocketAddr)> {
        let listener = async_std::net::TcpListener::bind(LOOPBACK).await?;
        let address = listener.local_addr()?;
        Ok((listener, address))
    }

    async fn accept(listener: &Self::Listener) -> io::Result<Self::Stream> {
        Ok(listener.accept().await?.0)
    }

    async fn connect(address: SocketAddr) -> io::Result<Self::Stream> {
        async_std::net::TcpStream::connect(address).await
    }

    fn bind_unix(path: &Path) -> io::Result<Self::UnixListener> {
        let listener = std::os::unix::net::UnixListener::bind(path)?;
        listener.set_nonblocking(true)?;
        Ok(listener.into())
    }

    async fn accept_unix(listener: &Self::UnixListener) -> io::Result<Self::UnixStream> {
        Ok(listener.accept().await?.0)
    }

    async fn connect_unix(path: &Path) -> io::Result<Self::UnixStream> {
        async_std::os::unix::net::UnixStream::connect(path).await
    }

    async fn udp() -> io::Result<(Self::Udp, SocketAddr)> {
        let socket = async_std::net::UdpSocket::bind(LOOPBACK).await?;
        let address = socket.local_addr()?;
        Ok((socket, address))
    }

    async fn send_to(socket: &Self::Udp, data: &[u8], to: SocketAddr) -> io::Result<usize> {
        socket.send_to(data, to).await
    }

    async fn receive_from(socket: &Self::Udp, data: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        socket.recv_from(data).await
    }

    async fn sleep(duration: Duration) {
        async_std::task::sleep(duration).await;
    }
}

/// Only the executor differs.
macro_rules! tokio_world {
    ($(#[$doc:meta])* $world:ident, $keep:ty, $build:expr) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $world;

        impl World for $world {
            type Listener = tokio::net::TcpListener;
            type Stream = Compat<tokio::net::TcpStream>;
            type UnixListener = tokio::net::UnixListener;
            type UnixStream = Compat<tokio::net::UnixStream>;
            type Udp = tokio::net::UdpSocket;
            type Keep = $keep;

            fn build(builder: Builder) -> (Executor, $keep) {
                $build(builder)
            }

            async fn bind() -> io::Result<(Self::Listener, SocketAddr)> {
                let listener = tokio::net::TcpListener::bind(LOOPBACK).await?;
                let address = listener.local_addr()?;
                Ok((listener, address))
            }

            async fn accept(listener: &Self::Listener) -> io::Result<Self::Stream> {
                Ok(listener.accept().await?.0.compat())
            }

            async fn connect(address: SocketAddr) -> io::Result<Self::Stream> {
                Ok(tokio::net::TcpStream::connect(address).await?.compat())
            }

            fn bind_unix(path: &Path) -> io::Result<Self::UnixListener> {
                tokio::net::UnixListener::bind(path)
            }

            async fn accept_unix(listener: &Self::UnixListener) -> io::Result<Self::UnixStream> {
                Ok(listener.accept().await?.0.compat())
            }

            async fn connect_unix(path: &Path) -> io::Result<Self::UnixStream> {
                Ok(tokio::net::UnixStream::connect(path).await?.compat())
            }

            async fn udp() -> io::Result<(Self::Udp, SocketAddr)> {
                let socket = tokio::net::UdpSocket::bind(LOOPBACK).await?;
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
                tokio::time::sleep(duration).await;
            }
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
