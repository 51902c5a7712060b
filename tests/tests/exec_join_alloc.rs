//! A join on a worker allocates nothing, and a closure of a scope one block: counted by
//! the allocator, in a process of its own.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

use tests::exec::on_worker;
use tests::watchdog;
use ws_executor::{Executor, join};

/// The allocations of all workers.
static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Whether this thread is a worker. Others, of the test harness, allocate when they
    /// like.
    static IS_WORKER: Cell<bool> = const { Cell::new(false) };
}

/// The system's allocator, counting.
struct Counting;

// SAFETY: every call is passed on to `System` unchanged. The flag has a constant initial
// value and no destructor, so that it never allocates itself.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if IS_WORKER.get() {
            ALLOCATIONS.fetch_add(1, Ordering::SeqCst);
        }
        // SAFETY: the caller's promises about `layout` are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer came from `System`, by `alloc` with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(run: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.load(Ordering::SeqCst);
    run();
    ALLOCATIONS.load(Ordering::SeqCst) - before
}

/// Closures and results of some size, that are stolen now and then.
fn tree(depth: u32, content: [u64; 16]) -> [u64; 16] {
    if depth == 0 {
        return content.map(|number| number + 1);
    }
    let (a, b) = join(|| tree(depth - 1, content), || tree(depth - 1, content));
    std::array::from_fn(|n| a[n] + b[n])
}

/// What is counted is of all workers, so the tests must not run side by side.
fn counted(name: &str, workers: &[usize], test: impl Fn(&Executor) + Sync) {
    static ONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _one = ONE
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    watchdog::guard(name, || {
        for &workers in workers {
            let executor = Executor::builder()
                .workers(workers)
                .on_thread_start(move |number| IS_WORKER.set(number < workers))
                .build()
                .unwrap();
            on_worker(&executor, || test(&executor));
        }
    });
}

#[test]
fn a_join_allocates_nothing() {
    counted("join", &[1, 2, 4], |_| {
        // One in a thousand could hide among others; in so many a single one shows.
        let round = || {
            let sum: u64 = (0..20).map(|_| tree(10, [1; 16])[0]).sum();
            assert_eq!(sum, 20 * 2_048);
        };
        // The spare thread, lanes that have to grow, what threads do at their beginning, which
        // for a worker that the machine keeps waiting may be late.
        let warm_up_ends = (0..50).any(|_| allocations(round) == 0);
        assert!(warm_up_ends, "joins allocate");
    });
}

#[test]
fn a_closure_of_a_scope_allocates_one_block() {
    counted("closure", &[1, 2], |executor| {
        let scope = |closures: usize| {
            let count = AtomicUsize::new(0);
            executor.scope(|s| {
                for _ in 0..closures {
                    s.run(|_| {
                        count.fetch_add(1, Ordering::Relaxed);
                    });
                }
            });
            assert_eq!(count.into_inner(), closures);
        };
        // What else is allocated, at the beginning, comes to an end.
        let one_block_each = || {
            let few = allocations(|| scope(10));
            let many = allocations(|| scope(1_010));
            many.checked_sub(few) == Some(1_000)
        };
        assert!((0..50).any(|_| one_block_each()), "more than a block each");
    });
}
