//! QUIC by quinn: a real connection over loopback, whose tasks run on our workers.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use futures::future::try_join_all;
use quinn::rustls::RootCertStore;
use quinn::rustls::pki_types::PrivateKeyDer;
use quinn::{ClientConfig, Connection, Endpoint, EndpointConfig, ServerConfig};
use tests::watchdog::guard;
use ws_executor::{Executor, Handle};
use ws_io_adapters::quinn::Runtime;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// How many streams the client opens at once.
const STREAMS: usize = 50;

/// How many bytes go through each.
const BYTES: usize = 20_000;

/// quinn's own runtime, for I/O only.
#[derive(Debug)]
struct NeverSpawns<R>(R);

impl<R: quinn::Runtime> quinn::Runtime for NeverSpawns<R> {
    fn new_timer(&self, at: Instant) -> Pin<Box<dyn quinn::AsyncTimer>> {
        self.0.new_timer(at)
    }

    fn spawn(&self, _: Pin<Box<dyn Future<Output = ()> + Send>>) {
        panic!("a task that does not run on our workers");
    }

    fn wrap_udp_socket(&self, socket: UdpSocket) -> io::Result<Arc<dyn quinn::AsyncUdpSocket>> {
        self.0.wrap_udp_socket(socket)
    }
}

/// What each endpoint trusts and shows.
fn configurations() -> Result<(ServerConfig, ClientConfig), Failure> {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    let certificate = made.cert.der().clone();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der())?;
    let server = ServerConfig::with_single_cert(vec![certificate.clone()], key)?;
    let mut roots = RootCertStore::empty();
    roots.add(certificate)?;
    Ok((
        server,
        ClientConfig::with_root_certificates(Arc::new(roots))?,
    ))
}

fn endpoint<R: quinn::Runtime>(
    runtime: Runtime<R>,
    server: Option<ServerConfig>,
) -> Result<Endpoint, Failure> {
    let socket = UdpSocket::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
    let runtime = Arc::new(runtime);
    Ok(Endpoint::new(
        EndpointConfig::default(),
        server,
        socket,
        runtime,
    )?)
}

/// Echoes every stream of one connection, each in a task.
async fn serve(endpoint: Endpoint) -> Result<usize, Failure> {
    let incoming = endpoint.accept().await.ok_or("no connection came")?;
    let connection = incoming.await?;
    let served = Arc::new(AtomicUsize::new(0));
    let mut tasks = Vec::new();
    // Until the client closes the connection.
    while let Ok((mut send, mut receive)) = connection.accept_bi().await {
        let served = Arc::clone(&served);
        tasks.push(Handle::current().spawn(async move {
            let bytes = receive.read_to_end(BYTES).await?;
            send.write_all(&bytes).await?;
            send.finish()?;
            served.fetch_add(1, Ordering::Relaxed);
            Ok::<_, Failure>(())
        }));
    }
    try_join_all(tasks).await?;
    Ok(served.load(Ordering::Relaxed))
}

async fn ask(connection: Connection, n: usize) -> Result<(), Failure> {
    let (mut send, mut receive) = connection.open_bi().await?;
    let bytes = vec![n as u8; BYTES];
    send.write_all(&bytes).await?;
    send.finish()?;
    assert_eq!(receive.read_to_end(BYTES).await?, bytes);
    Ok(())
}

async fn there_and_back<R>(io: impl Fn() -> R) -> Result<(), Failure>
where
    R: quinn::Runtime,
{
    let (server, client) = configurations()?;
    let runtime = || Runtime::new(Handle::current(), NeverSpawns(io()));
    let server = endpoint(runtime(), Some(server))?;
    let address = server.local_addr()?;
    let serving = Handle::current().spawn(serve(server.clone()));

    let mut endpoint = endpoint(runtime(), None)?;
    endpoint.set_default_client_config(client);
    let connection = endpoint.connect(address, "localhost")?.await?;
    let asks = (0..STREAMS).map(|n| Handle::current().spawn(ask(connection.clone(), n)));
    try_join_all(asks).await?;
    connection.close(0_u32.into(), b"done");
    assert_eq!(serving.await?, STREAMS);
    // Both endpoints end: nothing is left for their tasks to do.
    endpoint.wait_idle().await;
    server.close(0_u32.into(), b"");
    server.wait_idle().await;
    Ok(())
}

#[test]
fn a_connection_on_tokio() {
    guard("quinn on tokio", || {
        let builder = Executor::builder().workers(2);
        let executor = ws_io_adapters::tokio::executor(builder).unwrap();
        executor
            .block_on(there_and_back(|| quinn::TokioRuntime))
            .unwrap();
    });
}

#[test]
fn a_connection_on_smol() {
    guard("quinn on smol", || {
        let builder = Executor::builder().workers(2);
        let executor = ws_io_adapters::smol::executor(builder).unwrap();
        executor
            .block_on(there_and_back(|| quinn::SmolRuntime))
            .unwrap();
    });
}
