//! An axum application, as it is, on an executor under tokio's I/O.
//!
//! `axum::serve` spawns its connections with `tokio::spawn`, which puts them on the
//! runtime: they run on whichever worker is in the reactor. A service with much to do
//! serves its connections itself, as `http_tokio` does.

use std::error::Error;

use axum::Router;
use axum::routing::get;
use servers::SLOW;
use tokio::net::TcpListener;
use tokio::time::sleep;
use ws_executor::Executor;

fn main() -> Result<(), Box<dyn Error>> {
    let executor = ws_io_adapters::tokio::executor(Executor::builder())?;
    let listener = servers::listen()?;
    let application = Router::new()
        .route("/", get(|| async { "hello, world\n" }))
        .route(
            "/slow",
            get(|| async {
                println!("/slow is under way");
                sleep(SLOW).await;
                "here at last\n"
            }),
        );
    // A task: the worker that sees a connection accepts it, and need not wake this thread.
    let serves = executor.spawn(async move {
        let stop = async {
            if let Err(error) = tokio::signal::ctrl_c().await {
                eprintln!("Ctrl-C cannot be caught: {error}");
            }
        };
        axum::serve(TcpListener::from_std(listener)?, application)
            .with_graceful_shutdown(stop)
            .await
    });
    executor.block_on(serves)?;
    println!("all connections served");
    Ok(())
}
