//! The services: echo, and HTTP/1.1 by hyper. A task for each connection.

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::server::conn::http1;
use hyper::service::service_fn;

use super::{Io, Ports, listen, port};
use crate::contender::Spawner;
use crate::http::answer;

/// Starts both, each on a port of its own.
pub(super) fn serve<I: Io>(spawner: &impl Spawner) -> Ports {
    let (echo, http) = (listen(), listen());
    let ports = Ports {
        echo: port(&echo),
        http: port(&http),
    };
    spawner.spawn(accept_all::<I, _>(spawner.clone(), echo, echo_all::<I>));
    spawner.spawn(accept_all::<I, _>(spawner.clone(), http, serve_http::<I>));
    ports
}

async fn accept_all<I: Io, F>(
    spawner: impl Spawner,
    listener: std::net::TcpListener,
    serve: impl Fn(I::Stream) -> F,
) where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = I::listener(listener).expect("the reactor takes it");
    while let Ok(stream) = I::accept(&listener).await {
        spawner.spawn(serve(stream));
    }
}

async fn echo_all<I: Io>(mut stream: I::Stream) {
    let mut buffer = [0; 1024];
    while let Ok(count @ 1..) = I::read(&mut stream, &mut buffer).await {
        if I::write_all(&mut stream, &buffer[..count]).await.is_err() {
            return;
        }
    }
}

async fn serve_http<I: Io>(stream: I::Stream) {
    let service = service_fn(|request| async move { answer::<Full<Bytes>>(&request) });
    let connection = http1::Builder::new().serve_connection(I::for_hyper(stream), service);
    let _ = connection.await;
}
