//! However a run ends, its other nodes are cancelled, their futures are gone when it
//! returns, and every value is dropped once.

mod graph_support;

use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::FutureExt;
use futures::executor::block_on;
use graph_support::{Meeting, Program, on_every_executor};
use tests::drops::{Drops, Item};
use tests::exec::{assert_alive, executor, until};
use tests::watchdog;
use ws_core::Spawn;
use ws_executor::graph::TimedOut;
use ws_executor::task_graph;

#[derive(Debug, PartialEq)]
enum End {
    Error(usize),
    Late,
}

impl From<TimedOut> for End {
    fn from(_: TimedOut) -> Self {
        Self::Late
    }
}

/// What one node of a run does when all have begun.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Fail,
    Panic,
    /// It fails, and a sibling panics when its future is dropped for that.
    FailAndPanicInDrop,
    Nothing,
}

struct Run {
    meeting: Meeting,
    /// Items `0..3` live in futures, 3 is a value.
    drops: Drops,
    culprit: usize,
    fate: Fate,
    started: AtomicUsize,
}

impl Run {
    fn new(culprit: usize, fate: Fate) -> Arc<Self> {
        Arc::new(Self {
            meeting: Meeting::of(3),
            drops: Drops::of(4),
            culprit,
            fate,
            started: AtomicUsize::new(0),
        })
    }

    /// Node `number` of three that run together after `value`. All but the culprit wait for ever.
    async fn node(&self, number: usize, _: &Item) -> Result<u32, End> {
        let sibling = (self.culprit + 1) % 3;
        let _item = if self.fate == Fate::FailAndPanicInDrop && number == sibling {
            self.drops.panicking(number)
        } else {
            self.drops.item(number)
        };
        self.started.fetch_add(1, Ordering::Relaxed);
        self.meeting.come().await;
        if number == self.culprit {
            match self.fate {
                Fate::Fail | Fate::FailAndPanicInDrop => return Err(End::Error(number)),
                Fate::Panic => panic!("node {number}"),
                Fate::Nothing => {}
            }
        }
        pending().await
    }

    fn is_gone(&self) -> bool {
        (0..4).all(|number| self.drops.count(number) == 1)
    }
}

#[task_graph]
async fn three(run: Arc<Run>) -> Result<u32, End> {
    let value = run.drops.item(3);
    let a = run.node(0, &value).await?;
    let b = run.node(1, &value).await?;
    let c = run.node(2, &value).await?;
    drop(value);
    Ok(a + b + c)
}

/// Every culprit, every fate: the result is the culprit's, and nothing is left.
fn check(name: &str, call: impl Fn(Arc<Run>) -> Result<u32, End>) {
    for culprit in 0..3 {
        for fate in [Fate::Fail, Fate::Panic] {
            let run = Run::new(culprit, fate);
            let result = catch_unwind(AssertUnwindSafe(|| call(run.clone())));
            // Looked at at once: the futures are gone when the run returns.
            assert!(
                run.is_gone(),
                "{name}, {culprit}, {fate:?}: {:?}",
                run.drops
            );
            match (fate, result) {
                (Fate::Fail, Ok(result)) => assert_eq!(result, Err(End::Error(culprit))),
                (Fate::Panic, Err(payload)) => {
                    let expected = format!("node {culprit}");
                    assert_eq!(payload.downcast_ref::<String>(), Some(&expected));
                }
                (_, result) => panic!("{name}, {culprit}, {fate:?}: {result:?}"),
            }
            assert_eq!(Arc::strong_count(&run), 1, "{name}, {culprit}, {fate:?}");
        }
    }
}

#[test]
fn a_plain_call_ends_with_its_first_failure() {
    watchdog::guard("a_plain_call_ends_with_its_first_failure", || {
        check("plain", |run| block_on(three(run)));
    });
}

#[test]
fn a_parallel_run_ends_with_its_first_failure() {
    struct Fails;
    impl Program for Fails {
        fn run<S: Spawn + Clone + Send + Sync + 'static>(&self, name: &str, on: &S) {
            for _ in 0..20 {
                check(name, |run| block_on(three::on(on).run(run)));
            }
        }
    }
    watchdog::guard("a_parallel_run_ends_with_its_first_failure", || {
        on_every_executor(&Fails)
    });
}

#[test]
fn a_panic_in_the_drop_of_a_cancelled_node_is_contained() {
    watchdog::guard(
        "a_panic_in_the_drop_of_a_cancelled_node_is_contained",
        || {
            let executor = executor(2);
            for culprit in 0..3 {
                let run = Run::new(culprit, Fate::FailAndPanicInDrop);
                let result = block_on(three::on(&executor.handle()).run(run.clone()));
                assert_eq!(result, Err(End::Error(culprit)));
                assert!(run.is_gone());
            }
            assert_alive(&executor);
        },
    );
}

#[test]
fn a_run_that_is_dropped_is_cancelled() {
    struct Dropped;
    impl Program for Dropped {
        fn run<S: Spawn + Clone + Send + Sync + 'static>(&self, _: &str, on: &S) {
            let run = Run::new(0, Fate::Nothing);
            let mut future = Box::pin(three::on(on).run(run.clone()));
            while run.started.load(Ordering::Relaxed) < 3 {
                assert!(block_on(async { futures::poll!(&mut future) }).is_pending());
            }
            drop(future);
            until(|| run.is_gone() && Arc::strong_count(&run) == 1);

            let unpolled = Run::new(0, Fate::Nothing);
            drop(three::on(on).run(unpolled.clone()));
            assert_eq!(unpolled.started.load(Ordering::Relaxed), 0);
            assert_eq!(Arc::strong_count(&unpolled), 1);
        }
    }
    watchdog::guard("a_run_that_is_dropped_is_cancelled", || {
        on_every_executor(&Dropped)
    });
}

#[test]
fn a_plain_call_that_is_dropped_is_gone() {
    watchdog::guard("a_plain_call_that_is_dropped_is_gone", || {
        let run = Run::new(0, Fate::Nothing);
        assert_eq!(three(run.clone()).now_or_never(), None);
        assert!(run.is_gone() && Arc::strong_count(&run) == 1);
    });
}

#[test]
fn a_deadline_cancels() {
    watchdog::guard("a_deadline_cancels", || {
        let executor = executor(2);
        let on = three::on(&executor.handle());
        let run = Run::new(0, Fate::Nothing);
        let late = on
            .clone()
            .deadline(Duration::from_millis(30))
            .run(run.clone());
        assert_eq!(block_on(late), Err(End::Late));
        // However far it came.
        assert_eq!(Arc::strong_count(&run), 1);

        let run = Run::new(0, Fate::Fail);
        let in_time = on.clone().deadline(Duration::MAX).run(run.clone());
        assert_eq!(block_on(in_time), Err(End::Error(0)));

        let run = Run::new(0, Fate::Fail);
        let passed = on.deadline(Duration::ZERO).run(run.clone());
        assert_eq!(block_on(passed), Err(End::Late));
        assert_eq!(run.started.load(Ordering::Relaxed), 0);
    });
}

#[test]
fn an_executor_that_is_shut_down_is_told_apart() {
    watchdog::guard("an_executor_that_is_shut_down_is_told_apart", || {
        let executor = executor(2);
        let handle = executor.handle();
        executor.shutdown();
        let run = Run::new(0, Fate::Nothing);
        let lost = catch_unwind(AssertUnwindSafe(|| {
            block_on(three::on(&handle).run(run.clone()))
        }));
        let payload = lost.unwrap_err();
        let message = payload.downcast_ref::<String>().unwrap();
        assert!(
            message.contains("dropped a branch of the graph `three`"),
            "{message}"
        );
        assert_eq!(Arc::strong_count(&run), 1);
    });
}
