//! Aborts: by a thread that makes an abort handle while the task begins to wait, or ends.
//!
//! The owner is the task, the thief the thread that aborts it.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{Wake, Waker};

use loom::sync::Arc;
use ws_executor::AbortHandle;
use ws_executor::model::{AbortSlot, Registry, Wait};

use super::model::Bound::Exhaustive;
use super::model::{Body, Expect, Main, Model};

pub(crate) const MODELS: &[Model] = &[
    Model {
        name: "exec.abort.first_wait",
        shows: "a task that begins to wait is woken by the abort, or sees it",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(first_wait, [650, 1_100]),
    },
    Model {
        name: "exec.abort.early_handle",
        shows: "the same, with an abort handle that was made before",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(early_handle, [110, 110]),
    },
    Model {
        name: "exec.abort.end",
        shows: "a task ends and another takes its seat: that one is not woken",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(end, [2_100, 3_600]),
    },
    Model {
        name: "exec.abort.two_handles",
        shows: "two threads make the first abort handle: both abort the same task, once",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(two_handles, [6_700, 6_700]),
    },
];

/// Counts its wakes, unseen by loom.
#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.fetch_add(1, Relaxed);
    }
}

/// The wakes of a task, and its waker.
fn task() -> (std::sync::Arc<Wakes>, Waker) {
    let wakes = std::sync::Arc::<Wakes>::default();
    let waker = Waker::from(wakes.clone());
    (wakes, waker)
}

/// A task's slot, and where it may sit.
struct Place {
    slot: AbortSlot,
    registry: Registry,
}

impl Place {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            slot: AbortSlot::new(),
            registry: Registry::new(1),
        })
    }

    /// The task waits for the first time.
    fn wait(&self, waker: &Waker) -> Wait {
        let seat = self.registry.enter(0, waker).expect("it is open");
        self.slot.wait_in(seat, waker)
    }

    fn end(&self) {
        if let Some(seat) = self.slot.end() {
            self.registry.leave(seat);
        }
    }

    fn handle(&self) -> AbortHandle {
        self.slot.handle(|seat| self.registry.waker(seat))
    }
}

fn first_wait(main: Main) {
    let (wakes, waker) = task();
    let place = Place::new();
    let (waits, aborts) = (place.clone(), place.clone());
    let (wait, handle) = main.race(
        move || waits.wait(&waker),
        move || {
            let handle = aborts.handle();
            handle.abort();
            handle
        },
    );
    assert!(
        wait == Wait::Aborted || wakes.0.load(Relaxed) == 1,
        "it waits for ever"
    );
    assert!(place.slot.is_aborted());
    place.end();
    assert!(handle.is_finished() && place.registry.is_empty());
}

fn early_handle(main: Main) {
    let (wakes, waker) = task();
    let place = Place::new();
    let (waits, handle) = (place.clone(), place.handle());
    let (wait, ()) = main.race(move || waits.wait(&waker), move || handle.abort());
    assert!(
        wait == Wait::Aborted || wakes.0.load(Relaxed) == 1,
        "it waits for ever"
    );
    place.end();
    assert!(place.registry.is_empty());
}

fn end(main: Main) {
    let (wakes, waker) = task();
    let (others_wakes, others_waker) = task();
    let place = Place::new();
    assert_eq!(place.wait(&waker), Wait::Begun);
    let (ends, aborts) = (place.clone(), place.clone());
    let (other, handle) = main.race(
        move || {
            ends.end();
            ends.registry.enter(0, &others_waker)
        },
        move || {
            let handle = aborts.handle();
            handle.abort();
            handle
        },
    );
    assert_eq!(others_wakes.0.load(Relaxed), 0, "another task is woken");
    assert!(wakes.0.load(Relaxed) <= 1);
    assert!(handle.is_finished());
    place.registry.leave(other.expect("it is open"));
    assert!(place.registry.is_empty(), "a seat is not given back");
}

fn two_handles(main: Main) {
    let (wakes, waker) = task();
    let place = Place::new();
    assert_eq!(place.wait(&waker), Wait::Begun);
    let (one, two) = (place.clone(), place.clone());
    main.race(move || one.handle().abort(), move || two.handle().abort());
    assert_eq!(wakes.0.load(Relaxed), 1, "woken twice, or never");
    assert!(place.slot.is_aborted());
    place.end();
    assert!(place.registry.is_empty());
}
