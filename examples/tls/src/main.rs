//! A TLS server and its clients in one process, on loopback.
//!
//! rustls encrypts, futures-rustls is the stream around it, smol's sockets carry it, and
//! every connection is a task of the executor. The certificate is made at the start and
//! trusted by these clients only. `tls 20` has 20 clients; by default there are 8.
//!
//! The end is as careful as the beginning: each side says that it has nothing more to send
//! (`close_notify`), the server takes no more connections when it is told to stop, and
//! waits for those that it has.

#![forbid(unsafe_code)]

use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

use async_net::{TcpListener, TcpStream};
use futures::channel::oneshot;
use futures::future::{Either, select, try_join_all};
use futures::{AsyncReadExt, AsyncWriteExt};
use futures_rustls::pki_types::{PrivateKeyDer, ServerName};
use futures_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig};
use futures_rustls::{TlsAcceptor, TlsConnector};
use ws_executor::{Executor, Handle, Task};

/// How often each client asks.
const QUESTIONS: usize = 100;

type Failure = Box<dyn Error + Send + Sync>;

fn main() -> ExitCode {
    let clients = match std::env::args().nth(1).map(|text| text.parse()) {
        None => 8,
        Some(Ok(clients @ 1..=1000)) => clients,
        Some(_) => {
            eprintln!("usage: tls [clients, 1 to 1000]");
            return ExitCode::FAILURE;
        }
    };
    match run(clients) {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(clients: usize) -> Result<String, Failure> {
    let (acceptor, connector) = certificates()?;
    let executor = ws_io_adapters::smol::executor(Executor::builder())?;
    executor.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel();
        let server = Handle::current().spawn(serve(listener, acceptor, stopped));

        let ask = |n| Handle::current().spawn(ask(address, connector.clone(), n));
        let answers = try_join_all((0..clients).map(ask)).await?;
        // A client that does not know the certificate is refused by itself.
        let stranger = TlsConnector::from(Arc::new(trusting(RootCertStore::empty())));
        let Err(refusal) = ask_once(address, &stranger).await else {
            return Err("a stranger was let in".into());
        };

        drop(stop);
        let (served, failed) = server.await?;
        let bytes: usize = answers.iter().sum();
        Ok(format!(
            "{clients} clients, {bytes} bytes there and back, encrypted\n\
             {served} connections served, {failed} refused: {refusal}"
        ))
    })
}

/// A certificate for `localhost` that signs itself: what the server needs to use it, and
/// clients to trust it.
fn certificates() -> Result<(TlsAcceptor, TlsConnector), Failure> {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    let certificate = made.cert.der().clone();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der())?;
    let server = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)?;
    let mut roots = RootCertStore::empty();
    roots.add(certificate)?;
    Ok((
        TlsAcceptor::from(Arc::new(server)),
        TlsConnector::from(Arc::new(trusting(roots))),
    ))
}

fn trusting(roots: RootCertStore) -> ClientConfig {
    ClientConfig::builder()
        .with_root_certificates(roots)
        .with_no_client_auth()
}

/// Serves until it is told to stop; then waits for the connections it has. Returns how many
/// ended well, and how many did not.
async fn serve(
    listener: TcpListener,
    acceptor: TlsAcceptor,
    mut stopped: oneshot::Receiver<()>,
) -> io::Result<(usize, usize)> {
    let mut connections: Vec<Task<io::Result<()>>> = Vec::new();
    loop {
        let accept = std::pin::pin!(listener.accept());
        let (stream, _) = match select(accept, &mut stopped).await {
            Either::Left((accepted, _)) => accepted?,
            Either::Right(_) => break,
        };
        connections.push(Handle::current().spawn(echo(stream, acceptor.clone())));
    }
    let (mut served, mut failed) = (0, 0);
    for connection in connections {
        match connection.await {
            Ok(()) => served += 1,
            Err(_) => failed += 1,
        }
    }
    Ok((served, failed))
}

async fn echo(stream: TcpStream, acceptor: TlsAcceptor) -> io::Result<()> {
    let mut stream = acceptor.accept(stream).await?;
    let mut bytes = [0; 1024];
    loop {
        match stream.read(&mut bytes).await? {
            // The other side has said that this is all.
            0 => break stream.close().await,
            n => {
                stream.write_all(&bytes[..n]).await?;
                stream.flush().await?;
            }
        }
    }
}

/// Asks often, and returns how many bytes came back.
async fn ask(address: SocketAddr, connector: TlsConnector, n: usize) -> Result<usize, Failure> {
    let stream = TcpStream::connect(address).await?;
    let mut stream = connector.connect(localhost()?, stream).await?;
    let question = format!("client {n} has a question");
    let mut answer = vec![0; question.len()];
    for _ in 0..QUESTIONS {
        stream.write_all(question.as_bytes()).await?;
        stream.flush().await?;
        stream.read_exact(&mut answer).await?;
        if answer != question.as_bytes() {
            return Err("the echo is not what was said".into());
        }
    }
    stream.close().await?;
    match stream.read(&mut answer).await? {
        0 => Ok(QUESTIONS * question.len()),
        _ => Err("there is more than was said".into()),
    }
}

async fn ask_once(address: SocketAddr, connector: &TlsConnector) -> Result<(), Failure> {
    let stream = TcpStream::connect(address).await?;
    connector.connect(localhost()?, stream).await?;
    Ok(())
}

fn localhost() -> Result<ServerName<'static>, Failure> {
    Ok(ServerName::try_from("localhost")?)
}
