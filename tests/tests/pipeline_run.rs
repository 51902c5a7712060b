//! Every item of a pipeline is accounted for and acknowledged, the memory it takes is
//! bounded, and results leave in order if that is asked for.

mod graph_support;
mod pipeline_support;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures::executor::block_on;
use futures::{SinkExt, StreamExt, stream};
use graph_support::{Program, on_every_executor};
use pipeline_support::{Census, Door, Numbers, assert_adds_up};
use tests::exec::until;
use tests::watchdog;
use ws_core::Spawn;
use ws_executor::pipeline::{self, BoxError, Collect, PerItem, Route, Sink, Verdict};
use ws_executor::yield_now;

/// What becomes of a number, for the tests of accounting.
async fn fate(n: u64) -> Verdict<u64, &'static str> {
    if n % 5 == 4 {
        yield_now().await;
    }
    match n % 10 {
        0 => Verdict::Skipped,
        1 => Verdict::Failed("skip", None),
        2 => Verdict::Failed("letter", Some("two")),
        3 => Verdict::Many(vec![n, n]),
        4 => panic!("letter"),
        5 => Verdict::Many(vec![]),
        _ => Verdict::Done(n),
    }
}

struct Accounting {
    ordered: bool,
}

impl Program for Accounting {
    fn run<S: Spawn + Clone + Send + Sync + 'static>(&self, name: &str, on: &S) {
        let (numbers, acks) = Numbers::to(1000);
        let (results, letters) = (Collect::new(), Collect::new());
        let pipeline = pipeline::from_fn(on, fate)
            .source(numbers)
            .in_flight(50)
            .ordered(self.ordered)
            .on_error(|failure| match failure.error {
                Some("skip") => Route::Skip,
                _ => Route::DeadLetter,
            })
            .dead_letter(letters.clone())
            .sink(results.clone())
            .build()
            .unwrap();
        let report = block_on(pipeline.run()).unwrap();
        assert_eq!(
            (
                report.items,
                report.done,
                report.skipped,
                report.dead_lettered
            ),
            (1000, 600, 200, 200),
            "{name}"
        );
        assert_eq!(
            (report.results, report.failed, report.cancelled),
            (600, 0, 0)
        );
        assert_adds_up(&report);
        assert!(report.most_in_flight <= 50);
        assert_eq!(acks.sorted(), (0..1000).collect::<Vec<_>>(), "{name}");

        let mut results = results.take();
        let mut expected: Vec<_> = (0..1000).filter(|n| n % 10 > 5).collect();
        expected.extend((0..1000).filter(|n| n % 10 == 3).flat_map(|n| [n, n]));
        expected.sort_unstable();
        if !self.ordered {
            results.sort_unstable();
        }
        assert_eq!(results, expected, "{name}");
        let mut letters: Vec<_> = letters
            .take()
            .into_iter()
            .map(|letter| {
                assert_eq!(letter.item, letter.failure.number);
                match letter.item % 10 {
                    2 => assert_eq!(letter.failure.node, Some("two")),
                    _ => assert_eq!(letter.failure.panic.as_deref(), Some("letter")),
                }
                letter.item
            })
            .collect();
        letters.sort_unstable();
        let expected: Vec<_> = (0..1000).filter(|n| matches!(n % 10, 2 | 4)).collect();
        assert_eq!(letters, expected, "{name}");
    }
}

#[test]
fn every_item_is_in_one_count_and_acknowledged_once() {
    watchdog::guard("accounting", || {
        for ordered in [false, true] {
            on_every_executor(&Accounting { ordered });
        }
    });
}

/// A sink that does not complete its first push before it is let.
struct Stalled<T>(Door, Collect<T>);

impl<T: Send + 'static> Sink<T> for Stalled<T> {
    async fn push(&mut self, results: Vec<T>) -> Result<(), BoxError> {
        self.0.pass().await;
        self.1.push(results).await
    }
}

struct Bounded {
    ordered: bool,
}

impl Program for Bounded {
    fn run<S: Spawn + Clone + Send + Sync + 'static>(&self, name: &str, on: &S) {
        const IN_FLIGHT: usize = 64;
        let (door, census, kept) = (Door::default(), Census::default(), Collect::new());
        let born = census.clone();
        let running = pipeline::from_fn(on, |(n, member)| async move {
            if n % 3 == 0 {
                yield_now().await;
            }
            Ok::<_, ()>((n, member))
        })
        .iter((0..1000_u64).map(move |n| (n, born.member())))
        .in_flight(IN_FLIGHT)
        .ordered(self.ordered)
        .sink(Stalled(door.clone(), kept.clone()))
        .build()
        .unwrap()
        .start();
        // All that may be pulled is, and not one item more ever lived at the same time.
        until(|| running.progress().in_flight == IN_FLIGHT as u64);
        assert_eq!(census.live(), IN_FLIGHT, "{name}");
        assert!(kept.is_empty());
        door.open();
        // From here on the test's own collection keeps items alive: they are dropped.
        let emptied = std::thread::scope(|scope| {
            let emptied = scope.spawn(|| {
                let mut taken = 0;
                while taken < 1000 {
                    taken += kept.take().len();
                    std::thread::yield_now();
                }
                taken
            });
            let report = block_on(running).unwrap();
            assert!(report.most_in_flight <= IN_FLIGHT, "{name}: {report}");
            assert_eq!(report.done, 1000);
            emptied.join().unwrap()
        });
        assert_eq!((emptied, census.live()), (1000, 0), "{name}");
    }
}

#[test]
fn a_stalled_sink_holds_the_source() {
    watchdog::guard("stalled sink", || {
        for ordered in [false, true] {
            on_every_executor(&Bounded { ordered });
        }
    });
}

struct SlowItem;

impl Program for SlowItem {
    fn run<S: Spawn + Clone + Send + Sync + 'static>(&self, name: &str, on: &S) {
        for ordered in [false, true] {
            let (door, results) = (Door::default(), Collect::new());
            let slow = door.clone();
            let running = pipeline::from_fn(on, move |n: u64| {
                let slow = slow.clone();
                async move {
                    if n == 7 {
                        slow.pass().await;
                    }
                    Ok::<_, ()>(n)
                }
            })
            .iter(0..500)
            .in_flight(16)
            .ordered(ordered)
            .sink(results.clone())
            .build()
            .unwrap()
            .start();
            if ordered {
                // Those before it leave; those after it wait, and so does the source.
                until(|| running.progress().done == 7 && running.progress().in_flight == 16);
                assert_eq!(results.take(), (0..7).collect::<Vec<_>>(), "{name}");
            } else {
                until(|| running.progress().done == 499);
            }
            door.open();
            assert_eq!(block_on(running).unwrap().done, 500, "{name}");
            if ordered {
                assert_eq!(results.take(), (7..500).collect::<Vec<_>>(), "{name}");
            } else {
                assert_eq!(results.take().last(), Some(&7), "{name}");
            }
        }
    }
}

#[test]
fn a_slow_item_stalls_no_other_but_for_order() {
    watchdog::guard("slow item", || on_every_executor(&SlowItem));
}

#[test]
fn items_without_results_hold_their_place_in_the_order() {
    watchdog::guard("places", || {
        let executor = tests::exec::executor(2);
        let (numbers, acks) = Numbers::to(500);
        let door = Door::default();
        let first = door.clone();
        let letters = Collect::new();
        let running = pipeline::from_fn(&executor.handle(), move |n: u64| {
            let first = first.clone();
            async move {
                match n {
                    0 => first.pass().await,
                    n if n % 2 == 0 => return Verdict::Skipped,
                    _ => return Verdict::Failed((), None),
                }
                Verdict::Done(n)
            }
        })
        .source(numbers)
        .in_flight(16)
        .ordered(true)
        .on_error(|_| Route::DeadLetter)
        .dead_letter(letters.clone())
        .build()
        .unwrap()
        .start();
        // Though fifteen of them have ended, no seventeenth is pulled before the first has.
        until(|| acks.len() == 15);
        block_on(executor.spawn(async { yield_now().await }));
        assert_eq!((running.progress().items, letters.len()), (16, 8));
        door.open();
        let report = block_on(running).unwrap();
        assert_eq!(
            (report.done, report.skipped, report.dead_lettered),
            (1, 249, 250)
        );
    });
}

#[test]
fn an_item_is_acknowledged_when_the_sink_is_complete() {
    watchdog::guard("acknowledged late", || {
        let executor = tests::exec::executor(2);
        let (numbers, acks) = Numbers::to(20);
        let (door, kept) = (Door::default(), Collect::new());
        let running = pipeline::from_fn(&executor.handle(), |n: u64| async move { Ok::<_, ()>(n) })
            .source(numbers)
            .in_flight(8)
            .sink(Stalled(door.clone(), kept))
            .build()
            .unwrap()
            .start();
        until(|| running.progress().in_flight == 8);
        assert_eq!(acks.len(), 0);
        door.open();
        block_on(running).unwrap();
        assert_eq!(acks.len(), 20);
    });
}

#[test]
fn items_that_never_wait_need_no_more_lanes_than_workers() {
    watchdog::guard("lanes", || {
        let executor = tests::exec::executor(2);
        let report = block_on(
            pipeline::from_fn(&executor.handle(), |n: u64| async move { Ok::<_, ()>(n) })
                .iter(0..100_000)
                .in_flight(2048)
                .build()
                .unwrap()
                .run(),
        )
        .unwrap();
        assert!(report.lanes <= 2, "{report}");
    });
}

#[test]
fn as_many_items_wait_at_the_same_time_as_may_be_in_flight() {
    watchdog::guard("all wait", || {
        let executor = tests::exec::executor(2);
        let meeting = graph_support::Meeting::of(300);
        let report = block_on(
            pipeline::from_fn(&executor.handle(), move |_: u64| {
                let meeting = meeting.clone();
                async move {
                    meeting.come().await;
                    Ok::<_, ()>(())
                }
            })
            .iter(0..300)
            .in_flight(300)
            .build()
            .unwrap()
            .run(),
        )
        .unwrap();
        assert_eq!((report.done, report.lanes), (300, 300));
    });
}

struct Channels;

impl Program for Channels {
    /// Two sources that are mostly pending, merged; a bounded channel as the sink.
    fn run<S: Spawn + Clone + Send + Sync + 'static>(&self, name: &str, on: &S) {
        let (first, from_first) = futures::channel::mpsc::channel(1);
        let (second, from_second) = futures::channel::mpsc::channel(1);
        let (sender, receiver) = futures::channel::mpsc::channel::<u32>(3);
        let running = pipeline::from_fn(on, |n: u32| async move { Ok::<_, ()>(2 * n) })
            .source(from_first)
            .source(from_second)
            .in_flight(8)
            .sink(pipeline::forward(sender))
            .build()
            .unwrap()
            .start();
        let feed = |mut into: futures::channel::mpsc::Sender<u32>,
                    numbers: std::ops::Range<u32>| {
            std::thread::spawn(move || {
                block_on(async {
                    for n in numbers {
                        into.send(n).await.unwrap();
                    }
                });
            })
        };
        let feeders = [feed(first, 0..300), feed(second, 300..600)];
        let mut results: Vec<_> = block_on(receiver.collect());
        results.sort_unstable();
        assert_eq!(
            results,
            (0..600).map(|n| 2 * n).collect::<Vec<_>>(),
            "{name}"
        );
        assert_eq!(block_on(running).unwrap().done, 600);
        feeders
            .into_iter()
            .for_each(|feeder| feeder.join().unwrap());
    }
}

#[test]
fn sources_that_wait_are_merged() {
    watchdog::guard("channels", || on_every_executor(&Channels));
}

#[test]
fn merged_sources_take_turns() {
    watchdog::guard("turns", || {
        let executor = tests::exec::executor(1);
        let seen = Collect::new();
        let (mine, acks) = Numbers::to(10);
        let pipeline =
            pipeline::from_fn(&executor.handle(), |n: u64| async move { Ok::<_, ()>(n) })
                .source(stream::iter(1000..1500))
                .source(mine)
                .in_flight(20)
                .ordered(true)
                .sink(seen.clone())
                .build()
                .unwrap();
        block_on(pipeline.run()).unwrap();
        let seen = seen.take();
        // The short one had its share of every pull, of at most ten each, not what the long
        // one left over.
        let last = seen.iter().position(|&n| n == 9).unwrap();
        assert!(last < 30, "{:?}", &seen[..last]);
        assert_eq!(acks.sorted(), (0..10).collect::<Vec<_>>());
    });
}

/// Items wait for company until they are told that none comes.
#[derive(Default)]
struct Company {
    waiting: Arc<Mutex<Vec<Door>>>,
    flushes: Arc<AtomicUsize>,
}

impl PerItem for Company {
    type Item = u64;
    type Output = u64;
    type Error = ();

    async fn run(&self, _: u64, item: u64) -> Verdict<u64, ()> {
        let door = Door::default();
        self.waiting.lock().unwrap().push(door.clone());
        door.pass().await;
        yield_now().await;
        Verdict::Done(item)
    }

    fn flush(&self, _: usize) {
        self.flushes.fetch_add(1, Ordering::SeqCst);
        let doors = std::mem::take(&mut *self.waiting.lock().unwrap());
        doors.iter().for_each(Door::open);
    }
}

#[test]
fn who_waits_for_company_is_told_that_none_comes() {
    watchdog::guard("company", || {
        // With one worker there is no second lane that could notice.
        let executors = [tests::exec::executor(1), tests::exec::executor(2)];
        for round in 0..50 {
            let executor = &executors[round / 2 % 2];
            // The source ends.
            let ended = pipeline::Builder::new(&executor.handle(), Company::default()).iter(0..30);
            assert_eq!(block_on(ended.build().unwrap().run()).unwrap().done, 30);
            // A pipeline is drained, and one is paused, with a source that never ends.
            for pause in [false, true] {
                let company = Company::default();
                let (flushes, waiting) = (company.flushes.clone(), company.waiting.clone());
                let running = pipeline::Builder::new(&executor.handle(), company)
                    .source(stream::iter(0..5).chain(stream::pending()))
                    .build()
                    .unwrap()
                    .start();
                // In half of the rounds some have not begun when the drain does.
                until(|| waiting.lock().unwrap().len() == 5 || (round % 2 == 0 && !pause));
                assert_eq!(flushes.load(Ordering::SeqCst), 0, "company may still come");
                if pause {
                    running.pause();
                    until(|| running.progress().done == 5);
                    running.resume();
                }
                let report = block_on(running.drain(watchdog::PATIENCE)).unwrap();
                assert_eq!((report.done, report.cancelled), (report.items, 0));
            }
        }
    });
}
