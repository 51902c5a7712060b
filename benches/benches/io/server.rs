//! The server: echo, HTTP, timers, and a load of computing, in a process of its own.
//!
//! It is told what to do by lines on its standard input, and answers each with one. The
//! code is the same for all contenders; only the spawner differs, and the I/O types.

mod on_smol;
mod on_tokio;
mod serve;

use std::hint::black_box;
use std::io::{self, BufRead, stdin};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use benches::usage::Usage;
use ws_executor::Executor;

use self::on_smol::OverSmol;
use self::on_tokio::OverTokio;
use self::serve::serve;
use crate::contender::{Kind, Smol, Spawner, WORKERS, keep, tokio_runtime};

/// How long one poll of the load computes.
const STALL: Duration = Duration::from_millis(20);

/// The ports of a server.
struct Ports {
    echo: u16,
    http: u16,
}

/// The I/O types of a contender.
trait Io: 'static {
    type Listener: Send + Sync;
    type Stream: Send + 'static;
    /// The stream, as hyper wants it.
    type HyperStream: hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static;

    fn listener(listener: TcpListener) -> io::Result<Self::Listener>;
    /// Waits for a connection, which is not to wait for more before it sends.
    fn accept(listener: &Self::Listener) -> impl Future<Output = io::Result<Self::Stream>> + Send;
    fn read(
        stream: &mut Self::Stream,
        buffer: &mut [u8],
    ) -> impl Future<Output = io::Result<usize>> + Send;
    fn write_all(
        stream: &mut Self::Stream,
        bytes: &[u8],
    ) -> impl Future<Output = io::Result<()>> + Send;
    fn for_hyper(stream: Self::Stream) -> Self::HyperStream;
    fn sleep(duration: Duration) -> impl Future<Output = ()> + Send;
}

/// Runs until its standard input ends.
pub(crate) fn run(kind: Kind) {
    let builder = || Executor::builder().workers(WORKERS);
    match kind {
        Kind::WsSmol => {
            let executor = ws_io_adapters::smol::executor(builder());
            obey::<OverSmol>(&keep(executor.expect("it starts")));
        }
        Kind::Smol => obey::<OverSmol>(&Smol),
        Kind::WsTokio => {
            let executor = ws_io_adapters::tokio::executor(builder());
            obey::<OverTokio>(&keep(executor.expect("it starts")));
        }
        Kind::Tokio => obey::<OverTokio>(&tokio_runtime()),
    }
}

fn obey<I: Io>(spawner: &impl Spawner) {
    let ports = serve::<I>(spawner);
    println!("{} {}", ports.echo, ports.http);
    let stalls = Arc::new(AtomicBool::new(false));
    for line in stdin().lock().lines().map_while(Result::ok) {
        match line.split_once(' ').unwrap_or((&line, "")) {
            ("usage", _) => {
                let usage = Usage::of_process().unwrap_or_default();
                let Usage {
                    cpu,
                    voluntary,
                    involuntary,
                } = usage;
                println!("{} {voluntary} {involuntary}", cpu.as_nanos());
            }
            ("timers", count) => {
                let count = count.parse().expect("a number of timers");
                println!("{}", timers::<I>(spawner, count).as_nanos());
            }
            ("stall", on) => {
                let on = on == "on";
                stalls.store(on, Ordering::Relaxed);
                if on {
                    spawner.spawn(stall::<I>(Arc::clone(&stalls)));
                }
                println!("done");
            }
            (command, _) => panic!("no command {command:?}"),
        }
    }
}

/// A listener on a free port, ready for a reactor.
fn listen() -> TcpListener {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    listener.set_nonblocking(true).expect("the system can");
    listener
}

fn port(listener: &TcpListener) -> u16 {
    listener.local_addr().expect("it is bound").port()
}

/// Sets so many timers in tasks of their own, all due after about the same time; returns
/// how long it took until the last one had fired.
fn timers<I: Io>(spawner: &impl Spawner, count: usize) -> Duration {
    let (sender, receiver) = std::sync::mpsc::channel::<()>();
    let begun = Instant::now();
    let timers = spawner.clone();
    spawner.spawn(async move {
        for number in 0..count {
            let sender = sender.clone();
            timers.spawn(async move {
                I::sleep(Duration::from_micros(1_000 + (number * 37 % 20_000) as u64)).await;
                drop(sender);
            });
        }
    });
    while receiver.recv().is_ok() {}
    begun.elapsed()
}

/// A task that computes for long, and then lets others run, until it is told to end.
async fn stall<I: Io>(on: Arc<AtomicBool>) {
    while on.load(Ordering::Relaxed) {
        let begun = Instant::now();
        let mut state = 1_u64;
        while begun.elapsed() < STALL {
            state = black_box(state.rotate_left(5).wrapping_mul(31));
        }
        I::sleep(Duration::from_millis(5)).await;
    }
}
