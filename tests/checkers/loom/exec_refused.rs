//! Jobs that a closed executor refuses: the last worker waits for them, and a wake that comes
//! late does not drop its future.
//!
//! The owner is the last worker, the thief a thread that wakes or polls a task.

use std::task::Waker;

use loom::sync::Arc;
use ws_executor::model::{Injector, Inside, Refused, Registry, RegistryKey};

use super::items::{Item, Ledger};
use super::model::Bound::Exhaustive;
use super::model::{Body, Expect, Main, Model};
use super::sleep::Bell;

pub(crate) const MODELS: &[Model] = &[
    Model {
        name: "exec.refused.late_wake",
        shows: "a job that is refused while the last worker waits for its seat is dropped by that",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(late_wake, [370, 280]),
    },
    Model {
        name: "exec.refused.left_elsewhere",
        shows: "a task that ends elsewhere lets the last worker go",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(left_elsewhere, [1_300, 950]),
    },
    Model {
        name: "exec.refused.line_of_a_blocked_drop",
        shows: "a job in the line of a thread that is blocked is dropped by the last worker",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(line_of_a_blocked_drop, [2_800, 2_400]),
    },
    Model {
        name: "exec.drain.inside",
        shows: "a drain that sees the queue empty sees who took the job, until that is done",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(inside, [150, 80]),
    },
];

/// A closed executor with one task that waits.
struct Closed {
    registry: Registry,
    refused: Refused<(Item, RegistryKey)>,
}

impl Closed {
    fn new() -> (Arc<Self>, RegistryKey) {
        let registry = Registry::new(1);
        let seat = registry.enter(0, Waker::noop()).expect("it is open");
        let refused = Refused::new();
        (Arc::new(Self { registry, refused }), seat)
    }

    /// Closes, and drops what is left: the last worker's part.
    fn drop_last(&self) {
        // The task was woken already.
        self.registry.close_all(drop);
        self.refused.look_again();
        let is_over = || self.registry.is_finished();
        self.refused
            .drop_until(None, None, is_over, |(item, seat)| {
                drop(item);
                self.leave(seat);
            });
    }

    fn leave(&self, seat: RegistryKey) {
        if self.registry.leave(seat) {
            self.refused.look_again();
        }
    }
}

fn late_wake(main: Main) {
    let ledger = Ledger::open();
    let (closed, seat) = Closed::new();
    let (worker, waker) = (closed.clone(), closed.clone());
    let job = (Item::new(1), seat);
    main.race(
        move || worker.drop_last(),
        move || waker.refused.push(None, vec![job]),
    );
    assert!(closed.registry.is_empty(), "the last worker did not wait");
    drop(closed);
    ledger.close();
}

/// The thief drops a future, which blocks until the task is gone that its drop has woken.
fn line_of_a_blocked_drop(main: Main) {
    const THREAD: usize = 7;

    let ledger = Ledger::open();
    let (closed, seat) = Closed::new();
    let (worker, dropping) = (closed.clone(), closed.clone());
    let job = (Item::new(1), seat);
    let gone = Arc::new(Bell::new());
    let (ring, rung) = (gone.clone(), gone);
    main.race(
        move || {
            worker.registry.close_all(drop);
            let is_over = || worker.registry.is_finished();
            worker
                .refused
                .drop_until(None, None, is_over, |(item, seat)| {
                    drop(item);
                    worker.leave(seat);
                    ring.ring();
                });
        },
        move || {
            let _ = dropping.refused.push(Some(THREAD), vec![job]);
            rung.wait();
        },
    );
    assert!(closed.registry.is_finished(), "a seat is still taken");
    drop(closed);
    ledger.close();
}

fn left_elsewhere(main: Main) {
    let (closed, seat) = Closed::new();
    let (worker, poller) = (closed.clone(), closed.clone());
    main.race(move || worker.drop_last(), move || poller.leave(seat));
    assert!(closed.registry.is_finished(), "a seat is still taken");
}

/// The owner polls although it is no worker; the thief asks whether all is done.
fn inside(main: Main) {
    let ledger = Ledger::open();
    let state = Arc::new((Inside::new(), Injector::new(1)));
    assert!(state.1.push(Item::new(1)).is_ok(), "it is open");
    let (polling, asking) = (state.clone(), state.clone());
    let (_, drained) = main.race(
        move || {
            let inside = polling.0.enter();
            let job = polling.1.pull(0).expect("nobody else takes it");
            // It goes on polling: nobody may be told that all is done.
            std::mem::forget(inside);
            job
        },
        move || asking.1.is_empty() && asking.0.is_empty(),
    );
    assert!(!drained, "a job is being polled");
    drop(state);
    ledger.close();
}
