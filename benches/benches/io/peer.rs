//! A server's process, seen from the one that puts the load on it.

use std::env;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use benches::usage::Usage;

use crate::contender::{Kind, WORKERS};

/// A running server; it ends with this.
pub(crate) struct Peer {
    pub(crate) kind: Kind,
    pub(crate) echo: u16,
    pub(crate) http: u16,
    child: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Peer {
    pub(crate) fn start(kind: Kind) -> io::Result<Self> {
        let mut child = Command::new(env::current_exe()?)
            .arg(format!("--serve={kind}"))
            .env("SMOL_THREADS", WORKERS.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let orders = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut peer = Self {
            kind,
            echo: 0,
            http: 0,
            child,
            orders,
            answers,
        };
        let [echo, http] = numbers(&peer.answer()?)?;
        (peer.echo, peer.http) = (echo as u16, http as u16);
        Ok(peer)
    }

    fn answer(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        Ok(line)
    }

    fn order(&mut self, order: &str) -> io::Result<String> {
        let mut orders = self.orders.as_ref().expect("it runs");
        writeln!(orders, "{order}")?;
        self.answer()
    }

    /// The server's process.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// What the server has used so far.
    pub(crate) fn usage(&mut self) -> io::Result<Usage> {
        let [cpu, voluntary, involuntary] = numbers(&self.order("usage")?)?;
        Ok(Usage {
            cpu: Duration::from_nanos(cpu),
            voluntary,
            involuntary,
        })
    }

    /// How long the server takes for so many timers.
    pub(crate) fn timers(&mut self, count: usize) -> io::Result<Duration> {
        let [time] = numbers(&self.order(&format!("timers {count}"))?)?;
        Ok(Duration::from_nanos(time))
    }

    /// Begins or ends a load of computing.
    pub(crate) fn stall(&mut self, on: &str) -> io::Result<()> {
        self.order(&format!("stall {on}")).map(drop)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        drop(self.orders.take());
        let _ = self.child.wait();
    }
}

fn numbers<const N: usize>(line: &str) -> io::Result<[u64; N]> {
    let numbers: Option<Vec<u64>> = line
        .split_whitespace()
        .map(|text| text.parse().ok())
        .collect();
    let wrong = || io::Error::other(format!("the server said {line:?}"));
    numbers
        .and_then(|numbers| numbers.try_into().ok())
        .ok_or_else(wrong)
}
