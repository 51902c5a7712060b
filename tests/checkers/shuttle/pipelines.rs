//! Pipelines: lanes on two workers, a source and a sink that wait, and every way in which a
//! run ends.
//!
//! A lane that is not called up when there is work, or not woken when the run stops, waits
//! for ever, and shuttle reports a deadlock.

use std::future::pending;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use ws_core::sync::{Mutex, thread};
use ws_executor::pipeline::{
    self, BoxError, Builder, Cause, Collect, PerItem, PullResult, Running, Sink, Source, Verdict,
};
use ws_executor::{Executor, yield_now};

use super::kit::{Count, Event, pair, single};
use super::scenario::Scenario;

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "pipelines.order",
        about: "items that wait differently leave in the order of the source",
        faults: &[],
        body: order,
    },
    Scenario {
        name: "pipelines.source_waits",
        about: "the source has an item, waits, and is woken while it is asked or after",
        faults: &[],
        body: source_waits,
    },
    Scenario {
        name: "pipelines.sink_waits",
        about: "the sink waits, with room for one item more: that one runs meanwhile",
        faults: &[],
        body: sink_waits,
    },
    Scenario {
        name: "pipelines.company",
        about: "items wait until they hear that no more come",
        faults: &[],
        body: company,
    },
    Scenario {
        name: "pipelines.stop",
        about: "an item fails beside one that waits for ever: that one is dropped, then the run ends",
        faults: &[],
        body: stop,
    },
    Scenario {
        name: "pipelines.dropped",
        about: "a run is dropped at any moment: its lanes leave, and drop what they have",
        faults: &[],
        body: dropped,
    },
    Scenario {
        name: "pipelines.all_wait",
        about: "all items wait for one that the source gives later: its wake finds a lane",
        faults: &[],
        body: all_wait,
    },
    Scenario {
        name: "pipelines.woken_at_shutdown",
        about: "the source is woken under the lock of all drops, while the executor is shut down",
        faults: &[],
        body: woken_at_shutdown,
    },
    Scenario {
        name: "pipelines.woken_when_dropped",
        about: "the source is woken under the lock of all drops, while the run is dropped",
        faults: &[],
        body: woken_when_dropped,
    },
    Scenario {
        name: "pipelines.drained",
        about: "a run is drained at any moment: what was pulled is done",
        faults: &[],
        body: drained,
    },
];

fn order() {
    let executor = pair();
    let results = Collect::new();
    let pipeline = pipeline::from_fn(&executor.handle(), |n: u32| async move {
        if n != 1 {
            yield_now().await;
        }
        Ok::<_, ()>(n)
    })
    .iter(0..4)
    .in_flight(2)
    .ordered(true)
    .sink(results.clone())
    .build()
    .unwrap();
    assert_eq!(executor.block_on(pipeline.run()).unwrap().done, 4);
    assert_eq!(results.take(), [0, 1, 2, 3]);
}

/// One item, then nothing until the event, then one more.
struct Late {
    event: Event,
    given: u32,
}

impl Source for Late {
    type Item = u32;
    type Ack = ();

    fn poll_pull(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<PullResult<Self>>> {
        if self.given == 1 && pin!(self.event.wait()).poll(cx).is_pending() {
            return Poll::Pending;
        }
        self.given += 1;
        Poll::Ready((self.given < 3).then_some(Ok((self.given, ()))))
    }
}

fn source_waits() {
    let executor = pair();
    let event = Event::new();
    let source = Late {
        event: event.clone(),
        given: 0,
    };
    let echo = pipeline::from_fn(&executor.handle(), |n: u32| async move { Ok::<_, ()>(n) });
    let running = echo.source(source).build().unwrap().start();
    executor.spawn(async move { event.set() }).detach();
    assert_eq!(executor.block_on(running).unwrap().done, 2);
}

/// Waits for an event in each push.
struct Slow(Event, Count);

impl Sink<u32> for Slow {
    async fn push(&mut self, results: Vec<u32>) -> Result<(), BoxError> {
        self.0.wait().await;
        results.iter().for_each(|_| self.1.add());
        Ok(())
    }
}

fn sink_waits() {
    let executor = pair();
    let (event, pushed) = (Event::new(), Count::new());
    // The second item lets the sink go on: it must run while the first is pushed.
    let setting = event.clone();
    let pipeline = pipeline::from_fn(&executor.handle(), move |n: u32| {
        let setting = setting.clone();
        async move {
            if n == 1 {
                setting.set();
            }
            Ok::<_, ()>(n)
        }
    })
    .iter(0..3)
    .in_flight(2)
    .sink(Slow(event, pushed.clone()))
    .build()
    .unwrap();
    assert_eq!(executor.block_on(pipeline.run()).unwrap().done, 3);
    assert_eq!(pushed.get(), 3);
}

/// Items that wait until they are told that no more come.
#[derive(Default)]
struct Company(Arc<Mutex<Vec<Event>>>);

impl PerItem for Company {
    type Item = u32;
    type Output = ();
    type Error = ();

    async fn run(&self, _: u64, _: u32) -> Verdict<(), ()> {
        let event = Event::new();
        self.0.lock().unwrap().push(event.clone());
        event.wait().await;
        Verdict::Done(())
    }

    fn flush(&self, _: usize) {
        let waiting = std::mem::take(&mut *self.0.lock().unwrap());
        waiting.iter().for_each(Event::set);
    }
}

fn company() {
    let executor = pair();
    let pipeline = Builder::new(&executor.handle(), Company::default());
    // StackHeadroom for one more, so that the end of the source is seen.
    let pipeline = pipeline.iter(0..3).in_flight(4).build().unwrap();
    assert_eq!(executor.block_on(pipeline.run()).unwrap().done, 3);
}

fn stop() {
    let executor = pair();
    let dropped = Count::new();
    let tokens = dropped.clone();
    let pipeline = pipeline::from_fn(&executor.handle(), |(n, token)| async move {
        if n == 1 {
            yield_now().await;
            return Err("no");
        }
        pending::<()>().await;
        drop(token);
        Ok(())
    });
    let items = (0..3).map(move |n| (n, tokens.on_drop()));
    let pipeline = pipeline.iter(items).in_flight(2).build().unwrap();
    let error = executor.block_on(pipeline.run()).unwrap_err();
    assert!(matches!(error.cause, Cause::Item(_)));
    assert_eq!((error.report.items, error.report.cancelled), (2, 1));
    assert_eq!(dropped.get(), 2, "both items are gone");
}

fn dropped() {
    let executor = pair();
    let dropped = Count::new();
    let tokens = dropped.clone();
    let pipeline = pipeline::from_fn(&executor.handle(), |token| async move {
        yield_now().await;
        drop(token);
        pending::<Result<(), ()>>().await
    });
    let running = pipeline
        .iter((0..2).map(move |_| tokens.on_drop()))
        .in_flight(2)
        .build()
        .unwrap()
        .start();
    let watch = running.watch();
    let event = Event::new();
    let setting = event.clone();
    executor.spawn(async move { setting.set() }).detach();
    event.block();
    drop(running);
    executor.drain();
    assert!(watch.is_over());
    let report = watch.report();
    assert_eq!(report.items, report.cancelled);
    assert_eq!(u64::from(dropped.get()), report.items);
}

fn drained() {
    let executor = pair();
    let pipeline = pipeline::from_fn(&executor.handle(), |n: u32| async move {
        yield_now().await;
        Ok::<_, ()>(n)
    });
    let running = pipeline.iter(0..4).in_flight(2).build().unwrap().start();
    let report = executor
        .block_on(running.drain(std::time::Duration::MAX))
        .unwrap();
    assert_eq!(report.items, report.done);
}

/// Two items, the second one together with the news that there are no more for now; then one
/// more after the event.
struct Rest {
    event: Event,
    given: u32,
}

impl Source for Rest {
    type Item = u32;
    type Ack = ();

    fn poll_pull(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<PullResult<Self>>> {
        if self.given == 2 && pin!(self.event.wait()).poll(cx).is_pending() {
            return Poll::Pending;
        }
        self.given += 1;
        Poll::Ready((self.given < 4).then_some(Ok((self.given, ()))))
    }
}

fn all_wait() {
    let executor = single();
    let (begun, more) = (Event::new(), Event::new());
    let doors = [Event::new(), Event::new()];
    let (begins, opens) = (begun.clone(), doors.clone());
    let pipeline = pipeline::from_fn(&executor.handle(), move |n: u32| {
        let (begins, opens) = (begins.clone(), opens.clone());
        async move {
            match n {
                1 => opens[0].wait().await,
                2 => {
                    begins.set();
                    opens[1].wait().await;
                }
                _ => opens.iter().for_each(Event::set),
            }
            Ok::<_, ()>(())
        }
    });
    let source = Rest {
        event: more.clone(),
        given: 0,
    };
    let running = pipeline
        .source(source)
        .in_flight(4)
        .build()
        .unwrap()
        .start();
    // On the one worker: after the poll in which the second item begins to wait.
    let wakes = async move {
        begun.wait().await;
        more.set();
    };
    executor.spawn(wakes).detach();
    assert_eq!(executor.block_on(running).unwrap().done, 3);
}

/// The waker of a source under a lock, and how many drops went for that lock and got it. One
/// that has it already panics, where nobody hears of it.
#[derive(Default)]
struct Guarded {
    waker: Mutex<Option<Waker>>,
    went: Count,
    got: Count,
}

impl Guarded {
    fn wake(&self) {
        if let Some(waker) = &*self.waker.lock().unwrap() {
            waker.wake_by_ref();
        }
    }
}

/// A value of the user's: its drop takes the lock under which the source is woken.
struct Locks(Arc<Guarded>);

impl Drop for Locks {
    fn drop(&mut self) {
        self.0.went.add();
        self.0.wake();
        self.0.got.add();
    }
}

/// As [`Rest`], and leaves its waker under the lock.
struct Locked {
    given: u32,
    locks: Locks,
}

impl Source for Locked {
    type Item = u32;
    type Ack = ();

    fn poll_pull(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<PullResult<Self>>> {
        if self.given == 2 {
            *self.locks.0.waker.lock().unwrap() = Some(cx.waker().clone());
            return Poll::Pending;
        }
        self.given += 1;
        Poll::Ready(Some(Ok((self.given, ()))))
    }
}

/// What there is to end; one of both beside a wake of the source, the other one after it.
type Ends = (Executor, Running<()>);

fn woken_at_shutdown() {
    woken_at_end(|(executor, running)| {
        executor.shutdown();
        Box::new(move || drop(running))
    });
}

fn woken_when_dropped() {
    woken_at_end(|(executor, running)| {
        drop(running);
        Box::new(move || executor.shutdown())
    });
}

fn woken_at_end(end: fn(Ends) -> Box<dyn FnOnce()>) {
    let executor = single();
    let lock = Arc::<Guarded>::default();
    let (begun, work) = (Event::new(), Locks(lock.clone()));
    let begins = begun.clone();
    let pipeline = pipeline::from_fn(&executor.handle(), move |n: u32| {
        let _ = &work;
        if n == 2 {
            begins.set();
        }
        pending::<Result<(), ()>>()
    });
    let source = Locked {
        given: 0,
        locks: Locks(lock.clone()),
    };
    let running = pipeline
        .source(source)
        .in_flight(4)
        .build()
        .unwrap()
        .start();
    begun.block();
    let waking = lock.clone();
    let foreign = thread::spawn(move || waking.wake());
    let rest = end((executor, running));
    foreign.join().unwrap();
    rest();
    assert_eq!(Arc::strong_count(&lock), 1);
    assert_eq!(lock.got.get(), lock.went.get(), "a drop inside of a wake");
}
