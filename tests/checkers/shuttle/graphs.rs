//! Task graphs: branches on two workers, and every way in which a run ends.
//!
//! A branch that is not woken when its run is cancelled, or a run that is not woken when
//! its last branch leaves, waits for ever, and shuttle reports a deadlock.

use std::future::{pending, poll_fn};
use std::pin::pin;

use ws_executor::{task_graph, yield_now};

use super::kit::{Count, Event, OnDrop, pair};
use super::scenario::Scenario;

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "graphs.diamond",
        about: "two nodes between two: each runs once, and the last one has both values",
        faults: &[71],
        body: diamond_runs,
    },
    Scenario {
        name: "graphs.two_runs",
        about: "two runs of one graph at the same time",
        faults: &[71],
        body: two_runs,
    },
    Scenario {
        name: "graphs.error_cancels",
        about: "a node fails beside one that waits for ever: that one is dropped, then the run ends",
        faults: &[71],
        body: error_cancels,
    },
    Scenario {
        name: "graphs.dropped",
        about: "a run is dropped at any moment: its branches leave, and drop what they have",
        faults: &[71],
        body: dropped,
    },
];

#[task_graph]
async fn diamond(start: u32) -> u32 {
    let base = start + 1;
    let left = {
        yield_now().await;
        base * 10
    };
    let right = base * 100;
    left + right
}

fn diamond_runs() {
    let executor = pair();
    let run = diamond::on(&executor.handle()).run(1);
    assert_eq!(executor.block_on(run), 220);
}

fn two_runs() {
    let executor = pair();
    let on = diamond::on(&executor.handle());
    let other = executor.spawn(on.clone().run(2));
    assert_eq!(executor.block_on(on.run(1)), 220);
    assert_eq!(executor.block_on(other), 330);
}

#[task_graph]
async fn failing(token: OnDrop) -> Result<(), u32> {
    let fails = {
        yield_now().await;
        Err::<(), u32>(7)
    }?;
    let waits = {
        let _token = token;
        pending::<()>().await
    };
    let _both = (fails, waits);
    Ok(())
}

fn error_cancels() {
    let dropped = Count::new();
    let executor = pair();
    let run = failing::on(&executor.handle()).run(dropped.on_drop());
    assert_eq!(executor.block_on(run), Err(7));
    assert_eq!(dropped.get(), 1, "the node that waited is gone");
}

#[task_graph]
async fn waiting(token: OnDrop, other: OnDrop) -> u32 {
    let left = {
        let _token = token;
        yield_now().await;
        1
    };
    let right = {
        let _other = other;
        pending::<u32>().await
    };
    left + right
}

fn dropped() {
    let dropped = Count::new();
    let executor = pair();
    let run = waiting::on(&executor.handle()).run(dropped.on_drop(), dropped.on_drop());
    let event = Event::new();
    let setting = event.clone();
    executor.spawn(async move { setting.set() }).detach();
    executor.block_on(async {
        let (mut run, mut event) = (pin!(run), pin!(event.wait()));
        poll_fn(|cx| {
            assert!(
                run.as_mut().poll(cx).is_pending(),
                "one node waits for ever"
            );
            event.as_mut().poll(cx)
        })
        .await;
    });
    executor.drain();
    assert_eq!(dropped.get(), 2, "both nodes are gone");
}
