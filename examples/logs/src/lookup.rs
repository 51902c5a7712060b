//! Where a client is: a service over HTTP, and its client, which keeps connections.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

use async_net::{TcpListener, TcpStream};
use http_body_util::{BodyExt, Empty, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use ws_executor::Handle;
use ws_io_adapters::hyper::FuturesIo;

use crate::access_log::Entry;
use crate::line::{Fault, Row};

/// Serves on a free port of this machine, until the executor ends.
pub(crate) async fn serve(handle: &Handle) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let connections = handle.clone();
    let accept = async move {
        while let Ok((stream, _)) = listener.accept().await {
            let connection =
                http1::Builder::new().serve_connection(FuturesIo::new(stream), service_fn(answer));
            let serve = async {
                let _ = connection.await; // it is the client who hangs up
            };
            connections.spawn(serve).detach();
        }
    };
    handle.spawn(accept).detach();
    Ok(address)
}

/// `/10.0.x.y` is somewhere, or unknown for one `x` in fifty.
async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    const COUNTRIES: [&str; 5] = ["Austria", "Brazil", "Chad", "Denmark", "Ecuador"];
    let mut parts = request.uri().path().split('.');
    let network: usize = parts.nth(2).and_then(|part| part.parse().ok()).unwrap_or(0);
    let (status, text) = match network % 50 {
        0 => (StatusCode::NOT_FOUND, ""),
        _ => (StatusCode::OK, COUNTRIES[network % COUNTRIES.len()]),
    };
    let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())));
    *response.status_mut() = status;
    Ok(response)
}

/// A client with as many connections as it had requests at a time.
pub(crate) struct Client {
    service: SocketAddr,
    handle: Handle,
    idle: Mutex<Vec<SendRequest<Empty<Bytes>>>>,
}

impl Client {
    pub(crate) fn new(service: SocketAddr, handle: Handle) -> Self {
        Self {
            service,
            handle,
            idle: Mutex::default(),
        }
    }

    /// The row of a request, with the country it came from.
    pub(crate) async fn locate(&self, entry: &Entry) -> Result<Row, Fault> {
        let broken = |error: hyper::Error| Fault::Lookup(error.to_string());
        let mut connection = self.connection().await?;
        let request = Request::builder()
            .uri(format!("/{}", entry.client))
            .header("host", "lookup")
            .body(Empty::new())
            .expect("the request is right");
        let response = connection.send_request(request).await.map_err(broken)?;
        let found = response.status() != StatusCode::NOT_FOUND;
        let body = response.into_body().collect().await.map_err(broken)?;
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push(connection);
        drop(idle);
        if !found {
            return Err(Fault::UnknownClient);
        }
        Ok(Row {
            entry: entry.clone(),
            country: String::from_utf8_lossy(&body.to_bytes()).into_owned(),
        })
    }

    async fn connection(&self) -> Result<SendRequest<Empty<Bytes>>, Fault> {
        loop {
            let idle = self
                .idle
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .pop();
            let Some(mut connection) = idle else {
                return self.connect().await;
            };
            if connection.ready().await.is_ok() {
                return Ok(connection);
            }
        }
    }

    async fn connect(&self) -> Result<SendRequest<Empty<Bytes>>, Fault> {
        let stream = TcpStream::connect(self.service).await;
        let stream = stream.map_err(|error| Fault::Lookup(error.to_string()))?;
        let (sender, connection) = handshake(FuturesIo::new(stream))
            .await
            .map_err(|error| Fault::Lookup(error.to_string()))?;
        let serve = async {
            let _ = connection.await; // whoever sends a request hears of it
        };
        self.handle.spawn(serve).detach();
        Ok(sender)
    }
}
