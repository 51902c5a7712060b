//! HTTP/1.1 by hyper, over tokio's I/O.

use std::error::Error;
use std::pin::pin;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::server::graceful::GracefulShutdown;
use servers::{GRACE, SLOW, answer};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};
use ws_executor::Executor;
use ws_io_adapters::hyper::{TokioIo, TokioTimer};

fn main() -> Result<(), Box<dyn Error>> {
    let executor = ws_io_adapters::tokio::executor(Executor::builder())?;
    let listener = servers::listen()?;

    // A task: the worker that sees a connection accepts it, and need not wake this thread.
    let accepts = executor.spawn(async move {
        let listener = TcpListener::from_std(listener)?;
        let graceful = GracefulShutdown::new();
        let mut connections = 0;
        // One for the whole loop: a signal that comes while there is none is lost.
        let mut stop = pin!(tokio::signal::ctrl_c());
        loop {
            tokio::select! {
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => {
                        connections += 1;
                        serve(stream, &graceful);
                    }
                    // Such as no descriptors left: they come back when connections end.
                    Err(error) => {
                        eprintln!("could not accept: {error}");
                        sleep(SLOW).await;
                    }
                },
                signal = &mut stop => {
                    signal?;
                    break;
                }
            }
        }
        drop(listener);
        let _ = timeout(GRACE, graceful.shutdown()).await;
        Ok::<_, std::io::Error>(connections)
    });
    let connections = executor.block_on(accepts)?;
    println!("{connections} connections served");
    Ok(())
}

/// Serves a connection in a task of its own, until it ends or is asked to.
fn serve(stream: TcpStream, graceful: &GracefulShutdown) {
    let service = service_fn(|request| answer(request, sleep));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .serve_connection(TokioIo::new(stream), service);
    let connection = graceful.watch(connection);
    let serve = async move {
        if let Err(error) = connection.await {
            eprintln!("a connection broke: {error}");
        }
    };
    // Not `tokio::spawn`: this one may run on every worker.
    ws_io_adapters::tokio::spawn(serve).detach();
}
