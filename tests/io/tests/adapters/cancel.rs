//! Futures that are dropped in the middle.

use std::io::Read;
use std::net::TcpStream;
use std::time::Duration;

use futures::io::{AsyncReadExt, AsyncWriteExt};
use io_tests::world::World;
use ws_executor::{Handle, yield_now};

/// A read that is given up has read nothing; the next one has it all.
pub(crate) fn a_cancelled_read_loses_nothing<W: World>(_: &str) {
    let (executor, _keep) = W::start(2);
    let whole = executor.spawn(async {
        let (listener, address) = W::bind().await.unwrap();
        let mut writer = W::connect(address).await.unwrap();
        let mut reader = W::accept(&listener).await.unwrap();
        let mut expected = Vec::new();
        let mut received = Vec::new();
        let mut cancelled = 0;
        for number in 0..200_u64 {
            // Nothing has been sent, so the read is in its middle when it is dropped.
            let mut buffer = [0; 64];
            let read = reader.read(&mut buffer);
            match W::timeout(Duration::from_micros(number), read).await {
                None => cancelled += 1,
                Some(count) => received.extend_from_slice(&buffer[..count.unwrap()]),
            }
            writer.write_all(&number.to_le_bytes()).await.unwrap();
            expected.extend_from_slice(&number.to_le_bytes());
        }
        drop(writer);
        reader.read_to_end(&mut received).await.unwrap();
        assert_eq!(received, expected);
        cancelled
    });
    assert!(executor.block_on(whole) > 0);
}

/// Whoever waits in a socket is dropped by a cancellation, and the socket with it.
pub(crate) fn a_cancelled_task_closes_its_socket<W: World>(_: &str) {
    let (executor, _keep) = W::start(2);
    let (listener, address) = executor.block_on(W::bind()).unwrap();
    for waits_first in [true, false] {
        let mut client = TcpStream::connect(address).unwrap();
        let accept = async { W::accept(&listener).await.unwrap() };
        let mut stream = executor.block_on(accept);
        let reads = executor.spawn(async move { stream.read(&mut [0]).await });
        if waits_first {
            executor.block_on(executor.spawn(async {
                for _ in 0..100 {
                    yield_now().await;
                }
            }));
        }
        let cancelled = executor.spawn(async move { reads.cancel().await.is_none() });
        assert!(executor.block_on(cancelled), "there was nothing to read");
        assert_eq!(client.read(&mut [0]).unwrap(), 0, "closed");
    }
    // And from inside: a task that ends drops those that it started.
    let mut client = TcpStream::connect(address).unwrap();
    executor.block_on(async {
        let mut stream = W::accept(&listener).await.unwrap();
        let outer = Handle::current().spawn(async move {
            let _inner = Handle::current().spawn(async move { stream.read(&mut [0]).await });
            yield_now().await;
        });
        outer.await;
    });
    assert_eq!(client.read(&mut [0]).unwrap(), 0, "closed");
}
