//! `compat/async-executor`: what a `run` leaves when it blocks, or is dropped, is run by
//! another one.
//!
//! Two or three threads run the executor. A task that nobody is told of leaves a thread in a
//! poll, and the others asleep, which shuttle reports as a deadlock.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use compat::Executor;
use ws_core::sync::thread::{self, ThreadId};
use ws_core::sync::{Condvar, Mutex};
use ws_executor::yield_now;

use super::kit::Event;
use super::scenario::Scenario;

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "compat.one_at_a_time",
        about: "compat: tasks from outside, one after the other",
        faults: &[33],
        body: one_at_a_time,
    },
    Scenario {
        name: "compat.loot",
        about: "compat: a stolen task blocks over those that were stolen with it",
        faults: &[25, 34],
        body: loot,
    },
    Scenario {
        name: "compat.batch",
        about: "compat: two tasks that were pulled at once wait for each other in their polls",
        faults: &[25, 34],
        body: batch,
    },
    Scenario {
        name: "compat.dropped",
        about: "compat: a `run` ends with a task in its ring",
        faults: &[25],
        body: dropped,
    },
    Scenario {
        name: "compat.future",
        about: "compat: the future of a `run` blocks over what that `run` was notified of",
        faults: &[25],
        body: future,
    },
    Scenario {
        name: "compat.future_after_yield",
        about: "compat: what a `run` was notified of yields, and then the future of the `run` blocks",
        faults: &[25],
        body: future_after_yield,
    },
    Scenario {
        name: "compat.own_thread",
        about: "compat: a thread whose `run` sleeps waits for a task instead",
        faults: &[],
        body: own_thread,
    },
    Scenario {
        name: "compat.end",
        about: "compat: at the end, futures wake each other under a lock that their drops take",
        faults: &[14],
        body: end,
    },
];

/// A thread's way to sleep between polls.
#[derive(Default)]
struct Host {
    is_woken: Mutex<bool>,
    woken: Condvar,
}

impl Host {
    fn wait(&self) {
        let mut is_woken = self.is_woken.lock().unwrap();
        while !*is_woken {
            is_woken = self.woken.wait(is_woken).unwrap();
        }
        *is_woken = false;
    }
}

impl Wake for Host {
    fn wake(self: Arc<Self>) {
        *self.is_woken.lock().unwrap() = true;
        self.woken.notify_one();
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let host = Arc::new(Host::default());
    let waker = Waker::from(Arc::clone(&host));
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        host.wait();
    }
}

/// Tasks that wait in their polls until all of them are polled.
#[derive(Clone)]
struct Meeting(Arc<(Mutex<usize>, Condvar)>);

impl Meeting {
    fn of(count: usize) -> Self {
        Self(Arc::new((Mutex::new(count), Condvar::new())))
    }

    fn meet(&self) {
        let (missing, all_met) = &*self.0;
        let mut missing_now = missing.lock().unwrap();
        *missing_now -= 1;
        all_met.notify_all();
        while *missing_now > 0 {
            missing_now = all_met.wait(missing_now).unwrap();
        }
    }
}

type Shared = Arc<Executor<'static>>;

/// Calls `body` while so many threads run an executor.
fn with_runs(runs: usize, body: impl FnOnce(&Shared)) {
    let executor = Shared::default();
    // A thread or one task can wait for an event, so each has its own.
    let stops: Vec<Event> = (0..runs).map(|_| Event::new()).collect();
    let threads = stops.iter().map(|stop| {
        let (executor, stop) = (Arc::clone(&executor), stop.clone());
        thread::spawn(move || block_on(executor.run(stop.wait())))
    });
    let threads: Vec<_> = threads.collect();
    body(&executor);
    stops.iter().for_each(Event::set);
    for thread in threads {
        thread.join().unwrap();
    }
    assert!(executor.is_empty());
}

fn one_at_a_time() {
    with_runs(2, |executor| {
        for number in 0..3 {
            assert_eq!(block_on(executor.spawn(async move { number })), number);
        }
    });
}

/// How often a program repeats what seldom happens.
const ROUNDS: usize = 5;

/// How many tasks the thief finds in a ring.
const LOOT: usize = 4;

/// The thief must come back from a poll when all of the loot is there: so it does not count as
/// searching, and takes more than one task.
fn loot() {
    with_runs(2, |executor| {
        for _ in 0..ROUNDS {
            let (begin, end) = (Meeting::of(2), Meeting::of(2));
            let (begins, ends) = (begin.clone(), end.clone());
            let thief = async move {
                begins.meet();
                ends.meet();
            };
            executor.spawn(thief).detach();
            let (inner, done) = (Arc::clone(executor), Event::new());
            let set = done.clone();
            let owner = async move {
                begin.meet();
                let loot = Arc::new(Loot::new(set));
                for _ in 0..LOOT {
                    let loot = Arc::clone(&loot);
                    inner.spawn(async move { loot.run_one() }).detach();
                }
                end.meet();
            };
            executor.spawn(owner).detach();
            done.block();
        }
    });
}

/// Tasks in the ring of one thread. The first one that is polled elsewhere blocks until all
/// the others are done.
struct Loot {
    owner: ThreadId,
    state: Mutex<LootState>,
    changed: Condvar,
    done: Event,
}

struct LootState {
    left: usize,
    is_stolen: bool,
}

impl Loot {
    /// The tasks of the calling thread.
    fn new(done: Event) -> Self {
        let (left, is_stolen) = (LOOT, false);
        Self {
            owner: thread::current().id(),
            state: Mutex::new(LootState { left, is_stolen }),
            changed: Condvar::new(),
            done,
        }
    }

    fn run_one(&self) {
        let mut state = self.state.lock().unwrap();
        let is_elsewhere = thread::current().id() != self.owner;
        if is_elsewhere && !std::mem::replace(&mut state.is_stolen, true) {
            while state.left > 1 {
                state = self.changed.wait(state).unwrap();
            }
        }
        state.left -= 1;
        self.changed.notify_all();
        if state.left == 0 {
            self.done.set();
        }
    }
}

fn batch() {
    with_runs(2, |executor| {
        let meeting = Meeting::of(2);
        let mut tasks = Vec::new();
        let futures = (0..4).map(|number| {
            let meeting = meeting.clone();
            async move {
                if number < 2 {
                    meeting.meet();
                }
            }
        });
        executor.spawn_many(futures, &mut tasks);
        tasks.into_iter().for_each(block_on);
    });
}

fn dropped() {
    with_runs(1, |executor| {
        let done = Event::new();
        let is_done = done.clone();
        block_on(executor.run(async {
            executor.spawn(async move { done.set() }).detach();
        }));
        is_done.block();
    });
}

fn future() {
    with_runs(1, |executor| {
        let (gate, done) = (Event::new(), Event::new());
        let blocking = blocking_run(executor, &gate, &done);
        let task = executor.spawn(async move { done.set() });
        gate.set();
        block_on(task);
        blocking.join().unwrap();
    });
}

fn future_after_yield() {
    with_runs(1, |executor| {
        let (gate, done) = (Event::new(), Event::new());
        let blocking = blocking_run(executor, &gate, &done);
        let task = executor.spawn(async move {
            gate.set();
            yield_now().await;
            done.set();
        });
        block_on(task);
        blocking.join().unwrap();
    });
}

/// A thread with a `run` whose future waits for `gate`, and then blocks until `done`.
fn blocking_run(executor: &Shared, gate: &Event, done: &Event) -> thread::JoinHandle<()> {
    let (executor, gate, done) = (Arc::clone(executor), gate.clone(), done.clone());
    thread::spawn(move || {
        block_on(executor.run(async move {
            gate.wait().await;
            done.block();
        }));
    })
}

fn own_thread() {
    with_runs(1, |executor| {
        let mut run = pin!(executor.run(std::future::pending::<()>()));
        let waker = Waker::from(Arc::new(Host::default()));
        assert!(
            run.as_mut()
                .poll(&mut Context::from_waker(&waker))
                .is_pending()
        );
        for _ in 0..2 {
            let done = Event::new();
            let is_done = done.clone();
            executor.spawn(async move { done.set() }).detach();
            is_done.block();
        }
    });
}

/// The wakers of two futures.
type Wakers = Arc<Mutex<[Option<Waker>; 2]>>;

/// One of two futures that wait for ever. When it is dropped, it wakes the other one under
/// the lock that both of them take.
struct Partner(usize, Wakers);

impl Future for Partner {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.1.lock().unwrap()[self.0] = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for Partner {
    fn drop(&mut self) {
        let mut wakers = self.1.lock().unwrap();
        wakers[1 - self.0].take().into_iter().for_each(Waker::wake);
    }
}

fn end() {
    let wakers = Wakers::default();
    let executor = Executor::new();
    block_on(executor.run(async {
        for number in 0..2 {
            let partner = Partner(number, Arc::clone(&wakers));
            executor.spawn(partner).detach();
        }
        // Both are polled meanwhile.
        yield_now().await;
    }));
    let waking = thread::spawn(move || {
        let wakers = wakers.lock().unwrap();
        wakers.iter().flatten().for_each(Waker::wake_by_ref);
    });
    drop(executor);
    waking.join().unwrap();
}
