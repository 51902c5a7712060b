//! HTTP/1.1 by hyper, over smol's I/O.

use std::error::Error;
use std::pin::pin;

use async_io::Timer;
use async_net::{TcpListener, TcpStream};
use futures::channel::oneshot;
use futures::future::{Either, select};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::server::graceful::GracefulShutdown;
use servers::{GRACE, answer};
use ws_executor::{Executor, Handle};
use ws_io_adapters::hyper::{FuturesIo, SmolTimer};

fn main() -> Result<(), Box<dyn Error>> {
    let executor = ws_io_adapters::smol::executor(Executor::builder())?;
    let listener = TcpListener::try_from(servers::listen()?)?;
    let (stop, mut stopped) = oneshot::channel::<()>();
    let mut stop = Some(stop);
    ctrlc::set_handler(move || drop(stop.take()))?;

    // A task: the worker that sees a connection accepts it, and need not wake this thread.
    let accepts = executor.spawn(async move {
        let graceful = GracefulShutdown::new();
        let mut connections = 0;
        loop {
            match select(pin!(listener.accept()), &mut stopped).await {
                Either::Left((Ok((stream, _)), _)) => {
                    connections += 1;
                    serve(stream, &graceful);
                }
                // Such as no descriptors left: they come back when connections end.
                Either::Left((Err(error), _)) => {
                    eprintln!("could not accept: {error}");
                    Timer::after(servers::SLOW).await;
                }
                Either::Right(_) => break,
            }
        }
        drop(listener);
        select(pin!(graceful.shutdown()), Timer::after(GRACE)).await;
        connections
    });
    let connections = executor.block_on(accepts);
    println!("{connections} connections served");
    Ok(())
}

/// Serves a connection in a task of its own, until it ends or is asked to.
fn serve(stream: TcpStream, graceful: &GracefulShutdown) {
    let service = service_fn(|request| answer(request, Timer::after));
    let connection = http1::Builder::new()
        .timer(SmolTimer)
        .serve_connection(FuturesIo::new(stream), service);
    let connection = graceful.watch(connection);
    let serve = async move {
        if let Err(error) = connection.await {
            eprintln!("a connection broke: {error}");
        }
    };
    Handle::current().spawn(serve).detach();
}
