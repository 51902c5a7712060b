//! Parallel runs of task graphs: counting down, values from branch to branch, and every
//! way in which a run ends.
//!
//! The runs are real ones, of graphs that the macro makes. The executor is a thread for
//! each branch, so that loom moves each of them on its own.

use std::future::{pending, poll_fn};
use std::pin::pin;
// Not loom's: they are the model's own, and never waited for.
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use loom::cell::UnsafeCell;
use loom::thread::{self, JoinHandle};
use ws_core::Spawn;
use ws_executor::graph::rt::{SharedSlot, Slot};
use ws_executor::task_graph;

use super::items::{Item, Ledger};
use super::model::Bound::Exhaustive;
use super::model::{Body, Expect, Main, Model, beat};
use super::sleep::Bell;

pub(crate) const MODELS: &[Model] = &[
    Model {
        name: "exec.graph.slot",
        shows: "a value is taken while it is written: it is whole, or not there yet",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(slot, [600, 390]),
    },
    Model {
        name: "exec.graph.slot_lends",
        shows: "a value is borrowed while it is written: it is whole, or not there yet",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(slot_lends, [600, 370]),
    },
    Model {
        name: "exec.graph.slot_is_given_back",
        shows: "a value is moved out while its borrower leaves: nobody reads it any more, or it stays",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(slot_is_given_back, [65, 60]),
    },
    Model {
        name: "exec.graph.after",
        shows: "a node that waits for two others, and takes nothing from them, sees what they did",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Once(after, 430),
    },
    Model {
        name: "exec.graph.join",
        shows: "two branches make what a third node misses: it runs once, and has both values",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Once(join, 430),
    },
    Model {
        name: "exec.graph.lend",
        shows: "two branches borrow a value that the last node moves: it is whole, and dropped once",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Once(lend, 12_400),
    },
    Model {
        name: "exec.graph.error_cancels",
        shows: "a node fails beside one that waits for ever: that one is dropped, and the run ends",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Once(error_cancels, 3_400),
    },
    Model {
        name: "exec.graph.dropped",
        shows: "a run is dropped while a branch falls asleep: the branch leaves, with all it has",
        flaws: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Once(dropped, 6_300),
    },
];

/// An executor with a thread for each task.
#[derive(Clone, Default)]
struct Threads(Arc<Mutex<Vec<JoinHandle<()>>>>);

impl Spawn for Threads {
    fn spawn<F: Future<Output = ()> + Send + 'static>(&self, future: F) {
        let thread = thread::spawn(|| {
            beat();
            drive(future);
            beat();
        });
        self.0.lock().unwrap().push(thread);
    }

    fn parallelism(&self) -> usize {
        2
    }
}

impl Threads {
    /// Waits until all tasks have ended.
    fn join(&self) {
        let threads = std::mem::take(&mut *self.0.lock().unwrap());
        for thread in threads {
            thread.join().unwrap();
        }
    }
}

struct Ring(Bell);

impl Wake for Ring {
    fn wake(self: Arc<Self>) {
        self.0.ring();
    }
}

pub(crate) fn drive<F: Future>(future: F) -> F::Output {
    let ring = Arc::new(Ring(Bell::new()));
    let waker = Waker::from(ring.clone());
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        ring.0.wait();
        // A future that yields waits for another thread.
        thread::yield_now();
    }
}

fn slot(main: Main) {
    let ledger = Ledger::open();
    // loom's: its count orders the end of the slot after both.
    let slot = loom::sync::Arc::new(Slot::new());
    let other = slot.clone();
    let ((), taken) = main.race(
        move || slot.set(Item::new(1)),
        move || other.take_if_full().map(Item::take),
    );
    assert!(matches!(taken, None | Some(1)));
    ledger.close();
}

/// Whether a slot has its value, and it is lent so many times; relaxed, as its text is.
fn is_lent(slot: &SharedSlot<impl std::fmt::Debug>, times: usize) -> bool {
    format!("{slot:?}").contains(&format!("lent {times} times"))
}

fn slot_lends(main: Main) {
    let ledger = Ledger::open();
    let slot = loom::sync::Arc::new(SharedSlot::new());
    let other = slot.clone();
    let ((), id) = main.race(
        move || slot.set(Item::new(1)),
        move || is_lent(&other, 0).then(|| other.share().id()),
    );
    assert!(matches!(id, None | Some(1)));
    ledger.close();
}

/// The owner borrows, the thief moves the value out and writes to it.
fn slot_is_given_back(main: Main) {
    // Not in an `Arc`: a borrowed value has the lifetime of its slot.
    let slot: *mut _ = Box::leak(Box::new(SharedSlot::full(Memory::new())));
    // SAFETY: it is freed below, when nobody uses it.
    let shared: &'static SharedSlot<Memory> = unsafe { &*slot };
    let lent = shared.share();
    let (seen, _) = main.race(
        move || lent.read(),
        move || {
            is_lent(shared, 0).then(|| {
                let value = shared.take();
                value.write();
                value
            })
        },
    );
    assert_eq!(seen, 0, "it was moved out while it was lent");
    // SAFETY: both threads have ended.
    drop(unsafe { Box::from_raw(slot) });
}

/// Memory that nodes share behind the back of the graph.
#[derive(Debug)]
pub(crate) struct Memory(UnsafeCell<usize>);

// SAFETY: loom watches every access, and stops where two of them meet.
unsafe impl Sync for Memory {}
// SAFETY: as above.
unsafe impl Send for Memory {}

loom::lazy_static! {
    static ref ONE: Memory = Memory::new();
    static ref TWO: Memory = Memory::new();
}

impl Memory {
    pub(crate) fn new() -> Self {
        Self(UnsafeCell::new(0))
    }

    pub(crate) fn write(&self) {
        // SAFETY: as above.
        self.0.with_mut(|cell| unsafe { *cell = 1 });
    }

    pub(crate) fn read(&self) -> usize {
        // SAFETY: as above.
        self.0.with(|cell| unsafe { *cell })
    }
}

#[task_graph]
async fn ordered() -> usize {
    let _left = ONE.write();
    let _right = TWO.write();
    #[node(after(_left, _right))]
    let seen = ONE.read() + TWO.read();
    seen
}

fn after() {
    let threads = Threads::default();
    assert_eq!(drive(ordered::on(&threads).run()), 2);
    threads.join();
}

#[task_graph]
async fn joined(one: Item, two: Item) -> usize {
    let left = one;
    let right = two;
    left.take() + right.take()
}

fn join() {
    let ledger = Ledger::open();
    let threads = Threads::default();
    let run = joined::on(&threads).run(Item::new(1), Item::new(2));
    assert_eq!(drive(run), 3);
    threads.join();
    ledger.close();
}

#[task_graph]
async fn lent(item: Item) -> usize {
    let left = item.id();
    let right = item.id();
    left + right + item.take()
}

fn lend() {
    let ledger = Ledger::open();
    let threads = Threads::default();
    assert_eq!(drive(lent::on(&threads).run(Item::new(1))), 3);
    threads.join();
    ledger.close();
}

#[task_graph]
async fn failing(item: Item) -> Result<usize, u8> {
    let fails: usize = Err(7)?;
    let waits = {
        let _item = item;
        pending::<usize>().await
    };
    Ok(fails + waits)
}

fn error_cancels() {
    let ledger = Ledger::open();
    let threads = Threads::default();
    assert_eq!(drive(failing::on(&threads).run(Item::new(1))), Err(7));
    // All of the run is gone when it returns, not a little later.
    ledger.close();
    threads.join();
}

#[task_graph]
async fn waiting(one: Item, two: Item) -> usize {
    let left = {
        let _one = one;
        pending::<usize>().await
    };
    let right = {
        let _two = two;
        pending::<usize>().await
    };
    left + right
}

fn dropped() {
    let ledger = Ledger::open();
    let threads = Threads::default();
    {
        let mut run = pin!(waiting::on(&threads).run(Item::new(1), Item::new(2)));
        drive(poll_fn(|cx| {
            assert!(run.as_mut().poll(cx).is_pending());
            Poll::Ready(())
        }));
    }
    threads.join();
    ledger.close();
}
