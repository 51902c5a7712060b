//! Pipelines of random settings over random items keep every promise at once: counts add
//! up, acknowledgements match them, order is kept, memory is bounded.

mod graph_support;
mod pipeline_support;

use std::collections::BTreeSet;
use std::time::Duration;

use futures::executor::block_on;
use graph_support::{Program, on_every_executor};
use pipeline_support::{Census, Numbers, assert_adds_up};
use tests::exec::until;
use tests::watchdog;
use ws_core::{FastRand, Spawn};
use ws_executor::pipeline::{self, BoxError, Cause, Collect, Route, Sink, Verdict};
use ws_executor::yield_now;

/// A hash of a number, the same in every run.
fn dice(seed: u64, n: u64) -> u64 {
    let mut rand = FastRand::new(seed ^ n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    rand.next_u32();
    u64::from(rand.next_u32())
}

/// What one run does.
#[derive(Clone, Debug)]
struct Plan {
    seed: u64,
    items: u64,
    in_flight: usize,
    ordered: bool,
    /// The item whose failure ends the run, if that is less than `items`.
    stops_at: u64,
    /// The sink fails after so many pushes.
    sink_fails_after: u64,
    end: End,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    OfSource,
    /// When so many are done.
    Drain(u64),
    Cancel(u64),
}

impl Plan {
    fn new(seed: u64) -> Self {
        let mut rand = FastRand::new(seed);
        let items = u64::from(rand.below(400));
        let some = |rand: &mut FastRand| u64::from(rand.below(1 + items as u32));
        Self {
            seed,
            items,
            in_flight: 1 + rand.below(40) as usize,
            ordered: rand.below(2) == 0,
            stops_at: if rand.below(4) == 0 {
                some(&mut rand)
            } else {
                u64::MAX
            },
            sink_fails_after: if rand.below(6) == 0 {
                some(&mut rand) / 8
            } else {
                u64::MAX
            },
            end: match rand.below(4) {
                0 => End::Drain(some(&mut rand) / 2),
                1 => End::Cancel(some(&mut rand) / 2),
                _ => End::OfSource,
            },
        }
    }

    fn fate(&self, n: u64) -> Fate {
        if n == self.stops_at {
            return Fate::Stop;
        }
        match dice(self.seed, n) % 16 {
            0 | 1 => Fate::Skip,
            2 => Fate::SkipError,
            3 | 4 => Fate::Letter,
            5 => Fate::LetterPanic,
            6 => Fate::Many,
            _ => Fate::Done,
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Fate {
    Done,
    Many,
    Skip,
    SkipError,
    Letter,
    LetterPanic,
    Stop,
}

/// Takes a while now and then, and fails as planned.
struct Shaky {
    plan: Plan,
    pushes: u64,
    kept: Collect<u64>,
}

impl Sink<u64> for Shaky {
    async fn push(&mut self, results: Vec<u64>) -> Result<(), BoxError> {
        self.pushes += 1;
        for _ in 0..dice(self.plan.seed, self.pushes) % 4 {
            yield_now().await;
        }
        if self.pushes > self.plan.sink_fails_after {
            return Err("shaky".into());
        }
        self.kept.push(results).await
    }
}

struct Random(Plan);

impl Program for Random {
    fn run<S: Spawn + Clone + Send + Sync + 'static>(&self, name: &str, on: &S) {
        let plan = &self.0;
        let what = format!("{name}, {plan:?}");
        let (mut numbers, acks) = Numbers::to(plan.items);
        numbers.hesitates = |n| n % 11 == 3;
        let (kept, letters, census) = (Collect::new(), Collect::new(), Census::default());
        let (fates, routes, born) = (plan.clone(), plan.clone(), census.clone());
        let running = pipeline::from_fn(on, move |n: u64| {
            let (plan, member) = (fates.clone(), born.member());
            async move {
                for _ in 0..(dice(plan.seed, n) >> 8) % 4 {
                    yield_now().await;
                }
                drop(member);
                match plan.fate(n) {
                    Fate::Done => Verdict::Done(n),
                    Fate::Many => Verdict::Many(vec![n; 3]),
                    Fate::Skip => Verdict::Skipped,
                    Fate::LetterPanic => panic!("as planned"),
                    Fate::SkipError | Fate::Letter | Fate::Stop => Verdict::Failed(n, None),
                }
            }
        })
        .source(numbers)
        .in_flight(plan.in_flight)
        .ordered(plan.ordered)
        .on_error(move |failure| match routes.fate(failure.number) {
            Fate::SkipError => Route::Skip,
            Fate::Stop => Route::Stop,
            _ => Route::DeadLetter,
        })
        .dead_letter(letters.clone())
        .sink(Shaky {
            plan: plan.clone(),
            pushes: 0,
            kept: kept.clone(),
        })
        .build()
        .unwrap()
        .start();

        let watch = running.watch();
        let over = || {
            let now = watch.progress();
            now.in_flight == 0 && (now.items == plan.items || now.cancelled + now.failed > 0)
        };
        let outcome = match plan.end {
            End::OfSource => block_on(running),
            End::Drain(after) => {
                until(|| watch.progress().done >= after || over());
                block_on(running.drain(Duration::MAX))
            }
            End::Cancel(after) => {
                until(|| watch.progress().done >= after || over());
                block_on(running.cancel())
            }
        };
        assert_eq!(census.live(), 0, "{what}");
        assert!(census.most() <= plan.in_flight, "{what}");
        let report = match outcome {
            Ok(report) => {
                let full = plan.end == End::OfSource;
                assert!(
                    !full || (report.items, report.cancelled) == (plan.items, 0),
                    "{what}"
                );
                if !matches!(plan.end, End::Cancel(_)) {
                    assert_eq!(report.cancelled, 0, "{what}");
                }
                report
            }
            Err(error) => {
                match error.cause {
                    Cause::Item(failure) => assert_eq!(failure.number, plan.stops_at, "{what}"),
                    Cause::Sink(_) => assert_ne!(plan.sink_fails_after, u64::MAX, "{what}"),
                    other => panic!("{what}: {other:?}"),
                }
                *error.report
            }
        };
        assert_adds_up(&report);
        assert!(report.most_in_flight <= plan.in_flight, "{what}");
        assert_eq!(report.failed, u64::from(report.failed > 0), "{what}");

        // What is in the report is what happened, and was acknowledged.
        let kept = kept.take();
        let done: BTreeSet<_> = kept.iter().copied().collect();
        assert_eq!(report.done, done.len() as u64, "{what}");
        assert_eq!(report.results, kept.len() as u64, "{what}");
        let posted: BTreeSet<_> = letters.take().iter().map(|letter| letter.item).collect();
        assert_eq!(report.dead_lettered, posted.len() as u64, "{what}");
        for &n in &done {
            assert!(
                matches!(plan.fate(n), Fate::Done | Fate::Many),
                "{what}: {n}"
            );
            let copies = kept.iter().filter(|&&other| other == n).count();
            assert_eq!(
                copies,
                if plan.fate(n) == Fate::Many { 3 } else { 1 },
                "{what}"
            );
        }
        for &n in &posted {
            assert!(
                matches!(plan.fate(n), Fate::Letter | Fate::LetterPanic),
                "{what}: {n}"
            );
        }
        let acks = acks.sorted();
        assert!(
            acks.windows(2).all(|pair| pair[0] < pair[1]),
            "{what}: twice"
        );
        assert!(acks.iter().all(|&n| n < report.items), "{what}");
        let (acked, mut skipped) = (acks.len(), 0);
        for n in acks {
            match plan.fate(n) {
                Fate::Done | Fate::Many => assert!(done.contains(&n), "{what}: {n}"),
                Fate::Letter | Fate::LetterPanic => assert!(posted.contains(&n), "{what}: {n}"),
                Fate::Skip | Fate::SkipError => skipped += 1,
                Fate::Stop => panic!("{what}: {n} was acknowledged"),
            }
        }
        assert_eq!(report.skipped, skipped, "{what}");
        assert_eq!(
            acked as u64,
            report.done + skipped + report.dead_lettered,
            "{what}"
        );
        if plan.ordered {
            assert!(kept.is_sorted(), "{what}: {kept:?}");
        }
    }
}

#[test]
fn random_pipelines_keep_every_promise() {
    // Panics of items are part of the plan.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let planned = info.payload().downcast_ref::<&str>() == Some(&"as planned");
        if !planned {
            hook(info);
        }
    }));
    watchdog::guard("random pipelines", || {
        for seed in 0..300 {
            on_every_executor(&Random(Plan::new(seed)));
        }
    });
}
