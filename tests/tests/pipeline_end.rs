//! However a pipeline ends, nothing of it is left, nothing is dropped twice, and the report
//! says what became of every item.

mod graph_support;
mod pipeline_support;

use std::future::pending;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use futures::executor::block_on;
use futures::{StreamExt, stream};
use graph_support::{Program, on_every_executor};
use pipeline_support::{Census, Door, Numbers, assert_adds_up};
use tests::drops::Drops;
use tests::exec::until;
use tests::watchdog;
use ws_core::Spawn;
use ws_executor::graph::{Sleep, Timer};
use ws_executor::pipeline::{self, BoxError, Cause, Collect, PullResult, Route, Sink, Source};
use ws_executor::yield_now;

struct Drain;

impl Program for Drain {
    fn run<S: Spawn + Clone + Send + Sync + 'static>(&self, name: &str, on: &S) {
        for moment in [0, 1, 10, 100, 1000, 5000] {
            for ordered in [false, true] {
                let (mut numbers, acks) = Numbers::to(u64::MAX);
                numbers.hesitates = |n| n % 7 == 0;
                let running = pipeline::from_fn(on, |n: u64| async move {
                    if n % 4 == 0 {
                        yield_now().await;
                    }
                    Ok::<_, ()>(n)
                })
                .source(numbers)
                .in_flight(33)
                .ordered(ordered)
                .build()
                .unwrap()
                .start();
                until(|| running.progress().done >= moment);
                let report = block_on(running.drain(watchdog::PATIENCE)).unwrap();
                assert_adds_up(&report);
                assert!(report.done >= moment, "{name}");
                assert_eq!((report.items, report.cancelled), (report.done, 0), "{name}");
                let pulled: Vec<_> = (0..report.items).collect();
                assert_eq!(acks.sorted(), pulled, "{name}");
            }
        }
    }
}

#[test]
fn a_drain_finishes_what_is_in_flight() {
    watchdog::guard("drain", || on_every_executor(&Drain));
}

/// All sleeps are over at once.
struct NoTime;

impl Timer for NoTime {
    fn sleep(&self, _: Duration) -> Sleep {
        Box::pin(async {})
    }
}

struct Cut {
    how: How,
}

#[derive(Clone, Copy, PartialEq)]
enum How {
    Cancel,
    Drop,
    LateDrain,
    Stop,
}

impl Program for Cut {
    /// Items that wait for ever, and one that can be told to fail.
    fn run<S: Spawn + Clone + Send + Sync + 'static>(&self, name: &str, on: &S) {
        const IN_FLIGHT: usize = 100;
        let (fails, census) = (Door::default(), Census::default());
        let (fail, born) = (fails.clone(), census.clone());
        let (numbers, acks) = Numbers::to(u64::MAX);
        let running = pipeline::from_fn(on, move |n: u64| {
            let (fail, member) = (fail.clone(), born.member());
            async move {
                if n < 5 {
                    return Ok(());
                }
                if n == 50 {
                    fail.pass().await;
                    return Err("told to");
                }
                pending::<()>().await;
                drop(member);
                Ok(())
            }
        })
        .source(numbers)
        .in_flight(IN_FLIGHT)
        .timer(Arc::new(NoTime))
        .build()
        .unwrap()
        .start();
        // Not the number of those alive alone: one of the first five may
        // be among them, on its way out.
        until(|| acks.sorted().len() == 5 && census.live() == IN_FLIGHT);
        let watch = running.watch();
        let failed = u64::from(self.how == How::Stop);
        let report = match self.how {
            How::Cancel => block_on(running.cancel()).unwrap(),
            How::LateDrain => block_on(running.drain(Duration::from_secs(1))).unwrap(),
            How::Stop => {
                fails.open();
                let error = block_on(running).unwrap_err();
                match error.cause {
                    Cause::Item(failure) => {
                        assert_eq!((failure.number, failure.error), (50, Some("told to")));
                    }
                    other => panic!("{other:?}"),
                }
                *error.report
            }
            How::Drop => {
                drop(running);
                until(|| watch.is_over());
                watch.report()
            }
        };
        assert_eq!(census.live(), 0, "{name}: futures are gone when the run is");
        assert_adds_up(&report);
        assert_eq!((report.done, report.failed), (5, failed), "{name}");
        assert_eq!(report.cancelled, IN_FLIGHT as u64 - failed, "{name}");
        assert_eq!(acks.sorted(), (0..5).collect::<Vec<_>>(), "{name}");
        assert_eq!(watch.report(), report);
    }
}

#[test]
fn what_is_cut_off_is_gone_and_counted() {
    watchdog::guard("cut", || {
        for how in [How::Cancel, How::Drop, How::LateDrain, How::Stop] {
            on_every_executor(&Cut { how });
        }
    });
}

#[test]
fn cancelling_at_any_moment_drops_everything_once() {
    watchdog::guard("cancel anywhere", || {
        let executor = tests::exec::executor(2);
        for round in 0..200_usize {
            let drops = Drops::of(2000);
            let items = drops.clone();
            let letters = Collect::new();
            let running = pipeline::from_fn(
                &executor.handle(),
                |item: Arc<tests::drops::Item>| async move {
                    match item.number % 4 {
                        0 => yield_now().await,
                        1 => return Err(()),
                        _ => {}
                    }
                    Ok(item)
                },
            )
            .iter((0..2000).map(move |number| Arc::new(items.item(number))))
            .in_flight(1 + round % 60)
            .ordered(round % 2 == 0)
            .on_error(|failure| match failure.number % 8 {
                1 => Route::Skip,
                _ => Route::DeadLetter,
            })
            .dead_letter(letters.clone())
            .build()
            .unwrap()
            .start();
            until(|| running.progress().done as usize >= round * 5);
            let report = block_on(running.cancel()).unwrap();
            assert_adds_up(&report);
            drop(letters.take());
            for number in 0..report.items as usize {
                assert_eq!(drops.count(number), 1, "item {number} of {report}");
            }
        }
    });
}

#[test]
fn a_pause_begins_nothing() {
    watchdog::guard("pause", || {
        let executor = tests::exec::executor(2);
        for _ in 0..20 {
            let begun = Census::default();
            let (counted, doors) = (begun.clone(), Door::default());
            let door = doors.clone();
            // Who has begun goes on counting when it is done.
            let kept = Arc::new(Mutex::new(Vec::new()));
            let running = pipeline::from_fn(&executor.handle(), move |n: u64| {
                let (member, door, kept) = (counted.member(), door.clone(), kept.clone());
                async move {
                    door.pass().await;
                    kept.lock().unwrap().push(member);
                    Ok::<_, ()>(n)
                }
            })
            .iter(0..200)
            .in_flight(10)
            .build()
            .unwrap()
            .start();
            until(|| begun.live() == 10);
            running.pause();
            doors.open();
            until(|| running.progress().done == 10);
            // All lanes are idle: they had their chance to begin an eleventh.
            block_on(executor.spawn(async { yield_now().await }));
            assert_eq!(running.progress().items, 10);
            assert_eq!(begun.live(), 10);
            running.resume();
            assert_eq!(block_on(running).unwrap().done, 200);
        }
    });
}

#[test]
fn a_shut_down_executor_ends_the_run_with_an_error() {
    watchdog::guard("shutdown", || {
        // With lanes under way …
        let executor = tests::exec::executor(2);
        let stuck = pipeline::from_fn(&executor.handle(), |_: u64| pending::<Result<(), ()>>());
        let running = stuck.iter(0..).in_flight(50).build().unwrap().start();
        until(|| running.progress().in_flight == 50);
        executor.shutdown();
        let error = block_on(running).unwrap_err();
        assert!(matches!(error.cause, Cause::Lost), "{error:?}");
        assert_eq!(error.report.cancelled, 50);
        assert_adds_up(&error.report);

        // … and before there was one.
        let executor = tests::exec::executor(1);
        let handle = executor.handle();
        executor.shutdown();
        let echo = pipeline::from_fn(&handle, |n: u64| async move { Ok::<_, ()>(n) });
        let error = block_on(echo.iter(0..9).build().unwrap().run()).unwrap_err();
        assert!(matches!(error.cause, Cause::Lost), "{error:?}");
        assert_eq!(error.report.items, 0);
    });
}

/// Gives three items and then fails, or panics.
struct Broken {
    given: u64,
    panics: bool,
}

impl Source for Broken {
    type Item = u64;
    type Ack = ();

    fn poll_pull(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<PullResult<Self>>> {
        self.given += 1;
        match self.given {
            1..=3 => Poll::Ready(Some(Ok((self.given, ())))),
            _ if self.panics => panic!("broken"),
            _ => Poll::Ready(Some(Err("broken".into()))),
        }
    }
}

#[test]
fn a_source_that_fails_ends_the_run_after_what_it_gave() {
    watchdog::guard("broken source", || {
        let executor = tests::exec::executor(2);
        for panics in [false, true] {
            let echo = pipeline::from_fn(&executor.handle(), |n: u64| async move {
                yield_now().await;
                Ok::<_, &str>(n)
            });
            let pipeline = echo.source(Broken { given: 0, panics }).build().unwrap();
            let error = block_on(pipeline.run()).unwrap_err();
            assert!(matches!(error.cause, Cause::Source(_)), "{error:?}");
            assert!(error.to_string().contains("broken"), "{error}");
            assert_eq!((error.report.items, error.report.done), (3, 3));
        }
    });
}

/// A sink that takes one push, and fails or panics at the next; or when it is closed.
struct Full {
    pushes: u32,
    panics: bool,
}

impl Sink<u64> for Full {
    async fn push(&mut self, _: Vec<u64>) -> Result<(), BoxError> {
        self.pushes += 1;
        match self.pushes {
            1 => Ok(()),
            _ if self.panics => panic!("full"),
            _ => Err("full".into()),
        }
    }

    async fn close(&mut self) -> Result<(), BoxError> {
        Err("cannot close".into())
    }
}

#[test]
fn a_sink_that_fails_ends_the_run_unacknowledged() {
    watchdog::guard("full sink", || {
        let executor = tests::exec::executor(2);
        for panics in [false, true] {
            let (numbers, acks) = Numbers::to(1000);
            let echo =
                pipeline::from_fn(&executor.handle(), |n: u64| async move { Ok::<_, &str>(n) });
            let full = Full { pushes: 0, panics };
            let pipeline = echo
                .source(numbers)
                .in_flight(10)
                .sink(full)
                .build()
                .unwrap();
            let error = block_on(pipeline.run()).unwrap_err();
            assert!(matches!(error.cause, Cause::Sink(_)), "{error:?}");
            assert!(error.to_string().contains("full"), "{error}");
            assert_adds_up(&error.report);
            assert_eq!(acks.len() as u64, error.report.done);
        }
        // Closing is part of the run.
        let echo = pipeline::from_fn(&executor.handle(), |n: u64| async move { Ok::<_, &str>(n) });
        let full = Full {
            pushes: 0,
            panics: false,
        };
        let error = block_on(echo.iter([]).sink(full).build().unwrap().run()).unwrap_err();
        assert_eq!(error.to_string(), "the sink failed: cannot close");
    });
}

/// An item whose copy panics.
struct Fragile(u64);

impl Clone for Fragile {
    fn clone(&self) -> Self {
        assert_ne!(self.0, 3, "fragile");
        Self(self.0)
    }
}

#[test]
fn panics_are_routed_wherever_they_are() {
    watchdog::guard("panics", || {
        let executor = tests::exec::executor(2);
        let drops = Drops::of(1);
        let bomb = Arc::new(std::sync::Mutex::new(Some(drops.panicking(0))));
        let pipeline = pipeline::from_fn(&executor.handle(), move |item: Fragile| {
            assert_ne!(item.0, 4, "in the call");
            let bomb = (item.0 == 6).then(|| bomb.lock().unwrap().take()).flatten();
            async move {
                assert_ne!(item.0, 5, "in the poll");
                let _bomb = bomb; // its drop panics, in the last poll of item 6
                yield_now().await;
                assert_ne!(item.0, 7, "in a later poll");
                Ok::<_, &str>(())
            }
        })
        .iter((0..10).map(Fragile))
        .on_error(|failure| {
            let text = failure.panic.as_deref().expect("a panic");
            let expected = match failure.number {
                3 => "fragile",
                4 => "in the call",
                5 => "in the poll",
                6 => "item 0 panics in its drop",
                7 => "in a later poll",
                other => panic!("item {other} is innocent: {text}"),
            };
            assert!(text.contains(expected), "{text}");
            Route::Skip
        })
        .dead_letter(Collect::new())
        .build()
        .unwrap();
        let report = block_on(pipeline.run()).unwrap();
        assert_eq!((report.done, report.skipped), (5, 5));
        drops.assert_each_once();
        tests::exec::assert_alive(&executor);
    });
}

#[test]
fn a_route_that_panics_or_leads_nowhere_ends_the_run() {
    watchdog::guard("routes", || {
        let executor = tests::exec::executor(2);
        let fail = |_: u64| async { Err::<(), _>("no") };
        let nowhere = pipeline::from_fn(&executor.handle(), fail)
            .iter(0..5)
            .on_error(|_| Route::DeadLetter);
        let error = block_on(nowhere.build().unwrap().run()).unwrap_err();
        assert!(matches!(error.cause, Cause::NoDeadLetter(_)), "{error:?}");
        assert!(error.to_string().contains("no sink is set"), "{error}");

        let panics = pipeline::from_fn(&executor.handle(), fail)
            .iter(0..5)
            .on_error(|_| panic!("lost the way"));
        let error = block_on(panics.build().unwrap().run()).unwrap_err();
        assert!(error.to_string().contains("lost the way"), "{error}");
        assert_adds_up(&error.report);
    });
}

#[test]
fn a_run_that_is_never_awaited_comes_to_its_end() {
    watchdog::guard("not awaited", || {
        let executor = tests::exec::executor(2);
        let results = Collect::new();
        let echo = pipeline::from_fn(&executor.handle(), |n: u64| async move { Ok::<_, ()>(n) });
        let items = stream::iter(0..100).chain(stream::iter(100..200));
        let running = echo
            .source(items)
            .sink(results.clone())
            .build()
            .unwrap()
            .start();
        until(|| results.len() == 200);
        assert_eq!(block_on(running).unwrap().done, 200);
    });
}
