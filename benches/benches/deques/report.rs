//! The outcomes as a table and as JSON.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use benches::json::{self, Value};
use benches::rounds::Series;
use benches::table::{Table, figure, per_cent, ratio};

use crate::verdict::Verdict;
use crate::{NS, Outcome, STOLEN};

/// Prints all outcomes, with what one has to know to read them.
pub(crate) fn print(outcomes: &[Outcome], clock: Duration, compare_and_swap: f64) {
    println!(
        "\
Times in ns per item; a push and a pop are one item.
Half-steal, fill and drain prepare eight queues and time the operation on all of
them, nothing else. What a timed section costs by itself, {clock} ns here, is subtracted.
With a thief: the owner's time per item it pushed. In the best of these samples the
thief was asleep; the median counts. An owner is also faster if its thief is slower:
look at the share stolen.
One uncontended compare-and-swap takes {compare_and_swap:.1} ns here. A pop from which no thief
may get the same item needs one, or a fence, whatever the queue; the floor has none.
",
        clock = clock.as_nanos(),
    );
    let mut table = Table::new(&[
        "queue",
        "median",
        "best",
        "/ best peer",
        "best / best",
        "/ floor",
        "stolen",
        "samples",
    ]);
    for outcome in outcomes {
        let peer = outcome.best_peer();
        let peer_best = if outcome.best_counts() {
            peer.best(NS)
        } else {
            f64::NAN
        };
        let floor = outcome.floor().map_or(f64::NAN, |floor| floor.median(NS));
        table.section(format!("{}, {}", outcome.kind, outcome.case));
        for series in &outcome.series {
            table.row([
                series.name().to_owned(),
                figure(series.median(NS)),
                figure(series.best(NS)),
                ratio(series.median(NS), peer.median(NS)),
                ratio(series.best(NS), peer_best),
                ratio(series.median(NS), floor),
                per_cent(series.median(STOLEN)),
                series.len().to_string(),
            ]);
        }
    }
    println!("{table}");
}

/// Writes all outcomes and verdicts to `target/bench/deques.json`.
pub(crate) fn save(outcomes: &[Outcome], verdicts: &[Verdict]) -> io::Result<PathBuf> {
    let cases: Vec<_> = outcomes.iter().map(outcome_to_json).collect();
    let targets: Vec<_> = verdicts.iter().map(Verdict::to_json).collect();
    let value = Value::object([
        ("bench", "deques".into()),
        ("unit", "ns per item".into()),
        ("cases", cases.into()),
        ("targets", targets.into()),
    ]);
    json::save("deques", &value)
}

fn outcome_to_json(outcome: &Outcome) -> Value {
    let queues: Vec<_> = outcome.series.iter().map(series_to_json).collect();
    Value::object([
        ("kind", outcome.kind.to_string().as_str().into()),
        ("case", outcome.case.to_string().as_str().into()),
        ("queues", queues.into()),
    ])
}

fn series_to_json(series: &Series<2>) -> Value {
    Value::object([
        ("name", series.name().into()),
        ("median", series.median(NS).into()),
        ("best", series.best(NS).into()),
        ("stolen", series.median(STOLEN).into()),
        ("samples", (series.len() as f64).into()),
    ])
}
