//! Many connections at once.

use futures::future::join_all;
use futures::io::{AsyncReadExt, AsyncWriteExt};
use io_tests::limits::need_descriptors;
use io_tests::world::World;
use ws_executor::Handle;

use crate::streams::echo_server;

/// All are open before the first one is used.
pub(crate) fn thousand_connections<W: World>(_: &str) {
    const CONNECTIONS: u64 = 1_000;
    need_descriptors(2 * CONNECTIONS + 1_000);
    let (executor, _keep) = W::start(2);
    let (listener, address) = executor.block_on(W::bind()).unwrap();
    let server = executor.spawn(echo_server::<W>(listener));
    let whole = executor.spawn(async move {
        let mut streams = Vec::new();
        for _ in 0..CONNECTIONS {
            streams.push(W::connect(address).await.unwrap());
        }
        let pings = streams
            .into_iter()
            .zip(0..)
            .map(|(mut stream, number): (_, u64)| {
                Handle::current().spawn(async move {
                    for round in 0..10_u64 {
                        let message = (number << 32 | round).to_le_bytes();
                        stream.write_all(&message).await.unwrap();
                        let mut answer = [0; 8];
                        stream.read_exact(&mut answer).await.unwrap();
                        assert_eq!(answer, message);
                    }
                    number
                })
            });
        let pings: Vec<_> = pings.collect();
        join_all(pings).await.into_iter().sum::<u64>()
    });
    assert_eq!(executor.block_on(whole), (0..CONNECTIONS).sum::<u64>());
    drop(server);
}
