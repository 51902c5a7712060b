//! What the other side may do.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};

use futures::io::{AsyncReadExt, AsyncWriteExt};
use io_tests::world::World;
use ws_executor::Handle;

/// The other side has nothing more to say, but listens.
pub(crate) fn half_close<W: World>(_: &str) {
    let (executor, _keep) = W::start(2);
    let (listener, address) = executor.block_on(W::bind()).unwrap();
    let server = executor.spawn(async move {
        let mut stream = W::accept(&listener).await.unwrap();
        let mut question = Vec::new();
        stream.read_to_end(&mut question).await.unwrap();
        question.reverse();
        stream.write_all(&question).await.unwrap();
        stream.close().await.unwrap();
        // Both directions are closed now.
        assert_eq!(stream.read(&mut [0]).await.unwrap(), 0);
    });
    let mut client = TcpStream::connect(address).unwrap();
    client.write_all(b"abc").unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    let mut answer = Vec::new();
    client.read_to_end(&mut answer).unwrap();
    assert_eq!(answer, b"cba");
    executor.block_on(server);
}

/// A socket that is closed with unread data in it resets the connection.
pub(crate) fn reset_by_peer<W: World>(_: &str) {
    let (executor, _keep) = W::start(2);
    let (listener, address) = executor.block_on(W::bind()).unwrap();
    let server = executor.spawn(async move {
        let mut stream = W::accept(&listener).await.unwrap();
        stream.write_all(b"unread").await.unwrap();
        let error = stream.read(&mut [0; 8]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        // It is over for good, and does not hang.
        let again = stream.read(&mut [0; 8]).await;
        assert!(matches!(again, Ok(0) | Err(_)));
        stream.write_all(b"more").await.unwrap_err();
    });
    let client = TcpStream::connect(address).unwrap();
    client.peek(&mut [0]).unwrap();
    drop(client);
    executor.block_on(server);
}

pub(crate) fn connect_refused<W: World>(_: &str) {
    let (executor, _keep) = W::start(2);
    // Nobody listens there, nor is it given to those who ask for any.
    let address = SocketAddr::from(([127, 0, 0, 1], 1));
    let refused = executor.spawn(async move { W::connect(address).await.err() });
    let error = executor.block_on(refused).expect("nobody listens");
    assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
}

/// All workers sleep; what wakes them is I/O, and nothing else.
pub(crate) fn an_event_reaches_a_sleeping_executor<W: World>(_: &str) {
    for workers in [1, 2, 4] {
        let (executor, _keep) = W::start(workers);
        let handle = executor.handle();
        let (listener, address) = executor.block_on(W::bind()).unwrap();
        let server = executor.spawn(async move {
            let stream = W::accept(&listener).await.unwrap();
            Handle::current().spawn(super::streams::echo(stream)).await;
        });
        let mut client = TcpStream::connect(address).unwrap();
        for number in 0..50_u8 {
            tests::exec::until(|| handle.metrics().parked_workers() == workers);
            client.write_all(&[number]).unwrap();
            let mut answer = [0];
            client.read_exact(&mut answer).unwrap();
            assert_eq!(answer, [number]);
        }
        drop(client);
        executor.block_on(server);
    }
}
