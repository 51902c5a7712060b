//! An echo service on async-std, with its clients, timers and a channel.

use std::io;
use std::time::Duration;

use async_std::channel;
use async_std::io::{ReadExt, WriteExt};
use async_std::net::{SocketAddr, TcpListener, TcpStream};
use async_std::task;

const CLIENTS: u8 = 50;

fn main() -> io::Result<()> {
    task::block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let server = task::spawn(serve(listener));
        let (sender, answers) = channel::unbounded();
        for n in 0..CLIENTS {
            let sender = sender.clone();
            task::spawn(async move {
                let asked = ask(address, n).await;
                let _ = sender.send(asked).await;
            });
        }
        drop(sender);
        let mut clients = 0;
        while let Ok(asked) = answers.recv().await {
            asked?;
            clients += 1;
        }
        assert_eq!(clients, CLIENTS);
        assert!(server.cancel().await.is_none());
        assert_eq!(task::spawn_blocking(|| 6 * 7).await, 42);
        println!("{clients} clients");
        Ok(())
    })
}

async fn serve(listener: TcpListener) -> io::Result<()> {
    loop {
        let (mut stream, _) = listener.accept().await?;
        task::spawn(async move {
            let mut bytes = [0; 64];
            loop {
                match stream.read(&mut bytes).await? {
                    0 => return io::Result::Ok(()),
                    n => stream.write_all(&bytes[..n]).await?,
                }
            }
        });
    }
}

async fn ask(address: SocketAddr, n: u8) -> io::Result<()> {
    let mut stream = TcpStream::connect(address).await?;
    for _ in 0..20 {
        let mut answer = [0; 16];
        stream.write_all(&[n; 16]).await?;
        stream.read_exact(&mut answer).await?;
        assert_eq!(answer, [n; 16]);
        task::sleep(Duration::from_millis(1)).await;
    }
    Ok(())
}
