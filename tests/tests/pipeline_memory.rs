//! The memory of a pipeline is that of its items in flight, also when one of them takes
//! much longer than the others.
//!
//! Counted by the allocator, in a process of its own.

mod pipeline_support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt::Write;
use std::fs;
use std::sync::atomic::{AtomicIsize, Ordering};
use std::sync::{Arc, Mutex};

use futures::executor::block_on;
use futures::stream;
use pipeline_support::Door;
use tests::exec::until;
use tests::watchdog;
use ws_executor::pipeline::{self, Route, files::Lines};
use ws_executor::task_graph;

static LIVE: AtomicIsize = AtomicIsize::new(0);

/// The system's allocator, counting the bytes that are in use.
struct Counting;

// SAFETY: every call is passed on to `System` unchanged. The counter never allocates.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size() as isize, Ordering::Relaxed);
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

#[test]
fn one_slow_item_does_not_make_the_others_leave_anything_behind() {
    const ITEMS: u64 = 300_000;
    let _alone = ALONE.lock();
    watchdog::guard("slow item", || {
        let path = std::env::temp_dir().join(format!("ws-pipeline-memory-{}", std::process::id()));
        let mut text = String::new();
        (0..ITEMS).for_each(|n| writeln!(text, "{n}").unwrap());
        fs::write(&path, text).unwrap();
        let executor = tests::exec::executor(2);
        let door = Door::default();
        let slow = door.clone();
        let running = pipeline::from_fn(&executor.handle(), move |line: String| {
            let slow = slow.clone();
            async move {
                if line == "0" {
                    slow.pass().await;
                }
                Ok::<_, ()>(())
            }
        })
        .source(Lines::open(&path).unwrap())
        .source(stream::iter((0..ITEMS).map(|n| format!("{n} of many"))))
        .in_flight(64)
        .build()
        .unwrap()
        .start();
        let live = || LIVE.load(Ordering::Relaxed);
        until(|| running.progress().done >= 10_000);
        let before = live();
        until(|| running.progress().done == 2 * ITEMS - 1);
        let more = live() - before;
        door.open();
        assert_eq!(block_on(running).unwrap().done, 2 * ITEMS);
        let offset = path.with_extension("offset");
        assert_eq!(
            fs::read_to_string(&offset).unwrap().trim(),
            fs::metadata(&path).unwrap().len().to_string()
        );
        fs::remove_file(&path).unwrap();
        fs::remove_file(&offset).unwrap();
        assert!(more < 500_000, "{more} bytes for one item");
    });
}

/// Only the first item comes to the node with a key.
#[task_graph]
async fn by_key(number: u64, #[shared] door: &Door) -> Result<u64, ()> {
    let first = only_first(number, door).await?;
    #[node(key = first)]
    let seen = see(first).await;
    Ok(seen)
}

async fn only_first(number: u64, door: &Door) -> Result<u64, ()> {
    if number > 0 {
        return Err(());
    }
    door.pass().await;
    Ok(number)
}

async fn see(number: u64) -> u64 {
    number
}

#[test]
fn a_key_does_not_remember_all_that_ended_after_a_slow_item() {
    const ITEMS: u64 = 300_000;
    let _alone = ALONE.lock();
    watchdog::guard("slow key", || {
        let executor = tests::exec::executor(2);
        let door = Arc::new(Door::default());
        let shared = by_key::Shared { door: door.clone() };
        let running = by_key::bind(&executor.handle(), shared)
            .iter(0..ITEMS)
            .in_flight(64)
            .on_error(|_| Route::Skip)
            .build()
            .unwrap()
            .start();
        let live = || LIVE.load(Ordering::Relaxed);
        until(|| running.progress().skipped >= 10_000);
        let before = live();
        until(|| running.progress().skipped == ITEMS - 1);
        let more = live() - before;
        door.open();
        assert_eq!(block_on(running).unwrap().done, 1);
        assert!(more < 500_000, "{more} bytes for one item");
    });
}
