//! `Spawn` boxes nothing on the way to the executor, and `DynSpawn` exactly
//! once: counted by the allocator, in a process of its own.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::task::{FutureObj, Spawn as _, SpawnError};
use ws_core::spawn::{FromFutures, IntoFutures};
use ws_core::{DynSpawn, Spawn};

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, counting the allocations of each thread.
struct Counting;

// SAFETY: every call is passed on to `System` unchanged. The counter has a
// constant initial value and no destructor, so that it never allocates itself.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
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
    let before = ALLOCATIONS.get();
    run();
    ALLOCATIONS.get() - before
}

/// An executor that takes the measure of a future and drops it.
#[derive(Default)]
struct Scales {
    last_size: AtomicUsize,
}

impl Spawn for Scales {
    fn spawn<F>(&self, _future: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.last_size.store(size_of::<F>(), Ordering::Relaxed);
    }

    fn parallelism(&self) -> usize {
        1
    }
}

/// The same for `futures`, whose futures come boxed.
struct OtherScales;

impl futures::task::Spawn for OtherScales {
    fn spawn_obj(&self, _future: FutureObj<'static, ()>) -> Result<(), SpawnError> {
        Ok(())
    }
}

/// A future larger than any pointer, so that a box cannot be free.
fn large() -> impl Future<Output = ()> + Send + 'static {
    let content = [1_u8; 256];
    async move { assert_eq!(content.len(), 256) }
}

#[test]
fn a_future_arrives_by_value() {
    let scales = Arc::new(Scales::default());
    let by_box = Box::new(Scales::default());
    let by_rc = Rc::new(Scales::default());
    let size = size_of_val(&large());
    let unboxed = |spawn: &dyn Fn(), arrived: &AtomicUsize| {
        assert_eq!(allocations(spawn), 0);
        assert_eq!(arrived.swap(0, Ordering::Relaxed), size);
    };
    unboxed(&|| scales.spawn(large()), &scales.last_size);
    unboxed(&|| Spawn::spawn(&&&*scales, large()), &scales.last_size);
    unboxed(&|| Spawn::spawn(&scales, large()), &scales.last_size);
    unboxed(&|| Spawn::spawn(&by_box, large()), &by_box.last_size);
    unboxed(&|| Spawn::spawn(&by_rc, large()), &by_rc.last_size);
}

#[test]
fn a_trait_object_boxes_once_and_not_what_is_boxed() {
    let scales: Arc<dyn DynSpawn + Send + Sync> = Arc::new(Scales::default());
    assert_eq!(allocations(|| scales.spawn(large())), 1);
    let boxed = Box::pin(large());
    assert_eq!(allocations(|| scales.spawn_boxed(boxed)), 0);
    let boxed = Box::pin(large());
    assert_eq!(allocations(|| (*scales).spawn_boxed(boxed)), 0);
    let boxed: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(large());
    assert_eq!(allocations(|| scales.spawn(boxed)), 0);
}

#[test]
fn the_adapters_box_once_and_not_what_is_boxed() {
    let from = FromFutures::new(OtherScales);
    assert_eq!(allocations(|| from.spawn(large())), 1);
    let into = IntoFutures::new(Scales::default());
    let boxed = FutureObj::new(Box::new(large()));
    assert_eq!(allocations(|| into.spawn_obj(boxed).unwrap()), 0);
}
