//! An allocation that fails ends the process, by an abort that says so, and in no other
//! manner: no hang, no access to memory that is not there.
//!
//! A program that does a bit of everything runs in child processes; in the n-th one the
//! n-th allocation fails, until one comes to its end because there are not so many.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::env;
use std::future::{pending, poll_fn};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

use futures::future::join_all;
use tests::child;
use tests::exec::until;
use ws_executor::{Executor, Handle, yield_now};

/// How many allocations there were, since the scene began; none are counted before.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Which one fails; there is no number 0.
static FAILS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Whether this thread's allocations neither count nor fail.
    static UNCOUNTED: Cell<bool> = const { Cell::new(false) };
}

/// The system's allocator, with one failure.
struct Failing;

impl Failing {
    fn fails() -> bool {
        let fails = FAILS.load(Ordering::SeqCst);
        // A thread that ends may allocate when its locals are gone.
        let counts = fails != 0 && !UNCOUNTED.try_with(Cell::get).unwrap_or(false);
        counts && COUNT.fetch_add(1, Ordering::SeqCst) + 1 == fails
    }
}

/// Lets `code` allocate what was allocated often enough.
fn uncounted<R>(code: impl FnOnce() -> R) -> R {
    UNCOUNTED.set(true);
    let result = code();
    UNCOUNTED.set(false);
    result
}

// SAFETY: a call is passed on to `System` unchanged, or fails, which an allocation may. The
// thread-local has a constant initial value and no destructor: it never allocates itself.
unsafe impl GlobalAlloc for Failing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if Self::fails() {
            return ptr::null_mut();
        }
        // SAFETY: the caller's promises about `layout` are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if Self::fails() {
            return ptr::null_mut();
        }
        // SAFETY: the pointer came from `System`; the rest are the caller's promises.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer came from `System`, with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Failing = Failing;

const VARIABLE: &str = "WS_TEST_FAILING_ALLOCATION";

/// What the standard library says before it aborts, and what async-task says if it is the
/// allocation of a task.
const ABORTS: [&str; 2] = ["memory allocation of", "aborting the process"];

/// What a child says before each part of the scene, and at its end.
const PART: &str = "part: ";
/// Those in which something is allocated for certain.
const PARTS: [&str; 6] = [
    "build",
    "spawn",
    "block_on",
    "scope",
    "elsewhere",
    "shutdown",
];
const ALLOCATIONS: &str = "allocations: ";

fn part(name: &str) {
    eprintln!("{PART}{name}");
}

/// A bit of everything, on two workers.
fn scene() {
    part("build");
    let executor = Executor::builder().workers(2).build().unwrap();
    let handle = executor.handle();

    part("spawn");
    let waker: Arc<Mutex<Option<Waker>>> = Arc::default();
    let waits = executor.spawn({
        let waker = Arc::clone(&waker);
        let mut polls = 0;
        poll_fn(move |cx| {
            polls += 1;
            *waker.lock().unwrap() = Some(cx.waker().clone());
            if polls < 3 {
                Poll::Pending
            } else {
                Poll::Ready(polls)
            }
        })
    });
    // More than a ring holds.
    let spawner = executor.spawn(async {
        let spawn = |_| Handle::current().spawn(async {});
        let most = uncounted(|| (0..255).map(spawn).collect::<Vec<_>>());
        let rest: Vec<_> = (0..4).map(spawn).collect();
        let mut ended = 0;
        for task in most.into_iter().chain(rest) {
            task.await;
            ended += 1;
        }
        ended
    });

    part("spawn_many");
    let many = executor.spawn_many((0..5).map(|number| async move {
        yield_now().await;
        number
    }));

    part("wake");
    for _ in 0..2 {
        until(|| waker.lock().unwrap().is_some());
        let waker = waker.lock().unwrap().take();
        waker.into_iter().for_each(Waker::wake);
    }

    part("block_on");
    assert_eq!(executor.block_on(waits), 3);
    assert_eq!(executor.block_on(spawner), 259);
    assert_eq!(executor.block_on(join_all(many)).len(), 5);
    let nested = executor.spawn(async { Handle::current().block_on(yield_now()) });
    executor.block_on(nested);

    part("scope");
    let mut numbers = [0; 3];
    executor.scope(|scope| {
        for number in &mut numbers {
            scope.spawn(async move { *number += 1 });
        }
    });
    assert_eq!(numbers, [1; 3]);

    part("elsewhere");
    let pinned = handle.spawn_pinned(1, || async { 1 });
    let blocking = handle.spawn_blocking(|| 2);
    assert_eq!(executor.block_on(pinned) + executor.block_on(blocking), 3);

    part("cancel");
    let cancelled = executor.spawn(pending::<()>()).cancel();
    assert_eq!(executor.block_on(cancelled), None);

    part("shutdown");
    executor.spawn_many((0..2).map(|_| pending::<()>()));
    executor.shutdown();
    let refused = handle.spawn(async {}).fallible();
    assert_eq!(ws_executor::block_on(refused), None);
}

/// How many allocations the child had, if it came to its end; otherwise it has to have
/// aborted in the right manner.
fn run_child(test: &str, fails: usize, parts: &mut BTreeSet<&str>) -> Option<usize> {
    let ending = child::run_with(test, &[(VARIABLE, &fails.to_string())], || unreachable!());
    let ending = ending.expect("this is the parent");
    if ending.code != Some(0) {
        let said = ABORTS.iter().find(|text| ending.stderr.contains(**text));
        ending.assert_aborted(said.unwrap_or(&ABORTS[0]));
        // Another thread may have written into the same line.
        let part = |line: &str| {
            PARTS
                .into_iter()
                .find(|part| line.strip_prefix(PART) == Some(*part))
        };
        parts.extend(ending.stderr.lines().rev().find_map(part));
        return None;
    }
    let mut lines = ending.stderr.lines();
    let count = lines.find_map(|line| line.strip_prefix(ALLOCATIONS));
    Some(
        count
            .and_then(|text| text.parse().ok())
            .expect("a child counts"),
    )
}

#[test]
fn a_failing_allocation_aborts() {
    const TEST: &str = "a_failing_allocation_aborts";
    if let Ok(fails) = env::var(VARIABLE) {
        let fails: usize = fails.parse().unwrap();
        let parent = child::run(TEST, || {
            FAILS.store(fails, Ordering::SeqCst);
            scene();
            FAILS.store(0, Ordering::SeqCst);
            eprintln!("{ALLOCATIONS}{}", COUNT.load(Ordering::SeqCst));
        });
        return assert!(parent.is_none(), "the variable is for children only");
    }
    let mut parts = BTreeSet::new();
    let (mut fails, mut finished) = (0, 0);
    // Threads make it differ a bit from run to run how many there are.
    while finished < 10 {
        fails += 1;
        let count = run_child(TEST, fails, &mut parts);
        // One that survives its failure does no harm, and is not the end.
        let is_past_the_end = count.is_some_and(|count| count < fails);
        finished = if is_past_the_end { finished + 1 } else { 0 };
    }
    println!("{} allocations, in {parts:?}", fails - finished);
    assert_eq!(
        parts.len(),
        PARTS.len(),
        "allocations failed only in {parts:?}"
    );
}
