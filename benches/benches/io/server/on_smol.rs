//! The server over smol's I/O types.

use std::time::Duration;

use async_net::{TcpListener, TcpStream};
use futures_lite::{AsyncReadExt, AsyncWriteExt};
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use ws_io_adapters::hyper::FuturesIo;

use super::{Ports, listen, port};
use crate::contender::Spawner;
use crate::http::answer;

#[derive(Clone)]
pub(super) struct World<S>(pub(super) S);

impl<S: Spawner> super::World for World<S> {
    fn serve(&self) -> Ports {
        let (echo, http) = (listen(), listen());
        let ports = Ports {
            echo: port(&echo),
            http: port(&http),
        };
        self.0.spawn(accept_all(self.0.clone(), echo, echo_all));
        self.0.spawn(accept_all(self.0.clone(), http, serve_http));
        ports
    }

    async fn sleep(duration: Duration) {
        async_io::Timer::after(duration).await;
    }

    fn spawner(&self) -> &impl Spawner {
        &self.0
    }
}

async fn accept_all<S: Spawner, F>(
    spawner: S,
    listener: std::net::TcpListener,
    serve: impl Fn(TcpStream) -> F,
) where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::try_from(listener).expect("the reactor takes it");
    while let Ok((stream, _)) = listener.accept().await {
        spawner.spawn(serve(stream));
    }
}

async fn echo_all(mut stream: TcpStream) {
    let _ = stream.set_nodelay(true);
    let mut buffer = [0; 1024];
    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
        if stream.write_all(&buffer[..count]).await.is_err() {
            return;
        }
    }
}

async fn serve_http(stream: TcpStream) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(|request| async move { answer::<Full<Bytes>>(&request) });
    let connection = http1::Builder::new().serve_connection(FuturesIo::new(stream), service);
    let _ = connection.await;
}
