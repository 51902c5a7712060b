//! HTTP/1.1: what every server answers, and what the load asks.

use std::convert::Infallible;

use hyper::body::{Bytes, Incoming};
use hyper::{Request, Response};

const BODY: &str = "hello, world";

/// What is sent for each request.
pub(crate) const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n";

/// Answers a request.
pub(crate) fn answer<B: From<Bytes>>(_: &Request<Incoming>) -> Result<Response<B>, Infallible> {
    Ok(Response::new(Bytes::from_static(BODY.as_bytes()).into()))
}

/// Whether a whole answer has arrived: head and body.
pub(crate) fn is_whole(received: &[u8]) -> bool {
    received.ends_with(BODY.as_bytes()) && received.starts_with(b"HTTP/1.1 200")
}
