//! smol's I/O types.

use std::io;
use std::net::TcpListener as StdListener;
use std::time::Duration;

use async_net::{TcpListener, TcpStream};
use futures_lite::{AsyncReadExt, AsyncWriteExt};
use ws_io_adapters::hyper::FuturesIo;

pub(super) struct OverSmol;

impl super::Io for OverSmol {
    type Listener = TcpListener;
    type Stream = TcpStream;
    type HyperStream = FuturesIo<TcpStream>;

    fn listener(listener: StdListener) -> io::Result<TcpListener> {
        TcpListener::try_from(listener)
    }

    async fn accept(listener: &TcpListener) -> io::Result<TcpStream> {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true).map(|()| stream)
    }

    async fn read(stream: &mut TcpStream, buffer: &mut [u8]) -> io::Result<usize> {
        stream.read(buffer).await
    }

    async fn write_all(stream: &mut TcpStream, bytes: &[u8]) -> io::Result<()> {
        stream.write_all(bytes).await
    }

    fn for_hyper(stream: TcpStream) -> FuturesIo<TcpStream> {
        FuturesIo::new(stream)
    }

    async fn sleep(duration: Duration) {
        async_io::Timer::after(duration).await;
    }
}
