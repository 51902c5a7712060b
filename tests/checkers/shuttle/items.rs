//! Items of a bound graph: those that wait for each other, in a batch or for their key,
//! and one of them that is dropped.
//!
//! An item that nobody wakes waits for ever, and shuttle reports a deadlock.

use std::future::{pending, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use ws_core::sync::Mutex;
use ws_executor::graph::rt::Items;
use ws_executor::graph::{Sleep, Timer};
use ws_executor::pipeline::{PerItem, Verdict};
use ws_executor::{Executor, Task, task_graph, yield_now};

use super::kit::{Event, pair};
use super::scenario::Scenario;

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "items.batch",
        about: "four items in batches of two: each has its own answer",
        faults: &[],
        body: batch,
    },
    Scenario {
        name: "items.batch_left",
        about: "one of three items is dropped at any moment, and time passes: the others have answers",
        faults: &[],
        body: batch_left,
    },
    Scenario {
        name: "items.key",
        about: "three items of a key, of which one is dropped at any moment: in order, one at a time",
        faults: &[],
        body: key,
    },
    Scenario {
        name: "items.queue",
        about: "three items through a queue of one and a limit of one",
        faults: &[],
        body: queue,
    },
];

/// Time that never passes.
struct Never;

impl Timer for Never {
    fn sleep(&self, _: Duration) -> Sleep {
        Box::pin(pending())
    }
}

/// Time that passes when something happens.
struct At(Event);

impl Timer for At {
    fn sleep(&self, _: Duration) -> Sleep {
        let event = self.0.clone();
        Box::pin(async move { event.wait().await })
    }
}

/// Runs an item on a task of its own.
fn start<P: PerItem>(
    executor: &Executor,
    items: &Arc<P>,
    number: u64,
    item: P::Item,
) -> Task<Verdict<P::Output, P::Error>> {
    let items = items.clone();
    executor.spawn(async move { items.run(number, item).await })
}

#[task_graph]
async fn pairs(number: u32) -> u32 {
    #[node(batch(number, max = 2, within = "1h"), limit = 1)]
    let answer = double(number).await;
    answer
}

#[task_graph]
async fn threes(number: u32) -> u32 {
    #[node(batch(number, max = 3, within = "1h"))]
    let answer = double(number).await;
    answer
}

async fn double(numbers: Vec<u32>) -> Vec<u32> {
    yield_now().await;
    numbers.into_iter().map(|number| 2 * number).collect()
}

fn batch() {
    let mut items = Items::new(pairs::Shared {});
    items.set_timer(Arc::new(Never));
    let items = Arc::new(items);
    let executor = pair();
    let runs: Vec<_> = (0..4)
        .map(|n| start(&executor, &items, n, n as u32))
        .collect();
    for (n, run) in (0..).zip(runs) {
        let verdict = executor.block_on(run);
        assert!(matches!(verdict, Verdict::Done(answer) if answer == 2 * n));
    }
}

fn batch_left() {
    let (time, event) = (Event::new(), Event::new());
    let mut items = Items::new(threes::Shared {});
    items.set_timer(Arc::new(At(time.clone())));
    let items = Arc::new(items);
    let executor = pair();
    let cut = start_until(&executor, &items, 0, 0, event.clone());
    let runs: Vec<_> = (1..3)
        .map(|n| start(&executor, &items, n, n as u32))
        .collect();
    executor.spawn(async move { event.set() }).detach();
    executor.spawn(async move { time.set() }).detach();
    for (n, run) in (1..).zip(runs) {
        let verdict = executor.block_on(run);
        assert!(matches!(verdict, Verdict::Done(answer) if answer == 2 * n));
    }
    executor.block_on(cut);
    executor.drain();
}

type Log = Mutex<Vec<u32>>;

#[task_graph]
async fn keyed(number: u32, #[shared] log: &Log) -> u32 {
    let early = {
        if number < 2 {
            yield_now().await;
        }
        number
    };
    #[node(key = 7)]
    let seen = note(log, early).await;
    seen
}

async fn note(log: &Log, number: u32) -> u32 {
    let before = log.lock().unwrap().len();
    yield_now().await;
    let mut log = log.lock().unwrap();
    assert_eq!(log.len(), before, "one at a time");
    log.push(number);
    number
}

/// Runs an item until it is done, or until something happens.
fn start_until<P: PerItem>(
    executor: &Executor,
    items: &Arc<P>,
    number: u64,
    item: P::Item,
    event: Event,
) -> Task<()> {
    let items = items.clone();
    executor.spawn(async move {
        let (mut run, mut event) = (pin!(items.run(number, item)), pin!(event.wait()));
        poll_fn(|cx| {
            let done = run.as_mut().poll(cx).is_ready();
            if done {
                Poll::Ready(())
            } else {
                event.as_mut().poll(cx)
            }
        })
        .await;
    })
}

fn key() {
    let log = Arc::new(Log::new(Vec::new()));
    let items = Arc::new(Items::new(keyed::Shared { log: log.clone() }));
    let executor = pair();
    let (first, event) = (start(&executor, &items, 0, 0), Event::new());
    let cut = start_until(&executor, &items, 1, 1, event.clone());
    let last = start(&executor, &items, 2, 2);
    executor.spawn(async move { event.set() }).detach();
    assert!(matches!(executor.block_on(first), Verdict::Done(0)));
    assert!(matches!(executor.block_on(last), Verdict::Done(2)));
    executor.block_on(cut);
    executor.drain();
    let log = log.lock().unwrap();
    assert!(*log == [0, 2] || *log == [0, 1, 2], "{log:?}");
}

#[task_graph]
async fn crowded(number: u32) -> u32 {
    #[node(limit = 1)]
    let first = {
        yield_now().await;
        number
    };
    #[node(limit = 1, queue = 1)]
    let second = {
        yield_now().await;
        first
    };
    second
}

fn queue() {
    let items = Arc::new(Items::new(crowded::Shared {}));
    let executor = pair();
    let mut runs: Vec<_> = (0..3)
        .map(|n| start(&executor, &items, n, n as u32))
        .collect();
    drop(runs.remove(0));
    for run in runs {
        assert!(matches!(executor.block_on(run), Verdict::Done(_)));
    }
    executor.drain();
}
