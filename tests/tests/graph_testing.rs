//! Graphs under test: made-up outcomes, virtual time, and who is told what.

mod graph_support;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures::executor::block_on;
use graph_support::{Program, on_every_executor};
use tests::exec::executor;
use tests::watchdog;
use ws_core::Spawn;
use ws_executor::graph::testing::{Script, fail, value};
use ws_executor::graph::{At, Observer, Stats, TimedOut};
use ws_executor::task_graph;

#[derive(Clone, Debug, PartialEq)]
enum Trouble {
    Busy,
    Late,
}

#[derive(Clone, Debug, PartialEq)]
struct Small(u32);

impl From<Small> for Trouble {
    fn from(_: Small) -> Self {
        Self::Busy
    }
}

impl From<TimedOut> for Trouble {
    fn from(_: TimedOut) -> Self {
        Self::Late
    }
}

async fn call(number: u32) -> Result<u32, Small> {
    if number > 100 {
        Err(Small(number))
    } else {
        Ok(number)
    }
}

async fn never(_: u32) -> Result<u32, Trouble> {
    std::future::pending().await
}

#[task_graph]
async fn order(number: u32) -> Result<u32, Trouble> {
    #[node(retry(3, backoff = "1h..4h"))]
    let stock: u32 = call(number).await?;
    #[node(timeout = "90min", fallback = 5)]
    let fraud: u32 = never(number).await?;
    let sure: u32 = stock + fraud;
    let text: Option<u32> = Some(sure).filter(|sure| *sure > 0);
    Ok(sure + text.unwrap_or(0))
}

#[test]
fn time_in_tests_takes_none_and_is_exact() {
    struct Orders;
    impl Program for Orders {
        fn run<S: Spawn + Clone + Send + Sync + 'static>(&self, name: &str, on: &S) {
            for _ in 0..20 {
                // The fallback comes after 90 minutes, the last attempt after 1 + 2 hours.
                let run = order::test(on)
                    .stock(fail(Small(1)).times(2).then(3))
                    .run(1);
                let report = block_on(run);
                assert_eq!(report.result, Ok(16), "{name}");
                assert_eq!(report.elapsed, Duration::from_secs(3 * 3600), "{name}");
                assert_eq!(
                    (report.attempts("stock"), report.attempts("fraud")),
                    (3, 1),
                    "{name}"
                );
                assert_eq!(report.starts.len(), 5, "{name}");
                assert_eq!(report.starts[2..], ["sure", "text", "result"], "{name}");
            }
        }
    }
    watchdog::guard("time_in_tests_takes_none_and_is_exact", || {
        let start = Instant::now();
        on_every_executor(&Orders);
        assert!(start.elapsed() < Duration::from_secs(3600));
    });
}

#[test]
fn scripts_take_the_place_of_nodes() {
    watchdog::guard("scripts_take_the_place_of_nodes", || {
        let executor = executor(2);
        let test = || order::test(&executor.handle()).fraud(value(1));
        // Forever, with the node's own error, converted as usual.
        let report = block_on(test().stock(fail(Small(1))).run(1));
        assert_eq!(
            (report.result.clone(), report.attempts("stock")),
            (Err(Trouble::Busy), 4)
        );
        assert_eq!(report.attempts("sure"), 0);
        // A while, and then what the node itself does.
        let report = block_on(test().stock(fail(Small(1)).times(1)).run(7));
        assert_eq!(
            (report.result.clone(), report.attempts("stock")),
            (Ok(16), 2)
        );
        // A node that is not tried again and cannot fail.
        let report = block_on(test().stock(value(1)).sure(value(0)).run(7));
        assert_eq!(report.result, Ok(0));
        let report = block_on(test().text(value(None)).run(7));
        assert_eq!((report.result, report.elapsed), (Ok(8), Duration::ZERO));
        // What makes no sense is a panic that says why.
        let wrong = |script: Script<u32>| {
            let run = test().stock(script).run(1);
            let payload = catch_unwind(AssertUnwindSafe(|| block_on(run))).unwrap_err();
            payload.downcast_ref::<String>().unwrap().clone()
        };
        assert!(wrong(fail("text").into()).contains("its error is `graph_testing::Small`"));
    });
}

trait Store: Send + Sync {
    fn size(&self) -> u32;
}

struct Memory(u32);

impl Store for Memory {
    fn size(&self) -> u32 {
        self.0
    }
}

async fn connect(number: u32) -> Result<Arc<Memory>, Small> {
    call(number).await.map(|number| Arc::new(Memory(number)))
}

#[task_graph]
async fn stores(number: u32) -> Result<u32, Trouble> {
    let store: Arc<dyn Store> = connect(number).await?;
    #[node(retry(1))]
    let again: Arc<dyn Store> = connect(number).await?;
    let length: usize = call(number).await?.to_string().len();
    let both: u32 = call(call(number).await?).await?;
    Ok(store.size() + again.size() + u32::try_from(length).unwrap_or(0) + both)
}

#[test]
fn scripts_fail_at_the_question_and_values_are_coerced_after_it() {
    watchdog::guard("scripts and questions", || {
        let executor = executor(2);
        let test = || stores::test(&executor.handle());
        assert_eq!(block_on(stores(10)), Ok(32));
        assert_eq!(block_on(test().run(10)).result, Ok(32));
        let one: Arc<dyn Store> = Arc::new(Memory(1));
        let run = test().store(value(one.clone())).again(value(one));
        assert_eq!(block_on(run.run(10)).result, Ok(14));
        let run = test().store(fail(Small(1)));
        assert_eq!(block_on(run.run(10)).result, Err(Trouble::Busy));
        let run = test().again(fail(Small(1)).times(1));
        assert_eq!(block_on(run.run(10)).result, Ok(32));
        // The only `?`, wherever it is; of several, what they become.
        let run = test().length(fail(Small(1)));
        assert_eq!(block_on(run.run(10)).result, Err(Trouble::Busy));
        let run = test().both(fail(Trouble::Late));
        assert_eq!(block_on(run.run(10)).result, Err(Trouble::Late));
    });
}

#[derive(Default)]
struct Events(Mutex<Vec<(&'static str, &'static str)>>);

impl Events {
    fn add(&self, event: &'static str, at: At) {
        self.0.lock().unwrap().push((event, at.name()));
    }

    fn count(&self, event: &str, node: &str) -> usize {
        self.0
            .lock()
            .unwrap()
            .iter()
            .filter(|(e, n)| *e == event && *n == node)
            .count()
    }
}

impl Observer for Events {
    fn started(&self, at: At) {
        self.add("started", at);
    }

    fn finished(&self, at: At, _: Duration) {
        self.add("finished", at);
        assert_ne!(
            at.name(),
            "panics here",
            "an observer that panics does no harm"
        );
    }

    fn retried(&self, at: At) {
        self.add("retried", at);
    }

    fn cancelled(&self, at: At) {
        self.add("cancelled", at);
    }
}

#[task_graph]
async fn watched(number: u32) -> Result<u32, Trouble> {
    #[node(name = "panics here")]
    let first = number + 1;
    #[node(retry(2))]
    let fails = call(first).await?;
    let hangs = never(first).await?;
    Ok(fails + hangs)
}

#[test]
fn an_observer_is_told_everything_once() {
    watchdog::guard("an_observer_is_told_everything_once", || {
        let executor = executor(2);
        let (events, stats) = (Arc::new(Events::default()), Arc::new(Stats::new()));
        let on = watched::on(&executor.handle());
        let result = block_on(on.clone().observer(events.clone()).run(200));
        assert_eq!(result, Err(Trouble::Busy));
        assert_eq!(events.count("finished", "panics here"), 1);
        assert_eq!(events.count("started", "fails"), 1);
        assert_eq!(events.count("retried", "fails"), 2);
        assert_eq!(events.count("finished", "fails"), 1);
        // It may not have begun before the other failed.
        assert_eq!(
            events.count("cancelled", "hangs"),
            events.count("started", "hangs")
        );
        assert_eq!(events.count("started", "result"), 0);

        assert!(block_on(on.observer(stats.clone()).run(200)).is_err());
        let fails = stats.node("watched", "fails").unwrap();
        assert_eq!((fails.started, fails.retried, fails.finished), (1, 2, 1));
        assert_eq!(stats.node("watched", "result"), None);
        assert!(stats.to_string().contains("fails"));
    });
}
