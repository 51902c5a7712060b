//! `Spawn` and `DynSpawn`: one suite for every way to reach an executor, by
//! pointer, by trait object and through the `futures` adapters.

use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use futures::executor::{LocalPool, ThreadPool, block_on};
use futures::task::SpawnExt;
use ws_core::spawn::{FromFutures, IntoFutures};
use ws_core::{DynSpawn, Spawn};

/// How long an event may take before the test says what hangs.
const WATCHDOG: Duration = Duration::from_secs(100);

type Boxed = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A small executor: each worker takes a task from a channel and blocks on it.
struct Threads {
    tasks: Mutex<Option<mpsc::Sender<Boxed>>>,
    workers: Vec<JoinHandle<()>>,
}

impl Threads {
    fn new(workers: usize) -> Self {
        let (sender, receiver) = mpsc::channel::<Boxed>();
        let receiver = Arc::new(Mutex::new(receiver));
        let work = || {
            let receiver = receiver.clone();
            move || {
                let next = || receiver.lock().unwrap().recv();
                while let Ok(task) = next() {
                    block_on(task);
                }
            }
        };
        Self {
            tasks: Mutex::new(Some(sender)),
            workers: (0..workers).map(|_| std::thread::spawn(work())).collect(),
        }
    }

    fn shut_down(&self) {
        self.tasks.lock().unwrap().take();
    }
}

impl Spawn for Threads {
    fn spawn<F>(&self, future: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        if let Some(tasks) = &*self.tasks.lock().unwrap() {
            tasks.send(Box::pin(future)).unwrap();
        }
    }

    fn parallelism(&self) -> usize {
        self.workers.len()
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.shut_down();
        for worker in self.workers.drain(..) {
            worker.join().unwrap();
        }
    }
}

/// Ready at its second poll, after waking itself.
async fn yield_once() {
    let mut yielded = false;
    std::future::poll_fn(|cx| {
        if yielded {
            return std::task::Poll::Ready(());
        }
        yielded = true;
        cx.waker().wake_by_ref();
        std::task::Poll::Pending
    })
    .await;
}

/// What every executor owes: it runs each task to its end once, and polls none
/// inside `spawn`. `drive` lets executors without threads run.
fn check(name: &str, on: &(impl Spawn + ?Sized), parallelism: usize, drive: impl FnOnce()) {
    assert_eq!(on.parallelism(), parallelism, "{name}");

    let (sender, receiver) = mpsc::channel();
    let open = Arc::new(Mutex::new(()));
    let closed = open.lock().unwrap();
    for number in 0..100 {
        let (sender, open) = (sender.clone(), open.clone());
        on.spawn(async move {
            // Were it polled inside `spawn`, this would never return.
            drop(open.lock().unwrap());
            yield_once().await;
            sender.send(number).unwrap();
        });
    }
    drop(closed);
    drop(sender);
    drive();

    let mut seen = HashSet::new();
    loop {
        match receiver.recv_timeout(WATCHDOG) {
            Ok(number) => assert!(seen.insert(number), "{name}: task {number} ran twice"),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => panic!("{name}: only {seen:?} ran"),
        }
    }
    assert_eq!(seen.len(), 100, "{name}: only {seen:?} ran");
}

/// [`check`] for an executor with two threads of its own.
fn check_threads(name: &str, on: &(impl Spawn + ?Sized)) {
    check(name, on, 2, || ());
}

/// A future that tells how often it was dropped and whether it was polled.
#[derive(Clone, Default)]
struct Fate(Arc<(AtomicUsize, AtomicBool)>);

impl Fate {
    fn future(&self) -> impl Future<Output = ()> + Send + 'static {
        struct CountDrop(Fate);
        impl Drop for CountDrop {
            fn drop(&mut self) {
                self.0.0.0.fetch_add(1, Ordering::Relaxed);
            }
        }
        let guard = CountDrop(self.clone());
        async move { guard.0.0.1.store(true, Ordering::Relaxed) }
    }

    fn assert_refused(&self, name: &str) {
        assert_eq!(self.0.0.load(Ordering::Relaxed), 1, "{name}: drops");
        assert!(!self.0.1.load(Ordering::Relaxed), "{name}: was polled");
    }
}

/// What every executor that was shut down owes: the future is dropped, once,
/// without a poll, and nobody waits for ever.
fn check_refusal(name: &str, on: &(impl Spawn + ?Sized)) {
    let fate = Fate::default();
    on.spawn(fate.future());
    fate.assert_refused(name);
    assert!(on.parallelism() >= 1, "{name}");
}

/// Runs one check over every pointer and trait object that reaches `$target`.
macro_rules! through_every_pointer {
    ($target:expr, $check:path) => {{
        let target = Arc::new($target);
        let shared: Arc<dyn DynSpawn + Send + Sync> = target.clone();
        $check("T", &*target);
        $check("&T", &&*target);
        $check("Arc<T>", &target);
        $check("Box<&T>", &Box::new(&*target));
        $check("Rc<&T>", &Rc::new(&*target));
        $check("dyn", &*target as &dyn DynSpawn);
        $check("dyn + Send", &*target as &(dyn DynSpawn + Send));
        $check("dyn + Sync", &*target as &(dyn DynSpawn + Sync));
        $check("&dyn", &(&*target as &dyn DynSpawn));
        $check("Arc<dyn>", &shared);
        $check("Box<dyn>", &(Box::new(target.clone()) as Box<dyn DynSpawn>));
        $check("dyn over Arc<dyn>", &shared as &dyn DynSpawn);
    }};
}

#[test]
fn every_pointer_and_trait_object_spawns() {
    through_every_pointer!(Threads::new(2), check_threads);
}

#[test]
fn every_pointer_and_trait_object_drops_what_is_refused() {
    let threads = Threads::new(1);
    threads.shut_down();
    through_every_pointer!(threads, check_refusal);
}

// It would not compile if a name of one trait hid one of the other.
#[test]
fn both_traits_are_usable_side_by_side() {
    let threads = Threads::new(3);
    let (sender, receiver) = mpsc::channel();
    let boxed = sender.clone();
    threads.spawn(async move { sender.send(()).unwrap() });
    threads.spawn_boxed(Box::pin(async move { boxed.send(()).unwrap() }));
    for _ in 0..2 {
        receiver.recv_timeout(WATCHDOG).expect("a task did not run");
    }
    assert_eq!(threads.parallelism(), 3);
    assert_eq!(threads.dyn_parallelism(), 3);
}

#[test]
fn a_shared_trait_object_goes_where_an_executor_goes() {
    fn executor<T: Spawn + Clone + Send + Sync + 'static>() {}
    executor::<Arc<dyn DynSpawn + Send + Sync>>();
    executor::<Arc<Threads>>();
    executor::<FromFutures<ThreadPool>>();
    executor::<FromFutures<IntoFutures<Arc<dyn DynSpawn + Send + Sync>>>>();
}

/// An executor that borrows its queue: trait objects need not be `'static`.
struct Borrowed<'a>(&'a Mutex<Vec<Boxed>>);

impl Spawn for Borrowed<'_> {
    fn spawn<F>(&self, future: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.0.lock().unwrap().push(Box::pin(future));
    }

    fn parallelism(&self) -> usize {
        1
    }
}

#[test]
fn a_trait_object_may_borrow() {
    let queue = Mutex::default();
    let borrowed = Borrowed(&queue);
    let run = || queue.lock().unwrap().drain(..).for_each(block_on);
    check("borrowed", &borrowed as &dyn DynSpawn, 1, run);
    let boxed: Box<dyn DynSpawn + Send + Sync + '_> = Box::new(borrowed);
    check("boxed", &boxed, 1, run);
}

#[test]
fn a_thread_pool_of_futures_is_a_spawn() {
    let pool = ThreadPool::builder().pool_size(2).create().unwrap();
    let two = NonZeroUsize::new(2).unwrap();
    let adapter = FromFutures::with_parallelism(pool, two);
    through_every_pointer!(adapter, check_threads);
}

#[test]
fn a_local_pool_of_futures_is_a_spawn() {
    let mut pool = LocalPool::new();
    let adapter = FromFutures::new(pool.spawner());
    check("LocalPool", &adapter, 1, || pool.run());
    check("dyn", &adapter as &dyn DynSpawn, 1, || pool.run());
}

#[test]
fn a_refusal_by_an_executor_of_futures_drops_the_future() {
    let pool = LocalPool::new();
    let adapter = FromFutures::new(pool.spawner());
    drop(pool);
    check_refusal("LocalPool", &adapter);
    check_refusal("dyn", &adapter as &dyn DynSpawn);
}

#[test]
fn a_spawn_serves_code_written_for_futures() {
    let threads = Threads::new(2);
    let spawner = IntoFutures::new(&threads);
    let handles: Vec<_> = (0..10_u64)
        .map(|n| {
            let square = async move {
                yield_once().await;
                n * n
            };
            spawner.spawn_with_handle(square).unwrap()
        })
        .collect();
    let sum = block_on(async {
        let mut sum = 0;
        for handle in handles {
            sum += handle.await;
        }
        sum
    });
    assert_eq!(sum, 285);

    let shared: &dyn DynSpawn = &threads;
    let handle = IntoFutures::new(shared).spawn_with_handle(async { "dyn" });
    assert_eq!(block_on(handle.unwrap()), "dyn");
}

#[test]
fn a_refusal_seen_from_futures_is_a_drop_and_no_error() {
    let threads = Threads::new(1);
    threads.shut_down();
    let spawner = IntoFutures::new(&threads);
    assert!(futures::task::Spawn::status(&spawner).is_ok());

    let fate = Fate::default();
    SpawnExt::spawn(&spawner, fate.future()).unwrap();
    fate.assert_refused("spawn");

    // As documented: awaiting the handle of a dropped task panics.
    let handle = spawner.spawn_with_handle(async { 1 }).unwrap();
    catch_unwind(AssertUnwindSafe(|| block_on(handle))).unwrap_err();
}

#[test]
fn adapters_work_on_top_of_each_other() {
    let threads = Threads::new(2);
    let there_and_back = FromFutures::new(IntoFutures::new(&threads));
    check("there and back", &there_and_back, 1, || ());
    assert_eq!(there_and_back.into_inner().into_inner().parallelism(), 2);
}
