//! The cases, and the rounds in which contenders alternate.

use std::io;
use std::time::{Duration, Instant};

use benches::options::{Effort, Options};
use benches::progress::Progress;

use crate::client::{Client, Talk};
use crate::contender::Kind;
use crate::http;
use crate::peer::Peer;
use crate::syscalls;

/// How long a contender is under load before it is the next one's turn.
const SLICE: Duration = Duration::from_millis(100);

/// After a slice, until the server is asleep again.
const SETTLE: Duration = Duration::from_millis(2);

/// Between two messages beside a load: that many of them meet it.
const PAUSE: Duration = Duration::from_millis(1);

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
    Echo { connections: usize },
    Http { connections: usize },
    Stall,
    Timers(usize),
}

const CASES: [(&str, Act); 7] = [
    ("echo, 1 connection", Act::Echo { connections: 1 }),
    ("echo, 8 connections", Act::Echo { connections: 8 }),
    ("echo, 256 connections", Act::Echo { connections: 256 }),
    ("HTTP/1.1, 1 connection", Act::Http { connections: 1 }),
    ("HTTP/1.1, 64 connections", Act::Http { connections: 64 }),
    ("echo beside polls of 20 ms", Act::Stall),
    ("100,000 timers", Act::Timers(100_000)),
];

/// The figures of one contender in one case, per message or timer.
#[derive(Clone, Debug)]
pub(crate) struct Figures {
    pub(crate) kind: Kind,
    /// Microseconds; none for timers.
    pub(crate) p50: Option<f64>,
    pub(crate) p99: Option<f64>,
    /// Microseconds of wall time for each, all connections together.
    pub(crate) each: f64,
    /// Microseconds of the server's CPU time for each.
    pub(crate) cpu: f64,
    /// Context switches in the server for each, both kinds.
    pub(crate) switches: f64,
    /// System calls of the server for each message, if they can be counted.
    pub(crate) calls: Option<f64>,
}

/// A case and what was measured.
pub(crate) struct Outcome {
    pub(crate) case: &'static str,
    pub(crate) figures: Vec<Figures>,
}

/// Runs the cases that were asked for.
pub(crate) fn all(options: &Options) -> io::Result<Vec<Outcome>> {
    let cases: Vec<_> = CASES
        .into_iter()
        .filter(|(name, _)| options.selects(name))
        .collect();
    let rounds = match options.effort {
        Effort::Full => 60,
        Effort::Quick => 10,
        Effort::Smoke => 1,
    };
    let mut progress = Progress::new(cases.len());
    let watch = progress.watch();
    let mut outcomes = Vec::new();
    for (case, act) in cases {
        progress.begin(case);
        let peers = Kind::ALL.into_iter().map(|kind| Entrant::start(kind, act));
        let mut entrants = peers.collect::<io::Result<Vec<_>>>()?;
        for round in 0..rounds {
            for turn in 0..entrants.len() {
                let index = (round + turn) % Kind::ALL.len();
                let entrant = &mut entrants[index];
                watch.during(entrant.peer.kind.name(), || entrant.slice(act))?;
            }
        }
        if options.effort != Effort::Smoke {
            for entrant in &mut entrants {
                entrant.count_calls(act)?;
            }
        }
        let figures: Vec<Figures> = entrants.into_iter().map(Entrant::figures).collect();
        let short: Vec<_> = figures
            .iter()
            .map(|figures| {
                format!(
                    "{} {:.1}",
                    figures.kind.name(),
                    figures.p50.unwrap_or(figures.each)
                )
            })
            .collect();
        progress.end(&format!("{} µs", short.join(", ")));
        outcomes.push(Outcome { case, figures });
    }
    Ok(outcomes)
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
            Act::Stall => Some(Client::connect(peer.echo, 1, ECHO)?),
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
        let (times, units) = self.load(act, SLICE)?;
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
        let (Act::Echo { connections } | Act::Http { connections }, Some(client)) =
            (act, &mut self.client)
        else {
            return Ok(());
        };
        let counted = syscalls::during(self.peer.process(), || match connections {
            // With time to fall asleep, which it has without strace.
            1 => client.ping(SLICE, PAUSE),
            _ => client.run(SLICE),
        })?;
        self.calls = counted.map(|(calls, times)| calls as f64 / times.len() as f64);
        Ok(())
    }

    fn figures(mut self) -> Figures {
        self.times.sort_unstable();
        let micros = |time: Duration| time.as_nanos() as f64 / 1e3;
        let quantile = |share: f64| {
            let index = (self.times.len() as f64 * share) as usize;
            self.times.get(index).copied().map(micros)
        };
        let units = self.units as f64;
        Figures {
            kind: self.peer.kind,
            p50: quantile(0.5),
            p99: quantile(0.99),
            each: micros(self.wall) / units,
            cpu: micros(self.cpu) / units,
            switches: self.switches as f64 / units,
            calls: self.calls,
        }
    }
}
