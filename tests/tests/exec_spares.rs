//! While all workers are in joins, spare threads look after tasks and the driver; and when the
//! joins have ended, everything is as before.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

use futures::channel::oneshot;
use tests::watchdog::guard;
use ws_core::Driver;
use ws_executor::{DriverHandoff, Executor, yield_now};

/// A reactor that knows one event. A look at it takes a while.
#[derive(Default)]
struct Slow {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    woken: bool,
    /// Whether someone looks, and does not wait.
    looked_at: bool,
    happened: bool,
    waiter: Option<Waker>,
}

impl Slow {
    fn happen(&self) {
        self.state.lock().unwrap().happened = true;
        self.changed.notify_all();
    }

    async fn event(&self) {
        poll_fn(|cx| {
            let mut state = self.state.lock().unwrap();
            if state.happened {
                return Poll::Ready(());
            }
            state.waiter = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

/// The reactor, as the executor gets it.
struct Shared(Arc<Slow>);

impl Driver for Shared {
    fn turn(&self, timeout: Option<Duration>) {
        if timeout == Some(Duration::ZERO) {
            self.0.state.lock().unwrap().looked_at = true;
            thread::sleep(Duration::from_millis(5));
        }
        let idle = |state: &mut State| !state.woken && !state.happened;
        let state = self.0.state.lock().unwrap();
        let mut state = match timeout {
            None => self.0.changed.wait_while(state, idle).unwrap(),
            Some(time) => {
                let waited = self.0.changed.wait_timeout_while(state, time, idle);
                waited.unwrap().0
            }
        };
        (state.woken, state.looked_at) = (false, false);
        let waiter = if state.happened {
            state.waiter.take()
        } else {
            None
        };
        drop(state);
        waiter.into_iter().for_each(Waker::wake);
    }

    fn wake(&self) {
        self.0.state.lock().unwrap().woken = true;
        self.0.changed.notify_all();
    }
}

/// The computations end while the spare thread looks at the driver, now and then: the workers
/// find it taken, and sleep elsewhere. Someone has to be in it afterwards.
#[test]
fn the_driver_is_not_left_alone_after_a_computation() {
    let handoffs = [
        DriverHandoff::Off,
        DriverHandoff::Monitor,
        DriverHandoff::Eager,
    ];
    for (workers, handoff) in [1, 2]
        .into_iter()
        .flat_map(|n| handoffs.map(|how| (n, how)))
    {
        guard("driver", || {
            for round in 0..10 {
                let slow = Arc::new(Slow::default());
                let builder = Executor::builder().workers(workers);
                let executor = builder
                    .driver(Shared(Arc::clone(&slow)))
                    .driver_handoff(handoff)
                    .build()
                    .unwrap();
                let waiter = executor.spawn({
                    let slow = Arc::clone(&slow);
                    async move { slow.event().await }
                });
                let computations: Vec<_> = (0..workers)
                    .map(|_| {
                        let compute = move || thread::sleep(Duration::from_millis(10 + round));
                        executor.handle().compute(compute)
                    })
                    .collect();
                executor.block_on(futures::future::join_all(computations));
                tests::exec::until(|| {
                    let looked_at = slow.state.lock().unwrap().looked_at;
                    !looked_at && executor.metrics().parked_workers() == workers
                });
                slow.happen();
                executor.block_on(waiter);
            }
        });
    }
}

/// What yields is due again at once, but not before all others.
#[test]
fn a_task_that_yields_lets_others_run() {
    for yields_first in [true, false] {
        guard("yields", || {
            let executor = Executor::builder().workers(1).build().unwrap();
            let handle = executor.handle();
            let over = Arc::new(AtomicBool::new(false));
            let yields = {
                let over = Arc::clone(&over);
                async move {
                    while !over.load(Ordering::Relaxed) {
                        yield_now().await;
                    }
                }
            };
            let (ran, runs) = mpsc::channel();
            let other = async move { ran.send(()).unwrap() };
            let in_join = move || {
                if yields_first {
                    handle.spawn(yields).detach();
                    handle.spawn(other).detach();
                } else {
                    handle.spawn(other).detach();
                    handle.spawn(yields).detach();
                }
                runs.recv().unwrap();
            };
            executor.join(in_join, || ());
            over.store(true, Ordering::Relaxed);
        });
    }
}

/// A hook may wait, as it may on a worker: it is no task that another thread takes over.
#[test]
fn a_hook_that_waits_does_not_multiply_it() {
    guard("hook", || {
        let hooks = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&hooks);
        let executor = Executor::builder()
            .workers(1)
            .on_thread_start(move |number| {
                if number == 1 {
                    counted.fetch_add(1, Ordering::SeqCst);
                    let (wake, woken) = oneshot::channel::<()>();
                    thread::spawn(move || {
                        thread::sleep(Duration::from_millis(2));
                        drop(wake);
                    });
                    let _ = ws_executor::block_on(woken);
                }
            })
            .build()
            .unwrap();
        for _ in 0..5 {
            let handle = executor.handle();
            let (ran, runs) = mpsc::channel();
            let in_join = move || {
                handle.spawn(async move { ran.send(()).unwrap() }).detach();
                runs.recv().unwrap();
            };
            executor.join(in_join, || ());
        }
        assert_eq!(hooks.load(Ordering::SeqCst), 1);
    });
}
