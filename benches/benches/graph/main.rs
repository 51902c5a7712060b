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
use std::time::{Duration, Instant};

use benches::options::{Effort, Options};
use benches::rounds::{Contender, Series, alternate};
use benches::table::{Table, figure, ratio};
use ws_executor::Executor;

use self::shapes::Shape;

use self::calls::{CHAIN, PAIRS, chain, chain_by_hand, drive, pairs, pairs_by_hand};
use self::runs::{Joins, Tokio, diamond, diamond_by_hand, small_diamond, small_diamond_by_hand};

/// At most so much more for a node that runs inline, in nanoseconds.
const INLINE_GOAL: f64 = 5.0;
/// At most so many times the diamond by hand.
const DIAMOND_GOAL: f64 = 1.25;

/// How often, and how long each time.
#[derive(Clone, Copy)]
struct Settings {
    rounds: usize,
    span: Duration,
}

/// Nanoseconds for each unit, of which `code` does so many.
fn sample(settings: Settings, units: usize, mut code: impl FnMut()) -> Option<[f64; 1]> {
    let start = Instant::now();
    let mut calls = 0_u32;
    let at_once = if settings.span.is_zero() { 1 } else { 16 };
    while calls == 0 || start.elapsed() < settings.span {
        for _ in 0..at_once {
            code();
        }
        calls += at_once;
    }
    Some([start.elapsed().as_nanos() as f64 / f64::from(calls) / units as f64])
}

/// A result that is computed for nobody.
fn consume(result: u64) {
    black_box(result);
}

/// The graph first, then what is written by hand.
fn compare(
    settings: Settings,
    units: usize,
    graph: impl FnMut() + 'static,
    hand: impl FnMut() + 'static,
) -> Vec<Series<1>> {
    alternate(
        settings.rounds,
        vec![
            contender("graph", settings, units, graph),
            contender("by hand", settings, units, hand),
        ],
    )
}

fn contender(
    name: &'static str,
    settings: Settings,
    units: usize,
    mut code: impl FnMut() + 'static,
) -> Contender<1> {
    Contender::new(name, move || sample(settings, units, &mut code))
}

/// A diamond on an executor; the runs are awaited in one of its tasks, as they would be.
fn diamonds<S: Joins>(
    settings: Settings,
    on: &S,
    block_on: impl Fn(Box<dyn FnOnce() -> std::pin::Pin<Box<dyn Future<Output = u64> + Send>> + Send>)
    + Clone
    + 'static,
    big: bool,
) -> Vec<Series<1>> {
    const RUNS: u64 = 64;
    let (graph_on, hand_on, other) = (on.clone(), on.clone(), block_on.clone());
    let graph = move || {
        let on = graph_on.clone();
        block_on(Box::new(move || {
            Box::pin(async move {
                let mut sum = 0;
                for n in 0..RUNS {
                    sum ^= if big {
                        diamond::on(&on).run(n).await
                    } else {
                        small_diamond::on(&on).run(n).await
                    };
                }
                sum
            })
        }));
    };
    let hand = move || {
        let on = hand_on.clone();
        other(Box::new(move || {
            Box::pin(async move {
                let mut sum = 0;
                for n in 0..RUNS {
                    sum ^= if big {
                        diamond_by_hand(on.clone(), n).await
                    } else {
                        small_diamond_by_hand(on.clone(), n).await
                    };
                }
                sum
            })
        }));
    };
    compare(settings, usize::try_from(RUNS).unwrap_or(1), graph, hand)
}

fn main() {
    let options = Options::from_args();
    let settings = match options.effort {
        Effort::Full => Settings {
            rounds: 100,
            span: Duration::from_millis(20),
        },
        Effort::Quick => Settings {
            rounds: 20,
            span: Duration::from_millis(10),
        },
        Effort::Smoke => Settings {
            rounds: 1,
            span: Duration::from_millis(1),
        },
    };
    let mut table = Table::new(&["ns", "graph", "by hand", "ratio", "dagx", "goal"]);
    let mut add = |name: &str, series: &[Series<1>], goal: Option<(bool, String)>| {
        let (graph, hand) = (series[0].median(0), series[1].median(0));
        let goal = goal.map_or(String::new(), |(reached, goal)| {
            format!("{goal}: {}", if reached { "reached" } else { "missed" })
        });
        table.row([
            name.to_owned(),
            figure(graph),
            figure(hand),
            ratio(graph, hand),
            series
                .get(2)
                .map_or(String::new(), |dagx| figure(dagx.median(0))),
            goal,
        ]);
    };

    let inline = compare(
        settings,
        CHAIN,
        || consume(drive(chain(black_box(1)))),
        || consume(drive(chain_by_hand(black_box(1)))),
    );
    let over = inline[0].median(0) - inline[1].median(0);
    add(
        "inline node of a plain call",
        &inline,
        Some((over <= INLINE_GOAL, "at most 5 ns more".into())),
    );
    let pairs = compare(
        settings,
        PAIRS,
        || consume(drive(pairs(black_box(1)))),
        || consume(drive(pairs_by_hand(black_box(1)))),
    );
    add("one of two nodes at once, plain call", &pairs, None);

    let executor = Executor::builder()
        .workers(2)
        .build()
        .expect("two threads can be had");
    let handle = executor.handle();
    let own = handle.clone();
    let tokio = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .expect("two threads can be had");
    let other = tokio.handle().clone();
    for big in [true, false] {
        let name = if big {
            "diamond, work in both arms"
        } else {
            "diamond, next to no work"
        };
        let own = own.clone();
        let series = diamonds(
            settings,
            &handle,
            move |make| consume(own.block_on(own.spawn(async move { make().await }))),
            big,
        );
        let times = series[0].median(0) / series[1].median(0);
        let goal = big.then(|| (times <= DIAMOND_GOAL, "at most 1.25 times".into()));
        add(&format!("{name}, ws-executor"), &series, goal);
        let other = other.clone();
        let series = diamonds(
            settings,
            &Tokio(tokio.handle().clone()),
            move |make| {
                consume(other.block_on(async {
                    other
                        .spawn(async move { make().await })
                        .await
                        .expect("no panic")
                }))
            },
            big,
        );
        add(&format!("{name}, tokio"), &series, None);
    }
    let size = match options.effort {
        Effort::Full => 1_000_000,
        Effort::Quick => 100_000,
        Effort::Smoke => 1000,
    };
    let side = if size == 1_000_000 { 512 } else { 64 };
    let shapes = [
        Shape::Chain(size),
        Shape::Tree(size),
        Shape::Wavefront(side),
        Shape::Parallel(size),
    ];
    for shape in shapes {
        let [graph, hand, dagx] = [(); 3].map(|()| handle.clone());
        // One call is long enough.
        let once = Settings {
            rounds: settings.rounds.min(9),
            span: Duration::ZERO,
        };
        let nodes = shape.nodes();
        let series = alternate(
            once.rounds,
            vec![
                contender("graph", once, nodes, move || shape.run_graph(&graph)),
                contender("by hand", once, nodes, move || shape.run_by_hand(&hand)),
                contender("dagx", once, nodes, move || peer::run(shape, &dagx)),
            ],
        );
        add(
            &format!("DynGraph, {}, {nodes} nodes, a node", shape.name()),
            &series,
            None,
        );
    }
    println!("{table}");
    let items = size as u64;
    let rounds = settings.rounds.min(9);
    let mut table = Table::new(&["ns an item", "pipeline", "by hand", "ratio", "goal"]);
    streams(&mut table, "ws-executor", &handle, rounds, items);
    streams(
        &mut table,
        "tokio",
        &Tokio(tokio.handle().clone()),
        rounds,
        items,
    );
    println!("{table}");
}

/// Streams of items through four stages, and how soon a pipeline is gone.
fn streams<S: Joins>(table: &mut Table, name: &str, on: &S, rounds: usize, items: u64) {
    let once = Settings {
        rounds,
        span: Duration::ZERO,
    };
    let units = usize::try_from(items).unwrap_or(usize::MAX);
    let run = |code: fn(&S, u64) -> u64| {
        let on = on.clone();
        move || consume(code(&on, items))
    };
    let mut add = |what: &str, first: fn(&S, u64) -> u64, second: fn(&S, u64) -> u64, most: f64| {
        let series = compare(once, units, run(first), run(second));
        let (mine, other) = (series[0].median(0), series[1].median(0));
        let reached = if mine <= most * other {
            "reached"
        } else {
            "missed"
        };
        table.row([
            format!("{what}, {name}"),
            figure(mine),
            figure(other),
            ratio(mine, other),
            format!("at most {most} times: {reached}"),
        ]);
    };
    add(
        "beside a channel for each edge",
        |on, items| streams::graph(on, items, false),
        |on, items| streams::channels(on, items),
        0.5,
    );
    add(
        "beside buffer_unordered",
        |on, items| streams::graph(on, items, false),
        |on, items| streams::buffered(on, items, false),
        1.0,
    );
    add(
        "a closure, beside buffer_unordered",
        |on, items| streams::closure(on, items, false),
        |on, items| streams::buffered(on, items, false),
        1.0,
    );
    add(
        "ordered, beside buffered",
        |on, items| streams::graph(on, items, true),
        |on, items| streams::buffered(on, items, true),
        1.0,
    );
    add(
        "ordered, beside unordered",
        |on, items| streams::graph(on, items, true),
        |on, items| streams::graph(on, items, false),
        1.3,
    );
    let mut latencies: Vec<_> = (0..rounds).map(|_| streams::cancel(on)).collect();
    latencies.sort_unstable();
    let worst = latencies[rounds - 1];
    let reached = if worst < Duration::from_millis(10) {
        "reached"
    } else {
        "missed"
    };
    table.row([
        format!(
            "µs from drop to the last of {} futures, worst of {rounds}, {name}",
            streams::CUT
        ),
        figure(worst.as_nanos() as f64 / 1000.0),
        String::new(),
        String::new(),
        format!("less than 10 ms: {reached}"),
    ]);
}
