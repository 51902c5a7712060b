//! A graph is a pipeline: `bind`, with a source, a sink and every gate.

mod graph_support;

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::executor::block_on;
use graph_support::{Program, on_every_executor};
use tests::exec::executor;
use tests::watchdog;
use ws_core::FastRand;
use ws_core::Spawn;
use ws_executor::graph::TimedOut;
use ws_executor::pipeline::{Collect, NodeReport, Report, Route};
use ws_executor::{task_graph, yield_now};

#[derive(Clone, Debug, PartialEq)]
enum Fault {
    Parse(String),
    Http,
    Db,
}

impl From<TimedOut> for Fault {
    fn from(_: TimedOut) -> Self {
        Self::Http
    }
}

/// A value that is counted while it lives.
#[derive(Debug)]
struct Row {
    number: u64,
    live: Arc<AtomicUsize>,
}

impl Drop for Row {
    fn drop(&mut self) {
        self.live.fetch_sub(1, Ordering::SeqCst);
    }
}

#[derive(Default)]
struct Http {
    busy: AtomicUsize,
    most: AtomicUsize,
    live: Arc<AtomicUsize>,
}

impl Http {
    async fn enrich(&self, number: &u64) -> Result<Row, Fault> {
        let busy = self.busy.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(busy, Ordering::SeqCst);
        let guard = OnDrop(|| {
            self.busy.fetch_sub(1, Ordering::SeqCst);
        });
        for _ in 0..number % 7 {
            yield_now().await;
        }
        drop(guard);
        if number % 100 == 99 {
            return Err(Fault::Http);
        }
        self.live.fetch_add(1, Ordering::SeqCst);
        Ok(Row {
            number: *number,
            live: self.live.clone(),
        })
    }
}

struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

#[derive(Default)]
struct Db {
    open: AtomicUsize,
    most: AtomicUsize,
    calls: AtomicUsize,
    largest: AtomicUsize,
}

async fn insert_rows(db: &Db, rows: Vec<Row>) -> Result<Vec<u64>, Fault> {
    let open = db.open.fetch_add(1, Ordering::SeqCst) + 1;
    db.most.fetch_max(open, Ordering::SeqCst);
    db.calls.fetch_add(1, Ordering::SeqCst);
    db.largest.fetch_max(rows.len(), Ordering::SeqCst);
    let guard = OnDrop(|| {
        db.open.fetch_sub(1, Ordering::SeqCst);
    });
    yield_now().await;
    drop(guard);
    if rows.iter().any(|row| row.number == u64::MAX) {
        return Err(Fault::Db);
    }
    Ok(rows.iter().map(|row| row.number * 2).collect())
}

fn parse(line: &str) -> Result<u64, Fault> {
    line.parse().map_err(|_| Fault::Parse(line.to_owned()))
}

#[task_graph]
async fn ingest(line: String, #[shared] http: &Http, #[shared] db: &Db) -> Result<u64, Fault> {
    #[node(limit = 8)]
    let number = parse(&line)?;
    #[node(limit = 16, retry(1, when = |_: &Fault| true), timeout = "1min", queue = 32)]
    let rich = http.enrich(&number).await?;
    #[node(batch(rich, max = 20, within = "5ms"), limit = 2)]
    let row: u64 = insert_rows(db, rich).await?;
    Ok(row)
}

fn node<'r>(report: &'r Report, name: &str) -> &'r NodeReport {
    let found = report.nodes.iter().find(|node| node.name == name);
    found.unwrap_or_else(|| panic!("no node {name}"))
}

/// What the lines of [`lines`] come to.
const LINES: u64 = 2000;

fn lines() -> impl Iterator<Item = String> + Send {
    (0..LINES).map(|number| match number % 10 {
        3 => format!("x{number}"),
        _ => number.to_string(),
    })
}

#[test]
fn every_executor_runs_a_graph_over_a_stream() {
    struct Ingest;
    impl Program for Ingest {
        fn run<S: Spawn + Clone + Send + Sync + 'static>(&self, name: &str, on: &S) {
            let (http, db) = (Arc::new(Http::default()), Arc::new(Db::default()));
            let shared = ingest::Shared {
                http: http.clone(),
                db: db.clone(),
            };
            let (out, rejected) = (Collect::new(), Collect::new());
            let pipeline = ingest::bind(on, shared)
                .source(futures::stream::iter(lines()))
                .in_flight(128)
                .ordered(true)
                .on_error(|failure| match failure.error {
                    Some(Fault::Parse(_)) => Route::DeadLetter,
                    Some(Fault::Http) => Route::Skip,
                    Some(Fault::Db) | None => Route::Stop,
                })
                .dead_letter(rejected.clone())
                .sink(out.clone())
                .build()
                .unwrap();
            let report = block_on(pipeline.run()).unwrap();
            let good = |number: &u64| number % 10 != 3 && number % 100 != 99;
            let expected: Vec<u64> = (0..LINES).filter(good).map(|number| 2 * number).collect();
            assert_eq!(out.take(), expected, "{name}");
            let counts = (
                report.items,
                report.done,
                report.skipped,
                report.dead_lettered,
            );
            assert_eq!(counts, (LINES, 1780, 20, 200), "{name}\n{report}");
            for letter in rejected.take() {
                let failure = letter.failure;
                assert_eq!(failure.node, Some("number"));
                assert_eq!(failure.error, Some(Fault::Parse(letter.item)));
            }
            let (number, rich, row) = (
                node(&report, "number"),
                node(&report, "rich"),
                node(&report, "row"),
            );
            assert_eq!((number.started, number.failed), (2000, 200), "{name}");
            assert_eq!(
                (rich.started, rich.failed, rich.retried),
                (1800, 20, 20),
                "{name}"
            );
            assert_eq!((row.started, row.finished), (1780, 1780), "{name}");
            assert!(http.most.load(Ordering::SeqCst) <= 16, "{name}");
            assert!(db.most.load(Ordering::SeqCst) <= 2, "{name}");
            assert!(db.largest.load(Ordering::SeqCst) <= 20, "{name}");
            assert!(db.calls.load(Ordering::SeqCst) >= 89, "{name}");
            assert_eq!(http.live.load(Ordering::SeqCst), 0, "{name}");
        }
    }
    watchdog::guard("every_executor_runs_a_graph_over_a_stream", || {
        on_every_executor(&Ingest);
    });
}

#[test]
fn too_few_items_for_the_batches_are_refused() {
    let executor = executor(1);
    let shared = ingest::Shared {
        http: Arc::default(),
        db: Arc::default(),
    };
    let builder = ingest::bind(&executor.handle(), shared).iter(lines());
    let error = builder.in_flight(39).build().unwrap_err();
    assert!(error.is_in_flight_too_small(), "{error}");
}

#[test]
fn a_run_that_is_cancelled_at_any_moment_leaves_nothing() {
    watchdog::guard(
        "a_run_that_is_cancelled_at_any_moment_leaves_nothing",
        || {
            let executor = executor(2);
            for seed in 0..40 {
                let (http, db) = (Arc::new(Http::default()), Arc::new(Db::default()));
                let shared = ingest::Shared {
                    http: http.clone(),
                    db: db.clone(),
                };
                let running = ingest::bind(&executor.handle(), shared)
                    .iter((0..).map(|number: u64| number.to_string()))
                    .in_flight(64)
                    .on_error(|_| Route::Skip)
                    .build()
                    .unwrap()
                    .start();
                let wanted = 1 + seed * 7;
                while running.progress().items < wanted {
                    std::thread::yield_now();
                }
                let report = block_on(running.cancel()).unwrap();
                let ended = report.done + report.skipped + report.cancelled + report.failed;
                assert_eq!(report.items, ended, "seed {seed}");
                assert_eq!(http.live.load(Ordering::SeqCst), 0, "seed {seed}");
                assert_eq!(db.open.load(Ordering::SeqCst), 0, "seed {seed}");
                assert_eq!(http.busy.load(Ordering::SeqCst), 0, "seed {seed}");
                let row = node(&report, "row");
                assert_eq!(row.started, row.finished + row.failed + row.cancelled);
            }
        },
    );
}

type Seen = Mutex<HashMap<u64, Vec<u64>>>;

/// Delays at random, fails now and then, and keeps the order within a key all the same.
#[task_graph]
async fn by_key(number: u64, #[shared] seen: &Seen) -> Result<u64, Fault> {
    let (key, value) = delay(number).await?;
    #[node(key = key, limit = 8)]
    let place = visit(seen, key, value).await;
    if place == 0 {
        skip!();
    }
    Ok(value)
}

async fn delay(number: u64) -> Result<(u64, u64), Fault> {
    let mut random = FastRand::new(number ^ 0x5eed);
    for _ in 0..random.below(5) {
        yield_now().await;
    }
    match random.below(50) {
        0 => Err(Fault::Http),
        // Without a word from the panic hook.
        1 => std::panic::resume_unwind(Box::new("now and then")),
        _ => Ok((number % 16, number)),
    }
}

async fn visit(seen: &Seen, key: u64, value: u64) -> usize {
    let place = seen.lock().unwrap().entry(key).or_default().len();
    yield_now().await;
    let mut seen = seen.lock().unwrap();
    let values = seen.entry(key).or_default();
    assert_eq!(values.len(), place, "one at a time");
    values.push(value);
    place
}

#[test]
fn keys_keep_their_order_whatever_happens_to_the_others() {
    watchdog::guard(
        "keys_keep_their_order_whatever_happens_to_the_others",
        || {
            let executor = executor(2);
            let seen = Arc::new(Seen::default());
            let pipeline = by_key::bind(&executor.handle(), by_key::Shared { seen: seen.clone() })
                .iter(0..5000)
                .in_flight(100)
                .on_error(|_| Route::Skip)
                .build()
                .unwrap();
            let report = executor.block_on(pipeline.run()).unwrap();
            assert_eq!(report.items, 5000);
            let failed = node(&report, "key, value").failed;
            assert!(failed > 50, "{report}");
            assert_eq!(
                report.skipped,
                failed + 16,
                "the first of each key is skipped"
            );
            let seen = seen.lock().unwrap();
            let all: usize = seen.values().map(Vec::len).sum();
            assert_eq!(all as u64, node(&report, "place").finished);
            for values in seen.values() {
                assert!(values.is_sorted(), "{values:?}");
            }
        },
    );
}

#[task_graph]
async fn words(line: String) -> String {
    #[node(flat = 3)]
    let word: String = line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let upper = word.to_uppercase();
    if upper.is_empty() {
        skip!();
    }
    upper
}

#[test]
fn what_fans_out_reaches_the_sink_together() {
    let executor = executor(2);
    let out = Collect::new();
    let pipeline = words::bind(&executor.handle(), words::Shared {})
        .iter(["a b c", "", "d  e"].map(str::to_owned))
        .ordered(true)
        .sink(out.clone())
        .build()
        .unwrap();
    let report = executor.block_on(pipeline.run()).unwrap();
    assert_eq!(out.take(), ["A", "B", "C", "D", "E"]);
    assert_eq!((report.items, report.done, report.results), (3, 3, 5));
}

#[task_graph]
async fn window(number: u64) -> u64 {
    #[node(batch(number, max = 4, within = "1h"))]
    let sum = sums(number);
    sum
}

/// Every item of a window gets its sum.
fn sums(numbers: Vec<u64>) -> Vec<u64> {
    vec![numbers.iter().sum(); numbers.len()]
}

#[test]
fn a_window_is_a_batch_with_a_fold_and_the_last_one_does_not_wait() {
    watchdog::guard("a_window_is_a_batch_with_a_fold", || {
        let executor = executor(2);
        let out = Collect::new();
        let pipeline = window::bind(&executor.handle(), window::Shared {})
            .iter(1..=6)
            .in_flight(4)
            .sink(out.clone())
            .build()
            .unwrap();
        // `within` is an hour: only the end of the source can be what ends the wait.
        let report = executor.block_on(pipeline.run()).unwrap();
        assert!(report.elapsed < Duration::from_secs(600));
        let mut sums = out.take();
        sums.sort_unstable();
        // The end may come between the last two.
        let possible = [[10, 10, 10, 10, 11, 11], [5, 6, 10, 10, 10, 10]];
        assert!(possible.iter().any(|possible| sums == possible), "{sums:?}");
    });
}
