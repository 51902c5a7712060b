//! The outcomes as a table.

use std::time::Duration;

use benches::table::{self, figure, per_cent, ratio, section, table};

use crate::Outcome;

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
    let mut table = table([
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
        let floor = outcome.contenders.get(4);
        section(&mut table, &outcome.case);
        for measured in &outcome.contenders {
            let (median, best, stolen) = (measured.median, measured.best, measured.more.stolen);
            // With a thief the best samples are those in which it was asleep.
            let peer_best = peer.filter(|_| stolen.is_nan());
            table.add_row([
                format!("  {}", measured.kind),
                figure(median),
                figure(best),
                ratio(median, peer.map_or(f64::NAN, |peer| peer.median)),
                ratio(best, peer_best.map_or(f64::NAN, |peer| peer.best)),
                ratio(median, floor.map_or(f64::NAN, |floor| floor.median)),
                per_cent(stolen),
                measured.samples.to_string(),
            ]);
        }
    }
    table::print(&table);
}
