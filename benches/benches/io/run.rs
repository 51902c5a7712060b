//! The cases, and the rounds in which contenders alternate.

use std::io;
use std::time::{Duration, Instant};

use benches::options::{Effort, Options};
use benches::outcome::Measured;
use benches::progress::{self, Progress};
use benches::stats::quantile;
use clap::ValueEnum;
use serde::Serialize;

use crate::client::{Client, Talk};
use crate::contender::{Kind, WORKERS};
use crate::http;
use crate::peer::Peer;
use crate::syscalls;

/// How long a contender is under load before it is the next one's turn.
const SLICE: Duration = Duration::from_millis(100);

/// After a slice, until the server is asleep again.
const SETTLE: Duration = Duration::from_millis(2);

/// Between two messages beside a load: that many of them meet it.
const PAUSE: Duration = Duration::from_millis(1);

/// A slice of messages with pauses lasts as long as so many of them, at least.
const MESSAGES: u32 = 20;

const ECHO: Talk = Talk {
    message: &[7; 64],
    is_answer: |received| received.len() == 64,
};

const HTTP: Talk = Talk {
    message: http::REQUEST,
    is_answer: http::is_whole,
};

/// What a case does with a server.
#[derive(Clone, Copy)]
enum Act {
    Echo {
        connections: usize,
    },
    /// One connection, with a pause between an answer and the next message.
    Sparse {
        pause: Duration,
    },
    Http {
        connections: usize,
    },
    Stall,
    Timers(usize),
}

const CASES: [(&str, Act); 11] = [
    ("echo, 1 connection", Act::Echo { connections: 1 }),
    ("echo, 1 connection, 1 ms apart", sparse(1)),
    ("echo, 1 connection, 20 ms apart", sparse(20)),
    ("echo, 8 connections", Act::Echo { connections: 8 }),
    ("echo, 64 connections", Act::Echo { connections: 64 }),
    ("echo, 256 connections", Act::Echo { connections: 256 }),
    ("HTTP/1.1, 1 connection", Act::Http { connections: 1 }),
    ("HTTP/1.1, 8 connections", Act::Http { connections: 8 }),
    ("HTTP/1.1, 64 connections", Act::Http { connections: 64 }),
    ("echo beside polls of 20 ms", Act::Stall),
    ("100,000 timers", Act::Timers(100_000)),
];

const fn sparse(millis: u64) -> Act {
    Act::Sparse {
        pause: Duration::from_millis(millis),
    }
}

impl Act {
    /// How long a contender is under load before it is the next one's turn.
    fn slice(self) -> Duration {
        match self {
            Self::Sparse { pause } => SLICE.max(pause * MESSAGES),
            _ => SLICE,
        }
    }
}

/// What else is measured of a contender, for each message or timer.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Served {
    /// Microseconds of wall time, all connections together.
    pub(crate) wall: f64,
    /// Context switches in the server, both kinds.
    pub(crate) switches: f64,
    /// System calls of the server, if they can be counted.
    pub(crate) calls: f64,
}

/// The figures of one contender in one case, in microseconds. Timers have no latency: their
/// median is the wall time.
pub(crate) type Figures = Measured<Kind, Served>;

pub(crate) type Outcome = benches::outcome::Outcome<Kind, Served>;

/// Runs the cases that were asked for.
pub(crate) fn all(options: &Options) -> io::Result<Vec<Outcome>> {
    let mut cases = Vec::from(CASES);
    cases.retain(|(name, _)| options.selects(name));
    let mut progress = Progress::new(cases.len());
    let step = |(case, act): (&str, Act)| {
        let in_short = |outcome: &io::Result<Outcome>| match outcome {
            Ok(outcome) => format!("{} µs", outcome.in_short()),
            Err(error) => error.to_string(),
        };
        progress.step(case, || measure(case, act, options.effort()), in_short)
    };
    cases.into_iter().map(step).collect()
}

fn measure(case: &str, act: Act, effort: Effort) -> io::Result<Outcome> {
    let rounds = match effort {
        Effort::Full => 60,
        Effort::Quick => 10,
        Effort::Smoke => 1,
    };
    let kinds = Kind::value_variants().iter();
    let entrants = kinds.map(|&kind| Entrant::start(kind, act));
    let mut entrants = entrants.collect::<io::Result<Vec<_>>>()?;
    for round in 0..rounds {
        for turn in 0..entrants.len() {
            let index = (round + turn) % entrants.len();
            let entrant = &mut entrants[index];
            progress::watch(entrant.peer.kind, || entrant.slice(act))?;
        }
    }
    if effort != Effort::Smoke {
        for entrant in &mut entrants {
            entrant.count_calls(act)?;
        }
    }
    let figures = entrants.into_iter().map(Entrant::figures).collect();
    let peers = vec![Kind::Smol, Kind::Tokio];
    Ok(Outcome {
        workers: WORKERS,
        ..Outcome::new(case, "message or timer", peers, figures)
    })
}

/// A contender in a case.
struct Entrant {
    peer: Peer,
    client: Option<Client>,
    times: Vec<Duration>,
    wall: Duration,
    units: usize,
    cpu: Duration,
    switches: u64,
    calls: Option<f64>,
}

impl Entrant {
    fn start(kind: Kind, act: Act) -> io::Result<Self> {
        let peer = Peer::start(kind)?;
        let client = match act {
            Act::Echo { connections } => Some(Client::connect(peer.echo, connections, ECHO)?),
            Act::Http { connections } => Some(Client::connect(peer.http, connections, HTTP)?),
            Act::Stall | Act::Sparse { .. } => Some(Client::connect(peer.echo, 1, ECHO)?),
            Act::Timers(_) => None,
        };
        let mut entrant = Self {
            peer,
            client,
            times: Vec::new(),
            wall: Duration::ZERO,
            units: 0,
            cpu: Duration::ZERO,
            switches: 0,
            calls: None,
        };
        // What happens for the first time is not what is measured.
        entrant.load(act, SLICE / 10)?;
        Ok(entrant)
    }

    fn load(&mut self, act: Act, time: Duration) -> io::Result<(Vec<Duration>, usize)> {
        match (&mut self.client, act) {
            (Some(client), act) => {
                let times = match act {
                    Act::Stall => client.ping(time, PAUSE)?,
                    Act::Sparse { pause } => client.ping(time, pause)?,
                    _ => client.run(time)?,
                };
                let count = times.len();
                Ok((times, count))
            }
            (None, Act::Timers(count)) => {
                self.peer.timers(count)?;
                Ok((Vec::new(), count))
            }
            (None, _) => Ok((Vec::new(), 0)),
        }
    }

    fn slice(&mut self, act: Act) -> io::Result<()> {
        let stalls = matches!(act, Act::Stall);
        if stalls {
            self.peer.stall("on")?;
        }
        let before = self.peer.usage()?;
        let begun = Instant::now();
        let (times, units) = self.load(act, act.slice())?;
        self.wall += begun.elapsed();
        if stalls {
            self.peer.stall("off")?;
        }
        std::thread::sleep(SETTLE);
        let used = self.peer.usage()?.since(before);
        self.times.extend(times);
        self.units += units;
        self.cpu += used.cpu;
        self.switches += used.voluntary + used.involuntary;
        Ok(())
    }

    /// Under strace, after all that is timed.
    fn count_calls(&mut self, act: Act) -> io::Result<()> {
        if matches!(act, Act::Stall | Act::Timers(_)) {
            return Ok(());
        }
        let process = self.peer.process();
        let counted = syscalls::during(process, || self.load(act, act.slice()))?;
        self.calls = counted.map(|(calls, (_, units))| calls as f64 / units as f64);
        Ok(())
    }

    fn figures(self) -> Figures {
        let micros = |time: Duration| time.as_nanos() as f64 / 1e3;
        let mut times: Vec<_> = self.times.into_iter().map(micros).collect();
        let units = self.units as f64;
        let wall = micros(self.wall) / units;
        let p50 = quantile(&mut times, 0.5);
        Figures {
            kind: self.peer.kind,
            median: if p50.is_nan() { wall } else { p50 },
            best: times.first().copied().unwrap_or(f64::NAN),
            p99: quantile(&mut times, 0.99),
            cpu: micros(self.cpu) / units,
            samples: self.units,
            more: Served {
                wall,
                switches: self.switches as f64 / units,
                calls: self.calls.unwrap_or(f64::NAN),
            },
        }
    }
}
