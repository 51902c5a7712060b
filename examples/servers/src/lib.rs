//! HTTP servers on the executor; each is a binary under `src/bin`, and stops on Ctrl-C:
//! requests that are under way are finished first.
//!
//! What they share is here.

#![forbid(unsafe_code)]

use std::convert::Infallible;
use std::net::TcpListener;
use std::time::Duration;
use std::{env, io};

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::{Request, Response, StatusCode};

/// How long requests that are under way may take after Ctrl-C.
pub const GRACE: Duration = Duration::from_secs(5);

/// How long `/slow` takes.
pub const SLOW: Duration = Duration::from_millis(300);

/// Listens on the port that the command line gives, or on a free one, and says where.
///
/// # Errors
///
/// If the port is not free, or is no number.
pub fn listen() -> io::Result<TcpListener> {
    let port = env::args().nth(1).map_or(Ok(0), |port| port.parse());
    let port: u16 = port.map_err(|_| io::Error::other("usage: [port]"))?;
    let listener = TcpListener::bind(("127.0.0.1", port))?;
    listener.set_nonblocking(true)?;
    println!(
        "listening on http://{}, Ctrl-C ends",
        listener.local_addr()?
    );
    Ok(listener)
}

/// Answers a request; `sleep` is how the I/O at hand waits.
///
/// # Errors
///
/// None.
pub async fn answer<S: Future>(
    request: Request<Incoming>,
    sleep: impl Fn(Duration) -> S,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (status, text) = match request.uri().path() {
        "/" => (StatusCode::OK, "hello, world\n"),
        "/slow" => {
            println!("/slow is under way");
            sleep(SLOW).await;
            (StatusCode::OK, "here at last\n")
        }
        _ => (StatusCode::NOT_FOUND, "there is no such page\n"),
    };
    let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())));
    *response.status_mut() = status;
    Ok(response)
}
