//! tokio's I/O types.

use std::io;
use std::net::TcpListener as StdListener;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use ws_io_adapters::hyper::TokioIo;

pub(super) struct OverTokio;

impl super::Io for OverTokio {
    type Listener = TcpListener;
    type Stream = TcpStream;
    type HyperStream = TokioIo<TcpStream>;

    fn listener(listener: StdListener) -> io::Result<TcpListener> {
        TcpListener::from_std(listener)
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

    fn for_hyper(stream: TcpStream) -> TokioIo<TcpStream> {
        TokioIo::new(stream)
    }

    async fn sleep(duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}
