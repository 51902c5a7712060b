//! Parkers, drivers and hosts are the user's code: their panics go to the panic hook, and do no
//! harm. No worker ends, no wait ends early, and a scope least of all: what its tasks
//! borrow would be gone.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use tests::watchdog::guard;
use ws_core::driver::Visitor;
use ws_core::{Driver, Park, ThreadParker, ThreadUnparker, Unpark};
use ws_executor::{Executor, Handle, join, yield_now};

/// A parker that does what it should, and then panics.
struct RudeParker(ThreadParker);

#[derive(Clone)]
struct RudeUnparker(ThreadUnparker);

impl Park for RudeParker {
    type Unparker = RudeUnparker;

    fn unparker(&self) -> RudeUnparker {
        RudeUnparker(self.0.unparker())
    }

    fn park(&self) {
        self.0.park();
        panic!("a parker panics");
    }

    fn park_timeout(&self, timeout: Duration) {
        self.0.park_timeout(timeout);
        panic!("a parker panics");
    }
}

impl Unpark for RudeUnparker {
    fn unpark(&self) {
        self.0.unpark();
        panic!("an unparker panics");
    }
}

/// Where a driver panics.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum In {
    Enter,
    Turn,
    Wake,
    WakeLocal,
    PollScope,
    BlockOn,
    /// Before the future was polled at all.
    BlockOnAtOnce,
}

/// A driver that does what it should, and then panics in one of its methods.
struct RudeDriver {
    panics: In,
    woken: Mutex<bool>,
    changed: Condvar,
}

impl RudeDriver {
    fn panic(&self, here: In) {
        if self.panics == here {
            panic!("a driver panics in {here:?}");
        }
    }
}

impl Driver for RudeDriver {
    fn enter(&self, life: &mut dyn FnMut()) {
        life();
        self.panic(In::Enter);
    }

    fn turn(&self, timeout: Option<Duration>) {
        let woken = self.woken.lock().unwrap();
        let timeout = timeout.unwrap_or(Duration::from_secs(60));
        let waited = self
            .changed
            .wait_timeout_while(woken, timeout, |woken| !*woken);
        *waited.unwrap().0 = false;
        self.panic(In::Turn);
    }

    fn wake(&self) {
        *self.woken.lock().unwrap() = true;
        self.changed.notify_one();
        self.panic(In::Wake);
    }

    fn wake_local(&self) {
        *self.woken.lock().unwrap() = true;
        self.panic(In::WakeLocal);
    }

    fn poll_scope(&self, poll: &mut dyn FnMut()) {
        poll();
        self.panic(In::PollScope);
    }

    fn block_on(&self, future: Visitor<'_>, wait: &dyn Fn(Visitor<'_>)) {
        self.panic(In::BlockOnAtOnce);
        wait(future);
        self.panic(In::BlockOn);
    }
}

fn with_rude_parkers(workers: usize) -> Executor {
    let builder = Executor::builder().spares(0).workers(workers);
    let builder = builder.parker(|_| RudeParker(ThreadParker::new()));
    builder.build().unwrap()
}

fn with_rude_driver(workers: usize, panics: In) -> Executor {
    let builder = Executor::builder().spares(0).workers(workers);
    let driver = RudeDriver {
        panics,
        woken: Mutex::default(),
        changed: Condvar::new(),
    };
    builder.driver(driver).build().unwrap()
}

/// Everything that waits, on workers and outside, with what it borrows.
fn everything_works(executor: &Executor) {
    scopes_borrow(&executor.handle());
    let handle = executor.handle();
    executor.block_on(executor.spawn(async move {
        yield_now().await;
        scopes_borrow(&handle);
    }));
    assert_eq!(executor.join(|| 1, || 2), (1, 2));
    let joined = executor.spawn(async { join(|| 3, || 4) });
    assert_eq!(executor.block_on(joined), (3, 4));

    // The future's own panic is the caller's, as ever.
    let panicked = || executor.block_on(async { std::panic::panic_any(7_u8) });
    let payload: Result<(), _> = catch_unwind(AssertUnwindSafe(panicked));
    assert_eq!(payload.unwrap_err().downcast_ref(), Some(&7_u8));
    let handle = executor.handle();
    let nested = executor.spawn(async move {
        let panicked = || handle.block_on(async { std::panic::panic_any(8_u8) });
        catch_unwind(AssertUnwindSafe(panicked))
    });
    let payload: Result<(), _> = executor.block_on(nested);
    assert_eq!(payload.unwrap_err().downcast_ref(), Some(&8_u8));
}

fn scopes_borrow(handle: &Handle) {
    for _ in 0..50 {
        let mut numbers = [1, 2, 3];
        let mut sum = 0;
        handle.scope(|s| {
            for number in &mut numbers {
                s.spawn(async move {
                    for _ in 0..3 {
                        yield_now().await;
                    }
                    *number *= 2;
                });
            }
            s.run(|_| sum += 1);
        });
        assert_eq!((numbers, sum), ([2, 4, 6], 1));
    }
}

#[test]
fn parkers_may_panic() {
    for workers in [1, 2, 3] {
        guard("parkers", || {
            let executor = with_rude_parkers(workers);
            everything_works(&executor);
            executor.shutdown();
        });
    }
}

#[test]
fn drivers_may_panic() {
    let places = [
        In::Enter,
        In::Turn,
        In::Wake,
        In::WakeLocal,
        In::PollScope,
        In::BlockOn,
        In::BlockOnAtOnce,
    ];
    for panics in places {
        for workers in [1, 2] {
            guard(&format!("driver, {panics:?}"), || {
                let executor = with_rude_driver(workers, panics);
                everything_works(&executor);
                executor.shutdown();
            });
        }
    }
}

#[test]
fn a_drain_and_a_shutdown_get_through() {
    guard("ends", || {
        with_rude_parkers(2).drain();
        with_rude_driver(2, In::Wake).drain();
        let executor = with_rude_driver(2, In::Turn);
        let task = executor.spawn(std::future::pending::<()>());
        executor.shutdown();
        assert!(task.is_finished());
    });
}

/// A host of `block_on` that does its duty, one that does not, and one that panics.
#[test]
fn hosts_of_visitors_may_fail() {
    guard("hosts of visitors", || {
        let polled = Arc::new(AtomicUsize::new(0));
        let (proper, lazy) = (polled.clone(), polled.clone());
        let builders = [
            Executor::builder().spares(0).host_visitors(move |visitor| {
                proper.fetch_add(1, Ordering::Relaxed);
                futures::executor::block_on(visitor);
            }),
            Executor::builder().spares(0).host_visitors(move |_| {
                lazy.fetch_add(1, Ordering::Relaxed);
            }),
            Executor::builder().spares(0).host_visitors(|mut visitor| {
                let waker = Waker::noop();
                let _pending = visitor.as_mut().poll(&mut Context::from_waker(waker));
                panic!("a host");
            }),
        ];
        for builder in builders {
            everything_works(&builder.workers(2).build().unwrap());
        }
        assert!(polled.load(Ordering::Relaxed) > 100, "hosts are asked");
    });
}

/// A waker whose drop panics.
struct Fragile(thread::Thread);

impl Wake for Fragile {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

impl Drop for Fragile {
    fn drop(&mut self) {
        panic!("a waker");
    }
}

/// Each poll replaces the waker of the last one. That must not end the scope, whose tasks
/// borrow.
#[test]
fn wakers_of_visitors_may_panic() {
    guard("wakers of visitors", || {
        let host = |mut visitor: Visitor<'_>| {
            loop {
                let waker = Waker::from(Arc::new(Fragile(thread::current())));
                let polled = visitor.as_mut().poll(&mut Context::from_waker(&waker));
                // The executor has the last reference, until the next poll.
                drop(waker);
                match polled {
                    Poll::Ready(()) => return,
                    Poll::Pending => thread::park_timeout(Duration::from_millis(1)),
                }
            }
        };
        let builder = Executor::builder().spares(0).workers(2).host_visitors(host);
        let executor = builder.build().unwrap();
        let mut count = 0;
        let scope = || {
            executor.scope(|s| {
                s.spawn(async {
                    for _ in 0..20 {
                        thread::sleep(Duration::from_millis(1));
                        count += 1;
                        yield_now().await;
                    }
                });
            });
        };
        assert!(catch_unwind(AssertUnwindSafe(scope)).is_ok());
        assert_eq!(count, 20);
    });
}

/// A parker, an unparker or a driver whose drop panics.
struct RudeDrop<T>(T);

impl<T> Drop for RudeDrop<T> {
    fn drop(&mut self) {
        panic!("a drop panics");
    }
}

impl Park for RudeDrop<ThreadParker> {
    type Unparker = RudeDrop<ThreadUnparker>;

    fn unparker(&self) -> Self::Unparker {
        RudeDrop(self.0.unparker())
    }

    fn park(&self) {
        self.0.park();
    }

    fn park_timeout(&self, timeout: Duration) {
        self.0.park_timeout(timeout);
    }
}

impl Unpark for RudeDrop<ThreadUnparker> {
    fn unpark(&self) {
        self.0.unpark();
    }
}

impl Clone for RudeDrop<ThreadUnparker> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl Driver for RudeDrop<RudeDriver> {
    fn turn(&self, timeout: Option<Duration>) {
        self.0.turn(timeout);
    }

    fn wake(&self) {
        self.0.wake();
    }
}

/// A waker that keeps the state of an executor that is gone.
fn last_reference(executor: Executor) -> Waker {
    let (sender, receiver) = std::sync::mpsc::channel();
    let waits = std::future::poll_fn(move |cx| {
        let _ = sender.send(cx.waker().clone());
        Poll::<()>::Pending
    });
    executor.spawn(waits).detach();
    let waker = receiver.recv().unwrap();
    assert!(executor.shutdown_timeout(Duration::MAX));
    waker
}

/// A worker whose parker panics in its drop has ended like any other.
#[test]
fn a_parker_may_panic_in_its_drop() {
    guard("drop of a parker", || {
        for workers in [1, 2] {
            let stops = Arc::new(AtomicUsize::new(0));
            let stopped = Arc::clone(&stops);
            let builder = Executor::builder().spares(0).workers(workers);
            let executor = builder
                .parker(|_| RudeDrop(ThreadParker::new()))
                .on_thread_stop(move |_| {
                    stopped.fetch_add(1, Ordering::SeqCst);
                })
                .build()
                .unwrap();
            let waker = last_reference(executor);
            assert_eq!(stops.load(Ordering::SeqCst), workers);
            // The unparkers go with the state.
            drop(waker);
        }
    });
}

/// The driver goes with the last reference to the state, which may be a waker: in its drop
/// async-task allows no panic.
#[test]
fn a_driver_may_panic_in_its_drop() {
    guard("drop of a driver", || {
        let driver = RudeDriver {
            panics: In::Enter,
            woken: Mutex::new(false),
            changed: Condvar::new(),
        };
        let builder = Executor::builder()
            .spares(0)
            .workers(2)
            .driver(RudeDrop(driver));
        drop(last_reference(builder.build().unwrap()));
    });
}

/// So does what runs visitors.
#[test]
fn a_host_of_visitors_may_panic_in_its_drop() {
    guard("drop of a host", || {
        let rude = RudeDrop(());
        let host = move |future: Visitor<'_>| {
            let _rude = &rude;
            futures::executor::block_on(future);
        };
        let builder = Executor::builder().spares(0).workers(2).host_visitors(host);
        drop(last_reference(builder.build().unwrap()));
    });
}
