//! What is dropped when: the future before its task's waker, and both before the state
//! of the executor; whatever state the task is in, and however it ends.

use std::future::{pending, poll_fn};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

use tests::exec::{Gate, until};
use tests::watchdog;
use ws_core::{Park, ThreadParker, ThreadUnparker, Unpark};
use ws_executor::{Executor, Task};

/// What was dropped so far.
type Log = Arc<Mutex<Vec<&'static str>>>;

/// Says in the log when it is dropped.
struct Tells(&'static str, Log);

impl Drop for Tells {
    fn drop(&mut self) {
        self.1.lock().unwrap().push(self.0);
    }
}

/// A parker is a part of a worker, an unparker one of what all workers share.
struct Parker(ThreadParker, Arc<Tells>);

#[derive(Clone)]
struct Unparker(ThreadUnparker, #[allow(dead_code)] Arc<Tells>);

impl Unpark for Unparker {
    fn unpark(&self) {
        self.0.unpark();
    }
}

impl Park for Parker {
    type Unparker = Unparker;

    fn unparker(&self) -> Unparker {
        Unparker(self.0.unparker(), Arc::clone(&self.1))
    }

    fn park(&self) {
        self.0.park();
    }

    fn park_timeout(&self, timeout: Duration) {
        self.0.park_timeout(timeout);
    }
}

/// Where the task is when its end comes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Queued,
    Waiting,
    Running,
    Ended,
}

/// What becomes of its handle.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Dropped,
    Cancelled,
    Detached,
    Kept,
}

#[test]
fn futures_and_outputs_before_the_executors_state() {
    watchdog::guard("drop order", || {
        for state in [State::Queued, State::Waiting, State::Running, State::Ended] {
            for way in [Way::Dropped, Way::Cancelled, Way::Detached, Way::Kept] {
                check(state, way);
            }
        }
    });
}

fn check(state: State, way: Way) {
    let log = Log::default();
    let tells = |what| Tells(what, Arc::clone(&log));
    let state_log = Arc::clone(&log);
    let executor = Executor::builder()
        .spares(0)
        .workers(1)
        .parker(move |_| {
            let tells = Tells("state", Arc::clone(&state_log));
            Parker(ThreadParker::new(), Arc::new(tells))
        })
        .build()
        .unwrap();
    let handle = executor.handle();

    let (gate, inside) = (Gate::new(), Gate::new());
    // Tasks from one thread run in their order.
    if state == State::Queued {
        let (gate, inside) = (gate.clone(), inside.clone());
        let blocks = async move {
            inside.open();
            gate.wait();
        };
        executor.spawn(blocks).detach();
    }
    let task = executor.spawn({
        let (gate, inside) = (gate.clone(), inside.clone());
        let (future, output) = (tells("future"), tells("output"));
        async move {
            let _future = future;
            inside.open();
            match state {
                State::Queued | State::Waiting => pending().await,
                State::Running => gate.wait(),
                State::Ended => {}
            }
            output
        }
    });
    match state {
        State::Queued | State::Running => inside.wait(),
        State::Waiting => {
            inside.wait();
            handle.block_on(handle.spawn(async {}));
        }
        State::Ended => until(|| task.is_finished()),
    }

    // Whoever waits for the poll must not keep it from ending.
    let release = thread::spawn(move || {
        until(|| way == Way::Cancelled || handle.is_shut_down());
        gate.open();
    });
    let mut kept: Option<Task<Tells>> = None;
    match way {
        Way::Dropped => drop(task),
        Way::Cancelled => drop(executor.block_on(task.cancel())),
        Way::Detached => task.detach(),
        Way::Kept => kept = Some(task),
    }
    executor.shutdown();
    release.join().unwrap();

    let keeps_output = kept.is_some() && !log.lock().unwrap().contains(&"output");
    drop(kept);
    let order = log.lock().unwrap().clone();
    let place = |what| order.iter().position(|&dropped| dropped == what);
    let case = format!("{state:?}, {way:?}: {order:?}");
    assert_eq!(order.len(), 3, "each once: {case}");
    assert!(place("future") < place("state"), "{case}");
    // An output that its handle keeps is no part of the executor any more.
    assert!(keeps_output || place("output") < place("state"), "{case}");
}

/// A waker that outlives everything: the future goes first, and what the waker holds
/// is memory only.
#[test]
fn a_waker_may_be_the_last() {
    watchdog::guard("last waker", || {
        for wakes in [true, false] {
            let log = Log::default();
            let kept: Arc<Mutex<Option<Waker>>> = Arc::default();
            let executor = tests::exec::executor(1);
            let (gate, future) = (Gate::new(), Tells("future", Arc::clone(&log)));
            let task = executor.spawn({
                let (gate, kept) = (gate.clone(), Arc::clone(&kept));
                poll_fn(move |cx| {
                    let _future = &future;
                    *kept.lock().unwrap() = Some(cx.waker().clone());
                    gate.open();
                    Poll::<()>::Pending
                })
            });
            gate.wait();
            drop(task);
            drop(executor);
            assert_eq!(*log.lock().unwrap(), ["future"]);
            let waker = kept.lock().unwrap().take().unwrap();
            if wakes {
                waker.wake();
            } else {
                drop(waker);
            }
            assert_eq!(*log.lock().unwrap(), ["future"]);
        }
    });
}
