//! A wake of a source drops nothing of its pipeline: no item, no future of one, no source, no
//! sink, no closure. The caller of `wake` may hold the lock that these drops take. The wake is
//! heard all the same, whatever the lanes are at.

mod pipeline_support;

use std::cell::Cell;
use std::collections::VecDeque;
use std::future::{pending, poll_fn};
use std::mem;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use pipeline_support::Door;
use tests::exec::{executor, until};
use tests::watchdog::guard;
use ws_core::Spawn;
use ws_executor::Executor;
use ws_executor::pipeline::{self, BoxError, Pipeline, PullResult, Route, Running, Sink, Source};

/// How often an executor with a pipeline is shut down.
const ROUNDS: usize = 300;

thread_local! {
    /// Whether this thread is inside of a wake.
    static WAKING: Cell<bool> = const { Cell::new(false) };
}

/// Calls `wake`, and notes that this thread does.
fn waking(wake: impl FnOnce()) {
    WAKING.set(true);
    wake();
    WAKING.set(false);
}

/// The wakers of a pipeline under one lock, and what the test has seen.
#[derive(Default)]
struct Wakers {
    wakers: Mutex<Vec<Waker>>,
    /// Drops inside of wakes.
    faults: AtomicUsize,
    /// Spawns inside of wakes.
    spawns: AtomicUsize,
}

impl Wakers {
    fn leave(&self, waker: &Waker) {
        let mut wakers = self.wakers.lock().unwrap();
        if !wakers.iter().any(|old| old.will_wake(waker)) {
            wakers.push(waker.clone());
        }
    }

    /// Wakes all under the lock.
    fn wake_all(&self) {
        let wakers = self.wakers.lock().unwrap();
        waking(|| wakers.iter().for_each(Waker::wake_by_ref));
    }

    fn assert_none_dropped(&self) {
        let faults = self.faults.load(Ordering::Relaxed);
        assert_eq!(faults, 0, "drops inside of a wake");
    }
}

/// A value of the user's: its drop takes the lock under which others wake, and wakes.
struct Locks(Arc<Wakers>);

impl Drop for Locks {
    fn drop(&mut self) {
        if WAKING.get() {
            // The caller of the wake has the lock: this drop would never return.
            self.0.faults.fetch_add(1, Ordering::Relaxed);
        } else {
            self.0.wake_all();
        }
    }
}

/// Gives two items, the second one together with the news that there are no more for now.
struct TwoItems {
    given: usize,
    wakers: Arc<Wakers>,
    _locks: Locks,
}

impl Source for TwoItems {
    type Item = Locks;
    type Ack = ();

    fn poll_pull(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<PullResult<Self>>> {
        if self.given == 2 {
            self.wakers.leave(cx.waker());
            return Poll::Pending;
        }
        self.given += 1;
        let item = Locks(Arc::clone(&self.wakers));
        Poll::Ready(Some(Ok((item, ()))))
    }
}

struct Nowhere(#[expect(dead_code, reason = "for its drop")] Locks);

impl Sink<()> for Nowhere {
    async fn push(&mut self, _: Vec<()>) -> Result<(), BoxError> {
        Ok(())
    }
}

/// A pipeline all of whose parts have such a drop, and whose items wait for ever.
fn stuck<S>(spawner: &S, wakers: &Arc<Wakers>) -> Pipeline<()>
where
    S: Spawn + Clone + Send + Sync + 'static,
{
    let locks = || Locks(Arc::clone(wakers));
    let (work, route, mine) = (locks(), locks(), Arc::clone(wakers));
    let stuck = pipeline::from_fn(spawner, move |item: Locks| {
        let _ = &work;
        let wakers = Arc::clone(&mine);
        async move {
            let _item = item;
            poll_fn(|cx| {
                wakers.leave(cx.waker());
                Poll::<()>::Pending
            })
            .await;
            Ok::<_, ()>(())
        }
    });
    let source = TwoItems {
        given: 0,
        wakers: Arc::clone(wakers),
        _locks: locks(),
    };
    let stuck = stuck.source(source).in_flight(4).sink(Nowhere(locks()));
    let stuck = stuck.on_error(move |_| {
        let _ = &route;
        Route::Skip
    });
    stuck.build().unwrap()
}

type Boxed = Pin<Box<dyn Future<Output = ()> + Send>>;

/// An executor that is polled by hand. Once it is closed it refuses, and another thread drops
/// all its tasks.
#[derive(Clone)]
struct ByHand {
    tasks: Arc<Mutex<Option<Vec<Boxed>>>>,
    wakers: Arc<Wakers>,
}

impl ByHand {
    fn new(wakers: &Arc<Wakers>) -> Self {
        Self {
            tasks: Arc::new(Mutex::new(Some(Vec::new()))),
            wakers: Arc::clone(wakers),
        }
    }

    /// Polls all tasks, and those that they spawn, once.
    fn poll(&self, waker: &Waker) {
        let mut polled = Vec::new();
        loop {
            let due = std::mem::take(self.tasks.lock().unwrap().as_mut().unwrap());
            if due.is_empty() {
                break;
            }
            for mut task in due {
                if task
                    .as_mut()
                    .poll(&mut Context::from_waker(waker))
                    .is_pending()
                {
                    polled.push(task);
                }
            }
        }
        *self.tasks.lock().unwrap() = Some(polled);
    }

    /// Drops all tasks, on another thread.
    fn shut_down(&self) {
        let tasks = self.tasks.lock().unwrap().take();
        thread::spawn(move || drop(tasks)).join().unwrap();
    }
}

impl Spawn for ByHand {
    fn spawn<F>(&self, future: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        if WAKING.get() {
            self.wakers.spawns.fetch_add(1, Ordering::Relaxed);
            // The worst moment for a shutdown: this lane becomes the last one.
            self.shut_down();
        }
        if let Some(tasks) = &mut *self.tasks.lock().unwrap() {
            tasks.push(Box::pin(future));
        }
    }

    /// One at a time: otherwise a lane that pulls two items calls up another one, for company.
    fn parallelism(&self) -> usize {
        1
    }
}

/// All lanes wait in items, and the executor is shut down while the source is woken: if the
/// wake added a lane, that one would be dropped there, as the last one.
#[test]
fn a_wake_spawns_no_lane() {
    guard("no lane", || {
        let wakers = Arc::new(Wakers::default());
        let hand = ByHand::new(&wakers);
        let running = stuck(&hand, &wakers).start();
        hand.poll(Waker::noop());
        assert_eq!(running.progress().items, 2);
        let source = wakers.wakers.lock().unwrap().clone();
        waking(|| source.into_iter().for_each(Waker::wake));
        wakers.assert_none_dropped();
        assert_eq!(wakers.spawns.load(Ordering::Relaxed), 0);
        hand.shut_down();
        drop(running);
    });
}

/// Ends everything when it is woken: the tasks and the run are dropped, on another thread.
struct Ends {
    hand: ByHand,
    running: Mutex<Option<Running<()>>>,
    woken: AtomicBool,
}

impl Wake for Ends {
    fn wake(self: Arc<Self>) {
        if !self.woken.swap(true, Ordering::Relaxed) {
            self.hand.shut_down();
            let running = self.running.lock().unwrap().take();
            thread::spawn(move || drop(running)).join().unwrap();
        }
    }
}

/// The whole pipeline is dropped while its source is woken: the wake must not have the last
/// reference.
#[test]
fn a_wake_holds_nothing_of_the_users() {
    guard("last reference", || {
        let wakers = Arc::new(Wakers::default());
        let hand = ByHand::new(&wakers);
        let ends = Arc::new(Ends {
            hand: hand.clone(),
            running: Mutex::new(Some(stuck(&hand, &wakers).start())),
            woken: AtomicBool::new(false),
        });
        hand.poll(&Waker::from(Arc::clone(&ends)));
        // The first waker is that of an item, which is this test's.
        let source = wakers.wakers.lock().unwrap().clone();
        let source = source
            .into_iter()
            .filter(|waker| !waker.will_wake(&Waker::from(Arc::clone(&ends))));
        for waker in source {
            waking(|| waker.wake());
        }
        assert!(ends.woken.load(Ordering::Relaxed), "no lane was woken");
        wakers.assert_none_dropped();
        drop(hand);
        // One of them is that of `ends`, which keeps this list.
        let left = mem::take(&mut *wakers.wakers.lock().unwrap());
        drop(left);
    });
}

type End = fn(Executor);

const ENDS: [End; 4] = [
    Executor::shutdown,
    drop,
    |executor| assert!(executor.shutdown_timeout(Duration::MAX)),
    Executor::drain,
];

/// A foreign thread wakes the source and the items under the lock, all the time, while the
/// executor is shut down, the run is dropped, or both.
#[test]
fn a_pipeline_that_is_woken_under_the_lock_of_its_drops() {
    guard("woken under the lock", || {
        for round in 0..ROUNDS {
            let executor = executor(1 + round % 3);
            let wakers = Arc::new(Wakers::default());
            let running = stuck(&executor.handle(), &wakers).start();
            until(|| running.progress().items == 2);
            let over = AtomicBool::new(false);
            thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| {
                        while !over.load(Ordering::Relaxed) {
                            wakers.wake_all();
                        }
                    });
                }
                let end = ENDS[round % ENDS.len()];
                match round % 3 {
                    0 => {
                        end(executor);
                        drop(running);
                    }
                    1 => {
                        drop(running);
                        end(executor);
                    }
                    _ => {
                        scope.spawn(|| drop(running));
                        end(executor);
                    }
                }
                over.store(true, Ordering::Relaxed);
            });
            wakers.assert_none_dropped();
            // The wakers alone are left, which have nothing of the pipeline.
            assert_eq!(Arc::strong_count(&wakers), 1);
        }
    });
}

/// Ready never: a source without any item.
struct Silent {
    wakers: Arc<Wakers>,
    _locks: Locks,
}

impl Source for Silent {
    type Item = ();
    type Ack = ();

    fn poll_pull(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<PullResult<Self>>> {
        self.wakers.leave(cx.waker());
        Poll::Pending
    }
}

/// The last reference to a run is dropped in the middle of a wake of its source, where only
/// chance decides which of both threads has it last.
#[test]
fn a_run_that_is_dropped_while_its_source_is_woken() {
    guard("dropped", || {
        let executor = executor(2);
        for _ in 0..2 * ROUNDS {
            let wakers = Arc::new(Wakers::default());
            let locks = || Locks(Arc::clone(&wakers));
            let work = locks();
            let echo = pipeline::from_fn(&executor.handle(), move |(): ()| {
                let _ = &work;
                pending::<Result<(), ()>>()
            });
            let source = Silent {
                wakers: Arc::clone(&wakers),
                _locks: locks(),
            };
            let running = echo.source(source).build().unwrap().start();
            until(|| !wakers.wakers.lock().unwrap().is_empty());
            let over = AtomicBool::new(false);
            thread::scope(|scope| {
                scope.spawn(|| {
                    while !over.load(Ordering::Relaxed) {
                        wakers.wake_all();
                    }
                });
                drop(running);
                until(|| Arc::strong_count(&wakers) == 1);
                over.store(true, Ordering::Relaxed);
            });
            wakers.assert_none_dropped();
        }
    });
}

/// What a [`Fed`] source gives, and whom it wakes when there is more.
#[derive(Default)]
struct Feeding {
    items: VecDeque<u32>,
    ended: bool,
    waker: Option<Waker>,
}

/// A source that is fed by hand.
#[derive(Clone, Default)]
struct Fed(Arc<Mutex<Feeding>>);

impl Fed {
    /// Gives these at once; without any, it ends.
    fn feed(&self, items: &[u32]) {
        let mut feeding = self.0.lock().unwrap();
        feeding.items.extend(items);
        feeding.ended |= items.is_empty();
        if let Some(waker) = feeding.waker.take() {
            waker.wake();
        }
    }
}

impl Source for Fed {
    type Item = u32;
    type Ack = ();

    fn poll_pull(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<PullResult<Self>>> {
        let mut feeding = self.0.lock().unwrap();
        if let Some(item) = feeding.items.pop_front() {
            return Poll::Ready(Some(Ok((item, ()))));
        }
        if feeding.ended {
            return Poll::Ready(None);
        }
        feeding.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}

/// Two items come together, and wait until a third one has begun, which comes later.
#[test]
fn a_wake_is_heard_while_all_lanes_wait_in_items() {
    guard("heard", || {
        for round in 0..ROUNDS {
            let executor = executor(1 + round % 3);
            let source = Fed::default();
            let begun = Arc::new(AtomicUsize::new(0));
            let door = Door::default();
            let (begins, passes) = (Arc::clone(&begun), door.clone());
            let work = pipeline::from_fn(&executor.handle(), move |item: u32| {
                let (begins, passes) = (Arc::clone(&begins), passes.clone());
                async move {
                    begins.fetch_add(1, Ordering::Relaxed);
                    match item {
                        0 => {}
                        3 => passes.open(),
                        _ => passes.pass().await,
                    }
                    Ok::<_, ()>(())
                }
            });
            let work = work.source(source.clone()).in_flight(32);
            let running = work.build().unwrap().start();
            // After these the source is asked for several at a time. So it says together with
            // the next two that there are no more for now.
            source.feed(&[0; 20]);
            until(|| running.progress().done == 20);
            source.feed(&[1, 2]);
            until(|| begun.load(Ordering::Relaxed) == 22);
            source.feed(&[3]);
            source.feed(&[]);
            assert_eq!(executor.block_on(running).unwrap().done, 23);
        }
    });
}
