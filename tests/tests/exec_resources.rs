//! What happens when the system has no more to give, and with unusual futures.
//!
//! Limits are set for a whole process, so those tests run in a child. Threads are
//! refused by a limit on the address space: there is room for so many stacks only.

use std::error::Error;
use std::future::pending;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::thread;

use tests::exec::{Gate, executor, until};
use tests::{child, watchdog};
use ws_executor::{Builder, Executor};

/// Counts the workers that have started and those that have stopped.
#[derive(Clone, Default)]
struct Census(Arc<(AtomicUsize, AtomicUsize)>);

impl Census {
    fn watch(&self, builder: Builder) -> Builder {
        let (starts, stops) = (self.clone(), self.clone());
        builder
            .on_thread_start(move |_| {
                starts.0.0.fetch_add(1, Ordering::SeqCst);
            })
            .on_thread_stop(move |_| {
                stops.0.1.fetch_add(1, Ordering::SeqCst);
            })
    }

    fn started(&self) -> usize {
        self.0.0.load(Ordering::SeqCst)
    }

    fn stopped(&self) -> usize {
        self.0.1.load(Ordering::SeqCst)
    }
}

/// Limits of the calling process, where they can be set.
#[cfg(target_os = "linux")]
mod limits {
    use std::fs;
    use std::sync::Barrier;
    use std::thread::ThreadId;

    use super::*;

    /// Leaves room for `more` bytes of address space.
    fn limit_space(more: u64) {
        let statm = fs::read_to_string("/proc/self/statm").unwrap();
        let pages: u64 = statm.split(' ').next().unwrap().parse().unwrap();
        // SAFETY: it takes no pointer.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        let now = pages * u64::try_from(page).unwrap();
        set_limit(libc::RLIMIT_AS, now + more);
    }

    /// As [`child::survives`], with one heap for all threads: one of its own takes 64 MB of
    /// address space, twice that for a moment, whenever the thread begins.
    fn survives(test: &str, scene: impl FnOnce()) {
        if let Some(ending) = child::run_with(test, &[("MALLOC_ARENA_MAX", "1")], scene) {
            ending.assert_success();
        }
    }

    fn unlimit_space() {
        set_limit(libc::RLIMIT_AS, libc::RLIM_INFINITY);
    }

    /// Sets the soft limit, which can be raised again.
    fn set_limit(resource: libc::__rlimit_resource_t, limit: u64) {
        let mut limits = libc::rlimit {
            rlim_cur: 0,
            rlim_max: 0,
        };
        // SAFETY: the pointer is to a valid structure.
        let failed = unsafe { libc::getrlimit(resource, &mut limits) };
        assert_eq!(failed, 0, "getrlimit");
        limits.rlim_cur = limit.min(limits.rlim_max);
        // SAFETY: the pointer is to a valid structure.
        let failed = unsafe { libc::setrlimit(resource, &limits) };
        assert_eq!(failed, 0, "setrlimit: {}", io::Error::last_os_error());
    }

    fn threads() -> usize {
        fs::read_dir("/proc/self/task").unwrap().count()
    }

    /// Builds an executor for which there are not enough threads. That gives an
    /// error, and leaves nothing behind.
    fn build_too_many(builder: Builder) {
        let before = threads();
        let census = Census::default();
        let error = census.watch(builder).build().unwrap_err();
        assert!(error.is_thread() && !error.is_invalid() && !error.is_panic());
        let source = error.source().expect("the system's error is the source");
        let source = source.downcast_ref::<io::Error>().expect("an io error");
        assert_eq!(source.raw_os_error(), Some(libc::EAGAIN), "{source}");
        assert!(census.started() > 0, "the first threads could be started");
        assert_eq!(census.stopped(), census.started());
        // The kernel takes a moment to forget a thread that was joined.
        until(|| threads() == before);
    }

    #[test]
    fn a_refused_thread_is_an_error_and_takes_the_others_down() {
        const STACK: usize = 64 << 20;
        survives(
            "limits::a_refused_thread_is_an_error_and_takes_the_others_down",
            || {
                // Room for two at least: at that moment malloc may be trying to have as much
                // for a thread of the test harness, and the first one has to start.
                for stacks in [2, 3, 10] {
                    limit_space((stacks * STACK + STACK / 2) as u64);
                    build_too_many(Executor::builder().workers(64).stack_size(STACK));
                }
                // There is room for some, and they work.
                let executor = Executor::builder().workers(2).stack_size(1 << 20);
                let executor = executor.build().unwrap();
                assert_eq!(executor.block_on(executor.spawn(async { 1 })), 1);
            },
        );
    }

    /// The same by the limit on processes, which does not hold for the superuser.
    #[test]
    fn a_process_limit_is_an_error_and_takes_the_others_down() {
        survives(
            "limits::a_process_limit_is_an_error_and_takes_the_others_down",
            || {
                // SAFETY: it takes no pointer. All threads of this process change.
                let failed = unsafe { libc::setuid(65_534) };
                if failed != 0 {
                    eprintln!("skipped: only the superuser can become nobody");
                    return;
                }
                // This test's threads, and those that others have as nobody.
                set_limit(libc::RLIMIT_NPROC, 50);
                build_too_many(Executor::builder().workers(512));
            },
        );
    }

    /// Without a thread for it a blocking call cannot run, and says so.
    #[test]
    fn spawn_blocking_without_any_thread_is_cancelled() {
        survives(
            "limits::spawn_blocking_without_any_thread_is_cancelled",
            || {
                let executor = executor(2);
                limit_space(1 << 20);
                let handle = executor.handle();
                let ran = Arc::new(AtomicUsize::new(0));
                let tasks: Vec<_> = (0..10)
                    .map(|_| {
                        let ran = Arc::clone(&ran);
                        let code = move || ran.fetch_add(1, Ordering::SeqCst);
                        handle.spawn_blocking(code).fallible()
                    })
                    .collect();
                for task in tasks {
                    assert_eq!(executor.block_on(task), None);
                }
                // The code is dropped as well.
                until(|| Arc::strong_count(&ran) == 1);
                // The executor itself does not need any.
                assert_eq!(executor.block_on(executor.spawn(async { 1 })), 1);
                unlimit_space();
                assert_eq!(executor.block_on(handle.spawn_blocking(|| 2)), 2);
            },
        );
    }

    /// The drop of code may take a lock that another caller has at that moment.
    #[test]
    fn spawn_blocking_without_any_thread_drops_no_code_of_others() {
        survives(
            "limits::spawn_blocking_without_any_thread_drops_no_code_of_others",
            || {
                let (executor, start) = (executor(1), Barrier::new(5));
                // Room for the first allocations of the worker, and of the callers below.
                executor.block_on(executor.spawn(async { drop(Box::new([0; 100])) }));
                let elsewhere = Arc::new(AtomicUsize::new(0));
                let calls = || {
                    drop(Box::new([0; 100]));
                    start.wait();
                    start.wait();
                    for _ in 0..1000 {
                        let code = DroppedWhereMade {
                            thread: thread::current().id(),
                            elsewhere: Arc::clone(&elsewhere),
                        };
                        // Should there be a thread all the same, it runs there.
                        let task = executor.handle().spawn_blocking(move || code.run());
                        executor.block_on(task.fallible());
                    }
                };
                thread::scope(|scope| {
                    let callers: Vec<_> = (0..4).map(|_| scope.spawn(calls)).collect();
                    start.wait();
                    limit_space(1 << 20);
                    start.wait();
                    callers
                        .into_iter()
                        .for_each(|caller| caller.join().unwrap());
                });
                assert_eq!(elsewhere.load(Ordering::SeqCst), 0);
            },
        );
    }

    /// Code that counts itself if it is dropped on another thread and did not run.
    struct DroppedWhereMade {
        thread: ThreadId,
        elsewhere: Arc<AtomicUsize>,
    }

    impl DroppedWhereMade {
        fn run(mut self) {
            self.thread = thread::current().id();
        }
    }

    impl Drop for DroppedWhereMade {
        fn drop(&mut self) {
            if thread::current().id() != self.thread {
                self.elsewhere.fetch_add(1, Ordering::SeqCst);
            }
        }
    }

    /// With one thread it has to wait its turn.
    #[test]
    fn spawn_blocking_without_another_thread_waits() {
        survives(
            "limits::spawn_blocking_without_another_thread_waits",
            || {
                let executor = executor(1);
                let handle = executor.handle();
                let (inside, gate) = (Gate::new(), Gate::new());
                let first = handle.spawn_blocking({
                    let (inside, gate) = (inside.clone(), gate.clone());
                    move || {
                        inside.open();
                        gate.wait();
                    }
                });
                inside.wait();
                limit_space(1 << 20);
                let tasks: Vec<_> = (0..10).map(|n| handle.spawn_blocking(move || n)).collect();
                assert!(tasks.iter().all(|task| !task.is_finished()));
                gate.open();
                executor.block_on(first);
                for (n, task) in tasks.into_iter().enumerate() {
                    assert_eq!(executor.block_on(task), n);
                }
            },
        );
    }
}

/// A stack that no system can give.
#[test]
fn an_absurd_stack_is_an_error() {
    watchdog::guard("stack", || {
        for size in [1 << 46, usize::MAX / 2, usize::MAX] {
            let error = Executor::builder().workers(2).stack_size(size).build();
            let error = error.unwrap_err();
            assert!(error.is_thread() || error.is_invalid(), "{error:?}");
        }
    });
}

/// A name that no thread can have, for one of the threads.
#[test]
fn an_impossible_name_is_an_error() {
    watchdog::guard("name", || {
        let census = Census::default();
        let builder = Executor::builder().workers(4).thread_name(|worker| {
            let impossible = if worker == 2 { "\0" } else { "" };
            format!("worker{impossible}{worker}")
        });
        let builder = census.watch(builder);
        let built = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| builder.build()));
        let error = built.expect("`build` does not panic").unwrap_err();
        assert!(error.is_invalid() || error.is_panic(), "{error:?}");
        assert_eq!(census.stopped(), census.started());
    });
}

const MEGABYTE: usize = 1 << 20;

/// Room for three copies of a large future and some. A debug build makes a copy for
/// each move; two are the caller's, even of `Box::pin`.
const STACK: usize = 4 * MEGABYTE;

/// Runs `scene` on a thread with a stack of that size.
fn on_a_small_stack(scene: impl FnOnce() + Send + 'static) {
    let thread = thread::Builder::new().stack_size(STACK);
    thread.spawn(scene).unwrap().join().unwrap();
}

/// A future that is a megabyte large.
struct Large {
    content: [u8; MEGABYTE],
    polled: bool,
}

impl Large {
    fn new() -> Self {
        Self {
            content: [3; MEGABYTE],
            polled: false,
        }
    }
}

impl Future for Large {
    type Output = usize;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<usize> {
        if self.polled {
            return Poll::Ready(self.content.iter().map(|&byte| usize::from(byte)).sum());
        }
        self.polled = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

#[test]
fn a_future_of_a_megabyte_runs() {
    child::survives("a_future_of_a_megabyte_runs", || {
        on_a_small_stack(|| {
            let executor = executor(2);
            let task = executor.spawn(Large::new());
            assert_eq!(executor.block_on(task), 3 * MEGABYTE);
        });
    });
}

#[test]
#[expect(clippy::async_yields_async, reason = "awaited outside")]
fn a_future_of_a_megabyte_runs_when_a_worker_spawns_it() {
    child::survives(
        "a_future_of_a_megabyte_runs_when_a_worker_spawns_it",
        || {
            let executor = Executor::builder().workers(2).stack_size(STACK);
            let executor = executor.build().unwrap();
            let handle = executor.handle();
            let task = executor.spawn(async move { handle.spawn(Large::new()) });
            let task = executor.block_on(task);
            assert_eq!(executor.block_on(task), 3 * MEGABYTE);
        },
    );
}

#[test]
fn a_future_of_a_megabyte_can_be_refused() {
    child::survives("a_future_of_a_megabyte_can_be_refused", || {
        on_a_small_stack(|| {
            let executor = executor(2);
            let handle = executor.handle();
            executor.shutdown();
            let task = handle.spawn(Large::new()).fallible();
            assert_eq!(ws_executor::block_on(task), None);
        });
    });
}

/// A future without a size.
struct Nothing;

impl Future for Nothing {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }
}

#[test]
fn a_future_without_a_size_runs() {
    watchdog::guard("size 0", || {
        assert_eq!(size_of::<Nothing>(), 0);
        let executor = executor(2);
        let tasks = executor.spawn_many((0..1_000).map(|_| Nothing));
        assert_eq!(
            executor.block_on(futures::future::join_all(tasks)).len(),
            1_000
        );
    });
}

/// A future, and an output, at an address with many zeros.
#[repr(align(128))]
#[derive(Clone, Copy)]
struct Aligned(u8);

impl Aligned {
    fn check(&self) {
        assert_eq!(std::ptr::from_ref(self) as usize % 128, 0);
    }
}

impl Future for Aligned {
    type Output = Self;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self> {
        self.check();
        if self.0 == 0 {
            return Poll::Ready(*self);
        }
        self.0 -= 1;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

#[test]
fn an_alignment_of_128_is_kept() {
    watchdog::guard("align 128", || {
        let executor = executor(2);
        let tasks: Vec<_> = (0..100).map(|_| executor.spawn(Aligned(3))).collect();
        for task in tasks {
            executor.block_on(task).check();
        }
    });
}

/// The memory of this process, in bytes, where the system tells.
fn resident() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: usize = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * 4096)
}

/// Spawns `count` tasks that all wait, wakes them all, and waits for all. Returns how much
/// memory each took while it waited, including what the test itself keeps of it: a waker,
/// two words.
fn live_at_once(count: usize) -> Option<usize> {
    let executor = executor(2);
    let done = Arc::new(AtomicUsize::new(0));
    let before = resident();
    let wakers = Arc::new(Mutex::new(Vec::with_capacity(count)));
    for _ in 0..count {
        let waits = Waits {
            wakers: Some(Arc::clone(&wakers)),
        };
        let done = Arc::clone(&done);
        let task = executor.spawn(async move {
            waits.await;
            done.fetch_add(1, Ordering::Relaxed);
        });
        task.detach();
    }
    until(|| wakers.lock().unwrap().len() == count);
    let each = before.and_then(|before| Some(resident()?.saturating_sub(before) / count));
    assert_eq!(executor.metrics().live_tasks(), count);
    assert_eq!(done.load(Ordering::Relaxed), 0);
    std::mem::take(&mut *wakers.lock().unwrap())
        .into_iter()
        .for_each(Waker::wake);
    until(|| done.load(Ordering::Relaxed) == count);
    until(|| executor.metrics().live_tasks() == 0);
    each
}

/// Leaves its waker, and waits for it.
struct Waits {
    wakers: Option<Arc<Mutex<Vec<Waker>>>>,
}

impl Future for Waits {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(wakers) = self.wakers.take() else {
            return Poll::Ready(());
        };
        wakers.lock().unwrap().push(cx.waker().clone());
        Poll::Pending
    }
}

#[test]
fn a_million_tasks_live_at_once() {
    watchdog::guard("a million", || {
        live_at_once(1_000_000);
    });
}

/// Measured: 144 bytes each, on 64-bit Linux, optimised or not. That is one allocation for
/// the task with its future, and a seat of sixteen bytes in the list of those that wait. All of
/// it took 10 s in a release build, on two cores with other things to do.
#[test]
#[ignore = "takes one and a half gigabytes"]
fn ten_million_tasks_live_at_once() {
    watchdog::guard("ten millions", || {
        let each = live_at_once(10_000_000);
        println!("{each:?} bytes for a task that waits");
        assert!(each.is_none_or(|each| each < 300), "{each:?} bytes");
    });
}

/// Tasks that wait, and are dropped with their executor.
#[test]
fn a_million_waiting_tasks_are_shut_down() {
    watchdog::guard("shut down a million", || {
        let executor = executor(2);
        let alive = Arc::new(());
        let tasks = (0..1_000_000).map(|_| {
            let alive = Arc::clone(&alive);
            async move {
                pending::<()>().await;
                drop(alive);
            }
        });
        executor
            .spawn_many(tasks)
            .into_iter()
            .for_each(ws_executor::Task::detach);
        executor.shutdown();
        assert_eq!(Arc::strong_count(&alive), 1);
    });
}
