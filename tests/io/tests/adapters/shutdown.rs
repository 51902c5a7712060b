//! The end of an executor whose tasks do I/O.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use futures::io::AsyncReadExt;
use io_tests::world::World;

use crate::streams::echo_server;

/// Clients hammer the server while it is shut down: it ends, and all of them see that.
pub(crate) fn shutdown_under_load<W: World>(_: &str) {
    for workers in [1, 2] {
        let (executor, _keep) = W::start(workers);
        let (listener, address) = executor.block_on(W::bind()).unwrap();
        executor.spawn(echo_server::<W>(listener)).detach();
        let answers = Arc::new(AtomicUsize::new(0));
        let clients: Vec<_> = (0..4)
            .map(|_| {
                let answers = Arc::clone(&answers);
                // Not in the thread, which may begin when nobody listens any more.
                let mut stream = TcpStream::connect(address).unwrap();
                thread::spawn(move || {
                    let mut byte = [7];
                    // Until the end of the connection, however that looks from here.
                    while stream.write_all(&byte).is_ok() && stream.read_exact(&mut byte).is_ok() {
                        answers.fetch_add(1, Ordering::Relaxed);
                    }
                })
            })
            .collect();
        tests::exec::until(|| answers.load(Ordering::Relaxed) > 1_000);
        executor.shutdown();
        for client in clients {
            client.join().unwrap();
        }
    }
}

/// Tasks that wait for I/O and timers that never come are dropped, with their sockets.
pub(crate) fn waiting_tasks_are_dropped<W: World>(_: &str) {
    struct Dropped(Arc<AtomicBool>);

    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    let (executor, _keep) = W::start(2);
    let handle = executor.handle();
    let (listener, address) = executor.block_on(W::bind()).unwrap();
    let mut client = TcpStream::connect(address).unwrap();
    let drops: Vec<Arc<AtomicBool>> = (0..3).map(|_| Arc::default()).collect();
    let dropped = |number: usize| Dropped(Arc::clone(&drops[number]));
    let reads = dropped(0);
    let mut stream = executor.block_on(async { W::accept(&listener).await.unwrap() });
    let read = executor.spawn(async move {
        let _reads = reads;
        stream.read(&mut [0]).await.unwrap()
    });
    let accepts = dropped(1);
    executor
        .spawn(async move {
            let _accepts = accepts;
            W::accept(&listener).await.map(drop)
        })
        .detach();
    let sleeps = dropped(2);
    executor
        .spawn(async move {
            let _sleeps = sleeps;
            W::sleep(Duration::from_secs(3600)).await;
        })
        .detach();
    tests::exec::until(|| handle.metrics().parked_workers() == 2);
    executor.shutdown();
    assert!(drops.iter().all(|dropped| dropped.load(Ordering::Relaxed)));
    assert_eq!(client.read(&mut [0]).unwrap(), 0, "the socket is closed");
    // Whoever awaits the task learns of it.
    assert!(futures::executor::block_on(read.fallible()).is_none());
}
