//! An echo service on smol, with its clients, timers, files' threads and a local executor.

use std::io;
use std::rc::Rc;
use std::time::Duration;

use smol::io::{AsyncReadExt, AsyncWriteExt};
use smol::net::{SocketAddr, TcpListener, TcpStream};
use smol::{LocalExecutor, Timer, future};

const CLIENTS: u8 = 50;

fn main() -> io::Result<()> {
    smol::block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let server = smol::spawn(serve(listener));
        let clients: Vec<_> = (0..CLIENTS).map(|n| smol::spawn(ask(address, n))).collect();
        for client in clients {
            client.await?;
        }
        assert!(server.cancel().await.is_none());
        assert_eq!(smol::unblock(|| 6 * 7).await, 42);
        io::Result::Ok(())
    })?;

    let local = LocalExecutor::new();
    let shared = Rc::new(1);
    let tasks: Vec<_> = (0..10)
        .map(|n| {
            let shared = Rc::clone(&shared);
            local.spawn(async move {
                Timer::after(Duration::from_millis(10 - n)).await;
                *shared + n
            })
        })
        .collect();
    let sum = local.run(async {
        let mut sum = 0;
        for task in tasks {
            sum += task.await;
        }
        sum
    });
    assert_eq!(future::block_on(sum), 55);

    let executor = smol::Executor::new();
    executor.spawn(future::pending::<()>()).detach();
    println!("{executor:?}");
    Ok(())
}

async fn serve(listener: TcpListener) -> io::Result<()> {
    loop {
        let (mut stream, _) = listener.accept().await?;
        let echo = smol::spawn(async move {
            let mut bytes = [0; 64];
            loop {
                match stream.read(&mut bytes).await? {
                    0 => return io::Result::Ok(()),
                    n => stream.write_all(&bytes[..n]).await?,
                }
            }
        });
        echo.detach();
    }
}

async fn ask(address: SocketAddr, n: u8) -> io::Result<()> {
    let mut stream = TcpStream::connect(address).await?;
    for _ in 0..20 {
        let mut answer = [0; 16];
        stream.write_all(&[n; 16]).await?;
        stream.read_exact(&mut answer).await?;
        assert_eq!(answer, [n; 16]);
        Timer::after(Duration::from_millis(1)).await;
    }
    Ok(())
}
