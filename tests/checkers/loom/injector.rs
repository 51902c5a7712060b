//! How jobs come in from outside: the stack of seed 001, and a locked queue.

use loom::cell::UnsafeCell;
use loom::sync::atomic::AtomicUsize;
use loom::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use loom::sync::{Arc, Mutex};

use super::deque::Deque;
use super::deque_right::Right;
use super::items::{self, Ledger};
use super::model::Bound::{Exhaustive, Preemptions};
use super::model::{Body, Expect, Main, Model, beat};
use super::sleep::Bell;

pub(crate) const MODELS: &[Model] = &[
    Model {
        name: "injector.stack.use_after_free",
        shows: "a node is freed while another thread reads its link",
        flaws: &[20],
        bound: Exhaustive,
        expect: Expect::Fails("Causality violation"),
        body: Body::Roles(two_takers::<Stack>, [0, 0]),
    },
    Model {
        name: "injector.stack.aba",
        shows: "a node that comes back lets a stale CAS succeed",
        flaws: &[20],
        bound: Exhaustive,
        expect: Expect::Fails("was taken twice"),
        body: Body::Roles(take_and_return::<StackThatKeepsNodes>, [0, 0]),
    },
    Model {
        name: "injector.locked.two_takers",
        shows: "a lock: two takers get two jobs",
        flaws: &[20],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(two_takers::<Locked>, [120, 120]),
    },
    Model {
        name: "injector.locked.take_and_return",
        shows: "a lock: a job that comes back confuses nobody",
        flaws: &[20],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(take_and_return::<Locked>, [730, 490]),
    },
    Model {
        name: "injector.callers_wait",
        shows: "two callers inject and wait on a latch; one worker owns the deque",
        flaws: &[21],
        bound: Preemptions(3),
        expect: Expect::Holds,
        body: Body::Roles(callers_wait, [59_000, 33_000]),
    },
];

/// Jobs 1 to 3, in and out.
trait Injector: Send + Sync + 'static {
    fn new() -> Self;
    fn push(&self, id: usize);
    fn take(&self) -> Option<usize>;
}

/// Who reads a link and who frees its node.
struct Node {
    /// The node below; nodes are named by their job, 0 is none.
    next: AtomicUsize,
    /// Read with the link, written when the node is freed.
    memory: UnsafeCell<()>,
}

/// A Treiber stack whose nodes are freed as soon as they are taken.
struct Stack(StackThatKeepsNodes);

impl Injector for Stack {
    fn new() -> Self {
        Self(Injector::new())
    }

    fn push(&self, id: usize) {
        self.0.push(id);
    }

    fn take(&self) -> Option<usize> {
        let id = self.0.take()?;
        self.0.nodes[id].memory.with_mut(|_| {});
        Some(id)
    }
}

/// The same stack with nodes that are never freed: the ABA problem is left.
struct StackThatKeepsNodes {
    head: AtomicUsize,
    nodes: [Node; 4],
}

// SAFETY: whether the cells have one user at a time is what the models check.
unsafe impl Sync for StackThatKeepsNodes {}

impl Injector for StackThatKeepsNodes {
    fn new() -> Self {
        Self {
            head: AtomicUsize::new(0),
            nodes: std::array::from_fn(|_| Node {
                next: AtomicUsize::new(0),
                memory: UnsafeCell::new(()),
            }),
        }
    }

    fn push(&self, id: usize) {
        let mut head = self.head.load(Relaxed);
        loop {
            self.nodes[id].next.store(head, Relaxed);
            match self.head.compare_exchange(head, id, AcqRel, Acquire) {
                Ok(_) => return,
                Err(actual) => head = actual,
            }
        }
    }

    fn take(&self) -> Option<usize> {
        let mut head = self.head.load(Acquire);
        loop {
            if head == 0 {
                return None;
            }
            self.nodes[head].memory.with(|_| {});
            let next = self.nodes[head].next.load(Relaxed);
            match self.head.compare_exchange(head, next, AcqRel, Acquire) {
                Ok(_) => return Some(head),
                Err(actual) => head = actual,
            }
        }
    }
}

/// A vector behind a lock.
struct Locked(Mutex<Vec<usize>>);

impl Injector for Locked {
    fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    fn push(&self, id: usize) {
        self.0.lock().unwrap().push(id);
    }

    fn take(&self) -> Option<usize> {
        self.0.lock().unwrap().pop()
    }
}

fn filled<I: Injector>(count: usize) -> Arc<I> {
    let jobs = Arc::new(I::new());
    for id in 1..=count {
        items::made(id);
        jobs.push(id);
    }
    jobs
}

fn close(ledger: Ledger, jobs: &impl Injector) {
    while let Some(id) = jobs.take() {
        items::gone(id);
    }
    ledger.close();
}

/// Jobs 1 and 2; take // take.
fn two_takers<I: Injector>(main: Main) {
    let ledger = Ledger::open();
    let jobs = filled::<I>(2);
    let (one, other) = (jobs.clone(), jobs.clone());
    main.race(
        move || one.take().into_iter().for_each(items::gone),
        move || other.take().into_iter().for_each(items::gone),
    );
    close(ledger, &*jobs);
}

/// Jobs 1 to 3; take // take, take, and put the first one back.
fn take_and_return<I: Injector>(main: Main) {
    let ledger = Ledger::open();
    let jobs = filled::<I>(3);
    let (one, other) = (jobs.clone(), jobs.clone());
    main.race(
        move || {
            let first = other.take();
            other.take().into_iter().for_each(items::gone);
            if let Some(id) = first {
                other.push(id);
            }
        },
        move || {
            one.take().into_iter().for_each(items::gone);
            beat();
        },
    );
    close(ledger, &*jobs);
}

/// Two callers; each injects one job and waits until the worker has run it.
fn callers_wait(main: Main) {
    let ledger = Ledger::open();
    let jobs = filled::<Locked>(0);
    let work = Arc::new(Bell::new());
    let done = Arc::new([Bell::new(), Bell::new()]);
    let call_in = |id: usize| {
        let (jobs, work, done) = (jobs.clone(), work.clone(), done.clone());
        move || {
            items::made(id);
            jobs.push(id);
            work.ring();
            done[id - 1].wait();
        }
    };
    let (one, other) = (call_in(1), call_in(2));
    main.race_two(
        move || {
            let deque = Right::new(2);
            let mut left = 2;
            while left > 0 {
                match jobs.take() {
                    Some(id) => deque.push(id).expect("there is room for all"),
                    None => work.wait(),
                }
                while let Some(id) = deque.pop() {
                    items::gone(id);
                    done[id - 1].ring();
                    left -= 1;
                }
            }
        },
        one,
        other,
    );
    ledger.close();
}
