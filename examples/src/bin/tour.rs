//! A tour in a few seconds: an echo service over smol's I/O, existing futures code, tasks
//! that borrow, a fork-join and a task graph, all on one executor; and what each worker did
//! meanwhile.

#![forbid(unsafe_code)]

use std::convert::Infallible;
use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_net::{TcpListener, TcpStream};
use futures::channel::mpsc;
use futures::io::{AsyncReadExt, AsyncWriteExt};
use futures::stream::{FuturesUnordered, StreamExt};
use futures::task::{Spawn, SpawnExt};
use ws_executor::{Executor, Handle, WorkerMetrics, task_graph};

const CLIENTS: usize = 32;
const MESSAGES: usize = 500;

fn main() -> Result<(), Box<dyn Error>> {
    // The workers wait in the reactor of smol's I/O. The rest is as without it.
    let executor = ws_io_adapters::smol::executor(Executor::builder())?;

    let mut stop = Stop::new(&executor);
    println!("{} workers\n", executor.workers());
    stop.show("an echo service over smol's I/O", |executor| {
        let mut times = executor.block_on(echo_service())?;
        times.sort_unstable();
        let (median, worst) = (times[times.len() / 2], times[times.len() - 1]);
        Ok(format!(
            "{CLIENTS} clients, {} messages there and back: half of them within {median:.0?}, \
             all within {worst:.0?}",
            times.len()
        ))
    })?;
    stop.show("futures code, by its `Spawn` trait", |executor| {
        let primes = futures::executor::block_on(count_primes(executor.handle(), 200_000));
        Ok(format!("there are {primes} primes below 200000"))
    })?;
    stop.show("tasks that borrow", |executor| {
        let numbers: Vec<u64> = (0..3_000_000).collect();
        let total = sum_of_squares(executor, &numbers);
        Ok(format!(
            "the squares of {} numbers add up to {total}",
            numbers.len()
        ))
    })?;
    stop.show("a fork-join", |executor| {
        let (low, high) = executor.join(|| longest(1..150_000), || longest(150_000..300_000));
        let (steps, start) = low.max(high);
        Ok(format!(
            "of all numbers below 300000, {start} needs the most Collatz steps: {steps}"
        ))
    })?;
    stop.show("a task graph", |executor| {
        let text: Arc<str> = "every let is a node and every name an edge".into();
        let handle = executor.handle();
        let report = executor.block_on(report::on(&handle).run(text));
        report.map_err(io::Error::other)
    })?;
    Ok(())
}

/// Two of its nodes need only the words, and run at the same time.
#[task_graph]
async fn report(text: Arc<str>) -> Result<String, Infallible> {
    let words = split(&text).await?;
    let count = count(&words).await;
    let longest = longest_word(&words).await;
    Ok(format!("{count} words, the longest is {longest:?}"))
}

async fn split(text: &str) -> Result<Vec<String>, Infallible> {
    Ok(text.split(' ').map(str::to_owned).collect())
}

async fn count(words: &[String]) -> usize {
    words.len()
}

async fn longest_word(words: &[String]) -> String {
    let longest = words.iter().max_by_key(|word| word.len());
    longest.cloned().unwrap_or_default()
}

/// The most Collatz steps that a number of the range needs, and that number. Halves of the
/// range may run on different workers.
fn longest(range: Range<u64>) -> (u32, u64) {
    let length = range.end - range.start;
    if length <= 5_000 {
        return range
            .map(|number| (steps(number), number))
            .max()
            .unwrap_or((0, 0));
    }
    let middle = range.start + length / 2;
    let (low, high) = ws_executor::join(
        || longest(range.start..middle),
        || longest(middle..range.end),
    );
    low.max(high)
}

fn steps(mut number: u64) -> u32 {
    let mut steps = 0;
    while number != 1 {
        number = if number % 2 == 0 {
            number / 2
        } else {
            3 * number + 1
        };
        steps += 1;
    }
    steps
}

/// Serves clients that each send a message and wait for the answer, again and again;
/// returns how long each message took.
async fn echo_service() -> io::Result<Vec<Duration>> {
    let handle = Handle::current();
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    // Dropping the task at the end of this function ends the service.
    let _service = handle.spawn({
        let handle = handle.clone();
        async move {
            while let Ok((stream, _)) = listener.accept().await {
                handle.spawn(echo(stream)).detach();
            }
        }
    });
    let clients = handle.spawn_many((0..CLIENTS).map(|_| client(address)));
    let mut times = Vec::new();
    for client in clients {
        times.extend(client.await?);
    }
    Ok(times)
}

async fn echo(mut stream: TcpStream) -> io::Result<()> {
    let mut buffer = [0; 1024];
    loop {
        match stream.read(&mut buffer).await? {
            0 => return Ok(()),
            count => stream.write_all(&buffer[..count]).await?,
        }
    }
}

async fn client(address: SocketAddr) -> io::Result<Vec<Duration>> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let mut times = Vec::with_capacity(MESSAGES);
    for number in 0..MESSAGES as u64 {
        let (begun, mut answer) = (Instant::now(), [0; 8]);
        stream.write_all(&number.to_le_bytes()).await?;
        stream.read_exact(&mut answer).await?;
        assert_eq!(u64::from_le_bytes(answer), number);
        times.push(begun.elapsed());
    }
    Ok(times)
}

/// Knows only the `futures` crate: a task for each part, a channel, `FuturesUnordered`.
async fn count_primes(spawner: impl Spawn, below: u32) -> usize {
    const PART: u32 = 5_000;
    let (sender, mut counts) = mpsc::unbounded();
    let parts: FuturesUnordered<_> = (0..below.div_ceil(PART))
        .map(|part| {
            let sender = sender.clone();
            let count = async move {
                let numbers = part * PART..below.min((part + 1) * PART);
                let primes = numbers.filter(|&number| is_prime(number)).count();
                sender.unbounded_send(primes).expect("the counter listens");
            };
            let count = spawner.spawn_with_handle(count);
            count.expect("the executor takes tasks")
        })
        .collect();
    drop(sender);
    parts.collect::<Vec<()>>().await;
    let mut primes = 0;
    while let Some(count) = counts.next().await {
        primes += count;
    }
    primes
}

fn is_prime(number: u32) -> bool {
    let divides = |divisor: u32| number % divisor == 0;
    number >= 2 && !(2..).take_while(|n| n * n <= number).any(divides)
}

/// A scope ends when all its tasks have, so they may borrow.
fn sum_of_squares(executor: &Executor, numbers: &[u64]) -> u64 {
    let parts = numbers.chunks(100_000);
    let mut sums = vec![0; parts.len()];
    executor.scope(|scope| {
        for (part, sum) in parts.zip(&mut sums) {
            scope.spawn(async move {
                *sum = part.iter().map(|n| n * n).sum();
            });
        }
    });
    sums.into_iter().sum()
}

/// Shows one stop of the tour after the other, and what the workers did there.
struct Stop<'a> {
    executor: &'a Executor,
    seen: Vec<WorkerMetrics>,
}

impl<'a> Stop<'a> {
    fn new(executor: &'a Executor) -> Self {
        Self {
            executor,
            seen: executor.metrics().workers().to_vec(),
        }
    }

    fn show(
        &mut self,
        title: &str,
        visit: impl FnOnce(&Executor) -> io::Result<String>,
    ) -> io::Result<()> {
        let begun = Instant::now();
        let result = visit(self.executor)?;
        let time = begun.elapsed();
        println!("{title}: {time:.0?}\n  {result}");
        println!("  worker     polls    stolen    parked      busy");
        let now = self.executor.metrics().workers().to_vec();
        for (number, (now, before)) in now.iter().zip(&self.seen).enumerate() {
            println!(
                "  {number:>6}  {:>8}  {:>8}  {:>8}  {:>8.0?}",
                now.polls - before.polls,
                now.tasks_stolen - before.tasks_stolen,
                now.parks - before.parks,
                // Two looks at a worker that wakes up may disagree.
                now.busy.saturating_sub(before.busy),
            );
        }
        println!();
        self.seen = now;
        Ok(())
    }
}
