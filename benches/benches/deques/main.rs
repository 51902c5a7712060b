//! The queues of `ws-core` beside their peers: push, pop and steal, in ns per item.
//!
//! Every queue implements one trait (`queue.rs`); every case is one generic
//! function over it (`alone.rs` for one thread, `duel.rs` for an owner and a
//! thief). Contenders alternate inside every round. `goals.rs` holds the goals and says
//! which were reached.
//!
//! What is compared with what: the same item type (`usize`), the same bursts, the
//! same batch (half of what is there, rounded up, under the same limit; one item
//! returned and the others moved, which all of them offer), and every item
//! consumed. Bounded queues hold 256 items, growable ones start with room for as
//! many where they let one choose.

mod alone;
mod duel;
mod goals;
mod ours;
mod peers;
mod plain;
mod queue;
mod report;

use std::fmt;
use std::io;
use std::time::Duration;

use benches::options::Options;
use benches::outcome::Measured;
use benches::rounds::{Contender, Series, alternate};
use benches::{clock, output, pin};
use clap::Parser;
use serde::Serialize;
use serde_json::json;

use self::ours::{ChaseLev, Ring};
use self::peers::{Crossbeam, St3Fifo, St3Lifo};
use self::plain::{Fifo, Floor, Lifo, Locked, Order};
use self::queue::{CAPACITY, Queue, Shared};

/// What a sample says: ns per item, and the share of the items that were stolen.
type Figures = [f64; 2];

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

/// What else a sample says.
#[derive(Serialize)]
pub(crate) struct Stolen {
    /// The share of the items that were stolen; `NaN` without a thief.
    stolen: f64,
}

/// Ours, two peers, the lock, and the floor unless two threads were needed.
pub(crate) type Outcome = benches::outcome::Outcome<&'static str, Stolen>;

/// Measures the queues of ws-core beside those of crossbeam-deque and st3, a lock, and a
/// `VecDeque`: push, pop and steal by one thread, and an owner beside a thief, in ns per
/// item.
#[derive(Parser)]
#[command(bin_name = "cargo bench -p benches --bench deques --")]
struct Args {
    #[command(flatten)]
    options: Options,
}

fn contenders(kind: Kind, case: Case, settings: Settings) -> Vec<Contender<&'static str, 2>> {
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
) -> Vec<Contender<&'static str, 2>> {
    fn one<Q: Queue>(case: Case, settings: Settings) -> Contender<&'static str, 2> {
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
) -> Vec<Contender<&'static str, 2>> {
    fn one<Q: Shared>(burst: usize, settings: Settings) -> Contender<&'static str, 2> {
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
    let options = Args::parse().options;
    let cores = pin::cores();
    let thief_core = cores.get(1).copied();
    if let Some(&core) = cores.first() {
        pin::to(core);
    }
    let clock = clock::overhead();
    let (mut outcomes, mut goals) = (Vec::new(), Vec::new());
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
                span: options.effort().span(span),
                clock,
                thief_core: thief_core.unwrap_or(0),
            };
            let rounds = options.effort().of(rounds);
            let series = alternate(contenders(kind, case, settings), |done| done < rounds);
            let outcome = outcome(name, &series);
            goals.extend(goals::all(kind, case, &outcome));
            outcomes.push(outcome);
        }
    }
    if !options.has_figures() {
        return Ok(());
    }
    report::print(&outcomes, clock, alone::compare_and_swap());
    let figures = json!({ "unit": "ns per item", "cases": outcomes });
    output::finish("deques", "Goals, by the medians", &goals, figures)
}

fn outcome(case: String, series: &[Series<&'static str, 2>]) -> Outcome {
    let measured = |series: &Series<_, 2>| {
        let stolen = series.median(1);
        Measured::new(series, Stolen { stolen })
    };
    let peers = series[1..=2].iter().map(|series| series.kind).collect();
    Outcome::new(case, "item", peers, series.iter().map(measured).collect())
}
