//! Foreign code that misbehaves at the edges of a pipeline: sinks that never close, drops
//! that panic, sources that are slow. The run ends as it says, with all of it counted.

mod pipeline_support;

use std::future::pending;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::thread;
use std::time::{Duration, Instant};

use futures::executor::block_on;
use pipeline_support::{Numbers, assert_adds_up};
use tests::exec::until;
use tests::watchdog;
use ws_core::Spawn;
use ws_executor::graph::{Sleep, Timer};
use ws_executor::pipeline::{self, BoxError, Cause, PullResult, Report, Route, Sink, Source};
use ws_executor::{Handle, task_graph, yield_now};

/// All sleeps are over at once.
struct NoTime;

impl Timer for NoTime {
    fn sleep(&self, _: Duration) -> Sleep {
        Box::pin(async {})
    }
}

/// A sink that never comes to the end of its closing.
struct Ajar(Arc<AtomicBool>);

impl Sink<u64> for Ajar {
    async fn push(&mut self, _: Vec<u64>) -> Result<(), BoxError> {
        Ok(())
    }

    async fn close(&mut self) -> Result<(), BoxError> {
        self.0.store(true, Ordering::SeqCst);
        pending().await
    }
}

#[test]
fn a_run_that_waits_for_its_sink_to_close_can_be_cancelled() {
    watchdog::guard("close", || {
        let executor = tests::exec::executor(2);
        for how in 0..3 {
            let closing = Arc::new(AtomicBool::new(false));
            let echo =
                pipeline::from_fn(&executor.handle(), |n: u64| async move { Ok::<_, ()>(n) });
            let (numbers, acks) = Numbers::to(10);
            let running = echo
                .source(numbers)
                .sink(Ajar(closing.clone()))
                .timer(Arc::new(NoTime))
                .build()
                .unwrap()
                .start();
            let watch = running.watch();
            until(|| closing.load(Ordering::SeqCst));
            match how {
                0 => assert_eq!(block_on(running.cancel()).unwrap().done, 10),
                1 => assert_eq!(
                    block_on(running.drain(Duration::from_secs(1)))
                        .unwrap()
                        .done,
                    10
                ),
                _ => drop(running),
            }
            until(|| watch.is_over());
            assert_adds_up(&watch.report());
            assert_eq!(acks.len(), 10);
        }
    });
}

/// Panics in each drop.
#[derive(Debug)]
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("a bomb");
    }
}

/// An item whose copies panic in their drops; and so does an error with one.
struct Original(
    u64,
    #[expect(dead_code, reason = "for its drop")] Option<Bomb>,
);

impl Clone for Original {
    fn clone(&self) -> Self {
        Self(self.0, Some(Bomb))
    }
}

#[test]
fn drops_of_copies_and_of_errors_may_panic() {
    watchdog::guard("copies", || {
        let executor = tests::exec::executor(2);
        let work = |item: Original| async move {
            match item.0 % 3 {
                0 => Ok(()),
                1 => Err(None),
                _ => Err(Some(Bomb)),
            }
        };
        let pipeline = pipeline::from_fn(&executor.handle(), work)
            .iter((0..30).map(|n| Original(n, None)))
            .on_error(|_| Route::Skip)
            .dead_letter(Forget)
            .build()
            .unwrap();
        let report = block_on(pipeline.run()).unwrap();
        assert_eq!((report.done, report.skipped), (10, 20));
    });
}

struct Forget;

impl<T: Send + 'static> Sink<T> for Forget {
    async fn push(&mut self, results: Vec<T>) -> Result<(), BoxError> {
        results.into_iter().for_each(std::mem::forget);
        Ok(())
    }
}

#[test]
fn drops_of_many_items_may_panic_when_a_run_is_cut_off() {
    watchdog::guard("bombs", || {
        for shut_down in [false, true] {
            let executor = tests::exec::executor(2);
            let begun = Arc::new(AtomicUsize::new(0));
            let begin = begun.clone();
            let running = pipeline::from_fn(&executor.handle(), move |bomb: Bomb| {
                begin.fetch_add(1, Ordering::SeqCst);
                async move { Ok::<_, ()>(bomb) }
            })
            .iter((0..).map(|_| Bomb))
            .in_flight(100)
            .sink(Stuck)
            .build()
            .unwrap()
            .start();
            until(|| begun.load(Ordering::SeqCst) >= 100);
            let report = if shut_down {
                executor.shutdown();
                *block_on(running).unwrap_err().report
            } else {
                block_on(running.cancel()).unwrap()
            };
            assert_adds_up(&report);
            assert_eq!(report.cancelled, 100);
        }
    });
}

/// Keeps the first push for ever, and panics when it is dropped.
struct Stuck;

impl<T: Send + 'static> Sink<T> for Stuck {
    async fn push(&mut self, results: Vec<T>) -> Result<(), BoxError> {
        results.into_iter().for_each(std::mem::forget);
        pending().await
    }
}

impl Drop for Stuck {
    fn drop(&mut self) {
        panic!("a sink");
    }
}

/// Whether so many lanes have an item each.
fn is_full(report: &Report, lanes: usize) -> bool {
    report.lanes == lanes && report.items == lanes as u64
}

/// That `many` take not much more time for each than a thousand do: once, because the
/// machine may stand still in between.
fn assert_proportional(time: impl Fn(usize) -> Duration, many: usize) {
    let most = || 100 * time(1000).max(Duration::from_millis(10));
    let proportional = (0..5).any(|_| time(many) < most());
    assert!(
        proportional,
        "{:?} for {many}, not {:?}",
        time(many),
        most()
    );
}

#[test]
fn a_shutdown_with_many_lanes_takes_time_in_proportion() {
    watchdog::guard("many lanes", || {
        let time = |lanes: usize| {
            let executor = tests::exec::executor(2);
            let stuck = pipeline::from_fn(&executor.handle(), |_: u64| pending::<Result<(), ()>>());
            let running = stuck.iter(0..).in_flight(lanes).build().unwrap().start();
            let watch = running.watch();
            until(|| is_full(&watch.report(), lanes));
            let began = Instant::now();
            executor.shutdown();
            assert_eq!(
                block_on(running).unwrap_err().report.cancelled,
                lanes as u64
            );
            began.elapsed()
        };
        assert_proportional(time, 16_000);
    });
}

#[test]
fn a_slow_iterator_does_not_hold_back_its_items() {
    watchdog::guard("slow iterator", || {
        let executor = tests::exec::executor(2);
        let (begun, most) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let (begin, ahead) = (begun.clone(), most.clone());
        let echo = pipeline::from_fn(&executor.handle(), move |n: u64| {
            begin.fetch_add(1, Ordering::SeqCst);
            async move { Ok::<_, ()>(n) }
        });
        // How many were given before and have not begun: a lane that stands still has one.
        let items = (0..60).inspect(move |n| {
            thread::sleep(Duration::from_millis(3));
            ahead.fetch_max(n - begun.load(Ordering::SeqCst), Ordering::SeqCst);
        });
        let pipeline = echo.iter(items).build().unwrap();
        assert_eq!(block_on(pipeline.run()).unwrap().done, 60);
        let most = most.load(Ordering::SeqCst);
        assert!(
            most < 20,
            "{most} had been pulled, and none of them had begun"
        );
    });
}

#[test]
fn a_pause_begins_nothing_of_what_a_lane_has_taken() {
    watchdog::guard("pause", || {
        let executor = tests::exec::executor(2);
        let begun = Arc::new(AtomicU64::new(0));
        let begin = begun.clone();
        // Quick ones first, so that lanes take many at a time.
        let running = pipeline::from_fn(&executor.handle(), move |n: u64| {
            begin.fetch_add(1, Ordering::SeqCst);
            if n > 5000 {
                thread::sleep(Duration::from_millis(3));
            }
            async move { Ok::<_, ()>(n) }
        })
        .iter(0..5200)
        .build()
        .unwrap()
        .start();
        until(|| begun.load(Ordering::SeqCst) > 5001);
        running.pause();
        let before = begun.load(Ordering::SeqCst);
        thread::sleep(Duration::from_millis(100));
        let after = begun.load(Ordering::SeqCst);
        assert!(
            after <= before + 2,
            "{} began after the pause",
            after - before
        );
        running.resume();
        assert_eq!(block_on(running).unwrap().done, 5200);
    });
}

/// A source without items that cannot be closed, or notes that it was.
struct Empty(Option<Arc<AtomicBool>>);

impl Source for Empty {
    type Item = u64;
    type Ack = ();

    fn poll_pull(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<PullResult<Self>>> {
        Poll::Ready(None)
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        match &self.0 {
            None => Poll::Ready(Err("stays open".into())),
            Some(closed) => {
                assert!(!closed.swap(true, Ordering::SeqCst), "closed twice");
                Poll::Ready(Ok(()))
            }
        }
    }
}

#[test]
fn all_merged_sources_are_closed() {
    watchdog::guard("merged", || {
        let executor = tests::exec::executor(2);
        let closed = Arc::new(AtomicBool::new(false));
        let echo = pipeline::from_fn(&executor.handle(), |n: u64| async move { Ok::<_, ()>(n) });
        let pipeline = echo
            .source(Empty(None))
            .source(Empty(Some(closed.clone())))
            .build()
            .unwrap();
        let error = block_on(pipeline.run()).unwrap_err();
        assert!(matches!(error.cause, Cause::Source(_)), "{error:?}");
        assert!(closed.load(Ordering::SeqCst));
    });
}

/// Spawns so many, and panics at the next.
#[derive(Clone)]
struct Weary(Handle, Arc<AtomicUsize>);

impl Spawn for Weary {
    fn spawn<F: Future<Output = ()> + Send + 'static>(&self, future: F) {
        assert_ne!(self.1.fetch_sub(1, Ordering::SeqCst), 0, "too many");
        Spawn::spawn(&self.0, future);
    }

    fn parallelism(&self) -> usize {
        2
    }
}

#[test]
fn an_executor_that_panics_ends_the_run() {
    watchdog::guard("weary", || {
        let executor = tests::exec::executor(2);
        for spawns in 0..4 {
            let weary = Weary(executor.handle(), Arc::new(AtomicUsize::new(spawns)));
            let work = |n: u64| async move {
                yield_now().await;
                if n < 1000 {
                    Ok::<_, ()>(n)
                } else {
                    pending().await
                }
            };
            let running = pipeline::from_fn(&weary, work)
                .iter(0..)
                .build()
                .unwrap()
                .start();
            let error = block_on(running).unwrap_err();
            assert!(matches!(error.cause, Cause::Lost), "{error:?}");
            assert_adds_up(&error.report);
        }
        tests::exec::assert_alive(&executor);
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

#[task_graph]
async fn by_key(item: Fragile) -> Result<u64, ()> {
    let number = read(item).await;
    #[node(key = number % 2)]
    let seen = see(number).await;
    Ok(seen)
}

async fn read(item: Fragile) -> u64 {
    item.0
}

async fn see(number: u64) -> u64 {
    yield_now().await;
    number
}

#[test]
fn nobody_waits_for_an_item_that_could_not_be_copied() {
    watchdog::guard("fragile", || {
        let executor = tests::exec::executor(2);
        let pipeline = by_key::bind(&executor.handle(), by_key::Shared {})
            .iter((0..30).map(Fragile))
            .on_error(|_| Route::Skip)
            .dead_letter(Forget)
            .build()
            .unwrap();
        let report = block_on(pipeline.run()).unwrap();
        assert_eq!((report.done, report.skipped), (29, 1));
    });
}

#[task_graph]
async fn hot(number: u64) -> Result<u64, ()> {
    #[node(key = 0)]
    let seen = see(number).await;
    Ok(seen)
}

#[test]
fn items_of_one_key_take_time_in_proportion() {
    watchdog::guard("hot key", || {
        let executor = tests::exec::executor(2);
        let time = |items: usize| {
            let began = Instant::now();
            let pipeline = hot::bind(&executor.handle(), hot::Shared {})
                .iter(0..items as u64)
                .in_flight(items)
                .build()
                .unwrap();
            assert_eq!(block_on(pipeline.run()).unwrap().done, items as u64);
            began.elapsed()
        };
        assert_proportional(time, 20_000);
    });
}

#[task_graph]
async fn narrow(number: u64) -> Result<u64, ()> {
    #[node(limit = 1)]
    let never = wait(number).await;
    Ok(never)
}

async fn wait(_: u64) -> u64 {
    pending().await
}

#[test]
fn cancelling_those_who_wait_at_a_limit_takes_time_in_proportion() {
    watchdog::guard("limit", || {
        let executor = tests::exec::executor(2);
        let time = |items: usize| {
            let running = narrow::bind(&executor.handle(), narrow::Shared {})
                .iter(0..)
                .in_flight(items)
                .build()
                .unwrap()
                .start();
            let watch = running.watch();
            until(|| is_full(&watch.report(), items));
            let began = Instant::now();
            assert_eq!(block_on(running.cancel()).unwrap().cancelled, items as u64);
            began.elapsed()
        };
        assert_proportional(time, 20_000);
    });
}
