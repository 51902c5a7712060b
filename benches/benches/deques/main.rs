//! The queues of `ws-core` beside their peers: push, pop and steal, in ns per item.
//!
//! Every queue implements one trait (`queue.rs`); every case is one generic
//! function over it (`alone.rs` for one thread, `duel.rs` for an owner and a
//! thief). Contenders alternate inside every round. `verdict.rs` holds the
//! targets and says which were reached.
//!
//! What is compared with what: the same item type (`usize`), the same bursts, the
//! same batch (half of what is there, rounded up, under the same limit; one item
//! returned and the others moved, which all of them offer), and every item
//! consumed. Bounded queues hold 256 items, growable ones start with room for as
//! many where they let one choose.

mod alone;
mod duel;
mod ours;
mod peers;
mod plain;
mod queue;
mod report;
mod verdict;

use std::fmt;
use std::io;
use std::time::Duration;

use benches::clock;
use benches::options::{Effort, Options};
use benches::pin;
use benches::rounds::{Contender, Series, alternate};

use self::ours::{ChaseLev, Ring};
use self::peers::{Crossbeam, St3Fifo, St3Lifo};
use self::plain::{Fifo, Floor, Lifo, Locked, Order};
use self::queue::{CAPACITY, Queue, Shared};

/// What a sample says: ns per item, and the share of the items that were stolen.
type Figures = [f64; 2];
const NS: usize = 0;
const STOLEN: usize = 1;

/// Samples of one contender in a full run, and how long each takes. Short ones
/// are rarely disturbed; as many as there is time for.
const ROUNDS: usize = 400;
const SPAN: Duration = Duration::from_micros(800);
/// The same for two threads, of which one has to be started for each sample.
const DUEL_ROUNDS: usize = 250;
const DUEL_SPAN: Duration = Duration::from_millis(2);

/// How a sample is taken.
#[derive(Clone, Copy)]
struct Settings {
    span: Duration,
    /// What a timed section costs by itself; subtracted from each.
    clock: Duration,
    thief_core: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    Pairs(usize),
    Fill,
    Drain,
    HalfSteal,
    Duel(usize),
}

impl Case {
    const ALL: [Case; 8] = [
        Case::Pairs(1),
        Case::Pairs(64),
        Case::Pairs(256),
        Case::Fill,
        Case::Drain,
        Case::HalfSteal,
        Case::Duel(8),
        Case::Duel(64),
    ];
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Case::Pairs(burst) => write!(f, "push+pop at burst {burst}"),
            Case::Fill => write!(f, "fill: push {CAPACITY}"),
            Case::Drain => write!(f, "drain: pop {CAPACITY}"),
            Case::HalfSteal => write!(f, "half-steal of {}", CAPACITY / 2),
            Case::Duel(burst) => write!(f, "one owner + one thief at burst {burst}"),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Fifo,
    Lifo,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Fifo => "FIFO",
            Kind::Lifo => "LIFO",
        })
    }
}

/// What was measured of one case.
struct Outcome {
    kind: Kind,
    case: Case,
    /// Ours, two peers, the lock, and the floor unless two threads were needed.
    series: Vec<Series<2>>,
}

impl Outcome {
    fn ours(&self) -> &Series<2> {
        &self.series[0]
    }

    fn best_peer(&self) -> &Series<2> {
        let by_median = |a: &&Series<2>, b: &&Series<2>| a.median(NS).total_cmp(&b.median(NS));
        self.series[1..=2]
            .iter()
            .min_by(by_median)
            .expect("there are two peers")
    }

    fn st3(&self) -> &Series<2> {
        &self.series[2]
    }

    /// Whether the best samples say anything: with a thief they are those in which
    /// it was asleep.
    fn best_counts(&self) -> bool {
        !matches!(self.case, Case::Duel(_))
    }

    fn floor(&self) -> Option<&Series<2>> {
        self.series.get(4)
    }
}

fn contenders(kind: Kind, case: Case, settings: Settings) -> Vec<Contender<2>> {
    match (kind, case) {
        (Kind::Fifo, Case::Duel(burst)) => duellists::<Fifo, Ring, St3Fifo>(burst, settings),
        (Kind::Lifo, Case::Duel(burst)) => duellists::<Lifo, ChaseLev, St3Lifo>(burst, settings),
        (Kind::Fifo, _) => soloists::<Fifo, Ring, St3Fifo>(case, settings),
        (Kind::Lifo, _) => soloists::<Lifo, ChaseLev, St3Lifo>(case, settings),
    }
}

fn soloists<O: Order, Ours: Queue, St3: Queue>(
    case: Case,
    settings: Settings,
) -> Vec<Contender<2>> {
    fn one<Q: Queue>(case: Case, settings: Settings) -> Contender<2> {
        Contender::new(Q::NAME, move || match case {
            Case::Pairs(burst) => alone::pairs::<Q>(settings, burst),
            Case::Fill => alone::fill::<Q>(settings),
            Case::Drain => alone::drain::<Q>(settings),
            Case::HalfSteal => alone::half_steal::<Q>(settings),
            Case::Duel(_) => unreachable!("a duel takes two threads"),
        })
    }
    vec![
        one::<Ours>(case, settings),
        one::<Crossbeam<O>>(case, settings),
        one::<St3>(case, settings),
        one::<Locked<O>>(case, settings),
        one::<Floor<O>>(case, settings),
    ]
}

fn duellists<O: Order, Ours: Shared, St3: Shared>(
    burst: usize,
    settings: Settings,
) -> Vec<Contender<2>> {
    fn one<Q: Shared>(burst: usize, settings: Settings) -> Contender<2> {
        Contender::new(Q::NAME, move || duel::duel::<Q>(settings, burst))
    }
    vec![
        one::<Ours>(burst, settings),
        one::<Crossbeam<O>>(burst, settings),
        one::<St3>(burst, settings),
        one::<Locked<O>>(burst, settings),
    ]
}

fn main() -> io::Result<()> {
    let options = Options::from_args();
    let cores = pin::cores();
    let thief_core = cores.get(1).copied();
    if let Some(&core) = cores.first() {
        pin::to(core);
    }
    let clock = clock::overhead();
    let mut outcomes = Vec::new();
    for kind in [Kind::Fifo, Kind::Lifo] {
        for case in Case::ALL {
            let name = format!("{kind}, {case}");
            if !options.selects(&name) {
                continue;
            }
            let (rounds, span) = match case {
                Case::Duel(_) if thief_core.is_none() => {
                    eprintln!("{name}: left out, there is one core only");
                    continue;
                }
                Case::Duel(_) => (DUEL_ROUNDS, DUEL_SPAN),
                _ => (ROUNDS, SPAN),
            };
            eprintln!("{name} …");
            let settings = Settings {
                span: options.effort.span(span),
                clock,
                thief_core: thief_core.unwrap_or(0),
            };
            let contenders = contenders(kind, case, settings);
            let series = alternate(options.effort.of(rounds), contenders);
            outcomes.push(Outcome { kind, case, series });
        }
    }
    if options.effort == Effort::Smoke {
        eprintln!("every case ran once; `cargo bench` measures them");
        return Ok(());
    }
    report::print(&outcomes, clock, alone::compare_and_swap());
    let verdicts = verdict::all(&outcomes);
    verdict::print(&verdicts);
    let path = report::save(&outcomes, &verdicts)?;
    eprintln!("written to {}", path.display());
    Ok(())
}
