//! Memory is given back: after a cancel, and after a shutdown. And a small task is small.
//!
//! Counted by the allocator, in a process of its own.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::future::pending;
use std::sync::Mutex;
use std::sync::atomic::{AtomicIsize, Ordering};

use futures::future::join_all;
use tests::exec::{executor, until};
use tests::watchdog;
use ws_executor::{Executor, Task};

static LIVE: AtomicIsize = AtomicIsize::new(0);

thread_local! {
    /// Sizes of what this thread has allocated: how many, and how much together.
    static MINE: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// The system's allocator, counting the bytes that are in use.
struct Counting;

impl Counting {
    fn count(size: usize) {
        LIVE.fetch_add(size as isize, Ordering::Relaxed);
        // A thread that ends may allocate when its locals are gone.
        let _ = MINE.try_with(|mine| {
            let (count, bytes) = mine.get();
            mine.set((count + 1, bytes + size));
        });
    }
}

// SAFETY: every call is passed on to `System` unchanged. The counters have constant
// initial values and no destructors, so that they never allocate themselves.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::count(layout.size());
        // SAFETY: the caller's promises about `layout` are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the pointer came from `System`, by `alloc` with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// One test at a time: they count what the whole process has.
static ALONE: Mutex<()> = Mutex::new(());

fn live() -> isize {
    LIVE.load(Ordering::Relaxed)
}

const TASKS: usize = 100_000;

/// What the harness and the system may allocate meanwhile.
const NOISE: isize = 16 << 10;

/// Spawns tasks that wait; returns when all have been polled.
fn spawn_waiting(executor: &Executor) -> Vec<Task<()>> {
    let polls = executor.metrics().polls();
    let tasks: Vec<_> = (0..TASKS)
        .map(|_| executor.spawn(pending::<()>()))
        .collect();
    until(|| executor.metrics().polls() == polls + TASKS as u64);
    tasks
}

/// Cancels them in one of the possible ways, and waits until they are gone.
fn cancel(executor: &Executor, tasks: Vec<Task<()>>, round: usize) {
    match round % 2 {
        0 => drop(tasks),
        _ => {
            let cancels = tasks.into_iter().map(Task::cancel);
            let outputs = executor.block_on(join_all(cancels));
            assert!(outputs.iter().all(Option::is_none));
        }
    }
    until(|| executor.metrics().live_tasks() == 0);
}

#[test]
fn memory_returns_to_where_it_was() {
    let _alone = ALONE.lock();
    watchdog::guard("memory", || {
        // Once for what is allocated once in a process.
        drop(executor(2));
        let nothing = live();

        let running = executor(2);
        let tasks = spawn_waiting(&running);
        let full = live() - nothing;
        let each = full / TASKS as isize;
        println!("a waiting task takes {each} bytes with its handle and its seat");
        assert!(each < 300, "{each} bytes for a task that waits");
        cancel(&running, tasks, 0);
        let kept = (live() - nothing) / TASKS as isize;
        println!("after the cancel {kept} bytes for each are kept for the next");
        // Queues and seats stay as large as they were, the tasks themselves are gone.
        assert!(kept * 2 < each, "{kept} of {each} bytes for each are kept");

        // Each worker has queues of its own, which may still grow a bit; but what is
        // kept does not add up.
        for round in 1..6 {
            let tasks = spawn_waiting(&running);
            cancel(&running, tasks, round);
            let kept = live() - nothing;
            assert!(kept < full, "after round {round} {kept} bytes are kept");
        }

        let tasks = spawn_waiting(&running);
        tasks.into_iter().for_each(Task::detach);
        running.shutdown();
        let left = live() - nothing;
        assert!(left < NOISE, "{left} bytes are left after the shutdown");
    });
}

/// One allocation for a task, of at most 80 bytes if there is nothing in it.
#[test]
fn a_small_task_is_one_small_allocation() {
    let _alone = ALONE.lock();
    watchdog::guard("small", || {
        let executor = executor(1);
        let handle = executor.handle();
        let sizes = executor.spawn(async move {
            // The first ones make room in the queues, and start the monitor.
            let spawn = |_| {
                let (count, bytes) = MINE.get();
                handle.spawn(async {}).detach();
                let (count_after, bytes_after) = MINE.get();
                (count_after - count, bytes_after - bytes)
            };
            (0..110).map(spawn).skip(10).collect::<Vec<_>>()
        });
        for (count, bytes) in executor.block_on(sizes) {
            assert_eq!(count, 1);
            assert!(bytes <= 80, "{bytes} bytes for `async {{}}`");
        }
    });
}
