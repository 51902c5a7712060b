//! Runs and nodes of graphs as spans of `tracing`, wherever the nodes run.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use tests::watchdog;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};
use ws_executor::graph::{At, Observer, Spans};
use ws_executor::{Executor, task_graph, yield_now};

/// A subscriber that draws each span with those it is in: `test/graph sum/node left`.
#[derive(Clone, Default)]
struct Paths(Arc<Inner>);

#[derive(Default)]
struct Inner {
    next: AtomicU64,
    spans: Mutex<BTreeMap<u64, Span>>,
    events: Mutex<Vec<String>>,
}

struct Span {
    path: String,
    references: u64,
    cancelled: bool,
}

thread_local! {
    static ENTERED: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// What is written down of fields: the name, the message, that something was cancelled.
#[derive(Default)]
struct Fields {
    name: String,
    message: String,
    cancelled: bool,
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "otel.name" {
            self.name = format!(" {value}");
        }
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.cancelled |= field.name() == "cancelled" && value;
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            self.message = format!("{value:?}");
        }
    }
}

impl Paths {
    fn path(&self, parent: Option<&Id>, is_root: bool) -> String {
        let entered = ENTERED.with_borrow(|entered| entered.last().copied());
        let parent = match parent {
            Some(parent) => Some(parent.into_u64()),
            None if is_root => None,
            None => entered,
        };
        let spans = self.0.spans.lock().unwrap();
        parent.map_or(String::new(), |parent| format!("{}/", spans[&parent].path))
    }

    /// All spans there were, sorted.
    fn all(&self) -> Vec<String> {
        let spans = self.0.spans.lock().unwrap();
        let mut all: Vec<String> = spans
            .values()
            .map(|span| {
                let cancelled = if span.cancelled { " (cancelled)" } else { "" };
                let open = if span.references > 0 { " (open)" } else { "" };
                format!("{}{cancelled}{open}", span.path)
            })
            .collect();
        all.sort();
        all
    }

    fn events(&self) -> Vec<String> {
        let mut events = self.0.events.lock().unwrap().clone();
        events.sort();
        events
    }
}

impl Subscriber for Paths {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        let parent = self.path(attributes.parent(), attributes.is_root());
        let path = format!("{parent}{}{}", attributes.metadata().name(), fields.name);
        let id = self.0.next.fetch_add(1, Ordering::Relaxed) + 1;
        let span = Span {
            path,
            references: 1,
            cancelled: false,
        };
        self.0.spans.lock().unwrap().insert(id, span);
        Id::from_u64(id)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        let mut fields = Fields::default();
        values.record(&mut fields);
        let mut spans = self.0.spans.lock().unwrap();
        spans.get_mut(&span.into_u64()).unwrap().cancelled |= fields.cancelled;
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let parent = self.path(event.parent(), event.is_root());
        let event = format!("{parent}{}", fields.message);
        self.0.events.lock().unwrap().push(event);
    }

    fn enter(&self, span: &Id) {
        ENTERED.with_borrow_mut(|entered| entered.push(span.into_u64()));
    }

    fn exit(&self, span: &Id) {
        ENTERED.with_borrow_mut(|entered| assert_eq!(entered.pop(), Some(span.into_u64())));
    }

    fn clone_span(&self, id: &Id) -> Id {
        self.0
            .spans
            .lock()
            .unwrap()
            .get_mut(&id.into_u64())
            .unwrap()
            .references += 1;
        id.clone()
    }

    fn try_close(&self, id: Id) -> bool {
        let mut spans = self.0.spans.lock().unwrap();
        let span = spans.get_mut(&id.into_u64()).unwrap();
        span.references -= 1;
        span.references == 0
    }
}

/// The only test with events and spans, since the workers' subscriber is the process's.
#[test]
fn spans_follow_the_nodes() {
    watchdog::guard("spans", || {
        let paths = Paths::default();
        tracing::subscriber::set_global_default(paths.clone()).unwrap();
        let executor = Executor::builder().workers(2).build().unwrap();
        let handle = executor.handle();

        let test = tracing::info_span!("test");
        let sum =
            test.in_scope(|| executor.block_on(sum::on(&handle).observer(Arc::new(Spans)).run(3)));
        assert_eq!(sum, Ok(16));
        assert_eq!(
            paths.all(),
            [
                "test (open)",
                "test/graph sum",
                "test/graph sum/node blocks",
                "test/graph sum/node inner",
                "test/graph sum/node inner/graph twice",
                "test/graph sum/node inner/graph twice/node doubled",
                "test/graph sum/node inner/graph twice/node result",
                "test/graph sum/node left",
                "test/graph sum/node result",
                "test/graph sum/node right",
            ]
        );
        assert_eq!(
            paths.events(),
            [
                "test/graph sum/node blocks/blocking",
                "test/graph sum/node inner/graph twice/node doubled/doubling",
                "test/graph sum/node left/before the yield",
                "test/graph sum/node left/behind the yield",
                "test/graph sum/node right/failed, is tried again",
            ]
        );

        let cut = executor.block_on(cut::on(&handle).observer(Arc::new(Spans)).run());
        assert_eq!(cut, Err("cut".to_owned()));
        let cancelled = paths
            .all()
            .into_iter()
            .filter(|path| path.starts_with("graph cut/"));
        assert_eq!(
            cancelled.collect::<Vec<_>>(),
            ["graph cut/node ends", "graph cut/node waits (cancelled)"]
        );
    });
}

#[task_graph]
async fn sum(n: u32) -> Result<u32, String> {
    let left = yielding(n).await;
    #[node(retry(1))]
    let right: u32 = flaky(n)?;
    #[node(graph)]
    let inner: u32 = twice(n).await;
    #[node(blocking)]
    let blocks: u32 = {
        tracing::info!("blocking");
        n + 1
    };
    Ok(left + right + inner + blocks)
}

async fn yielding(n: u32) -> u32 {
    tracing::info!("before the yield");
    yield_now().await;
    tracing::info!("behind the yield");
    n
}

/// Fails the first time.
fn flaky(n: u32) -> Result<u32, String> {
    static FAILED: AtomicBool = AtomicBool::new(false);
    if FAILED.swap(true, Ordering::Relaxed) {
        Ok(n)
    } else {
        Err("flaky".to_owned())
    }
}

#[task_graph]
async fn twice(n: u32) -> u32 {
    let doubled = {
        tracing::info!("doubling");
        2 * n
    };
    doubled
}

#[task_graph]
async fn cut() -> Result<u32, String> {
    let ends = fail_after_the_other_began().await?;
    let waits = wait().await;
    Ok(ends + waits)
}

static WAITS: AtomicBool = AtomicBool::new(false);

async fn fail_after_the_other_began() -> Result<u32, String> {
    while !WAITS.load(Ordering::Relaxed) {
        yield_now().await;
    }
    Err("cut".to_owned())
}

async fn wait() -> u32 {
    WAITS.store(true, Ordering::Relaxed);
    std::future::pending().await
}

/// Without events, which the subscriber of the other test would write down.
#[task_graph]
async fn quiet(n: u32) -> u32 {
    let doubled = 2 * n;
    doubled
}

/// An observer that skips parts, runs them twice, or panics: nodes run all the same.
struct Rude(AtomicU64);

impl Observer for Rude {
    fn run(&self, _: &'static ws_executor::graph::Graph) -> Option<Arc<dyn Observer>> {
        panic!("rude");
    }

    fn within(&self, _: At, part: &mut dyn FnMut()) {
        match self.0.fetch_add(1, Ordering::Relaxed) % 4 {
            0 => {}
            1 => {
                part();
                part();
            }
            2 => panic!("before"),
            _ => {
                part();
                panic!("behind");
            }
        }
    }
}

#[test]
fn an_observer_cannot_keep_a_node_from_running() {
    watchdog::guard("rude observer", || {
        let executor = Executor::builder().workers(2).build().unwrap();
        let rude = Arc::new(Rude(AtomicU64::new(0)));
        for n in 0..16 {
            let run = quiet::on(&executor.handle()).observer(rude.clone()).run(n);
            assert_eq!(executor.block_on(run), 2 * n);
        }
        assert!(rude.0.load(Ordering::Relaxed) >= 32);
    });
}
