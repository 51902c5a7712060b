//! Streams of bytes: nothing is lost, doubled or reordered.

use std::time::Duration;

use futures::io::{AsyncReadExt, AsyncWriteExt};
use io_tests::world::{Stream, World};
use ws_executor::Handle;

/// Sends back what comes, until the end.
pub(crate) async fn echo(mut stream: impl Stream) {
    let mut buffer = vec![0; 16 * 1024];
    loop {
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return,
            Ok(count) => {
                if stream.write_all(&buffer[..count]).await.is_err() {
                    return;
                }
            }
        }
    }
}

/// Accepts connections for ever, with a task for each.
pub(crate) async fn echo_server<W: World>(listener: W::Listener) {
    let handle = Handle::current();
    loop {
        let stream = W::accept(&listener).await.unwrap();
        handle.spawn(echo(stream)).detach();
    }
}

async fn ping(stream: &mut impl Stream, number: u64) {
    stream.write_all(&number.to_le_bytes()).await.unwrap();
    let mut answer = [0; 8];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(u64::from_le_bytes(answer), number);
}

pub(crate) fn echo_of_ten_thousand_messages<W: World>(_: &str) {
    for workers in [1, 2] {
        let (executor, _keep) = W::start(workers);
        let client = executor.spawn(async {
            let (listener, address) = W::bind().await.unwrap();
            let _server = Handle::current().spawn(echo_server::<W>(listener));
            let mut stream = W::connect(address).await.unwrap();
            for number in 0..10_000 {
                ping(&mut stream, number).await;
            }
        });
        executor.block_on(client);
    }
}

pub(crate) fn a_root_future_does_io<W: World>(_: &str) {
    let (executor, _keep) = W::start(1);
    executor.block_on(async {
        let (listener, address) = W::bind().await.unwrap();
        let _server = Handle::current().spawn(echo_server::<W>(listener));
        let mut stream = W::connect(address).await.unwrap();
        for number in 0..100 {
            ping(&mut stream, number).await;
            W::sleep(Duration::from_micros(number)).await;
        }
    });
}

pub(crate) fn unix_sockets<W: World>(name: &str) {
    let name = name.replace("::", "-");
    let path = std::env::temp_dir().join(format!("ws-{}-{name}", std::process::id()));
    let (executor, _keep) = W::start(2);
    let _ = std::fs::remove_file(&path);
    let client = executor.spawn({
        let path = path.clone();
        async move {
            let listener = W::bind_unix(&path).unwrap();
            let server = Handle::current()
                .spawn(async move { echo(W::accept_unix(&listener).await.unwrap()).await });
            let mut stream = W::connect_unix(&path).await.unwrap();
            for number in 0..1_000 {
                ping(&mut stream, number).await;
            }
            drop(stream);
            server.await;
        }
    });
    executor.block_on(client);
    std::fs::remove_file(&path).unwrap();
}

/// A reader that reads little and seldom fills the buffers between the two; its writer
/// has to wait, and nobody else.
pub(crate) fn a_slow_reader_slows_only_its_writer<W: World>(_: &str) {
    const BYTES: usize = 8 << 20;
    let (executor, _keep) = W::start(2);
    let whole = executor.spawn(async {
        let (listener, address) = W::bind().await.unwrap();
        let mut reader = W::connect(address).await.unwrap();
        let mut writer = W::accept(&listener).await.unwrap();
        let writes = Handle::current().spawn(async move {
            for number in 0..BYTES / 8 / 1024 {
                let block: Vec<u8> = (0..1024)
                    .flat_map(|n| ((number * 1024 + n) as u64).to_le_bytes())
                    .collect();
                writer.write_all(&block).await.unwrap();
            }
            writer.close().await.unwrap();
        });
        // The writer is stuck, and others are not.
        let _server = Handle::current().spawn(echo_server::<W>(listener));
        let mut other = W::connect(address).await.unwrap();
        for number in 0..1_000 {
            ping(&mut other, number).await;
        }
        let mut data = Vec::new();
        let mut block = vec![0; 64 * 1024];
        loop {
            let count = reader.read(&mut block).await.unwrap();
            if count == 0 {
                break;
            }
            data.extend_from_slice(&block[..count]);
            if data.len() % 7 == 0 {
                W::sleep(Duration::from_micros(100)).await;
            }
        }
        writes.await;
        data
    });
    let data = executor.block_on(whole);
    assert_eq!(data.len(), BYTES);
    for (number, bytes) in data.chunks(8).enumerate() {
        assert_eq!(u64::from_le_bytes(bytes.try_into().unwrap()), number as u64);
    }
}
