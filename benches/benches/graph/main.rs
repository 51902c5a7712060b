//! `#[task_graph]` beside the same programs written by hand.
//!
//! ```sh
//! cargo bench -p benches --bench graph              # a few minutes
//! cargo bench -p benches --bench graph -- --quick
//! ```
//!
//! Plain calls are compared with awaits and `futures::join!` (`calls.rs`), runs on an
//! executor with spawn and join on the same executor, ours and tokio (`runs.rs`),
//! `DynGraph` with a task for each node (`shapes.rs`) and with dagx (`peer.rs`), and
//! pipelines with a channel for each edge and with `buffer_unordered`, on both executors
//! (`streams.rs`). Taskflow, a C++ library, publishes 61 ns to create a task and 14 ns an
//! edge, on another machine, as a reference. Both sides of a comparison alternate, and do
//! the same work: the difference is the graph's.

mod calls;
mod peer;
mod runs;
mod shapes;
mod streams;

use std::hint::black_box;
use std::io;
use std::time::{Duration, Instant};

use benches::goal::Goal;
use benches::options::{Effort, Options};
use benches::outcome::Measured;
use benches::output;
use benches::rounds::{Contender, alternate};
use benches::table::{self, figure, ratio, table};
use clap::Parser;
use serde_json::json;
use ws_executor::Executor;

use self::calls::{CHAIN, PAIRS, chain, chain_by_hand, drive, pairs, pairs_by_hand};
use self::runs::{Joins, Tokio, diamond, diamond_by_hand, small_diamond, small_diamond_by_hand};
use self::shapes::Shape;

type Outcome = benches::outcome::Outcome<&'static str>;

// The columns.
const GRAPH: &str = "graph";
const HAND: &str = "by hand";
const DAGX: &str = "dagx";

/// Measures `#[task_graph]`, `DynGraph` and pipelines beside the same programs written by
/// hand, and `DynGraph` beside dagx, in ns.
#[derive(Parser)]
#[command(bin_name = "cargo bench -p benches --bench graph --")]
struct Args {
    #[command(flatten)]
    options: Options,
}

/// What a graph may cost.
enum Most {
    /// So many nanoseconds more than what is written by hand.
    More(f64),
    /// So many times what is written by hand.
    Times(f64),
}

/// The cases so far, and the goals among them.
struct Run {
    options: Options,
    outcomes: Vec<Outcome>,
    goals: Vec<Goal>,
}

impl Run {
    /// Measures the graph, what is written by hand, and the peer, if there is one.
    fn compare<const C: usize>(
        &mut self,
        case: &str,
        rounds: usize,
        most: Option<Most>,
        contenders: [Contender<&'static str, 1>; C],
    ) {
        if !self.options.selects(case) {
            return;
        }
        let series = alternate(contenders.into(), |done| done < rounds);
        let contenders = series.iter().map(|series| Measured::new(series, ()));
        let outcome = Outcome::new(case, "unit", vec![HAND, DAGX], contenders.collect());
        let (graph, hand) = (outcome.contenders[0].median, outcome.contenders[1].median);
        self.goals.extend(most.map(|most| match most {
            Most::More(most) => {
                let what = format!("{case}, more than by hand");
                Goal::at_most(what, " ns", graph - hand, most)
            }
            Most::Times(most) => Goal::at_most(case, " × by hand", graph / hand, most),
        }));
        self.outcomes.push(outcome);
    }
}

/// One that runs `code`, which does so many units, for the span of a sample; once if that is
/// zero.
fn contender(
    kind: &'static str,
    span: Duration,
    units: usize,
    mut code: impl FnMut() + 'static,
) -> Contender<&'static str, 1> {
    Contender::new(kind, move || {
        let start = Instant::now();
        let mut calls = 0_u32;
        let at_once = if span.is_zero() { 1 } else { 16 };
        while calls == 0 || start.elapsed() < span {
            for _ in 0..at_once {
                code();
            }
            calls += at_once;
        }
        Some([start.elapsed().as_nanos() as f64 / f64::from(calls) / units as f64])
    })
}

/// A result that is computed for nobody.
fn consume(result: u64) {
    black_box(result);
}

/// A diamond on an executor; the runs are awaited in one of its tasks, as they would be.
fn diamonds<S: Joins>(on: &S, span: Duration, big: bool) -> [Contender<&'static str, 1>; 2] {
    const RUNS: u64 = 64;
    let (graph_on, hand_on) = (on.clone(), on.clone());
    let graph = move || {
        let on = graph_on.clone();
        consume(graph_on.run(Box::pin(async move {
            let mut sum = 0;
            for n in 0..RUNS {
                sum ^= if big {
                    diamond::on(&on).run(n).await
                } else {
                    small_diamond::on(&on).run(n).await
                };
            }
            sum
        })));
    };
    let hand = move || {
        let on = hand_on.clone();
        consume(hand_on.run(Box::pin(async move {
            let mut sum = 0;
            for n in 0..RUNS {
                sum ^= if big {
                    diamond_by_hand(on.clone(), n).await
                } else {
                    small_diamond_by_hand(on.clone(), n).await
                };
            }
            sum
        })));
    };
    [
        contender(GRAPH, span, RUNS as usize, graph),
        contender(HAND, span, RUNS as usize, hand),
    ]
}

fn main() -> io::Result<()> {
    let options = Args::parse().options;
    let (rounds, span, size, side) = match options.effort() {
        Effort::Full => (100, 20, 1_000_000, 512),
        Effort::Quick => (20, 10, 100_000, 64),
        Effort::Smoke => (1, 1, 1_000, 64),
    };
    let span = Duration::from_millis(span);
    let mut run = Run {
        options,
        outcomes: Vec::new(),
        goals: Vec::new(),
    };
    let graph = || consume(drive(chain(black_box(1))));
    let hand = || consume(drive(chain_by_hand(black_box(1))));
    run.compare(
        "inline node of a plain call",
        rounds,
        Some(Most::More(5.0)),
        [
            contender(GRAPH, span, CHAIN, graph),
            contender(HAND, span, CHAIN, hand),
        ],
    );
    let graph = || consume(drive(pairs(black_box(1))));
    let hand = || consume(drive(pairs_by_hand(black_box(1))));
    run.compare(
        "one of two nodes at once, plain call",
        rounds,
        None,
        [
            contender(GRAPH, span, PAIRS, graph),
            contender(HAND, span, PAIRS, hand),
        ],
    );

    let executor = Executor::builder().workers(2).build();
    let executor = executor.expect("two threads can be had");
    let handle = executor.handle();
    let tokio = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .expect("two threads can be had");
    let other = Tokio(tokio.handle().clone());
    for (big, arms) in [(true, "work in both arms"), (false, "next to no work")] {
        let most = big.then_some(Most::Times(1.25));
        let name = format!("diamond, {arms}, ws-executor");
        run.compare(&name, rounds, most, diamonds(&handle, span, big));
        let name = format!("diamond, {arms}, tokio");
        run.compare(&name, rounds, None, diamonds(&other, span, big));
    }
    // One call is long enough from here on.
    let (rounds, span) = (rounds.min(9), Duration::ZERO);
    let shapes = [
        Shape::Chain(size),
        Shape::Tree(size),
        Shape::Wavefront(side),
        Shape::Parallel(size),
    ];
    for shape in shapes {
        let [graph, hand, dagx] = [(); 3].map(|()| handle.clone());
        let nodes = shape.nodes();
        run.compare(
            &format!("DynGraph, {}, {nodes} nodes, a node", shape.name()),
            rounds,
            None,
            [
                contender(GRAPH, span, nodes, move || shape.run_graph(&graph)),
                contender(HAND, span, nodes, move || shape.run_by_hand(&hand)),
                contender(DAGX, span, nodes, move || peer::run(shape, &dagx)),
            ],
        );
    }
    streams(&mut run, "ws-executor", &handle, rounds, size);
    streams(&mut run, "tokio", &other, rounds, size);
    if !run.options.has_figures() {
        return Ok(());
    }
    print(&run.outcomes);
    let figures = json!({ "unit": "ns", "cases": run.outcomes });
    output::finish("graph", "Goals", &run.goals, figures)
}

/// Streams of items through four stages, and how soon a pipeline is gone.
fn streams<S: Joins>(run: &mut Run, name: &str, on: &S, rounds: usize, items: usize) {
    type Code<S> = fn(&S, u64) -> u64;
    let cases: [(&str, Code<S>, Code<S>, f64); 5] = [
        (
            "beside a channel for each edge",
            |on, items| streams::graph(on, items, false),
            |on, items| streams::channels(on, items),
            0.5,
        ),
        (
            "beside buffer_unordered",
            |on, items| streams::graph(on, items, false),
            |on, items| streams::buffered(on, items, false),
            1.0,
        ),
        (
            "a closure, beside buffer_unordered",
            |on, items| streams::closure(on, items, false),
            |on, items| streams::buffered(on, items, false),
            1.0,
        ),
        (
            "ordered, beside buffered",
            |on, items| streams::graph(on, items, true),
            |on, items| streams::buffered(on, items, true),
            1.0,
        ),
        (
            "ordered, beside unordered",
            |on, items| streams::graph(on, items, true),
            |on, items| streams::graph(on, items, false),
            1.3,
        ),
    ];
    for (what, pipeline, other, most) in cases {
        let case = format!("pipeline, {what}, {name}, an item");
        let one = |kind, code: Code<S>| {
            let on = on.clone();
            contender(kind, Duration::ZERO, items, move || {
                consume(code(&on, items as u64))
            })
        };
        let contenders = [one(GRAPH, pipeline), one(HAND, other)];
        run.compare(&case, rounds, Some(Most::Times(most)), contenders);
    }
    let cut = streams::CUT;
    let case = format!("pipeline, drop to the last of {cut} futures, {name}, worst of {rounds}");
    if run.options.selects(&case) {
        let times = (0..rounds).map(|_| streams::cancel(on));
        let worst = times.max().unwrap_or_default();
        run.goals
            .push(Goal::at_most(case, " ms", worst.as_secs_f64() * 1e3, 10.0));
    }
}

fn print(outcomes: &[Outcome]) {
    let mut table = table(["ns", "graph or pipeline", "by hand", "ratio", "dagx"]);
    for outcome in outcomes {
        let of = |kind| {
            outcome
                .of(kind)
                .map_or(f64::NAN, |measured| measured.median)
        };
        let (graph, hand) = (of(GRAPH), of(HAND));
        table.add_row([
            outcome.case.clone(),
            figure(graph),
            figure(hand),
            ratio(graph, hand),
            figure(of(DAGX)),
        ]);
    }
    table::print(&table);
}
