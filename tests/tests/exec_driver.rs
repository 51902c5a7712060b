//! Workers sleep in a driver: one at a time, and nothing that happens there is missed.
//!
//! The driver here is a list of wakers that other threads have fired, under a lock: a
//! reactor without an operating system.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use tests::watchdog::guard;
use ws_core::Driver;
use ws_core::driver::Visitor;
use ws_executor::{DriverHandoff, Executor, Handle, HostedWorker, LocalExecutor, yield_now};

/// The reactor: events are wakers, and a turn wakes them.
#[derive(Default)]
struct Reactor {
    state: Mutex<State>,
    changed: Condvar,
    inside: AtomicUsize,
    turns: AtomicUsize,
    wakes: AtomicUsize,
    local_wakes: AtomicUsize,
    polls: AtomicUsize,
    visits: AtomicUsize,
    lives: AtomicUsize,
    ends: AtomicUsize,
}

#[derive(Default)]
struct State {
    fired: Vec<Waker>,
    woken: bool,
}

/// The reactor, as the executor gets it.
struct Shared(Arc<Reactor>);

impl Driver for Shared {
    fn enter(&self, life: &mut dyn FnMut()) {
        self.0.lives.fetch_add(1, Ordering::Relaxed);
        life();
        self.0.ends.fetch_add(1, Ordering::Relaxed);
    }

    fn turn(&self, timeout: Option<Duration>) {
        let reactor = &*self.0;
        assert_eq!(
            reactor.inside.fetch_add(1, Ordering::Acquire),
            0,
            "two threads are inside"
        );
        reactor.turns.fetch_add(1, Ordering::Relaxed);
        let idle = |state: &mut State| !state.woken && state.fired.is_empty();
        let state = reactor.state.lock().unwrap();
        let mut state = match timeout {
            None => reactor.changed.wait_while(state, idle).unwrap(),
            Some(time) => {
                reactor
                    .changed
                    .wait_timeout_while(state, time, idle)
                    .unwrap()
                    .0
            }
        };
        state.woken = false;
        let fired = std::mem::take(&mut state.fired);
        drop(state);
        fired.into_iter().for_each(Waker::wake);
        reactor.inside.fetch_sub(1, Ordering::Release);
    }

    fn wake(&self) {
        self.0.wakes.fetch_add(1, Ordering::Relaxed);
        self.0.state.lock().unwrap().woken = true;
        self.0.changed.notify_all();
    }

    fn wake_local(&self) {
        assert_eq!(self.0.inside.load(Ordering::Relaxed), 1, "nobody is inside");
        self.0.local_wakes.fetch_add(1, Ordering::Relaxed);
    }

    fn poll_scope(&self, poll: &mut dyn FnMut()) {
        poll();
        self.0.polls.fetch_add(1, Ordering::Relaxed);
    }

    fn block_on(&self, future: Visitor<'_>, wait: &dyn Fn(Visitor<'_>)) {
        self.0.visits.fetch_add(1, Ordering::Relaxed);
        wait(future);
    }
}

impl Reactor {
    fn fire(&self, waker: Waker) {
        self.state.lock().unwrap().fired.push(waker);
        self.changed.notify_all();
    }
}

/// Something that happens once, and is seen by the reactor.
#[derive(Clone, Default)]
struct Event(Arc<(AtomicBool, Mutex<Option<Waker>>)>);

impl Event {
    async fn wait(&self) {
        poll_fn(|cx| {
            let mut waker = self.0.1.lock().unwrap();
            if self.0.0.load(Ordering::Acquire) {
                return Poll::Ready(());
            }
            *waker = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Makes it happen; the reactor wakes whoever waits.
    fn happen(&self, reactor: &Reactor) {
        let waker = {
            let mut waker = self.0.1.lock().unwrap();
            self.0.0.store(true, Ordering::Release);
            waker.take()
        };
        waker.into_iter().for_each(|waker| reactor.fire(waker));
    }

    fn is_awaited(&self) -> bool {
        self.0.1.lock().unwrap().is_some()
    }
}

fn executor(workers: usize, handoff: DriverHandoff) -> (Executor, Arc<Reactor>) {
    let reactor = Arc::new(Reactor::default());
    let executor = Executor::builder()
        .spares(0)
        .workers(workers)
        .driver(Shared(Arc::clone(&reactor)))
        .driver_handoff(handoff)
        .build()
        .unwrap();
    (executor, reactor)
}

/// Waits until a condition holds that nobody announces.
fn wait_until(what: &str, condition: impl Fn() -> bool) {
    guard(what, || {
        while !condition() {
            thread::yield_now();
        }
    });
}

fn all_parked(handle: &Handle) -> bool {
    handle.metrics().parked_workers() == handle.workers()
}

const HANDOFFS: [DriverHandoff; 3] = [
    DriverHandoff::Off,
    DriverHandoff::Monitor,
    DriverHandoff::Eager,
];

#[test]
fn every_worker_lives_inside_enter_and_every_poll_inside_its_scope() {
    guard("lives and polls", || {
        let (executor, reactor) = executor(3, DriverHandoff::default());
        for _ in 0..100 {
            executor.block_on(executor.spawn(yield_now()));
        }
        executor.shutdown();
        assert_eq!(reactor.lives.load(Ordering::Relaxed), 3);
        assert_eq!(reactor.ends.load(Ordering::Relaxed), 3);
        assert_eq!(reactor.polls.load(Ordering::Relaxed), 200);
    });
}

#[test]
fn events_wake_tasks_whatever_the_number_of_workers() {
    for workers in [1, 2, 4] {
        for handoff in HANDOFFS {
            guard("events", || {
                let (executor, reactor) = executor(workers, handoff);
                for _ in 0..200 {
                    let event = Event::default();
                    let task = executor.spawn({
                        let event = event.clone();
                        async move { event.wait().await }
                    });
                    let fires = thread::spawn({
                        let reactor = Arc::clone(&reactor);
                        move || event.happen(&reactor)
                    });
                    executor.block_on(task);
                    fires.join().unwrap();
                }
            });
        }
    }
}

/// Not a single worker is notified, as a rule: one that the machine holds up for a while,
/// with the woken task in its ring, is helped.
#[test]
fn an_event_is_handled_by_the_thread_that_saw_it_and_nobody_is_woken() {
    const EVENTS: usize = 100;
    guard("local wake", || {
        let (executor, reactor) = executor(2, DriverHandoff::Off);
        let handle = executor.handle();
        let mut alone = 0;
        for _ in 0..EVENTS {
            let event = Event::default();
            let (ran, runs) = mpsc::channel();
            executor
                .spawn({
                    let event = event.clone();
                    async move {
                        event.wait().await;
                        ran.send(()).unwrap();
                    }
                })
                .detach();
            wait_until("all parked", || event.is_awaited() && all_parked(&handle));
            let notifications = || handle.metrics().total().notifications;
            let (before, wakes) = (notifications(), reactor.wakes.load(Ordering::Relaxed));
            let local = reactor.local_wakes.load(Ordering::Relaxed);
            event.happen(&reactor);
            runs.recv().unwrap();
            // If the monitor was faster, the task has run before the reactor's thread said so.
            wait_until("a local wake", || {
                reactor.local_wakes.load(Ordering::Relaxed) == local + 1
            });
            if notifications() == before && reactor.wakes.load(Ordering::Relaxed) == wakes {
                alone += 1;
            }
        }
        assert!(alone > EVENTS / 2, "nobody was woken for {alone} events");
    });
}

#[test]
fn a_worker_in_its_parker_is_notified_before_the_one_in_the_driver() {
    guard("order of notification", || {
        let (executor, reactor) = executor(2, DriverHandoff::Off);
        let handle = executor.handle();
        for _ in 0..50 {
            wait_until("all parked", || all_parked(&handle));
            let wakes = reactor.wakes.load(Ordering::Relaxed);
            executor.block_on(executor.spawn(async {}));
            assert_eq!(
                reactor.wakes.load(Ordering::Relaxed),
                wakes,
                "the driver was woken"
            );
        }
    });
}

#[test]
fn with_one_worker_the_driver_is_woken_for_work() {
    guard("one worker", || {
        let (executor, reactor) = executor(1, DriverHandoff::default());
        let handle = executor.handle();
        for _ in 0..50 {
            // Inside of it, not only on the way: who still counts as searching is not woken.
            wait_until("in the driver", || {
                all_parked(&handle) && reactor.inside.load(Ordering::Relaxed) == 1
            });
            executor.block_on(executor.spawn(async {}));
        }
        assert!(reactor.wakes.load(Ordering::Relaxed) >= 50);
    });
}

/// One worker leaves the driver for a poll that blocks; an event must still be seen.
fn event_beside_a_blocked_poll(handoff: DriverHandoff) {
    let (executor, reactor) = executor(2, handoff);
    let handle = executor.handle();
    for _ in 0..20 {
        let (first, second) = (Event::default(), Event::default());
        let (blocked, blocks) = mpsc::channel();
        let (release, released) = mpsc::channel::<()>();
        // The first event wakes a task that then blocks the worker that saw it.
        let blocker = executor.spawn({
            let first = first.clone();
            async move {
                first.wait().await;
                blocked.send(()).unwrap();
                released.recv().unwrap();
            }
        });
        let waiter = executor.spawn({
            let second = second.clone();
            async move { second.wait().await }
        });
        wait_until("all parked", || {
            first.is_awaited() && second.is_awaited() && all_parked(&handle)
        });
        first.happen(&reactor);
        blocks.recv().unwrap();
        second.happen(&reactor);
        executor.block_on(waiter);
        release.send(()).unwrap();
        executor.block_on(blocker);
    }
}

#[test]
fn a_monitor_takes_the_driver_over() {
    guard("monitor", || {
        event_beside_a_blocked_poll(DriverHandoff::Monitor)
    });
}

/// Events one after the other, each handled by the worker that saw it: the monitor looks
/// on, and is not called each time.
#[test]
fn a_monitor_lets_the_driver_be_left_and_entered() {
    const EVENTS: usize = 500;

    fn notifications() -> u64 {
        let (executor, reactor) = executor(2, DriverHandoff::Monitor);
        let handle = executor.handle();
        let before = handle.metrics().total().notifications;
        let events: Vec<Event> = (0..EVENTS).map(|_| Event::default()).collect();
        let (ran, runs) = mpsc::channel();
        let waits = events.clone();
        executor
            .spawn(async move {
                for event in waits {
                    event.wait().await;
                    ran.send(()).unwrap();
                }
            })
            .detach();
        for event in events {
            tests::exec::until(|| event.is_awaited());
            event.happen(&reactor);
            runs.recv().unwrap();
        }
        handle.metrics().total().notifications - before
    }

    guard("monitor looks on", || {
        // A machine that stands still for a while makes the monitor give up, and then it
        // is called again. That cannot always be so.
        let few = |_| notifications() < EVENTS as u64 / 2;
        let often_few = |_| (0..20).all(few);
        assert!(
            (0..5).any(often_few),
            "the monitor is called at every event"
        );
    });
}

/// A waker that does not come back before it may.
struct Keeps {
    inside: mpsc::Sender<()>,
    released: Mutex<mpsc::Receiver<()>>,
}

impl Wake for Keeps {
    fn wake(self: Arc<Self>) {
        self.inside.send(()).unwrap();
        self.released.lock().unwrap().recv().unwrap();
    }
}

/// A reactor may run tasks of its own in a turn. The worker that it keeps is notified like any
/// other, but nobody waits for it to search.
#[test]
fn a_worker_that_the_driver_keeps_hides_no_task() {
    for handoff in HANDOFFS {
        guard("kept in the driver", || {
            let (executor, reactor) = executor(2, handoff);
            let handle = executor.handle();
            wait_until("all parked", || all_parked(&handle));
            let (inside, is_inside) = mpsc::channel();
            let (release, released) = mpsc::channel();
            let released = Mutex::new(released);
            reactor.fire(Waker::from(Arc::new(Keeps { inside, released })));
            is_inside.recv().unwrap();

            // While the other worker is busy, the one in the driver is notified.
            let wakes = reactor.wakes.load(Ordering::Relaxed);
            let (begins, began) = mpsc::channel();
            let (end, ends) = mpsc::channel();
            let busy = executor.spawn(async move {
                begins.send(()).unwrap();
                ends.recv().unwrap();
            });
            began.recv().unwrap();
            executor.spawn(async {}).detach();
            assert!(reactor.wakes.load(Ordering::Relaxed) > wakes);
            end.send(()).unwrap();
            executor.block_on(busy);
            wait_until("the other is parked", || {
                handle.metrics().parked_workers() == 1
            });

            let (ran, runs) = mpsc::channel();
            executor
                .spawn(async move { ran.send(()).unwrap() })
                .detach();
            runs.recv().unwrap();
            release.send(()).unwrap();
        });
    }
}

#[test]
fn an_eager_worker_takes_the_driver_over() {
    guard("eager", || {
        event_beside_a_blocked_poll(DriverHandoff::Eager)
    });
}

#[test]
fn a_busy_worker_turns_the_driver_now_and_then() {
    guard("busy", || {
        let (executor, reactor) = executor(1, DriverHandoff::default());
        let event = Event::default();
        let over = Arc::new(AtomicBool::new(false));
        let busy = executor.spawn({
            let over = Arc::clone(&over);
            async move {
                while !over.load(Ordering::Relaxed) {
                    yield_now().await;
                }
            }
        });
        let waiter = executor.spawn({
            let event = event.clone();
            async move { event.wait().await }
        });
        wait_until("awaited", || event.is_awaited());
        event.happen(&reactor);
        executor.block_on(waiter); // the other one never stops by itself
        over.store(true, Ordering::Relaxed);
        executor.block_on(busy);
    });
}

#[test]
fn several_events_of_one_turn_are_shared() {
    guard("several events", || {
        let (executor, reactor) = executor(2, DriverHandoff::default());
        let handle = executor.handle();
        for _ in 0..20 {
            // Two tasks that need each other, woken in one turn: both workers have to run.
            let events = [Event::default(), Event::default()];
            let (there, back) = (mpsc::channel::<()>(), mpsc::channel::<()>());
            let one = executor.spawn({
                let event = events[0].clone();
                async move {
                    event.wait().await;
                    there.0.send(()).unwrap();
                    back.1.recv().unwrap();
                }
            });
            let two = executor.spawn({
                let event = events[1].clone();
                async move {
                    event.wait().await;
                    there.1.recv().unwrap();
                    back.0.send(()).unwrap();
                }
            });
            wait_until("all parked", || {
                events.iter().all(Event::is_awaited) && all_parked(&handle)
            });
            // Both are fired before anyone sees either.
            let wakers: Vec<Waker> = events
                .iter()
                .map(|event| event.0.1.lock().unwrap().take().unwrap())
                .collect();
            events
                .iter()
                .for_each(|event| event.0.0.store(true, Ordering::Release));
            reactor.state.lock().unwrap().fired.extend(wakers);
            reactor.changed.notify_all();
            executor.block_on(one);
            executor.block_on(two);
        }
    });
}

#[test]
fn nested_block_on_is_woken_also_in_the_driver() {
    guard("nested", || {
        for workers in [1, 2] {
            let (executor, _reactor) = executor(workers, DriverHandoff::default());
            let handle = executor.handle();
            for _ in 0..20 {
                let (sender, receiver) = futures::channel::oneshot::channel::<u32>();
                let (asks, asked) = mpsc::channel();
                let outer = executor.spawn({
                    let handle = handle.clone();
                    async move {
                        asks.send(()).unwrap();
                        handle.block_on(receiver).unwrap()
                    }
                });
                asked.recv().unwrap();
                wait_until("all parked", || all_parked(&handle));
                sender.send(7).unwrap();
                assert_eq!(executor.block_on(outer), 7);
            }
        }
    });
}

#[test]
fn an_idle_executor_leaves_the_driver_alone() {
    guard("idle", || {
        let (executor, reactor) = executor(2, DriverHandoff::Monitor);
        let handle = executor.handle();
        for _ in 0..100 {
            executor.block_on(executor.spawn(yield_now()));
        }
        // The monitor gives up after a quiet period; then nothing happens.
        let activity = || {
            let turns = reactor.turns.load(Ordering::Relaxed);
            (turns, handle.metrics().total().parks)
        };
        wait_until("a second of rest", || {
            let before = activity();
            thread::sleep(Duration::from_secs(1));
            all_parked(&handle) && activity() == before
        });
    });
}

#[test]
fn a_shutdown_reaches_workers_in_the_driver_and_in_parkers() {
    for workers in [1, 2, 5] {
        guard("shutdown", || {
            for parked in [true, false] {
                let (executor, _reactor) = executor(workers, DriverHandoff::default());
                if parked {
                    let handle = executor.handle();
                    wait_until("all parked", || all_parked(&handle));
                }
                executor.shutdown();
            }
            let (executor, _reactor) = executor(workers, DriverHandoff::default());
            executor.drain();
        });
    }
}

#[test]
fn a_driver_that_panics_does_not_end_its_worker() {
    struct Panics(Shared, AtomicUsize);

    impl Driver for Panics {
        fn turn(&self, timeout: Option<Duration>) {
            if self.1.fetch_add(1, Ordering::Relaxed) < 3 {
                panic!("the driver is unwell");
            }
            self.0.turn(timeout);
        }

        fn wake(&self) {
            self.0.wake();
        }
    }

    guard("panics", || {
        let driver = Panics(Shared(Arc::default()), AtomicUsize::new(0));
        let executor = Executor::builder()
            .spares(0)
            .workers(1)
            .driver(driver)
            .build()
            .unwrap();
        for _ in 0..20 {
            executor.block_on(executor.spawn(yield_now()));
        }
    });
}

/// On a worker, a `block_on` is polled as tasks are; elsewhere, the driver is asked how.
#[test]
fn a_block_on_runs_as_the_driver_wants_it() {
    guard("block_on", || {
        let (executor, reactor) = executor(1, DriverHandoff::default());
        let task = executor.spawn(async { Handle::current().block_on(yield_now()) });
        executor.block_on(task);
        assert_eq!(reactor.visits.load(Ordering::Relaxed), 1);
        executor.shutdown();
        // The task, and twice the future inside.
        assert_eq!(reactor.polls.load(Ordering::Relaxed), 3);
    });
}

/// A call of an executor without a driver, inside a call of one that has a driver.
#[test]
fn a_block_on_inside_runs_as_the_outer_driver_wants_it() {
    guard("inside", || {
        let (executor, reactor) = executor(1, DriverHandoff::default());
        let visits = || reactor.visits.load(Ordering::Relaxed);
        let plain = Executor::builder().spares(0).workers(1).build().unwrap();
        let local = LocalExecutor::new();
        executor.block_on(async {
            assert_eq!(visits(), 1);
            local.block_on(yield_now());
            assert_eq!(visits(), 2);
            plain.block_on(yield_now());
            assert_eq!(visits(), 3);
            plain.block_on(async { local.block_on(yield_now()) });
            assert_eq!(visits(), 5);
            // Another thread is not inside.
            let there = plain
                .handle()
                .spawn_blocking(|| LocalExecutor::new().block_on(yield_now()));
            plain.block_on(there);
            assert_eq!(visits(), 6);
        });
        local.block_on(yield_now());
        plain.block_on(yield_now());
        assert_eq!(visits(), 6);
    });
}

#[test]
fn a_driver_may_run_a_block_on_itself_or_not_at_all() {
    struct Odd(Shared, bool);

    impl Driver for Odd {
        fn turn(&self, timeout: Option<Duration>) {
            self.0.turn(timeout);
        }

        fn wake(&self) {
            self.0.wake();
        }

        fn block_on(&self, future: Visitor<'_>, _: &dyn Fn(Visitor<'_>)) {
            if self.1 {
                futures::executor::block_on(future);
            }
        }
    }

    guard("odd block_on", || {
        for runs in [true, false] {
            let driver = Odd(Shared(Arc::default()), runs);
            let builder = Executor::builder().spares(0).workers(1).driver(driver);
            let executor = builder.build().unwrap();
            for number in 0..20 {
                let task = executor.spawn(async move {
                    yield_now().await;
                    number
                });
                assert_eq!(executor.block_on(task), number);
            }
        }
    });
}

#[test]
fn a_driver_and_a_host_exclude_each_other() {
    let error = Executor::builder()
        .spares(0)
        .driver(Shared(Arc::default()))
        .host(futures::executor::block_on)
        .build()
        .unwrap_err();
    assert!(error.is_invalid(), "{error}");
}

/// A host with a reactor of its own: polls the worker, and waits in the reactor.
fn host(worker: HostedWorker, reactor: &Arc<Reactor>) {
    struct Wakes(Arc<Reactor>);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            Shared(Arc::clone(&self.0)).wake();
        }
    }

    let waker = Waker::from(Arc::new(Wakes(Arc::clone(reactor))));
    let mut worker = pin!(worker);
    while worker
        .as_mut()
        .poll(&mut Context::from_waker(&waker))
        .is_pending()
    {
        Shared(Arc::clone(reactor)).turn(None);
    }
}

/// What a host's reactor wakes runs on the host's thread, and nobody is notified, as a rule:
/// a host that the machine holds up for a while is helped.
#[test]
fn an_event_of_a_host_stays_on_its_thread() {
    const EVENTS: usize = 100;
    guard("host", || {
        let reactors = [Arc::new(Reactor::default()), Arc::new(Reactor::default())];
        let hosts = Mutex::new(reactors.to_vec());
        let (entered, threads) = mpsc::channel();
        let executor = Executor::builder()
            .spares(0)
            .workers(2)
            .host(move |worker| {
                let (number, reactor) = {
                    let mut hosts = hosts.lock().unwrap();
                    let reactor = hosts.pop().unwrap();
                    (hosts.len(), reactor)
                };
                entered.send((number, thread::current().id())).unwrap();
                host(worker, &reactor);
            })
            .build()
            .unwrap();
        let handle = executor.handle();
        let mut threads: Vec<_> = threads.iter().take(2).collect();
        threads.sort_unstable_by_key(|&(number, _)| number);
        let mut stayed = 0;
        for round in 0..EVENTS {
            let event = Event::default();
            let (ran, runs) = mpsc::channel();
            let waits = event.clone();
            let task = executor.spawn(async move {
                waits.wait().await;
                ran.send(thread::current().id()).unwrap();
            });
            wait_until("all parked", || event.is_awaited() && all_parked(&handle));
            let notifications = || handle.metrics().total().notifications;
            let before = notifications();
            event.happen(&reactors[round % 2]);
            if runs.recv().unwrap() == threads[round % 2].1 && notifications() == before {
                stayed += 1;
            }
            executor.block_on(task);
        }
        assert!(stayed > EVENTS / 2, "{stayed} events stayed");
    });
}

/// The host may use the executor between two polls, and after the worker's end.
#[test]
fn a_host_may_block_between_polls_and_go_on_without_its_worker() {
    guard("host", || {
        let (ended, ends) = mpsc::channel();
        let executor = Executor::builder()
            .spares(0)
            .workers(2)
            .host(move |worker| {
                let mut worker = Box::pin(worker);
                for _ in 0..10 {
                    let mut cx = Context::from_waker(Waker::noop());
                    let _ = worker.as_mut().poll(&mut cx);
                    ws_executor::block_on(yield_now());
                }
                if ended.send(()).is_ok() && worker_is_first() {
                    // The other one runs what there is.
                    drop(worker);
                    ws_executor::block_on(ws_executor::spawn(yield_now()));
                } else {
                    futures::executor::block_on(worker);
                }
            })
            .build()
            .unwrap();
        (0..2).for_each(|_| ends.recv().unwrap());
        assert_eq!(executor.block_on(executor.spawn(async { 7 })), 7);
        executor.shutdown();
    });
}

/// Whether the calling thread is that of worker 0.
fn worker_is_first() -> bool {
    thread::current().name() == Some("ws-worker-0")
}

/// Hundreds of tasks wait for events that several threads fire, while others spawn, yield
/// and end.
#[test]
fn storm() {
    let rounds = if cfg!(debug_assertions) { 20 } else { 100 };
    for workers in [1, 2, 4] {
        for handoff in HANDOFFS {
            guard("storm", || {
                let (executor, reactor) = executor(workers, handoff);
                for _ in 0..rounds {
                    let events: Vec<Event> = (0..64).map(|_| Event::default()).collect();
                    let tasks: Vec<_> = events
                        .iter()
                        .cloned()
                        .map(|event| {
                            executor.spawn(async move {
                                event.wait().await;
                                yield_now().await;
                                Handle::current().spawn(async {}).await;
                            })
                        })
                        .collect();
                    thread::scope(|scope| {
                        for part in events.chunks(16) {
                            scope.spawn(|| part.iter().for_each(|event| event.happen(&reactor)));
                        }
                    });
                    for task in tasks {
                        executor.block_on(task);
                    }
                }
            });
        }
    }
}
